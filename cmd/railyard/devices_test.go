package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// laidOut creates a device's folder in SONiC's layout and returns it.
func laidOut(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "x86_64-maker_box-r0")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	boxPlatform = `{"interfaces": {
		"Ethernet0": {"index": "1,1", "lanes": "5,6", "breakout_modes": {
			"1x400G": ["p1"], "2x200G": ["p1a", "p1b"]}},
		"Ethernet4": {"index": "2,2", "lanes": "1,2", "breakout_modes": {
			"1x400G": ["p2"], "2x200G": ["p2a", "p2b"]}},
		"Ethernet8": {"index": "3,3", "lanes": "3,4", "breakout_modes": {
			"1x400G": ["p3"],
		"2x200G": ["p3a", "p3b"]}}}}`
	boxSKU = `{"interfaces": {"Ethernet0": {"default_brkout_mode": "1x400G"},
		"Ethernet4": {"default_brkout_mode": "1x400G"}, "Ethernet8": {"default_brkout_mode": "1x400G"}}}`
	boxList = "# name lanes alias index speed\nEthernet0 5,6 p1 1 400000\nEthernet4 1,2 p2 2 400000\n" +
		"Ethernet8 3 p3a 3 200000\nEthernet9 4 p3b 3 200000\n"
)

// A device's folder is read as by SONiC: platform.json with hwsku.json before port_config.ini, and the hwsku by
// default_sku. A single file also works. The rendered configuration has the device's lanes and names, and cables
// are matched again.
func TestProfiles(t *testing.T) {
	both := map[string]string{"platform.json": boxPlatform, "Box/hwsku.json": boxSKU,
		"default_sku": "Box t1\n"}
	list := map[string]string{"Box/port_config.ini": boxList, "platform.json": `{"chassis": {}}`}
	for _, c := range []struct {
		files map[string]string
		at    string
	}{{both, ""}, {both, "Box"}, {both, "Box/hwsku.json"}, {list, "Box"}, {list, "Box/port_config.ini"}} {
		at := filepath.Join(laidOut(t, c.files), c.at)
		out := rendered(t, "lab-2x2.yaml", "--os", "sonic", "--profile", "rail="+at)
		var db map[string]map[string]map[string]string
		b, err := os.ReadFile(filepath.Join(out, "seg-1-rail-1", "config_db.json"))
		if err == nil {
			err = json.Unmarshal(b, &db)
		}
		if err != nil {
			t.Fatal(err)
		}
		port, host := db["PORT"], db["DEVICE_METADATA"]["localhost"]
		if host["hwsku"] != "Box" || host["platform"] != "x86_64-maker_box-r0" || len(port) != 4 ||
			port["Ethernet0"]["lanes"] != "5,6" || port["Ethernet9"]["lanes"] != "4" ||
			port["Ethernet9"]["alias"] != "p3b" || port["Ethernet9"]["subport"] != "2" {
			t.Errorf("%s: %v\n%v", c.at, host, port)
		}
		for _, flags := range [][]string{nil, {"--profile", "rail=" + at, "--hwsku", "spine=ACS-SN5600"}} {
			if code, said, errs := call(t, append([]string{"config", "lint", out, "--fabric", labScenario,
				"--json"}, flags...)...); code != 0 || strings.TrimSpace(said) != "[]" {
				t.Errorf("%s %v: exit %d: %s%s", c.at, flags, code, said, errs)
			}
		}
		own := filepath.Join(out, "seg-1-rail-1", "config_db.json")
		code, said, errs := call(t, "config", "render", labScenario, "--onto", own)
		if code != 0 || !strings.Contains(errs, "seg-1-rail-1: ") {
			t.Errorf("%s onto itself: exit %d: %.200s%s", c.at, code, said, errs)
		}
	}
}

// A file that is no profile is reported with what is accepted.
func TestBadProfiles(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		at    string
		want  string
	}{
		{map[string]string{"x": ""}, "", "has no port_config.ini, no hwsku.json next to or below a pl"},
		{map[string]string{"x": ""}, "none", "no such file"},
		{map[string]string{"platform.json": boxPlatform}, "platform.json",
			"hwsku.json the configured ones: both are needed"},
		{map[string]string{"platform.json": boxPlatform, "Box/hwsku.json": boxSKU}, "", "below it lie Box"},
		{map[string]string{"hwsku.json": boxSKU}, "hwsku.json", "both are needed"},
		{map[string]string{"default_sku": "Gone t1"}, "", "names no folder next to it; accepted: the name of"},
		{map[string]string{"default_sku": "../../x t1"}, "", "names no folder next to it"},
		{map[string]string{"db.json": `{"VLAN": {}}`}, "db.json", "has no PORT, as a config_db.json has"},
		{map[string]string{"l.ini": "Ethernet0 1,1 a 1"}, "l.ini", "l.ini:1:11: lanes"},
		{map[string]string{"l.ini": "Ethernet0 1,2 a 1"}, "l.ini", "the switch has 4 cables, and "},
		{map[string]string{"l.ini": "\x00\x01"}, "l.ini", "binary file"},
		{map[string]string{"l.ini": strings.Repeat("Ethernet0 1\n", 1_000_000)}, "l.ini",
			"at most 4194304 are read"},
	} {
		at := filepath.Join(laidOut(t, c.files), c.at)
		code, _, errs := call(t, "config", "render", labScenario, "--os", "sonic", "--profile", at, "--out",
			filepath.Join(t.TempDir(), "out"))
		if code != exitInput || !strings.Contains(errs, c.want) {
			t.Errorf("%v %s: exit %d: %s", len(c.files), c.at, code, errs)
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct{ args, want string }{
		{"--os sonic", "the switch model is not set"},
		{"--os sonic --hwsku spine=ACS-SN5600", "seg-1-rail-1 in sonic: the switch model is not set"},
		{"--os sonic --hwsku ACS-SN560", `did you mean "ACS-SN5600"?`},
		{"--os sonic --hwsku leaf-*=ACS-SN5600", "no switch is called so, nor is of that role"},
		{"--os sonic --hwsku ACS-MSN3700", "400Gbps: no port of ACS-MSN3700 has that speed; " +
			"the first can be: 1x200G"},
		{"--os nxos --hwsku ACS-SN5600", "have no effect with --os nxos"},
	} {
		code, _, errs := call(t, append([]string{"config", "render", labScenario, "--out", out},
			strings.Fields(c.args)...)...)
		if code != exitInput || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit %d: %s", c.args, code, errs)
		}
	}
	for _, args := range []string{"config lint " + seedConfig + " --hwsku ACS-SN5600",
		"run " + flowScenario + " --profile x"} {
		if code, _, errs := call(t, strings.Fields(args)...); code != exitInput || !strings.Contains(errs,
			"--hwsku and --profile") {
			t.Errorf("%s: exit %d: %s", args, code, errs)
		}
	}
}

// The scenario's devices apply to rendering and linting; a flag takes precedence.
func TestDevicesOfScenarios(t *testing.T) {
	smallFile(t)
	text, err := os.ReadFile("small.yaml")
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Replace(string(text), "fabric:", "fabric:\n  hwsku: {'*': ACS-SN5400}", 1)
	if i := strings.Index(string(text), "fabric: {"); i >= 0 {
		said = strings.Replace(string(text), "fabric: {", "fabric: {hwsku: {'*': ACS-SN5400}, ", 1)
	}
	if err := os.WriteFile("said.yaml", []byte(said), 0o644); err != nil {
		t.Fatal(err)
	}
	for out, c := range map[string]struct {
		flags []string
		want  string
	}{"a": {nil, "ACS-SN5400"}, "b": {[]string{"--hwsku", "ACS-SN5600"}, "ACS-SN5600"}} {
		args := append([]string{"config", "render", "said.yaml", "--os", "sonic", "--out", out}, c.flags...)
		if code, _, errs := call(t, args...); code != 0 {
			t.Fatal(errs)
		}
		files, _ := filepath.Glob(filepath.Join(out, "*", "config_db.json"))
		for _, f := range files {
			if b, _ := os.ReadFile(f); !strings.Contains(string(b), `"hwsku": "`+c.want+`"`) {
				t.Errorf("%s is not a %s", f, c.want)
			}
		}
		if len(files) == 0 {
			t.Error("no switch is rendered")
		}
		lint := append([]string{"config", "lint", out, "--fabric", "said.yaml"}, c.flags...)
		if code, says, errs := call(t, lint...); code != 0 {
			t.Errorf("%s%s", says, errs)
		}
	}
	if code, _, errs := call(t, "config", "render", "said.yaml", "--os", "nxos", "--out", "c"); code != 0 {
		t.Error(errs) // the device does not matter for another system
	}
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/swconf"
)

// TestOtherLanguage: every command rejects a configuration in another language than that of --os.
func TestOtherLanguage(t *testing.T) {
	const nxos = "hostname leaf-1\nfeature lldp\ninterface Ethernet1/1\n  mtu 9216\n" +
		"  priority-flow-control mode on\n" +
		"class-map type qos match-any ROCE\n  match dscp 24\n"
	dir := folderOf(t, map[string]string{"leaf.cfg": nxos, "odd.cfg": "alpha beta\ngamma delta\n"})
	for _, c := range []struct{ command, file, os, want string }{
		{"lint", "leaf.cfg", "junos", "looks like Cisco NX-OS"},
		{"show", "leaf.cfg", "junos", "looks like Cisco NX-OS"},
		{"lint", "odd.cfg", "junos", "none of its"},
		{"lint", "odd.cfg", "frr", "none of its"},
	} {
		code, _, stderr := call(t, "config", c.command, filepath.Join(dir, c.file), "--os", c.os)
		if code != exitInput || !strings.Contains(stderr, c.want) {
			t.Errorf("config %s %s --os %s: %d, %s", c.command, c.file, c.os, code, stderr)
		}
	}
}

// TestEveryOtherLanguage: --os of each language on a configuration of each other one is rejected in one line that
// names the right one.
func TestEveryOtherLanguage(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"dell": filepath.Join(dir, "dell.cfg")}
	text := "hostname leaf-1\ninterface-naming standard\nqos map dscp-tc R\n dscp 26 traffic-class 3\n!\n" +
		"buffer init lossless\ninterface Eth1/1\n mtu 9216\n no shutdown\n qos-map dscp-tc R\n" +
		" priority-flow-control priority 3\n priority-flow-control watchdog on detect-time 200\n"
	if err := os.WriteFile(files["dell"], []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for language, name := range map[string]string{"nxos": "nxos.cfg", "sonic": "config_db.json", "frr": "frr.conf",
		"eos": "eos.cfg", "nvue": "nvue.txt", "junos": "junos.cfg"} {
		args := []string{"config", "render", "../../scenarios/lab-2x2.yaml", "--os", language,
			"--out", filepath.Join(dir, language)}
		if language == "sonic" {
			args = append(args, "--hwsku", "ACS-SN5600")
		}
		if code, _, stderr := call(t, args...); code != exitOK {
			t.Fatal(language, stderr)
		}
		files[language] = filepath.Join(dir, language, "spine-1", name)
	}
	for is, file := range files {
		for set := range files {
			for _, command := range []string{"lint", "show"} {
				code, stdout, stderr := call(t, "config", command, file, "--os", set)
				if wrong := set != is; wrong && (code != exitInput || stdout != "" || strings.Count(stderr, "\n") != 1 ||
					!strings.Contains(stderr, "--os "+is+", or none")) {
					t.Errorf("config %s --os %s of %s: %d, %s%s", command, set, is, code, stdout, stderr)
				} else if command == "lint" && !wrong && code != exitOK {
					t.Errorf("lint --os %s of %s: %d, %s", set, is, code, stderr)
				}
			}
		}
	}
}

// TestRemediesSpeakTheLanguage: the remedy of a finding uses the switch's own language, and names ports.
func TestRemediesSpeakTheLanguage(t *testing.T) {
	foreign := map[string][]string{
		"sonic": {"random-detect", "priority level", "bandwidth remaining", "no shutdown", "feature lldp"},
		"eos":   {"priority level", "bandwidth remaining", "feature lldp", "ebgp-requires-policy"},
		"nvue":  {"random-detect", "priority level", "bandwidth remaining", "no shutdown", "feature lldp"},
	}
	break1 := map[string][]string{ // removes ECN and strict priority
		"sonic": {`"wred_profile"`, `"was"`, `"STRICT"`, `"DWRR"`, `"ecn_all"`, `"ecn_none"`},
		"eos":   {"random-detect ecn", "!", "priority strict", "!"},
		"nvue":  {"mode strict", "mode dwrr", "ecn enable", "ecn disable"},
	}
	for language, words := range foreign {
		dir := filepath.Join(t.TempDir(), language)
		args := []string{"config", "render", "../../scenarios/lab-2x2.yaml", "--os", language, "--out", dir}
		if language == "sonic" {
			args = append(args, "--hwsku", "ACS-SN5600")
		}
		if code, _, stderr := call(t, args...); code != exitOK {
			t.Fatal(language, stderr)
		}
		filepath.WalkDir(dir, func(path string, d os.DirEntry, _ error) error {
			if text, err := os.ReadFile(path); err == nil {
				broken := strings.NewReplacer(break1[language]...).Replace(string(text))
				return os.WriteFile(path, []byte(broken), 0o644)
			}
			return nil
		})
		_, stdout, stderr := call(t, "config", "lint", dir, "--json")
		var found []swconf.Finding
		if err := json.Unmarshal([]byte(stdout), &found); err != nil || len(found) == 0 {
			t.Errorf("%s: nothing is found: %v %s", language, err, stderr)
			continue
		}
		named := false
		for _, f := range found {
			named = named || f.Ports != ""
			for _, w := range words {
				if strings.Contains(f.Fix, w) {
					t.Errorf("%s: %s: fix %q is another language's", language, f.Rule, f.Fix)
				}
			}
		}
		if !named {
			t.Errorf("%s: no finding names ports: %s", language, stdout)
		}
	}
}

// TestLabIsNoHost: the containerlab file that render writes has lines of ip link for hosts with two ports. It is
// not mistaken for a server's script, whatever its size.
func TestLabIsNoHost(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	scenario := filepath.Join(folderOf(t, map[string]string{"s.yaml": "fabric: {kind: dual-rail, " +
		"segments: 1, hosts: 4, host_link: {rate: 400Gbps, cable: 3m}}\nserver: {gpus: 2, nics: 2, nic_ports: 2}\n" +
		"workload: {traffic: {permutation: {bytes: 1MB}}}\n"}), "s.yaml")
	if code, _, stderr := call(t, "config", "render", scenario, "--os", "nxos", "--out", dir); code != exitOK {
		t.Fatal(stderr)
	}
	lab := filepath.Join(dir, "fabric.clab.yml")
	text, err := os.ReadFile(lab)
	if err != nil || !strings.Contains(string(text), "ip link set") {
		t.Fatal("the file has no ip link", err)
	}
	for _, grown := range []string{"", strings.Repeat("# one more line of a large fabric\n", 1<<14)} {
		if err := os.WriteFile(lab, append(text, grown...), 0o644); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := call(t, "config", "lint", dir, "--fabric", scenario)
		if code != exitOK || strings.Contains(stdout, "a server") || !strings.Contains(stderr, "fabric.clab.yml") {
			t.Errorf("%d\n%s%s", code, stdout, stderr)
		}
	}
}

// TestShownHeads: the line above a table of config show names the CoS of a class without a DSCP, and no PFC for a
// port that has it off.
func TestShownHeads(t *testing.T) {
	dir := folderOf(t, map[string]string{"leaf.cfg": `hostname leaf-1
class-map type qos match-all RDMA
  match cos 3
policy-map type qos MARKING
  class RDMA
    set qos-group 3
policy-map type network-qos FABRIC
  class type network-qos c-8q-nq3
    mtu 2240
    pause pfc-cos 3
system qos
  service-policy type qos input MARKING
  service-policy type network-qos FABRIC
interface Ethernet1/1
  priority-flow-control mode on
interface Ethernet1/2
  priority-flow-control mode off
`})
	_, out, _ := call(t, "config", "show", filepath.Join(dir, "leaf.cfg"))
	for _, want := range []string{"Ethernet1/1: CoS 3 has PFC (queue 3)\n",
		"Ethernet1/2: no DSCP has PFC, ECN or strict priority\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	_, _, stderr := call(t, "check", "../../scenarios/lab-2x2.yaml", "--set", "switches.config="+filepath.Join(dir, "leaf.cfg"))
	if want := "accepted: at most 2048"; !strings.Contains(strings.Join(strings.Fields(stderr), " "), want) {
		t.Errorf("no %q in %s", want, stderr)
	}
}

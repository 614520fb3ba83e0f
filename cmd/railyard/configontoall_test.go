package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/swconf/onto"
)

// A SONiC switch's two parts are in one folder. Tables become a patch, FRR's text becomes commands, and neither is
// mistaken for another device. FRR's part alone is rejected, and so are two configurations of one device.
func TestOntoFolder(t *testing.T) {
	lab := filepath.Join(scenarios(t), "lab-2x2.yaml")
	dir := rendered(t, "lab-2x2.yaml", "--os", "sonic", "--hwsku", "ACS-MSN4700")
	conf := filepath.Join(dir, "spine-1", "frr.conf")
	b, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	short := strings.Replace(string(b), "  maximum-paths 64\n", "", 1)
	if err := os.WriteFile(conf, []byte(short), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	code, said, errs := call(t, "config", "render", lab, "--onto", dir, "--out", out)
	typed, err := os.ReadFile(filepath.Join(out, "spine-1.txt"))
	if code != 0 || err != nil || !strings.Contains(string(typed), "\n  maximum-paths 64\n") ||
		strings.Count(said, "\n") != 1 {
		t.Errorf("exit %d, %v: %s%s%s", code, err, said, errs, typed)
	}
	code, said, errs = call(t, "config", "render", lab, "--onto", dir, "--json")
	var merges []onto.Merge
	if err := json.Unmarshal([]byte(said), &merges); code != 0 || err != nil || len(merges) < 4 {
		t.Fatalf("exit %d, %v, %d: %s", code, err, len(merges), errs)
	}
	for _, m := range merges {
		if m.FRR == nil || len(m.Steps) > 0 || (len(m.FRR.Steps) == 1) != (m.Switch == "spine-1") {
			t.Errorf("%s: %+v", m.Switch, m)
		}
	}
	for _, c := range []struct{ why, more string }{
		{"spine-1: a device has one text", ""}, {"--switch: has no effect", "--switch=spine-1"},
	} {
		twice := filepath.Join(dir, "again")
		if err := os.CopyFS(twice, os.DirFS(filepath.Join(dir, "spine-1"))); err != nil && c.more == "" {
			t.Fatal(err)
		}
		args := []string{"config", "render", lab, "--onto", dir, "--json"}
		if c.more != "" {
			args = append(args, c.more)
		}
		code, _, errs = call(t, args...)
		if code != 2 || !strings.Contains(strings.ReplaceAll(errs, "\"", ""), c.why) {
			t.Errorf("%q: exit %d: %s", c.more, code, errs)
		}
	}
	own := filepath.Join(t.TempDir(), "frr.conf")
	if err := os.WriteFile(own, []byte("frr defaults datacenter\nrouter bgp 1\n"+
		" neighbor Ethernet0 interface remote-as external\nline vty\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, errs = call(t, "config", "render", lab, "--onto", own); code != 2 ||
		!strings.Contains(errs, "frr.conf:3: is the FRR part of a SONiC switch") {
		t.Errorf("FRR's half: exit %d: %s", code, errs)
	}
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLintAgainstScenario: if the thresholds of all switches differ from the scenario's, --fabric is needed to find
// it; for one switch it is not. Headroom that loses packets in the scenario is an error there.
func TestLintAgainstScenario(t *testing.T) {
	fabric, dir := filepath.Join(scenarios(t), "pod64-llama2-7b.yaml"), t.TempDir()
	if code, _, errs := call(t, "config", "render", fabric, "--os", "eos", "--out", dir, "--force"); code != 0 {
		t.Fatal(errs)
	}
	lint := func(args ...string) (int, string) {
		code, out, _ := call(t, append([]string{"config", "lint", dir}, args...)...)
		return code, strings.Join(strings.Fields(out), " ")
	}
	if code, out := lint("--fabric", fabric); code != 0 || !strings.Contains(out, "0 errors, 0 warnings, 0 notes") {
		t.Fatal(out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "eos.cfg"))
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	change := func(file, old, new string) {
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, []byte(strings.ReplaceAll(string(text), old, new)), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const usual, low = "150 kbytes maximum-threshold 3000 kbytes", "50 kbytes maximum-threshold 300 kbytes"
	change(files[0], usual, low)
	if _, out := lint(); !strings.Contains(out, "warning[ecn-differs]: queue 3 marks from 50KB to 300KB") {
		t.Errorf("one switch, no scenario: %s", out)
	}
	for _, file := range files[1:] {
		change(file, usual, low)
	}
	_, out := lint("--fabric", fabric)
	for _, part := range []string{"in the scenario from 150KB to 3MB", "switches: rail-1 to rail-4", "switches: spine-1 to spine-4",
		fmt.Sprintf("0 errors, %d warnings", len(files))} {
		if !strings.Contains(out, part) {
			t.Errorf("%d switches, no %q: %s", len(files), part, out)
		}
	}
	change(files[0], "ingress headroom bytes 72", "ingress headroom bytes 22")
	if code, out := lint("--fabric", fabric); code != exitFailed || !strings.Contains(out, "error[headroom]") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// TestLintNamesItsOwnFlags: lint's notes on a cabling name no flag that only import has. A cabling without servers
// is rejected with an existing remedy.
func TestLintNamesItsOwnFlags(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cfg := put("leaf-1.cfg", "hostname leaf-1\ninterface Ethernet1\n   mtu 9214\ninterface Ethernet2\n   mtu 9214\n")
	const head, spine = "a_device,a_port,b_device,b_port\n", "leaf-1,Ethernet1,spine-1,Ethernet1\n"
	code, _, errs := call(t, "config", "lint", cfg, "--os", "eos", "--cabling",
		put("whole.csv", head+spine+"leaf-1,Ethernet2,host-1,nic1\n"))
	if code == 2 || !strings.Contains(errs, "not set") || strings.Contains(errs, "--") {
		t.Errorf("code %d: %s", code, errs)
	}
	code, _, errs = call(t, "config", "lint", cfg, "--os", "eos", "--cabling", put("bare.csv", head+spine))
	if code != 2 || !strings.Contains(strings.Join(strings.Fields(errs), " "), "railyard import --servers") {
		t.Errorf("code %d: %s", code, errs)
	}
}

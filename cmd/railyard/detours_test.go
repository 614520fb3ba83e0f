package main

import (
	"os"
	"strings"
	"testing"
)

// Load balancing that no switch supports is not rendered.
func TestDetoursAreNotRendered(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "name: x\nfabric: {kind: dragonfly, k: 1, groups: 3, host_link: {rate: 100Gbps, cable: 3m}}\n" +
		"lb: valiant\nworkload: {traffic: {permutation: {bytes: 1MB}}}\n"
	if err := os.WriteFile("x.yaml", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, errs := call(t, "config", "render", "x.yaml", "--os", "nxos", "--out", "out")
	if _, err := os.Stat("out"); code != 2 || err == nil || !strings.Contains(errs, "lb valiant: no switch") {
		t.Errorf("exit %d, out: %v: %s", code, err, errs)
	}
	code, _, errs = call(t, "config", "render", "x.yaml", "--os", "nxos", "--out", "out",
		"--set", "lb=entropy")
	if code != 0 {
		t.Errorf("switches hash, and exit %d: %s", code, errs)
	}
}

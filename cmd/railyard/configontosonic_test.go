package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// SONiC has BGP in another file, which is not merged: that is said.
func TestOntoSaysThatBGPIsLeftOut(t *testing.T) {
	running := filepath.Join(rendered(t, "lab-2x2.yaml", "--os", "sonic"), "spine-1", "config_db.json")
	lab := filepath.Join(scenarios(t), "lab-2x2.yaml")
	code, _, errs := call(t, "config", "render", lab, "--onto", running,
		"--switch", "spine-1")
	if code != 0 || !strings.Contains(errs, "left out: frr.conf, which has BGP") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// What is no configuration is not merged with one.
func TestOntoWhatIsNone(t *testing.T) {
	code, out, said := call(t, "config", "render", labScenario, "--onto", "../../README.md",
		"--switch", "spine-1")
	if code != exitInput || out != "" || !strings.Contains(said, "is no running configuration") {
		t.Errorf("exit %d, %.80s, %s", code, out, said)
	}
}

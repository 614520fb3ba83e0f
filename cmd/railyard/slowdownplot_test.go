package main

import (
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Runs with messages at random times have a plot of their slowdown over the size, single and compared. Run
// directories are plotted like simulated variants. Others have none.
func TestSlowdownPlots(t *testing.T) {
	dir := t.TempDir()
	load := filepath.Join(scenarios(t), "dragonfly-load.yaml")
	var runs []string
	for name, args := range map[string][]string{"a": {load}, "b": {load, "--seed", "2"},
		"flows": {filepath.Join(scenarios(t), "three-flows.yaml")}} {
		at := filepath.Join(dir, name)
		if code, _, errs := call(t, append([]string{"run", "--out", at}, args...)...); code != 0 {
			t.Fatal(errs)
		}
		if runs = append(runs, at); name == "flows" {
			runs = runs[:len(runs)-1]
		}
	}
	drawn := func(to string, args ...string) bool {
		to = filepath.Join(dir, to)
		code, _, errs := call(t, append(args, "--png", to)...)
		if code != 0 {
			t.Fatal(errs)
		}
		f, err := os.Open(filepath.Join(to, "slowdown.png"))
		if err != nil {
			return false
		}
		defer f.Close()
		img, err := png.Decode(f)
		return err == nil && img.Bounds().Dx() > 800
	}
	if !drawn("one", "report", runs[0]) {
		t.Error("no plot of a run")
	}
	if !drawn("two", "compare", runs[0], runs[1]) {
		t.Error("no plot of two runs")
	}
	flows := filepath.Join(dir, "flows")
	if drawn("other", "report", flows) || drawn("others", "compare", flows, runs[0]) {
		t.Error("a plot of flows that are posted at once")
	}
	code, _, errs := call(t, "compare", runs[0], runs[1], "--png", filepath.Join(dir, "two"))
	if code != exitInput || !strings.Contains(errs, "--force") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

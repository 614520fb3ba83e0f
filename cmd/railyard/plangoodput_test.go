package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/goodput"
	"railyard/internal/scenario"
)

// A scenario gives what no flag does: GPUs, replicas, the checkpoint's size and the step.
func TestPlanGoodputOfAScenario(t *testing.T) {
	file := filepath.Join(scenarios(t), "gpt13b-128.yaml")
	plotted := filepath.Join(t.TempDir(), "goodput.png")
	args := []string{"plan", "goodput", file, "--estimate", "--seeds", "3", "--days", "5", "--json",
		"--plot", plotted}
	code, out, errs := call(t, args...)
	var r struct {
		GPUs       int     `json:"gpus"`
		Servers    int     `json:"servers"`
		Checkpoint int64   `json:"checkpoint_bytes"`
		Step       float64 `json:"step_seconds"`
		StepBy     string  `json:"step_by"`
		Intervals  []struct{ Effective struct{ Mean float64 } }
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitOK {
		t.Fatal(code, err, errs)
	}
	if r.GPUs != 128 || r.Servers != 16 || r.Checkpoint/14 < 12e9 || r.Checkpoint/14 > 14e9 || r.Step < 0.1 ||
		r.StepBy != "by the cost model" || len(r.Intervals) < 5 {
		t.Errorf("%+v", r)
	}
	b, err := os.ReadFile(plotted)
	if err != nil || !bytes.HasPrefix(b, []byte("\x89PNG")) {
		t.Error("no plot", err)
	}
	if code, _, errs := call(t, args...); code != 2 || !strings.Contains(errs, "exists") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if _, again, _ := call(t, append(args, "--force")...); again != out {
		t.Errorf("another time it says\n%s", again)
	}
}

// What --rates-example prints is read back as what is used without.
func TestRatesExample(t *testing.T) {
	code, out, _ := call(t, "plan", "goodput", "--rates-example")
	var r goodput.Rates
	_, err := scenario.Read("example", []byte(out), &r)
	if err != nil || code != exitOK {
		t.Fatal(code, err)
	}
	one, _ := json.Marshal(r)
	two, _ := json.Marshal(goodput.Llama3())
	if !bytes.Equal(one, two) {
		t.Errorf("%s, want %s", one, two)
	}
}

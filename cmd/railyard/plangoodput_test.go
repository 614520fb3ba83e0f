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

// A scenario provides values without a flag: GPUs, replicas, the checkpoint's size and the step.
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

// The output of --rates-example parses to the default rates.
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

// TestAsyncRemarks checks the notes if asynchronous checkpoints gain nothing, and if a write takes longer than
// Daly's interval: 5.67 TB to 5 GB/s take 18.9 min.
func TestAsyncRemarks(t *testing.T) {
	for storage, want := range map[string][2]string{
		"2TB/s":   {"Async gains nothing", "(Daly)"},
		"100GB/s": {"training stops for 5 s", "(Daly)"},
		"5GB/s":   {"training stops for 5 s", "(simulated). Daly's 5.51 min and Young's 5.56 min do not apply: a write takes 18.9 min"},
	} {
		_, out, errs := call(t, "plan", "goodput", "--gpus", "16384", "--days", "5", "--seeds", "1", "--checkpoint", "5.67TB",
			"--step", "6s", "--storage", storage, "--async")
		useless := strings.HasPrefix(want[0], "Async")
		if out = strings.Join(strings.Fields(out), " "); !strings.Contains(out, want[0]) ||
			!strings.Contains(out, want[1]) || strings.Contains(out, "gains nothing") != useless {
			t.Errorf("%s: %s\n%s", storage, out, errs)
		}
	}
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/planner"
)

// TestSoftwareOfRun: a simulated step with a framework takes the time that plan score estimates for it, within what
// both omit. Values that contradict the framework are rejected with their position.
func TestSoftwareOfRun(t *testing.T) {
	from, dir := scenarios(t), t.TempDir()
	t.Chdir(dir)
	write := func(change ...string) string {
		text, err := os.ReadFile(filepath.Join(from, "pod64-llama2-7b.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "step.yaml")
		s := strings.NewReplacer(change...).Replace(string(text))
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, name := range []string{"megatron-lm", "megatron-bridge", "nemo"} {
		path := write("    efficiency: 55\n", "    software: "+name+"\n")
		_, out, errs := call(t, "run", path, "--set", "fidelity=flow", "--json")
		var run struct {
			Step int64 `json:"step_time_ps"`
			Host int64 `json:"exposed_host_ps"`
		}
		if err := json.Unmarshal([]byte(out), &run); err != nil {
			t.Fatal(err, errs)
		}
		_, out, errs = call(t, "plan", "score", "llama-2-7b", "--fabric", path, "--tp", "8", "--micro-batch", "2", "--sequence",
			"4096", "--global-batch", "64", "--recompute", "none", "--no-sequence-parallel", "--software", name,
			"--json")
		var score struct {
			Step float64 `json:"step_seconds"`
			Host float64 `json:"host_seconds"`
		}
		if err := json.Unmarshal([]byte(out), &score); err != nil {
			t.Fatal(err, errs)
		}
		ratio := float64(run.Step) / 1e12 / score.Step
		t.Logf("%s: simulated %.1f ms, of it %.1f for the host; estimated %.1f and %.1f ms", name, float64(run.Step)/1e9,
			float64(run.Host)/1e9, 1e3*score.Step, 1e3*score.Host)
		if ratio < 0.95 || ratio > 1.12 || run.Host == 0 {
			t.Errorf("%s: %.2f times the estimate", name, ratio)
		}
	}
	_, out, errs := call(t, "plan", "search", "llama-2-7b", "--fabric", write(), "--set", "fidelity=flow", "--tp", "8", "--pp", "1",
		"--zero", "1", "--micro-batch", "2", "--sequence", "4096", "--global-batch", "64", "--software", "nemo", "--simulate", "1",
		"--json")
	var found struct {
		Simulated []struct {
			Step     float64 `json:"step_seconds"`
			Estimate float64 `json:"estimated_seconds"`
		} `json:"simulated"`
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil || len(found.Simulated) != 1 {
		t.Fatal(err, errs, out)
	}
	if s := found.Simulated[0]; s.Step < 0.95*s.Estimate || s.Step > 1.05*s.Estimate {
		t.Errorf("a search by a framework simulates %+v", s)
	}
	for change, want := range map[[2]string]string{
		{"    efficiency: 55\n", "    software: megatron\n"}:                    "step.yaml:38:",
		{"    bucket: 100MB\n", "    software: nemo\n"}:                         "workload.training.efficiency: contradicts software: nemo",
		{"    efficiency: 55\n", "    efficiency: 50\n    software: nemo\n"}:    "workload.training.efficiency: contradicts software: nemo",
		{"    efficiency: 55\n", "    software: torchtitan\n"}:                  "torchtitan does not have stage 0; accepted: 2, 3",
		{"    efficiency: 55\n", "    software: nemo\n    kernels: fused\n"}:    "kernels: contradicts software: nemo",
		{"    efficiency: 55\n", "    software: nemo\n    kernels: flat\n"}:     "kernels: contradicts software: nemo",
		{"    efficiency: 55\n", "    software: nemo\n    tp_overlap: false\n"}: "tp_overlap: contradicts software: nemo",
		{"    efficiency: 55\n", "    software: nemo@99\n"}:                     "workload.training.software:",
	} {
		if code, _, errs := call(t, "run", write(change[0], change[1]), "--set", "fidelity=flow"); code != 2 ||
			!strings.Contains(errs, want) {
			t.Errorf("%q: exit %d, %s, want %s", change[1], code, errs, want)
		}
	}
}

// TestScoreAgainst: the parts by which two configurations differ add up to the difference of their steps.
func TestScoreAgainst(t *testing.T) {
	fabric := filepath.Join(scenarios(t), "pod64-llama2-7b.yaml")
	args := []string{"plan", "score", "llama-2-7b", "--fabric", fabric, "--tp", "8",
		"--global-batch", "64", "--against", "tp=4,pp=2,micro-batch=2"}
	code, out, errs := call(t, append(args, "--json")...)
	checkOutput(t, append(args, "--json"), out)
	type scored struct {
		Step float64 `json:"step_seconds"`
		planner.Candidate
	}
	var a struct {
		scored
		Against scored `json:"against"`
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil || code != 0 {
		t.Fatal(err, code, errs)
	}
	sum := func(c scored) float64 { return c.Compute + c.Bubble + c.Exposed() + c.Optimizer + c.Host }
	if l := a.Against.Layout; l.TP != 4 || l.PP != 2 || l.DP != 8 || l.Micro != 2 || a.Layout.TP != 8 {
		t.Errorf("%+v against %+v", a.Layout, l)
	}
	by := a.Against.Step - a.Step
	if d := sum(a.Against) - sum(a.scored) - by; d > 1e-9 || d < -1e-9 || by == 0 {
		t.Errorf("%g s apart, parts by %g s more", by, d)
	}
	if code, out, _ := call(t, args...); code != 0 || !strings.Contains(out, "tensor parallel exposed") {
		t.Errorf("exit %d, %s", code, out)
	}
	for _, other := range []string{"tp=0", "dp=2", "tp", "zero=4", "recompute=some", "tp=3"} {
		if code, out, errs := call(t, append(args[:len(args)-1:len(args)-1], other)...); code != 2 || out != "" ||
			!strings.Contains(errs, "--against") {
			t.Errorf("%s: exit %d, %s%s", other, code, out, errs)
		}
	}
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// corpusRuns makes a run, run-whole, and damaged copies of it.
func corpusRuns(t *testing.T, at func(name string) string) {
	t.Helper()
	whole := at("run-whole")
	code, _, errs := call(t, "run", filepath.Join(scenarios(t), "three-flows.yaml"), "--out", whole, "--confirm", "never")
	if code != 0 {
		t.Fatal(errs)
	}
	copied := func(name string) {
		if err := os.CopyFS(at(name), os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"summary.json", "run.json"} {
		copied("run-no-" + name)
		if err := os.Remove(filepath.Join(at("run-no-"+name), name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(s map[string]any){
		"run-type":       func(s map[string]any) { s["chain"] = []int{1} },
		"run-no-account": func(s map[string]any) { delete(s, "chain") },
		"run-stopped":    func(s map[string]any) { s["complete"] = false },
		"run-older":      func(s map[string]any) { s["chain"] = map[string]any{"line_rate_ps": 5, "of_old_ps": 7} },
		"run-negative":   func(s map[string]any) { s["step_time_ps"] = -5 },
		"run-foreign":    func(s map[string]any) { s["contents_sha256"] = "another" },
		"run-lost":       func(s map[string]any) { s["outcome"] = map[string]any{"why": "a host failed"} },
		"run-seed":       func(s map[string]any) { s["seed"] = 77 },
	} {
		copied(name)
		path := filepath.Join(at(name), "summary.json")
		text, err := os.ReadFile(path)
		s := map[string]any{}
		if err == nil {
			err = json.Unmarshal(text, &s)
		}
		if change(s); err == nil {
			text, err = json.Marshal(s)
		}
		if err == nil {
			err = os.WriteFile(path, text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

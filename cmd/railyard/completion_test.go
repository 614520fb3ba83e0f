package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"railyard/internal/completion"
	"railyard/internal/report/usage"
	"slices"
	"strings"
	"testing"
)

// TestCompletion checks the words that complete command lines.
func TestCompletion(t *testing.T) {
	shipped := scenarios(t)
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("runs/first-001", 0o755); err != nil {
		t.Fatal(err)
	}
	os.WriteFile("runs/first-001/run.json", nil, 0o644)
	file := filepath.Join(shipped, "three-flows.yaml")
	p, release := newParser()
	defer release()
	completed := func(line []string) []string {
		return usage.Complete(p.kong.Model.Node, line, completion.Values(pageNames))
	}
	for line, want := range map[string]string{
		"ru":                             "run",
		"plan se":                        "search",
		"run --capture-w":                "--capture-window",
		"run " + file + " --set cc.algo": "cc.algorithm=",
		"run " + file + " --set lb=flo":  "lb=flowlet",
		"run " + file + " --capture spine-1:Eth1": "spine-1:Eth1",
		"report runs/":          "runs/first-001",
		"why ":                  "runs/first-001",
		"models sn5":            "sn5600",
		"plan size llama-3.1-8": "llama-3.1-8b",
		"completion z":          "zsh",
		"docs tutorials/fi":     "tutorials/first-run",
	} {
		if got := completed(strings.Split(line, " ")); !slices.Contains(got, want) {
			t.Errorf("%s: %q has no %s", line, got, want)
		}
	}
	if got := completed([]string{"run", "scen"}); len(got) > 0 {
		t.Errorf("the shell completes file names, found %q", got)
	}
}

// TestCompletionScript checks the script of bash against bash: a word with an equals sign completes after the sign.
func TestCompletionScript(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	code, script, errs := call(t, "completion", "bash")
	if code != exitOK {
		t.Fatal(errs)
	}
	text := script + `
railyard() { printf '%s\n' lb=spray lb=srd; }
COMP_LINE='railyard run x.yaml --set lb=s' COMP_POINT=30
_railyard
printf '%s ' "${COMPREPLY[@]}"`
	out, err := exec.Command(bash, "-c", text).CombinedOutput()
	if err != nil || string(out) != "spray srd " {
		t.Errorf("%q %v", out, err)
	}
}

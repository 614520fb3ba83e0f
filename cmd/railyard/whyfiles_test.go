package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A run stores the files to which its scenario refers, so why needs nothing besides the run directory. For files
// that are too large the message names the file and the flag.
func TestWhyOfScenarioWithFiles(t *testing.T) {
	const text = "fabric: {kind: rail, hosts: 4, spines: 1}\nserver: {gpus: 1, nics: 1}\n" +
		"workload: {traffic: {background: {load: 20, sizes: s.txt, for: 50us}}}\n"
	run := func(sizes string) (dir, run string) {
		dir = t.TempDir()
		for name, text := range map[string]string{"x.yaml": text, "s.txt": sizes} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		run = filepath.Join(dir, "run")
		if code, _, errs := call(t, "run", filepath.Join(dir, "x.yaml"), "--out", run); code != 0 {
			t.Fatal(errs)
		}
		return dir, run
	}
	dir, small := run("1000 50\n20000 100\n")
	if err := os.Remove(filepath.Join(dir, "s.txt")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if code, _, errs := call(t, "why", small); code != 0 {
		t.Errorf("exit %d: %s", code, errs)
	}
	dir, large := run("1000 50\n20000 100\n" + strings.Repeat("\n", 5<<20))
	code, _, errs := call(t, "why", large)
	for _, want := range []string{"s.txt", "does not keep it", "--scenario FILE"} {
		if code != exitInput || !strings.Contains(errs, want) {
			t.Errorf("exit %d, no %q: %s", code, want, errs)
		}
	}
	if code, _, errs := call(t, "why", large, "--scenario", filepath.Join(dir, "x.yaml")); code != 0 {
		t.Errorf("exit %d: %s", code, errs)
	}
}

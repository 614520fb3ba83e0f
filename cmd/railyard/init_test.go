package main

import (
	"os"
	"strings"
	"testing"
)

// TestInit writes a scenario from flags and defaults, checks it, runs a small one, and refuses to replace a file.
func TestInit(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, errs := call(t, "init")
	if code != exitOK || !strings.Contains(out, "scenario.yaml: 64 GPUs (dgx-h100), rail fabric, llama-2-7b, ecmp\n"+
		"Next: railyard topo scenario.yaml\n      railyard run scenario.yaml\n") {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	if code, out, errs = call(t, "check", "scenario.yaml"); code != exitOK {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	if code, _, errs = call(t, "init"); code != exitInput || !strings.Contains(errs, "scenario.yaml exists; --force replaces it") {
		t.Errorf("exit %d, %s", code, errs)
	}
	small := []string{"--gpus", "16", "--workload", "permutation", "--lb", "spray", "--oversubscription", "2"}
	if code, out, errs = call(t, append([]string{"init", "pod.yaml"}, small...)...); code != exitOK {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	if code, out, errs = call(t, "run", "pod.yaml", "--expect", "drops=0", "--out", "r"); code != exitOK ||
		!strings.HasPrefix(out, "pod: ") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	b, _ := os.ReadFile("pod.yaml")
	code, out, errs = call(t, append([]string{"init", "-"}, small...)...)
	if code != exitOK || strings.Replace(out, "name: stdin", "name: pod", 1) != string(b) {
		t.Errorf("exit %d, %s%s, written %s", code, out, errs, b)
	}
	if code, _, errs = call(t, "init", "x.yaml", "--gpus", "12"); code != exitInput || strings.Count(errs, "\n") != 1 ||
		!strings.Contains(errs, "--gpus: 12 is not a multiple of 8") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// TestInitPiped checks the note that answers in a pipe are not read if a question has no flag, and the printed
// oversubscription.
func TestInitPiped(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("answers", []byte("128\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	from, err := os.Open("answers")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	was := os.Stdin
	os.Stdin = from
	defer func() { os.Stdin = was }()
	all := []string{"--gpus", "64", "--server", "dgx-h100", "--fabric", "rail", "--oversubscription", "3:1", "--workload", "incast",
		"--lb", "ecmp"}
	code, _, errs := call(t, "init", "a.yaml")
	if code != exitOK || errs != "note: standard input is not a terminal: no answers are read from it; set them with flags\n" {
		t.Errorf("exit %d, %s", code, errs)
	}
	code, _, errs = call(t, append([]string{"init", "b.yaml"}, all...)...)
	if code != exitOK || !strings.HasPrefix(errs, "note: --oversubscription: requested 3:1, built 2.67:1") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

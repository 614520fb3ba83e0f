package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A search over Swift's parameters changes them, writes them and resumes.
func TestTuneSwift(t *testing.T) {
	s := filepath.Join(scenarios(t), "three-flows.yaml")
	t.Chdir(t.TempDir())
	args := []string{"config", "tune", s, "--set", "cc.algorithm=swift", "--trials", "5", "--out", "tune"}
	code, out, errs := call(t, args...)
	if code != 0 || !strings.Contains(out, "hop_scale") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	best, err := os.ReadFile("tune/best.sh")
	if err != nil || !strings.Contains(string(best), "cc.swift.beta=") ||
		strings.Contains(string(best), "dcqcn") {
		t.Errorf("%v: %s", err, best)
	}
	table, _ := os.ReadFile("tune/front.csv")
	if head, _, _ := strings.Cut(string(table), "\n"); !slices.Contains(strings.Split(head, ","), "max_mdf") {
		t.Errorf("front.csv begins with %s", head)
	}
	const records = "tune/simulations/trials.jsonl"
	had, err := os.ReadFile(records)
	if err != nil {
		t.Fatal(err)
	}
	code, _, errs = call(t, append(args, "--trials", "7")...)
	has, err := os.ReadFile(records)
	if more, ok := bytes.CutPrefix(has, had); code != 0 || err != nil || !ok || bytes.Count(more, []byte("\n")) < 2 ||
		bytes.Count(more, []byte("\n")) > 5 { // two trials, and three of the sides if another one is the best
		t.Errorf("going on: exit %d: %s, %v, %d records more", code, errs, err, bytes.Count(more, []byte("\n")))
	}
}

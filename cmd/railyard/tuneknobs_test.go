package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A search over Swift's parameters changes them, writes them down and goes on where it was.
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
	if code, _, errs := call(t, append(args, "--trials", "7")...); code != 0 ||
		!strings.Contains(errs, "5 trials of an earlier search") {
		t.Errorf("going on: exit %d: %s", code, errs)
	}
}

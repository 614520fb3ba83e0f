package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A comparison accepts more than 64 variants, each with its own row.
func TestCompareMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "small.yaml")
	if err := os.WriteFile(path, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	var seeds []string
	for i := range 70 {
		seeds = append(seeds, fmt.Sprint(100+i))
	}
	code, out, errs := call(t, "compare", path, "--set", "seed="+strings.Join(seeds, ","))
	if code != 0 || !strings.Contains(out, "\nseed=100 ") || !strings.Contains(out, "\nseed=169 ") || strings.Contains(out, "Slowest") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}

// TestCompareNotesIdle checks that a comparison of values without effect reports that once.
func TestCompareNotesIdle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "small.yaml")
	if err := os.WriteFile(path, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := call(t, "compare", path, "--set", "placement=packed,random,spread")
	if code != 0 || strings.Count(errs, "placement has no effect: the scenario has no jobs") != 1 {
		t.Errorf("exit %d, %s", code, errs)
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Commands that could not write their plot report that before anything runs, even without a lab.
func TestLabCompareBadInput(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken.png")
	if err := os.WriteFile(taken, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--cc bbr":                          "--cc: unknown congestion control",
		"--rate-plot x.svg":                 "writes .png",
		"--rate-plot " + taken:              "--force replaces",
		"--rate-plot " + dir + "/no/cc.png": "no such folder",
		"--bytes 3":                         "--bytes: \"3\" is not a size",
		"--force":                           "has no effect without a file",
	} {
		code, _, errs := call(t, append([]string{"lab", "compare", "--name", "nolab"},
			strings.Fields(args)...)...)
		if code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
}

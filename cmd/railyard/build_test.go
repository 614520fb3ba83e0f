package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuildOut checks that an unwritable program is rejected before anything is built, with the message of other
// commands, and that no directory is created.
func TestBuildOut(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "program")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing")
	for out, want := range map[string]string{
		filepath.Join(missing, "program"): "directory " + missing + " does not exist",
		dir:                               "is a folder, expected the name of a file",
		there:                             "exists; --force replaces it",
	} {
		code, _, errs := call(t, "build", "--with", "../../examples/custom-cc", "--out", out)
		if code != exitInput || !strings.Contains(errs, want) {
			t.Errorf("%s: exit code %d, %q, want %q", out, code, errs, want)
		}
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("the directory was made")
	}
}

// TestBuilt checks that the last line reports whether conformance tests ran.
func TestBuilt(t *testing.T) {
	for noTest, want := range map[bool]string{false: "p: Railyard with vegas, ecn; conformance tests passed",
		true: "p: Railyard with vegas, ecn; conformance tests not run (--no-test)"} {
		if got := (&buildCmd{Out: "p", NoTest: noTest}).built([]string{"vegas", "ecn"}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

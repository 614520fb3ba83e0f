package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A file in no format that is read is answered with eight that are; the help lists all, of cables, traces and
// trainings.
func TestImportOfNothingKnown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hello.txt")
	if err := os.WriteFile(path, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, said := call(t, "import", path)
	if code != exitInput || strings.Count(said, ",") < 7 || !regexp.MustCompile(`and \d+ more`).MatchString(said) {
		t.Errorf("exit %d: %s", code, said)
	}
	_, help, _ := call(t, "import", "--help")
	for _, name := range []string{"csv", "kineto", "goal", "deepspeed"} {
		if !strings.Contains(help, name) {
			t.Errorf("no %s in the help:\n%s", name, help)
		}
	}
}

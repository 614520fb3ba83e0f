package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file in no format that is read is answered with all that are, of cables, traces and trainings.
func TestImportOfNothingKnown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hello.txt")
	if err := os.WriteFile(path, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, said := call(t, "import", path)
	for _, name := range []string{"csv", "kineto", "goal", "deepspeed"} {
		if code != exitInput || !strings.Contains(said, name) {
			t.Errorf("exit %d, no %s: %s", code, name, said)
		}
	}
}

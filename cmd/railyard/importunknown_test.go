package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file in no format that is read is answered with all that are; the help lists them too, of cables, traces and
// trainings.
func TestImportOfNothingKnown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hello.txt")
	if err := os.WriteFile(path, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, said := call(t, "import", path)
	if code != exitInput {
		t.Errorf("exit %d: %s", code, said)
	}
	_, help, _ := call(t, "import", "--help")
	for _, name := range []string{"csv", "kineto", "goal", "deepspeed"} {
		if !strings.Contains(help, name) || !strings.Contains(said, name) {
			t.Errorf("no %s in the help or the error:\n%s%s", name, help, said)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The error of an unsupported format lists all supported ones; so does the help, for cables, traces and trainings.
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

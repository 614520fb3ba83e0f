package input

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The contents of pipes are kept, because a pipe cannot be read again. All contents together have a limit. A pipe
// that exceeds it is refused, and the earlier contents remain.
func TestPipesAreBoundedTogether(t *testing.T) {
	texts, bytes, most := maps.Clone(piped.texts), piped.bytes, piped.most
	piped.most = bytes + 100
	defer func() { piped.texts, piped.bytes, piped.most = texts, bytes, most }() // other pipes get the same numbers
	fed := func(text string) string {
		path := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0) // so that it opens without a reader
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		r, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // keeps the text when the writer closes
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		f.WriteString(text)
		f.Close()
		return path
	}
	some, more, rest := strings.Repeat("a", 60), strings.Repeat("b", 60), strings.Repeat("c", 40)
	first := fed(some)
	for range 2 {
		if b, err := Text(first, 0); err != nil || string(b) != some {
			t.Fatalf("the first of the pipes: %q, %v", b, err)
		}
	}
	if b, err := Text(fed(more), 0); err == nil || !strings.Contains(err.Error(), "all pipes bring more than") {
		t.Errorf("a pipe beyond the bound: %q, %v", b, err)
	}
	if b, err := Text(fed(rest), 0); err != nil || string(b) != rest {
		t.Errorf("a pipe up to the bound: %q, %v", b, err)
	}
	if b, err := Text(first, 0); err != nil || string(b) != some {
		t.Errorf("the first of the pipes once more: %q, %v", b, err)
	}
}

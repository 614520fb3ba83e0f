package output

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"railyard/internal/input"
)

// holds checks the files of a folder: names and contents.
func holds(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(want) {
		t.Fatalf("%v, %v, want %d files", entries, err, len(want))
	}
	for name, text := range want {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != text {
			t.Errorf("%s holds %q, %v, want %q", name, b, err, text)
		}
	}
}

// A file appears whole or not at all, and an existing one changes with force only.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	full := errors.New("the disk is full")
	half := func(w io.Writer) error {
		if _, err := io.WriteString(w, strings.Repeat("x", 3<<20)); err != nil {
			return err
		}
		return full
	}
	if err := Write(path, false, half); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	holds(t, dir, nil)
	if err := WriteBytes(path, false, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	if err := WriteBytes(path, false, []byte("two")); !input.IsFault(err) ||
		!strings.Contains(err.Error(), "a.txt exists; --force replaces it") {
		t.Errorf("%v", err)
	}
	if err := Write(path, true, half); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	holds(t, dir, map[string]string{"a.txt": "one"})
	if err := WriteBytes(path, true, []byte("three")); err != nil {
		t.Error(err)
	}
	holds(t, dir, map[string]string{"a.txt": "three"})
}

// A file that somebody else has made meanwhile stays, and nothing of the own one does.
func TestKeepNeverReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	f, err := Create(path, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("own"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("another's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Keep(); !errors.Is(err, os.ErrExist) {
		t.Errorf("%v", err)
	}
	holds(t, dir, map[string]string{"a.txt": "another's"})
}

// What cannot be a file's name is refused with what it is, before anything is computed.
func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                           "is a folder, expected the name of a file",
		filepath.Join(dir, "no", "a"): "does not exist",
		filepath.Join(dir, "pipe"):    "is a pipe without a reader",
		filepath.Join(pipe, "a.txt"):  "pipe",
	} {
		if f, err := Create(path, true); err == nil || !input.IsFault(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", path, f, err, want)
		}
	}
	if err := WriteBytes("/dev/null", true, []byte("x")); err != nil {
		t.Error(err)
	}
}

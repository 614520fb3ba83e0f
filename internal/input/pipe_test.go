package input_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"railyard/internal/input"
)

// fed is a pipe with a writer.
func fed(t *testing.T, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	// open for both, so that the writer does not wait for a reader
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		f.Write(text)
		f.Close()
	}()
	return path
}

// The contents of a pipe are read once and returned for every request, up to a limit.
func TestPipes(t *testing.T) {
	want := bytes.Repeat([]byte("interface Ethernet1/1\n"), 20_000)
	path := fed(t, want)
	for range 2 {
		if b, err := input.Text(path, 1<<20); err != nil || !bytes.Equal(b, want) {
			t.Fatalf("%d bytes, %v", len(b), err)
		}
	}
	r, size, err := input.Stream(path, 0)
	if err != nil || size != int64(len(want)) {
		t.Fatal(size, err)
	}
	if b, err := io.ReadAll(r); err != nil || !bytes.Equal(b, want) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := input.Text(path, 5); err == nil || !strings.Contains(err.Error(), "more than the 5 bytes") {
		t.Error(err)
	}
	if _, err := input.Text(fed(t, want), 1000); err == nil || !strings.Contains(err.Error(), "more than the 1000 bytes") {
		t.Error(err)
	}
	empty := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(empty, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := input.Text(empty, 5); err == nil || !strings.Contains(err.Error(), "a pipe without a writer") {
		t.Error(err)
	}
	if _, err := input.Open(path, 5); err == nil || !strings.Contains(err.Error(), "not a regular file but a pipe") {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, []byte("12345"), 0o600)
	if b, err := input.Text(file, 5); err != nil || string(b) != "12345" {
		t.Errorf("%q, %v", b, err)
	}
}

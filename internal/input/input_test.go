package input_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"railyard/internal/input"
)

// A path that is no file is refused, without waiting for a writer. A file is read up to the size that it had.
func TestOnlyFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("pipe"), at("link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mknod(at("socket"), syscall.S_IFSOCK|0o600, 0); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(at("file"), []byte("12345"), 0o600)
	for path, want := range map[string]string{
		at("pipe"): "not a regular file but a pipe", at("link"): "not a regular file but a pipe",
		at("socket"): "not a regular file but a socket",
		dir:          "not a regular file but a directory", "/dev/zero": "not a regular file but a device",
		at("none"): "no such file", at("file"): "has 5 bytes, at most 4",
	} {
		if _, err := input.Read(path, 4); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if b, err := input.Read(at("file"), 5); err != nil || string(b) != "12345" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := os.Stat("/proc/kmsg"); err == nil && os.Getuid() == 0 {
		if b, err := input.Read("/proc/kmsg", 100); err == nil && len(b) > 0 {
			t.Errorf("read %d bytes of the kernel's log", len(b))
		}
	}
}

// TestWalkLink walks a directory by a link to it.
func TestWalkLink(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "current")
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "leaf.cfg"), []byte("feature lldp\n"), 0o644),
		os.Symlink(dir, link)); err != nil {
		t.Fatal(err)
	}
	var paths []string
	err := input.Walk(link, 10, func(path string) error {
		paths = append(paths, path)
		return nil
	})
	if err != nil || len(paths) != 1 || paths[0] != filepath.Join(link, "leaf.cfg") {
		t.Error(paths, err)
	}
}

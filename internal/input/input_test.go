package input_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"railyard/internal/input"
)

// What is no file is refused at once; a file is read as far as it went.
func TestOnlyFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("pipe"), at("link")); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	os.WriteFile(at("file"), []byte("12345"), 0o600)
	for path, want := range map[string]string{
		at("pipe"): "no regular file but a pipe", at("link"): "no regular file but a pipe",
		at("socket"): "no regular file but a socket",
		dir:          "no regular file but a directory", "/dev/zero": "no regular file but a device",
		at("none"): "no such file", at("file"): "has 5 bytes, at most 4",
	} {
		within(t, path, func() {
			if _, err := input.Read(path, 4); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
	if b, err := input.Read(at("file"), 5); err != nil || string(b) != "12345" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := os.Stat("/proc/kmsg"); err == nil && os.Getuid() == 0 {
		within(t, "/proc/kmsg", func() {
			if b, err := input.Read("/proc/kmsg", 100); err == nil && len(b) > 0 {
				t.Errorf("read %d bytes of the kernel's log", len(b))
			}
		})
	}
}

func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan bool)
	go func() { f(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatalf("%s is still being read", what)
	}
}

package host

import (
	"testing"
	"unsafe"
)

// TestLines checks that the fields of senders and receivers that every packet reads begin with a cache line.
func TestLines(t *testing.T) {
	var s sender
	for _, f := range []struct {
		name string
		n    uintptr
	}{
		{"a sender", unsafe.Sizeof(s)}, {"a receiver", unsafe.Sizeof(receiver{})},
		{"a connection's ends", unsafe.Sizeof(ends{})}, {"their second half", unsafe.Offsetof(ends{}.posted)},
		{"the pacer's place", unsafe.Offsetof(s.pace)}, {"the queue pair's place", unsafe.Offsetof(s.qp)},
	} {
		if f.n%64 != 0 {
			t.Errorf("%s is %d, no whole number of lines", f.name, f.n)
		}
	}
	if end := unsafe.Offsetof(s.held) + unsafe.Sizeof(s.held); end > 64 {
		t.Errorf("what each packet reads ends at %d, beyond the first line", end)
	}
}

package rc

import (
	"testing"
	"unsafe"
)

// TestLines checks that fields read per packet are in the intended cache lines.
func TestLines(t *testing.T) {
	var q QP
	var w wr
	line := func(off uintptr) uintptr { return off / 64 }
	for _, f := range []struct {
		name      string
		off, want uintptr
	}{
		{"cfg", unsafe.Offsetof(q.cfg), 0}, {"special", unsafe.Offsetof(q.special), 0},
		{"una", unsafe.Offsetof(q.una), 0}, {"end", unsafe.Offsetof(q.end), 0},
		{"progressAt", unsafe.Offsetof(q.progressAt), 0}, {"ackEvery", unsafe.Offsetof(q.ackEvery), 0},
		{"wrs", unsafe.Offsetof(q.wrs), 1}, {"sel", unsafe.Offsetof(q.sel), 1},
		{"done", unsafe.Offsetof(q.done), 1},
		{"expect", unsafe.Offsetof(q.expect), 2}, {"region", unsafe.Offsetof(q.region), 2},
		{"Received", unsafe.Offsetof(q.Received), 2},
		{"held", unsafe.Offsetof(q.reorder) + unsafe.Offsetof(q.reorder.held), 2},
		{"first of a request", unsafe.Offsetof(w.first), 0},
		{"data of a request", unsafe.Offsetof(w.Data), 0},
	} {
		if line(f.off) != f.want {
			t.Errorf("%s is at %d, in line %d, want line %d", f.name, f.off, line(f.off), f.want)
		}
	}
	if size := unsafe.Sizeof(q); size%64 != 0 {
		t.Errorf("a queue pair has %d bytes, no whole number of lines", size)
	}
	if size := unsafe.Sizeof(w); size != 128 {
		t.Errorf("a work request has %d bytes", size)
	}
}

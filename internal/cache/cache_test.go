package cache

import (
	"testing"
	"unsafe"
)

// TestLines: prefetching any address has no effect other than caching, even beyond the end of the process's memory
// and at nil.
func TestLines(t *testing.T) {
	b := make([]byte, 100)
	for i := range b {
		b[i] = byte(i)
	}
	for _, n := range []int{1, 2, 8, 1 << 10, 0, -1} {
		Lines(unsafe.Pointer(&b[0]), n)
		Lines(unsafe.Pointer(&b[99]), n)
		Lines(nil, n)
	}
	Line(unsafe.Pointer(&b[50]))
	Line(nil)
	Apart(unsafe.Pointer(&b[0]))
	Apart(nil)
	for i := range b {
		if b[i] != byte(i) {
			t.Fatalf("byte %d is %d", i, b[i])
		}
	}
}

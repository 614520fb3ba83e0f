package cc

import (
	"testing"
	"unsafe"
)

// TestPacerLines checks that the fields read per packet are in the first cache line.
func TestPacerLines(t *testing.T) {
	var p Pacer
	if end := unsafe.Offsetof(p.left) + unsafe.Sizeof(p.left); end != 64 {
		t.Errorf("what each packet reads has %d bytes, want 64", end)
	}
}

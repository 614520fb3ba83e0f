package fabric

import (
	"testing"
	"unsafe"
)

// A packet has one cache line, because memory access dominates a hop at 1,024 hosts (ARCHITECTURE.md, Speed).
func TestPacketIsOneCacheLine(t *testing.T) {
	if size := unsafe.Sizeof(Packet{}); size != 64 {
		t.Errorf("a packet has %d bytes", size)
	}
}

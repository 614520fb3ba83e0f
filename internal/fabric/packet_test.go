package fabric

import (
	"testing"
	"unsafe"
)

// A packet is one cache line: at 1,024 hosts a hop waits for little else (ARCHITECTURE.md, Speed).
func TestPacketIsOneCacheLine(t *testing.T) {
	if size := unsafe.Sizeof(Packet{}); size != 64 {
		t.Errorf("a packet has %d bytes", size)
	}
}

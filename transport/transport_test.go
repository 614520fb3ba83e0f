package transport

import (
	"testing"
	"unsafe"
)

// TestPacketFitsTwoLines: simulated NICs have a slab of packets, whose entries should not share a cache line.
func TestPacketFitsTwoLines(t *testing.T) {
	if size := unsafe.Sizeof(Packet{}); size > 128 {
		t.Errorf("a packet has %d bytes, more than two cache lines", size)
	}
}

func TestKindsHaveNames(t *testing.T) {
	for k := Data; k <= Control; k++ {
		if k.String() == "" {
			t.Errorf("kind %d has no name", k)
		}
	}
}

func TestList(t *testing.T) {
	l := List{{Name: "one"}, {Name: "two"}}
	if got := l.Names(); len(got) != 2 || got[1] != "two" {
		t.Errorf("names are %q", got)
	}
	if l.Lookup("two") != l[1] || l.Lookup("three") != nil {
		t.Error("a protocol is found by its name, and by no other")
	}
}

package fabric

import (
	"math/bits"
	"unsafe"

	"railyard/internal/cache"
	"railyard/internal/engine"
)

// Touch asks the caches for the packet of a coming arrival, at a switch or a host.
func (n *Net) Touch(e *engine.Event) {
	if e.Kind()&^KindHost == KindArrive {
		cache.Line(unsafe.Pointer(&n.Packets[e.B]))
	}
}

// TouchPacket asks the caches for a packet, if there ever was one of that number.
func (n *Net) TouchPacket(pi int32) {
	if uint32(pi) < uint32(len(n.Packets)) {
		cache.Line(unsafe.Pointer(&n.Packets[pi]))
	}
}

// TouchQueue asks for the first packet that waits at a port, in its highest class. When it came it was in a
// cache; in a large fabric it no longer is when its turn comes.
func (n *Net) TouchQueue(port int32) {
	if some := n.Ports[port].NonEmpty; some != 0 {
		n.TouchPacket(n.classes[n.slot(port, 7-bits.LeadingZeros8(some))].head)
	}
}

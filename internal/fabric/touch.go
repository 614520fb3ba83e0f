package fabric

import (
	"math/bits"
	"unsafe"

	"railyard/internal/cache"
	"railyard/internal/engine"
)

// Touch prefetches the packet of a coming arrival, at a switch or a host.
func (n *Net) Touch(e *engine.Event) {
	if e.Kind()&^KindHost == KindArrive {
		cache.Line(unsafe.Pointer(&n.Packets[e.B]))
	}
}

// TouchPacket prefetches a packet, if its number was ever in use.
func (n *Net) TouchPacket(pi int32) {
	if uint32(pi) < uint32(len(n.Packets)) {
		cache.Line(unsafe.Pointer(&n.Packets[pi]))
	}
}

// TouchQueue prefetches the first queued packet of a port, in its highest class. It was in a cache on arrival. In a
// large fabric it no longer is when it is sent.
func (n *Net) TouchQueue(port int32) {
	if some := n.Ports[port].NonEmpty; some != 0 {
		n.TouchPacket(n.classes[n.slot(port, 7-bits.LeadingZeros8(some))].head)
	}
}

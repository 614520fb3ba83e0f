package fabric

import (
	"unsafe"

	"railyard/internal/cache"
	"railyard/transport"
)

// Headers of transports other than RC (package transport) are in a slab parallel to Packets, like telemetry. Only
// networks with such connections allocate it.

// headers take two cache lines; data use only the first.
type headers struct {
	transport.Packet
	_ [32]byte
}

// KeepHeaders allocates headers for each packet.
func (n *Net) KeepHeaders() { n.headers = make([]headers, len(n.Packets), cap(n.Packets)) }

// Headers returns a packet's headers; they have the values of the slot's last use. Alloc may move them, as it may
// move Packets.
func (n *Net) Headers(pi int32) *transport.Packet { return &n.headers[pi].Packet }

// Blank returns a packet's with all fields zero. Fields of answers are zero if the last packet was data, as transports
// promise, and are then not cleared.
func (n *Net) Blank(pi int32) *transport.Packet {
	p := &n.headers[pi].Packet
	if p.Kind != transport.Data {
		*p = transport.Packet{}
		return p
	}
	p.Flags, p.Plane, p.Verdict, p.Code, p.Penalty, p.EV, p.PSN, p.Message = 0, 0, 0, 0, 0, 0, 0, 0
	p.Payload, p.Offset, p.Bytes, p.Sent, p.Delay = 0, 0, 0, 0, 0
	return p
}

// CarriedHeaders returns the headers of the packet for which Tap or OnDrop is called.
func (n *Net) CarriedHeaders() *transport.Packet { return &n.headers[n.tapped].Packet }

// beside copies a packet's entries in the parallel slabs to another packet.
func (n *Net) beside(to, from int32) {
	if n.told != nil {
		n.told[to] = n.told[from].Copied()
	}
	if n.headers != nil {
		n.headers[to] = n.headers[from]
	}
}

// swapBeside exchanges the entries of two packets that have changed places.
func (n *Net) swapBeside(a, b int32) {
	if n.told != nil {
		n.told[a], n.told[b] = n.told[b], n.told[a]
	}
	if n.headers != nil {
		n.headers[a], n.headers[b] = n.headers[b], n.headers[a]
	}
}

// TouchHeaders prefetches the headers of an arriving packet.
func (n *Net) TouchHeaders(pi int32) { cache.Line(unsafe.Pointer(&n.headers[pi])) }

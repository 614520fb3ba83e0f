package transport

import (
	"railyard/param"
	"railyard/roce"
	"railyard/unit"
)

// Wire is a protocol on real datagrams: the functions that a driver of sockets needs besides the two ends. Their
// receivers are Refusers.
type Wire interface {
	// Encode fills in the headers of a packet between two queue pairs. A driver adds data that only sockets have:
	// regions and first PSNs.
	Encode(p *Packet, h *roce.Header, m *roce.MRC, from, to uint16)
	// Decode fills in a packet from its headers; false for headers that the protocol does not use.
	Decode(now unit.Time, h *roce.Header, m *roce.MRC, payload int, p *Packet) bool
	// Numbered reports whether the PSN of a probe is a number of the endpoint, which has one sequence for all
	// connections.
	Numbered(p *Packet) bool
	// Tracks returns the number of packets that a receiver tracks after the first missing one; it is equal at both
	// ends.
	Tracks() int
	// Values returns the parameters for ends on sockets.
	Values(s Sockets) param.Values
}

// Sockets are the data of a connection that only a driver of sockets has.
type Sockets struct {
	Ports      int // source ports, the entropy values
	Planes     int
	Segments   int       // packets of a system call
	Immediates int       // WRITEs with immediate that may be in flight
	Timeout    unit.Time // RC's default
}

// Refuser is a Receiver whose NIC may refuse data.
type Refuser interface {
	Receiver
	// Refuse answers a data packet that the NIC cannot accept, before Take would.
	Refuse(p *Packet, why roce.NackReason)
}

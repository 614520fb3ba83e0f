package rcudp

import (
	"encoding/binary"

	"railyard/cc"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// The far end of a connection over sockets is a process. Its delay of a packet, from the kernel's arrival stamp to
// the departure of the acknowledgement, is a large part of a round trip without queues. Swift has a separate window
// for that delay (section 3.2 of its paper). An end may therefore request it from its peer (Conn.FarEnd, agreed on
// at connection set-up). It is sent in nanoseconds, in four bytes after an acknowledgement's AETH, as simulated
// receivers do. The TTL gives the number of switches that an acknowledgement has passed.

// ttl is the TTL of sent datagrams.
const ttl = 64

// Met sets the time since arrival and the TTL of the next Input; zero: unknown.
func (e *Endpoint) Met(waited unit.Time, hops uint8) {
	e.waited, e.hops = waited, 0
	if hops > 0 && hops < ttl {
		e.hops = ttl - hops
	}
}

// kept writes for how long this end has delayed the packet that an acknowledgement answers, from its arrival.
func (e *Endpoint) kept(b []byte, came unit.Time) []byte {
	ns := min(max(0, e.now-came)/unit.Nanosecond, 1<<32-1)
	return binary.BigEndian.AppendUint32(b, uint32(ns))
}

// far reads an acknowledgement's report of the far end's time. At least some of the round trip belongs to the
// network, for any report.
func (e *Endpoint) far(p *rc.Packet, a *cc.Ack) {
	if p.Opcode != roce.Acknowledge || len(p.Data) != roce.FarDelayLen {
		return
	}
	a.Far, a.FarWithin = unit.Time(binary.BigEndian.Uint32(p.Data))*unit.Nanosecond, true
	a.Hops = int(e.hops)
}

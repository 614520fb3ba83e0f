package rcudp

import (
	"encoding/binary"

	"railyard/cc"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// The far end of a connection over sockets is a process: what it takes for a packet, from the kernel's time
// of arrival to the acknowledgement's leaving, is much of a round trip in which nothing waits on the way.
// Swift has a window of its own for that (section 3.2 of its paper), so an end may ask its peer to say it
// (Conn.FarEnd, agreed on at connection set-up): in nanoseconds, four bytes behind an acknowledgement's AETH,
// as simulated receivers do. How many switches an acknowledgement has passed its TTL tells.

// ttl is the TTL of datagrams that are sent.
const ttl = 64

// Met says of what Input takes next how long it has waited since it came, and with what TTL; zero: not known.
func (e *Endpoint) Met(waited unit.Time, hops uint8) {
	e.waited, e.hops = waited, 0
	if hops > 0 && hops < ttl {
		e.hops = ttl - hops
	}
}

// kept writes how long we have kept the packet that an acknowledgement answers, which came at a time.
func (e *Endpoint) kept(b []byte, came unit.Time) []byte {
	ns := min(max(0, e.now-came)/unit.Nanosecond, 1<<32-1)
	return binary.BigEndian.AppendUint32(b, uint32(ns))
}

// far reads what an acknowledgement reports of the far end. Whatever it says, a round trip has some time besides.
func (e *Endpoint) far(p *rc.Packet, a *cc.Ack) {
	if p.Opcode != roce.Acknowledge || len(p.Data) != roce.FarDelayLen {
		return
	}
	a.Far, a.FarWithin = unit.Time(binary.BigEndian.Uint32(p.Data))*unit.Nanosecond, true
	a.Hops = int(e.hops)
}

package rcudp

import (
	"net/netip"

	"railyard/transport"
	"railyard/unit"
)

// Endpoint operations of MRC use queue pair 2, outside all connections. A probe has an identifier of 16 bits and no
// queue pair. An endpoint therefore numbers the probes of all its connections in one sequence, and stores the
// connection of each. A peer's port state applies to all connections to it.

// questions are the last probes.
type questions struct {
	next  uint16
	asked [mostQuestions]question
}

// mostQuestions is the number of probes that may be unanswered; answers to older ones are ignored.
const mostQuestions = 1024

type question struct {
	conn *Conn
	wire uint16
	id   uint32 // identifier in the connection's numbering
}

// note assigns a number to a question of a connection.
func (q *questions) note(c *Conn, p *transport.Packet) uint32 {
	q.next++
	q.asked[q.next%mostQuestions] = question{c, q.next, p.PSN}
	return uint32(q.next)
}

// of returns a probe by the number of its answer.
func (q *questions) of(wire uint16) *question {
	if x := &q.asked[wire%mostQuestions]; x.conn != nil && x.wire == wire {
		return x
	}
	return nil
}

// forget removes the probes of a connection.
func (q *questions) forget(c *Conn) {
	for i := range q.asked {
		if q.asked[i].conn == c {
			q.asked[i] = question{}
		}
	}
}

// endpointMRC processes a probe of this endpoint, or an answer to one of its own.
func (e *Endpoint) endpointMRC(now unit.Time, src netip.AddrPort, plane uint8) {
	h, p := &e.in, &e.mrcIn
	if e.cfg.Carrier == nil || !e.cfg.Carrier.Wire.Decode(now, h, &e.mrcHead, 0, p) {
		e.Count.Malformed++
		return
	}
	if p.Plane = plane; p.Kind != transport.Answer {
		e.tellMRC(now, src, p)
		return
	}
	q := e.asked.of(uint16(p.PSN))
	if q == nil || q.conn.mrc == nil || !q.conn.isPeer(src.Addr()) {
		return
	}
	p.PSN = q.id
	q.conn.mrc.send.Take(now, p)
	q.conn.mrc.recv.Take(now, p)
}

// tellMRC passes a peer's message to its connections: a port status to all, a probe of a path to the first one,
// which answers.
func (e *Endpoint) tellMRC(now unit.Time, src netip.AddrPort, p *transport.Packet) {
	known := false
	for _, c := range e.ring {
		if c.mrc == nil || !c.isPeer(src.Addr()) {
			continue
		}
		known = true
		if c.mrc.send.Take(now, p); p.Kind == transport.Probe {
			return
		}
		c.mrc.recv.Take(now, p)
	}
	if !known {
		e.Count.WrongPeer++
	}
}

// isPeer reports whether an address belongs to the peer, on any plane.
func (c *Conn) isPeer(a netip.Addr) bool {
	a = a.Unmap()
	if c.Peer == a {
		return true
	}
	for _, p := range c.Peers {
		if p == a {
			return true
		}
	}
	return false
}

package transporttest

import (
	"testing"

	"railyard/internal/rng"
	"railyard/transport"
	"railyard/unit"
)

// hostileRuns is the number of hostile peers, hostilePackets the number of packets that each of them sends.
const (
	hostileRuns    = 300
	hostilePackets = 200
)

// hostile injects packets in the name of either end while the ends communicate.
func (s *Suite) hostile(t *testing.T) {
	for seed := range uint64(hostileRuns) {
		if fault := s.attack(seed, anyPacket); fault != "" {
			t.Fatalf("seed %d: %s", seed, fault)
		}
	}
}

// Attack injects the packets of a function at both ends of loaded connections. It returns the first broken rule,
// for fuzzers.
func (s *Suite) Attack(seed uint64, make func(r *rng.Stream, p *transport.Packet)) string {
	if s.Values == nil {
		s.Values = s.Protocol.Defaults
	}
	return s.attack(seed, make)
}

func (s *Suite) attack(seed uint64, make func(r *rng.Stream, p *transport.Packet)) string {
	r := rng.New(seed, "hostile")
	n := New(Setup{Protocol: s.Protocol, Values: s.Values, Planes: 2, Paths: 2, Conns: 2, Seed: seed, Carry: s.Carry})
	h := hostileNet{n: n}
	for range 1 + r.Intn(4) {
		c := n.conns[r.Intn(2)]
		if c.sender.Post(n.Now, transport.Request{ID: 1, Bytes: anySize(&r), Tells: r.Intn(2) == 0}) != nil {
			continue
		}
	}
	var p transport.Packet
	for range hostilePackets {
		c := n.conns[r.Intn(2)]
		switch n.Now += unit.Time(r.Intn(int(20 * unit.Microsecond))); r.Intn(6) {
		case 0, 1:
			for plane := range 2 {
				if p = (transport.Packet{}); c.sender.Next(n.Now, plane, &p) && r.Intn(4) > 0 {
					h.last[r.Intn(len(h.last))] = p
					h.take(c, c.receiver, &p)
				}
			}
		case 2:
			make(&r, &p)
			h.take(c, c.receiver, &p)
		case 3:
			make(&r, &p)
			h.take(c, c.sender, &p)
		case 4: // a real packet, repeated or sent to the wrong end, with a changed field
			p = h.last[r.Intn(len(h.last))]
			change(&r, &p)
			h.take(c, [2]transport.End{c.sender, c.receiver}[r.Intn(2)], &p)
		case 5:
			c.sender.PlaneIs(n.Now, r.Intn(2), r.Intn(3) > 0)
			c.receiver.PlaneIs(n.Now, r.Intn(2), r.Intn(3) > 0)
			n.Now += unit.Time(r.Intn(int(unit.Millisecond)))
		}
		for _, c := range n.conns {
			h.serve(c, c.sender, c.receiver)
			h.serve(c, c.receiver, c.sender)
			for range 100_000 {
				if _, ok := c.sender.Completed(); !ok {
					break
				}
			}
			for range 100_000 {
				if _, ok := c.receiver.Arrived(); !ok {
					break
				}
			}
			if in := c.sender.InFlight(); in < 0 {
				n.fail("%v are in flight", in)
			}
		}
		if n.Fault != "" {
			return n.Fault
		}
	}
	return ""
}

// hostileNet delivers some packets immediately and drops the rest.
type hostileNet struct {
	n    *Net
	last [16]transport.Packet
}

func (h *hostileNet) take(c *conn, e transport.End, p *transport.Packet) {
	q := *p
	if e.Take(h.n.Now, &q) && e == transport.End(c.sender) {
		h.n.fail("a sender places %+v", *p)
	}
}

// serve handles an end's requests and delivers some of its packets.
func (h *hostileNet) serve(c *conn, from, to transport.End) {
	h.carry(c, from, to)
	h.n.tick(from, func() { h.carry(c, from, to) })
}

func (h *hostileNet) carry(c *conn, from, to transport.End) {
	n := h.n
	var p transport.Packet
	for i := 0; n.Fault == ""; i++ {
		if p = (transport.Packet{}); !from.Say(n.Now, &p) {
			return
		}
		if i == mostSays {
			n.fail("Say has %d packets in a row, and more", i)
		}
		if n.maker.Wire(&p) <= 0 || p.Kind == transport.Data {
			n.fail("Say makes %+v", p)
		}
		h.last[i%len(h.last)] = p
		if i < 4 {
			h.take(c, to, &p)
		}
	}
}

// anyPacket returns a random packet, often with numbers close to numbers in use.
func anyPacket(r *rng.Stream, p *transport.Packet) {
	near := func() uint64 {
		switch r.Intn(4) {
		case 0:
			return r.Uint64()
		case 1:
			return uint64(1)<<r.Intn(64) - uint64(r.Intn(3))
		}
		return uint64(r.Intn(200)) - uint64(r.Intn(8))
	}
	*p = transport.Packet{Kind: transport.Kind(r.Intn(int(transport.Control) + 1)),
		Flags: transport.Flags(r.Intn(256)), Plane: uint8(r.Intn(2)), Verdict: uint8(r.Intn(5)),
		Code: uint8(r.Intn(10)), Penalty: uint8(near()), EV: uint32(near()), PSN: uint32(near()),
		Message: uint32(near()), Payload: uint32(r.Intn(1025)), Offset: near(), Bytes: near(),
		Sent: unit.Time(near() >> 1), Delay: unit.Time(near() >> 1), Expect: uint32(near()),
		Base: uint32(near()), Bits: [2]uint64{near(), near()}, EchoEV: uint32(near()), Late: uint32(near())}
	if r.Intn(16) == 0 {
		p.Kind, p.Plane, p.Payload = transport.Kind(r.Uint64()), uint8(near()), uint32(near())
	}
}

// change changes a field of a packet.
func change(r *rng.Stream, p *transport.Packet) {
	var any transport.Packet
	anyPacket(r, &any)
	switch r.Intn(10) {
	case 0:
		p.Kind = any.Kind
	case 1:
		p.Flags = any.Flags
	case 2:
		p.PSN = any.PSN
	case 3:
		p.Message = any.Message
	case 4:
		p.Offset, p.Payload = any.Offset, any.Payload
	case 5:
		p.Bytes = any.Bytes
	case 6:
		p.Expect, p.Base = any.Expect, any.Base
	case 7:
		p.Bits = any.Bits
	case 8:
		p.EV, p.EchoEV = any.EV, any.EchoEV
	case 9:
		p.Code, p.Verdict, p.Penalty, p.Sent = any.Code, any.Verdict, any.Penalty, any.Sent
	}
}

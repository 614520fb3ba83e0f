package srd

import (
	"railyard/transport"
	"railyard/transport/window"
	"railyard/unit"
)

// receiver is a connection's receiving end. Messages arrive when they are whole, in any order.
type receiver struct {
	s     *settings
	in    window.In
	ackAt unit.Time
	count int // packets that wait for an acknowledgement
	due   bool
	last  transport.Packet
	came  unit.Time
	marks bool
}

// Take takes a data packet; true: its payload is new.
func (r *receiver) Take(now unit.Time, p *transport.Packet) (place bool) {
	if p.Kind != transport.Data || p.Flags&transport.Trimmed != 0 {
		return false
	}
	v := r.in.Take(p)
	if v == window.Ahead {
		return false
	}
	if r.count++; r.count == 1 {
		r.ackAt = now + r.s.AckDelay
	}
	r.last, r.came = *p, now
	r.marks = r.marks || p.Flags&transport.Marked != 0
	if r.count >= r.s.AckEvery || p.Flags&transport.Asks != 0 || v == window.Before {
		r.due, r.ackAt = true, unit.Never
	}
	return v == window.Fresh
}

// Say builds the acknowledgement when it is due.
func (r *receiver) Say(now unit.Time, p *transport.Packet) bool {
	if !r.due {
		return false
	}
	*p = transport.Packet{Kind: transport.Ack, Flags: transport.Stamped, Plane: r.last.Plane,
		EV: r.last.EV, EchoEV: r.last.EV, PSN: r.last.PSN, Sent: r.last.Sent, Delay: now - r.came,
		Expect: uint32(r.in.Expect()), Base: uint32(r.in.Expect()), Bytes: r.in.Received, Late: r.in.Late}
	if r.marks {
		p.Flags |= transport.Marked
	}
	if r.in.Holes() {
		p.Base = uint32(r.base())
		p.Bits = r.in.Bits(r.in.Full(p.Base))
	}
	r.count, r.marks, r.due, r.ackAt = 0, false, false, unit.Never
	return true
}

// base returns the first packet of the bitmap. The bitmap ends with the latest packet. It does not begin before the
// oldest missing one.
func (r *receiver) base() uint64 {
	base := r.in.Expect()
	if last := r.in.Full(r.last.PSN); last >= base+128 {
		base = last - 127
	}
	return base
}

// At returns the time at which the acknowledgement is due.
func (r *receiver) At() unit.Time { return r.ackAt }

// Tick makes it due.
func (r *receiver) Tick(now unit.Time) {
	if now >= r.ackAt {
		r.due, r.ackAt = true, unit.Never
	}
}

// PlaneIs changes nothing: an acknowledgement takes the plane of the latest packet.
func (r *receiver) PlaneIs(unit.Time, int, bool) {}

// Arrived pops a message.
func (r *receiver) Arrived() (uint32, bool) { return r.in.Arrived() }

// Counter reports what receivers count.
func (r *receiver) Counter(name string) (int64, bool) { return r.in.Counter(name) }

// Touch does nothing.
func (*receiver) Touch(*transport.Packet, bool) {}

// Close frees the memory for packets.
func (r *receiver) Close() { r.in.Close() }

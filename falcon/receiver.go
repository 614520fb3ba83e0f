package falcon

import (
	"math/bits"

	"railyard/transport"
	"railyard/transport/window"
	"railyard/unit"
)

// receiver is a connection's receiving end. It acknowledges per path, as the third generation does. A path's
// acknowledgement echoes the time stamp of that path's packets, so round trips are measured per path.
type receiver struct {
	s     *settings
	in    window.In
	owed  [1 << flowBits]owed
	ready uint8 // paths whose acknowledgement is due
	ackAt unit.Time
}

// owed is the acknowledgement that a path's packets wait for.
type owed struct {
	count  int
	due    unit.Time // time at which its acknowledgement is sent
	sent   unit.Time // time at which the last packet was sent
	came   unit.Time
	label  uint32
	plane  uint8
	marked bool
}

// Take takes a data packet; true: its payload is new.
func (r *receiver) Take(now unit.Time, p *transport.Packet) (place bool) {
	if p.Kind != transport.Data || p.Flags&transport.Trimmed != 0 {
		return false
	}
	v := r.in.Take(p)
	if v == window.Ahead { // beyond the window: treated as lost
		return false
	}
	id := p.EV & (1<<flowBits - 1)
	o := &r.owed[id]
	if o.count++; o.count == 1 {
		o.due = now + r.s.AckDelay
		r.ackAt = min(r.ackAt, o.due)
	}
	o.sent, o.came, o.label, o.plane = p.Sent, now, p.EV, p.Plane
	o.marked = o.marked || p.Flags&transport.Marked != 0
	if o.count >= r.s.AckCount || p.Flags&transport.Asks != 0 || v == window.Before {
		r.ready |= 1 << id
	}
	return v == window.Fresh
}

// Tick finds the acknowledgements that are due.
func (r *receiver) Tick(now unit.Time) {
	if r.ackAt > now {
		return
	}
	r.ackAt = unit.Never
	for i := range r.owed {
		switch o := &r.owed[i]; {
		case o.count == 0 || r.ready>>i&1 != 0:
		case o.due <= now:
			r.ready |= 1 << i
		default:
			r.ackAt = min(r.ackAt, o.due)
		}
	}
}

// Say makes the next acknowledgement that is due.
func (r *receiver) Say(now unit.Time, p *transport.Packet) bool {
	if r.ready == 0 {
		return false
	}
	id := bits.TrailingZeros8(r.ready)
	r.ready &= r.ready - 1
	r.acknowledge(now, &r.owed[id], p)
	return true
}

func (r *receiver) acknowledge(now unit.Time, o *owed, p *transport.Packet) {
	*p = transport.Packet{Kind: transport.Ack, Flags: transport.Stamped, Plane: o.plane, EV: o.label,
		EchoEV: o.label, Sent: o.sent, Delay: now - o.came, Expect: uint32(r.in.Expect()),
		Base: uint32(r.in.Expect()), Bytes: r.in.Received, Late: r.in.Late}
	if o.marked {
		p.Flags |= transport.Marked
	}
	if r.in.Holes() {
		p.Bits = r.in.Bits(r.in.Expect())
	}
	o.count, o.marked = 0, false
}

// At returns the time at which the next acknowledgement is due.
func (r *receiver) At() unit.Time { return r.ackAt }

// PlaneIs changes nothing for waiting acknowledgements: the next packet determines their plane.
func (r *receiver) PlaneIs(unit.Time, int, bool) {}

// Arrived pops a message.
func (r *receiver) Arrived() (uint32, bool) { return r.in.Arrived() }

// Counter reports what receivers count.
func (r *receiver) Counter(name string) (int64, bool) { return r.in.Counter(name) }

// Touch does nothing.
func (*receiver) Touch(*transport.Packet, bool) {}

// Close gives back the room for packets.
func (r *receiver) Close() { r.in.Close() }

package tcp

import (
	"railyard/transport"
	"railyard/transport/window"
	"railyard/unit"
)

// receiver is a connection's receiving end. Its core processes packets in the order of their arrival.
type receiver struct {
	s      *settings
	in     window.In
	core   *transport.Core
	done   unit.Time // time at which all that has arrived is processed and copied
	staged unit.Time // time at which all of that is in GPU memory
	count  int       // packets that wait for an acknowledgement
	unread int       // packets since the last system call
	marks  bool

	answers []transport.Packet // answers, each at the time at which the core has processed the packet
	dueAt   []unit.Time
	head    int

	arrived   []uint32 // messages, by the time at which GPUs see them
	arrivedAt []unit.Time
	first     int
	now       unit.Time

	busy              unit.Time
	copied            int64
	calls, interrupts int64
}

// Take takes a data packet; true: its payload is new.
func (r *receiver) Take(now unit.Time, p *transport.Packet) (place bool) {
	r.now = max(r.now, now)
	if p.Kind != transport.Data || p.Flags&transport.Trimmed != 0 {
		return false
	}
	v := r.in.Take(p)
	r.process(now, p, v == window.Fresh)
	if v == window.Ahead {
		return false
	}
	r.count++
	r.marks = r.marks || p.Flags&transport.Marked != 0
	const atOnce = transport.Asks | transport.Last | transport.Marked
	if r.count >= r.s.AckEvery || p.Flags&atOnce != 0 || r.in.Holes() || v == window.Before {
		r.answer(p)
	}
	for {
		m, ok := r.in.Arrived()
		if !ok {
			return v == window.Fresh
		}
		r.arrived = append(r.arrived, m)
		r.arrivedAt = append(r.arrivedAt, max(r.done+r.s.Wakeup, r.staged)+r.s.StageLatency)
	}
}

// process schedules a packet on the core, after an interrupt if the core was idle, and its payload on DMA to the
// GPU.
func (r *receiver) process(now unit.Time, p *transport.Packet, fresh bool) {
	from := now
	if r.core.Free <= now {
		r.interrupts++
		from += r.s.Interrupt
	}
	cost := r.s.Rx
	if fresh {
		cost += r.s.copying(unit.Bytes(p.Payload))
		r.copied += r.s.copies() * int64(p.Payload)
		if r.unread++; r.unread >= r.s.chunk || p.Flags&transport.Last != 0 {
			r.unread = 0
			r.calls++
			cost += r.s.Call
		}
	}
	r.busy += cost
	r.done = r.core.Work(from, cost)
	if fresh {
		r.staged = max(r.staged, r.done) + r.s.staging(unit.Bytes(p.Payload))
	}
}

// answer builds an acknowledgement of the packets that the core has processed, up to a given one.
func (r *receiver) answer(p *transport.Packet) {
	a := transport.Packet{Kind: transport.Ack, Flags: transport.Stamped, Plane: p.Plane, EV: p.EV, EchoEV: p.EV,
		PSN: p.PSN, Sent: p.Sent, Expect: uint32(r.in.Expect()), Base: uint32(r.in.Expect()), Bytes: r.in.Received,
		Late: r.in.Late}
	if r.marks {
		a.Flags |= transport.Marked
	}
	if r.in.Holes() {
		base := r.in.Expect()
		if last := r.in.Full(p.PSN); last >= base+128 && last < r.in.High() {
			base = last - 127
		}
		a.Base = uint32(base)
		a.Bits = r.in.Bits(base)
	}
	r.count, r.marks = 0, false
	if r.head > 0 && r.head == len(r.answers) {
		r.answers, r.dueAt, r.head = r.answers[:0], r.dueAt[:0], 0
	}
	if n := len(r.answers); n-r.head >= r.s.Window { // the sender exceeds the limit in flight
		a.Flags |= r.answers[n-1].Flags & transport.Marked
		r.answers[n-1] = a
		return
	}
	r.answers, r.dueAt = append(r.answers, a), append(r.dueAt, r.done)
}

// Say makes the next acknowledgement that is due.
func (r *receiver) Say(now unit.Time, p *transport.Packet) bool {
	r.now = max(r.now, now)
	if r.head >= len(r.answers) || r.dueAt[r.head] > now {
		return false
	}
	*p = r.answers[r.head]
	if r.head++; r.head == len(r.answers) {
		r.answers, r.dueAt, r.head = r.answers[:0], r.dueAt[:0], 0
	} else if r.head > 256 && 2*r.head > len(r.answers) {
		n := copy(r.answers, r.answers[r.head:])
		copy(r.dueAt, r.dueAt[r.head:])
		r.answers, r.dueAt, r.head = r.answers[:n], r.dueAt[:n], 0
	}
	return true
}

// At returns the time of the next acknowledgement or message.
func (r *receiver) At() unit.Time {
	at := unit.Never
	if r.head < len(r.answers) {
		at = r.dueAt[r.head]
	}
	for _, seen := range r.arrivedAt[r.first:] {
		if seen > r.now { // earlier ones are to be popped
			return min(at, seen)
		}
	}
	return at
}

// Tick lets time pass.
func (r *receiver) Tick(now unit.Time) { r.now = max(r.now, now) }

// PlaneIs changes nothing: acknowledgements take the plane of the received packet.
func (r *receiver) PlaneIs(unit.Time, int, bool) {}

// Arrived pops a message that its GPU sees.
func (r *receiver) Arrived() (uint32, bool) {
	if r.first >= len(r.arrived) || r.arrivedAt[r.first] > r.now {
		return 0, false
	}
	m := r.arrived[r.first]
	if r.first++; r.first == len(r.arrived) {
		r.arrived, r.arrivedAt, r.first = r.arrived[:0], r.arrivedAt[:0], 0
	}
	return m, true
}

// Counter reports the counters of Protocol and those that every receiver has.
func (r *receiver) Counter(name string) (int64, bool) {
	switch name {
	case CounterCPU:
		return int64(r.busy / unit.Nanosecond), true
	case CounterCopied:
		return r.copied, true
	case CounterCalls:
		return r.calls, true
	case CounterInterrupts:
		return r.interrupts, true
	}
	return r.in.Counter(name)
}

// Touch does nothing.
func (*receiver) Touch(*transport.Packet, bool) {}

// Close gives back the room for packets.
func (r *receiver) Close() { r.in.Close() }

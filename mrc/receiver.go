package mrc

import (
	"railyard/cc"
	"railyard/internal/rng"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// Receiver is the end of a connection that has the memory. It places packets in whatever order they come,
// and remembers of each only that it has come, and whether it ended a message.
type Receiver struct {
	m    *maker
	path cc.Path

	expect            uint32   // all before it have come
	top               uint32   // one beyond the highest that has
	have, last, tells []uint64 // bitmaps by PSN
	held              int      // that have come beyond expect
	tellsAhead        int      // of them that tell
	dead              bool

	message  uint32   // that is in memory next
	arrivals []uint32 // not popped yet

	sacks   sacking
	reverse reverse
	ports   ports
	answers answers
	n       receiverCounts
}

func newReceiver(m *maker, path cc.Path, seed uint64) *Receiver {
	ring := 64
	for ring < m.window+64 {
		ring *= 2
	}
	words := make([]uint64, 3*ring/64)
	n := ring / 64
	r := &Receiver{m: m, path: path, have: words[:n:n], last: words[n : 2*n : 2*n], tells: words[2*n:]}
	r.ports.start(m.common.Planes)
	r.sacks.at = unit.Never
	r.reverse.start(m, rng.New(seed, "reverse paths"))
	return r
}

func (r *Receiver) bit(psn uint32) (word int, mask uint64) {
	i := psn & uint32(len(r.have)*64-1)
	return int(i / 64), 1 << (i % 64)
}

// Take takes data, or what the far NIC asks and answers.
func (r *Receiver) Take(now unit.Time, p *transport.Packet) (place bool) {
	if int(p.Plane) >= r.m.common.Planes {
		r.n.malformed++
		return false
	}
	switch r.ports.take(now, p, r.path.RTT); {
	case p.Kind == transport.Data:
		r.reverse.data(now, r.path.RTT)
		return r.data(now, p)
	case p.Kind == transport.Probe && p.Code == AboutConnection:
		r.reverse.data(now, r.path.RTT)
		r.sacks.probed(p, r.verdict(p))
	case p.Kind == transport.Probe && p.Code == AboutEV:
		r.answers.add(p)
	case p.Kind == transport.Answer && p.Code == AboutEV:
		r.reverse.answered(p)
	}
	return false
}

// data takes a packet of data, and reports whether it is new.
func (r *Receiver) data(now unit.Time, p *transport.Packet) (place bool) {
	psn := psn24(r.expect, p.PSN)
	ahead := int32(psn - r.expect)
	word, mask := r.bit(psn)
	has := ahead < 0 || ahead < int32(r.m.window) && r.have[word]&mask != 0
	switch {
	case r.dead:
		r.refuse(p, roce.NackUnexpected)
		return false
	case p.Payload > uint32(r.m.common.MTU) || p.Bytes > maxMessage ||
		p.Offset > p.Bytes || uint64(p.Payload) > p.Bytes-p.Offset:
		r.n.malformed++
		return false
	case has:
		r.n.duplicates++
		r.sacks.note(now, psn, p, uint8(r.verdict(p)))
		r.sacks.due = true
		return false
	case p.Flags&transport.Trimmed != 0:
		r.trimmed(now, p)
		return false
	case ahead >= int32(r.m.window):
		r.refuse(p, roce.NackOutOfWindow)
		return false
	}
	return r.place(now, psn, p)
}

// place takes a packet that has not come before.
func (r *Receiver) place(now unit.Time, psn uint32, p *transport.Packet) bool {
	word, mask := r.bit(psn)
	tells := p.Flags&transport.Last != 0 && p.Flags&transport.Tells != 0
	if tells && r.tellsAhead >= r.m.immediates { // more than was announced
		r.dead = true
		r.refuse(p, roce.NackUnexpected)
		return false
	}
	r.have[word] |= mask
	if p.Flags&transport.Last != 0 {
		r.last[word] |= mask
	}
	if tells {
		r.tells[word] |= mask
		r.tellsAhead++
	}
	if r.held++; psn != r.expect {
		r.n.reordered++
		r.n.held = max(r.n.held, int64(r.held))
	}
	if int32(psn-r.top) >= 0 {
		r.top = psn + 1
	}
	r.n.placed += int64(p.Payload)
	r.advance()
	r.acknowledge(now, psn, p)
	return true
}

// advance moves expect over what has come: messages that end there are in memory.
func (r *Receiver) advance() {
	for word, mask := r.bit(r.expect); r.have[word]&mask != 0; word, mask = r.bit(r.expect) {
		if r.last[word]&mask != 0 {
			r.arrivals = append(r.arrivals, r.message)
			r.message++
		}
		if r.tells[word]&mask != 0 {
			r.tellsAhead--
		}
		r.have[word] &^= mask
		r.last[word] &^= mask
		r.tells[word] &^= mask
		r.held--
		r.expect++
	}
}

// trimmed asks for a packet whose payload a switch has cut off.
func (r *Receiver) trimmed(now unit.Time, p *transport.Packet) {
	why := roce.NackTrimmed
	if p.Flags&transport.LastHop != 0 {
		why = roce.NackTrimmedLastHop
		r.sacks.penalise(now, r.m.penalty, max(r.path.RTT, unit.Microsecond))
	}
	r.n.trimmed++
	r.refuse(p, why)
}

// refuse says that a packet has to go again, or that nothing is taken any more.
func (r *Receiver) refuse(p *transport.Packet, why roce.NackReason) {
	r.n.refused++
	r.sacks.push(reply{psn: p.PSN, ev: p.EV, sent: p.Sent, plane: p.Plane, code: uint8(why)})
}

// Refuse answers a packet of data that the receiver's NIC cannot take, before Take would: for want of
// something, or, with NackUnexpected, because it may not be, which ends the connection.
func (r *Receiver) Refuse(p *transport.Packet, why roce.NackReason) {
	r.dead = r.dead || why == roce.NackUnexpected
	r.refuse(p, why)
}

// verdict is what there is to say of the path by which a packet came: its mark, or, by a plane that our port
// does not want, that there is none.
func (r *Receiver) verdict(p *transport.Packet) roce.Verdict {
	switch {
	case r.ports.own>>p.Plane&1 == 0:
		return roce.VerdictAlwaysSkip
	case p.Flags&transport.Marked != 0:
		return roce.VerdictSkipOnce
	}
	return roce.VerdictNone
}

// acknowledge decides whether a packet is answered at once: it asks for that, it is marked, or enough have
// come.
func (r *Receiver) acknowledge(now unit.Time, psn uint32, p *transport.Packet) {
	s := &r.sacks
	v := r.verdict(p)
	s.note(now, psn, p, uint8(v))
	if s.since++; s.since >= r.m.every || p.Flags&transport.Asks != 0 || v != roce.VerdictNone {
		s.due = true
	} else if s.at == unit.Never {
		s.at = now + r.m.ackDelay(r.path.RTT)
	}
}

// span is the range that is announced: all that is tracked, or, where that is dynamic, twice the reordering
// that was seen.
func (r *Receiver) span() uint32 {
	if !r.m.dynamic {
		return uint32(r.m.window)
	}
	want := (2*int(r.n.held) + rangeUnit) / rangeUnit * rangeUnit
	return uint32(min(max(want, leastSpan), r.m.window))
}

// leastSpan is the least that a dynamic range becomes, so that it does not stop a sender that has a window's
// worth to send before anything was reordered.
const leastSpan = 1024

// bitmap is what has come of the 64 PSNs from base on, which is a multiple of 64.
func (r *Receiver) bitmap(base uint32) uint64 {
	word, _ := r.bit(base)
	switch before := int32(r.expect - base); {
	case before >= 64:
		return ^uint64(0)
	case before > 0:
		return r.have[word] | 1<<before - 1
	}
	return r.have[word]
}

// Arrived pops the number of a message that is in memory as a whole.
func (r *Receiver) Arrived() (message uint32, ok bool) {
	if len(r.arrivals) == 0 {
		return 0, false
	}
	message = r.arrivals[0]
	r.arrivals = append(r.arrivals[:0], r.arrivals[1:]...)
	return message, true
}

// PlaneIs says that the NIC's own port to a plane works, or does not.
func (r *Receiver) PlaneIs(now unit.Time, plane int, up bool) { r.ports.planeIs(now, plane, up) }

// At is when the receiver wants to be called.
func (r *Receiver) At() unit.Time { return min(r.sacks.at, r.reverse.at, r.ports.at) }

// Tick does what is due.
func (r *Receiver) Tick(now unit.Time) {
	if r.sacks.at <= now {
		r.sacks.due = true
	}
	r.reverse.tick(now, r.ports.own&r.ports.far, r.path.RTT)
	r.ports.tick(now)
}

// Say makes the next answer or question.
func (r *Receiver) Say(now unit.Time, p *transport.Packet) bool {
	switch {
	case r.ports.say(now, p, r.path.RTT), r.answers.say(p, r.ports.own):
		p.EV = r.reverse.ev(p.Plane)
		return true
	case r.reverse.say(now, p):
		return true
	case r.sacks.say(now, p, r):
		plane, ok := r.ports.back(p.Plane)
		if !ok {
			return false
		}
		p.Plane, p.EV = plane, r.reverse.ev(plane)
		return true
	}
	return false
}

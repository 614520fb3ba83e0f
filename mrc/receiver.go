package mrc

import (
	"railyard/cc"
	"railyard/internal/rng"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// Receiver is the end of a connection that has the memory. It places packets in any order of arrival. For each it
// stores only whether it has arrived and whether it ended a message. Every packet reads six cache lines of the
// receiver, besides that of its bits (TestLines).
type Receiver struct {
	m       *maker
	expect  uint32  // all PSNs before it have arrived
	top     uint32  // highest received PSN plus 1
	came    []trace // received packets by PSN, 64 in a trace: a ring that grows with the distance from expect
	held    int32   // packets received beyond expect
	ahead   int32   // number of these that end a message with an immediate
	message uint32  // next message to be complete in memory
	dead    bool
	rtt     unit.Time // round trip of an unloaded path; 0: unknown

	arrivals []uint32 // not yet popped
	sacks    sacking
	answers  answers
	_        [8]byte
	ports    ports
	_        [8]byte
	reverse  reverse
	n        receiverCounts
	tells    []uint64 // a bit for each received packet that ends a message with an immediate
	_        [8]byte
	blocks   [2]reply // memory of two sacks, which then need no allocation
}

// trace is the state of 64 packets: whether they have arrived, and whether they end a message.
type trace struct{ have, last uint64 }

func newReceiver(m *maker, path cc.Path, seed uint64) *Receiver {
	r := &Receiver{m: m, rtt: path.RTT, came: make([]trace, 1), tells: make([]uint64, 1)}
	r.ports.start(m.common.Planes)
	r.sacks.at, r.sacks.blocks = unit.Never, r.blocks[:0]
	r.reverse.start(m, rng.New(seed, "reverse paths"))
	return r
}

// tracks reports whether the rings contain a packet from expect on.
func (r *Receiver) tracks(psn uint32) bool { return (psn&^63-r.expect&^63)/64 < uint32(len(r.came)) }

// reach lengthens the rings until they contain a packet of the window.
func (r *Receiver) reach(psn uint32) {
	for !r.tracks(psn) {
		n := uint32(len(r.came))
		came, tells := make([]trace, 2*n), make([]uint64, 2*n)
		for k := r.expect / 64; k != r.expect/64+n; k++ {
			came[k&(2*n-1)], tells[k&(2*n-1)] = r.came[k&(n-1)], r.tells[k&(n-1)]
		}
		r.came, r.tells = came, tells
	}
}

// Close frees the rings when all messages have arrived and no other follows: later packets are duplicates.
func (r *Receiver) Close() {
	if r.held == 0 {
		r.came, r.tells = make([]trace, 1), make([]uint64, 1)
	}
}

// at returns the word and the mask of a packet's bit.
func (r *Receiver) at(psn uint32) (word uint32, mask uint64) {
	return psn / 64 & uint32(len(r.came)-1), 1 << (psn % 64)
}

// Take processes data, or the far NIC's probes and answers.
func (r *Receiver) Take(now unit.Time, p *transport.Packet) (place bool) {
	if int(p.Plane) >= r.m.common.Planes {
		r.n.malformed++
		return false
	}
	switch r.ports.take(p); {
	case p.Kind == transport.Data:
		r.reverse.data(now, r.asks())
		return r.data(now, p)
	case p.Kind == transport.Probe && p.Code == AboutConnection:
		r.reverse.data(now, r.asks())
		r.sacks.probed(p, r.verdict(p))
	case p.Kind == transport.Probe && p.Code == AboutEV:
		r.answers.add(p)
	case p.Kind == transport.Answer && p.Code == AboutEV:
		r.reverse.answered(now, p)
	}
	return false
}

// data processes a data packet and reports whether it is new.
func (r *Receiver) data(now unit.Time, p *transport.Packet) (place bool) {
	psn := psn24(r.expect, p.PSN)
	ahead := int32(psn - r.expect)
	word, mask := r.at(psn)
	has := ahead < 0 || ahead < int32(r.m.Window) && r.tracks(psn) && r.came[word].have&mask != 0
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
		r.reverse.again = true
		r.sacks.note(now, psn, p, uint8(r.verdict(p)))
		r.sacks.due = true
		return false
	case p.Flags&transport.Trimmed != 0:
		r.trimmed(now, p)
		return false
	case ahead >= int32(r.m.Window):
		r.refuse(p, roce.NackOutOfWindow)
		return false
	}
	return r.place(now, psn, p)
}

// place takes a packet that has not arrived before.
func (r *Receiver) place(now unit.Time, psn uint32, p *transport.Packet) bool {
	r.reach(psn)
	word, mask := r.at(psn)
	tells := p.Flags&transport.Last != 0 && p.Flags&transport.Tells != 0
	if tells && int(r.ahead) >= r.m.Immediates { // more than was announced
		r.dead = true
		r.refuse(p, roce.NackUnexpected)
		return false
	}
	x := &r.came[word]
	x.have |= mask
	if p.Flags&transport.Last != 0 {
		x.last |= mask
	}
	if tells {
		r.tells[word] |= mask
		r.ahead++
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

// advance moves expect over received packets. Messages that end there are in memory.
func (r *Receiver) advance() {
	for {
		word, mask := r.at(r.expect)
		x := &r.came[word]
		if x.have&mask == 0 {
			return
		}
		if x.last&mask != 0 {
			r.ended(word, mask)
		}
		x.have &^= mask
		x.last &^= mask
		r.held--
		r.expect++
	}
}

// ended processes the last packet of a message; no earlier packet is missing.
func (r *Receiver) ended(word uint32, mask uint64) {
	r.arrivals = append(r.arrivals, r.message)
	if r.message++; r.tells[word]&mask != 0 {
		r.tells[word] &^= mask
		r.ahead--
	}
}

// trimmed requests a packet whose payload a switch trimmed.
func (r *Receiver) trimmed(now unit.Time, p *transport.Packet) {
	why := roce.NackTrimmed
	if p.Flags&transport.LastHop != 0 {
		why = roce.NackTrimmedLastHop
		r.sacks.penalise(now, uint8(r.m.Penalty), max(r.rtt, unit.Microsecond))
	}
	r.n.trimmed++
	r.refuse(p, why)
}

// refuse reports that a packet must be retransmitted, or that no packet is accepted any more.
func (r *Receiver) refuse(p *transport.Packet, why roce.NackReason) {
	r.n.refused++
	r.sacks.push(reply{psn: p.PSN, ev: p.EV, sent: p.Sent, plane: p.Plane, code: uint8(why)})
}

// Refuse answers a data packet that the receiver's NIC cannot accept, before Take would. A resource is missing or,
// with NackUnexpected, the packet is not permitted, which ends the connection.
func (r *Receiver) Refuse(p *transport.Packet, why roce.NackReason) {
	r.dead = r.dead || why == roce.NackUnexpected
	r.refuse(p, why)
}

// verdict returns the verdict on the path of a packet. It is the packet's mark; on a plane whose port is down at
// this end it is a request to avoid the plane.
func (r *Receiver) verdict(p *transport.Packet) roce.Verdict {
	switch {
	case r.ports.own>>p.Plane&1 == 0:
		return roce.VerdictAlwaysSkip
	case p.Flags&transport.Marked != 0:
		return roce.VerdictSkipOnce
	}
	return roce.VerdictNone
}

// acknowledge decides whether a packet is answered immediately: it requests that, it is marked, or enough packets
// have arrived.
func (r *Receiver) acknowledge(now unit.Time, psn uint32, p *transport.Packet) {
	s := &r.sacks
	v := r.verdict(p)
	s.note(now, psn, p, uint8(v))
	if s.since++; int(s.since) >= r.m.AckEvery || p.Flags&transport.Asks != 0 || v != roce.VerdictNone {
		s.due = true
	} else if s.at == unit.Never {
		s.at = now + r.m.ackDelay(r.rtt)
	}
}

// span returns the announced range: all tracked packets or, if dynamic, twice the observed reordering.
func (r *Receiver) span() uint32 {
	if !r.m.Dynamic {
		return uint32(r.m.Window)
	}
	want := (2*int(r.n.held) + rangeUnit) / rangeUnit * rangeUnit
	return uint32(min(max(want, leastSpan), r.m.Window))
}

// leastSpan is the minimum of a dynamic range. It lets a sender send a window of data before packets were
// reordered.
const leastSpan = 1024

// bitmap returns which of the 64 PSNs from base on have arrived; base is a multiple of 64.
func (r *Receiver) bitmap(base uint32) uint64 {
	word, _ := r.at(base)
	switch before := int32(r.expect - base); {
	case before >= 64:
		return ^uint64(0)
	case before > 0:
		return r.came[word].have | 1<<before - 1
	case !r.tracks(base):
		return 0
	}
	return r.came[word].have
}

// Arrived returns and removes the number of a message that is completely in memory.
func (r *Receiver) Arrived() (message uint32, ok bool) {
	if len(r.arrivals) == 0 {
		return 0, false
	}
	message = r.arrivals[0]
	r.arrivals = append(r.arrivals[:0], r.arrivals[1:]...)
	return message, true
}

// PlaneIs sets whether the NIC's own port to a plane works.
func (r *Receiver) PlaneIs(now unit.Time, plane int, up bool) { r.ports.planeIs(now, plane, up) }

// At returns the time of the receiver's next timer event.
func (r *Receiver) At() unit.Time { return min(r.sacks.at, r.reverse.at, r.ports.at) }

// Tick runs the timers that are due.
func (r *Receiver) Tick(now unit.Time) {
	if r.sacks.at <= now {
		r.sacks.due = true
	}
	r.reverse.tick(now, r.ports.own&r.ports.far, r.asks())
	r.ports.tick(now)
}

// asks returns the minimum interval between probes of answer paths.
func (r *Receiver) asks() unit.Time {
	if r.m.ProbeEvery > 0 {
		return r.m.ProbeEvery
	}
	return r.rtt
}

// Say produces the next answer or probe.
func (r *Receiver) Say(now unit.Time, p *transport.Packet) bool {
	switch {
	case r.ports.say(now, p, r.rtt), r.answers.say(p, r.ports.own):
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

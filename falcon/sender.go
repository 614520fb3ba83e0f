package falcon

import (
	"railyard/cc"
	"railyard/internal/rng"
	"railyard/rc"
	"railyard/transport"
	"railyard/transport/window"
	"railyard/unit"
)

// sender is a connection's sending end.
type sender struct {
	set    *settings
	out    window.Out
	flows  []flow
	line   unit.Rate // line rate of the port, which its flows share
	idle   unit.Time // the round trip of an idle path; 0: unknown
	random rng.Stream
	ack    cc.Ack
	down   uint64 // planes whose port does not work

	rtoAt   unit.Time // retransmission time-out
	latest  unit.Time // send time of the newest packet that is known to have arrived
	probeAt unit.Time // tail-loss probe
	rackAt  unit.Time // RACK looks again
	lateRow int       // time-outs in a row
	silent  int       // flows that are
	last    int       // the flow of the latest packet

	window.Stall
	racks, probes, expired int64
	repaths                int64
}

// MostInFlight is the window of packets, full ones.
func (s *sender) MostInFlight() unit.Bytes { return unit.Bytes(s.set.Window) * s.set.MTU }

func newSender(set *settings, path cc.Path, seed uint64) *sender {
	n := max(set.Paths, set.Planes)
	s := &sender{set: set, out: window.NewOut(set.Window, set.MTU), flows: make([]flow, n),
		idle:   path.RTT,
		random: rng.New(seed, "falcon"), rtoAt: unit.Never, probeAt: unit.Never, rackAt: unit.Never, last: n - 1}
	path.Line /= unit.Rate(n)
	s.line = path.Line
	for i := range s.flows {
		f := &s.flows[i]
		f.ctl = set.CC(path)
		f.relabel(0, i, &s.random, uint8(i%set.Planes))
		f.decide(set.MTU, s.line)
	}
	return s
}

// Post adds a message.
func (s *sender) Post(now unit.Time, r transport.Request) error {
	if err := s.out.Post(r); err != nil {
		return err
	}
	s.note(now)
	return nil
}

// Pending reports whether packets are to be sent or retransmitted.
func (s *sender) Pending() bool { return s.out.More() || s.out.AnyLost() }

// sendable reports whether there is a packet that the window of packet numbers permits.
func (s *sender) sendable() bool { return s.out.AnyLost() || s.out.Unsent() }

// Ready reports whether Next would make a packet.
func (s *sender) Ready(now unit.Time, plane int) bool {
	return s.down>>plane&1 == 0 && s.sendable() && s.pick(now, plane) != noFlow
}

// Next builds the packet to send now on a plane. Lost packets are first, on any path whose window permits.
func (s *sender) Next(now unit.Time, plane int, p *transport.Packet) bool {
	if s.down>>plane&1 != 0 || !s.sendable() {
		return false
	}
	id := s.pick(now, plane)
	if id == noFlow {
		s.note(now)
		return false
	}
	psn, slot, again := s.out.Again(now, id)
	if !again {
		psn, slot = s.out.New(now, id)
	}
	slot.Fill(psn, p)
	f := &s.flows[id]
	s.charge(now, id, p.Payload)
	p.EV, p.Plane = f.label, uint8(plane)
	if s.asks(f, !s.sendable()) || again {
		p.Flags |= transport.Asks
	}
	s.arm(now)
	s.note(now)
	return true
}

// arm sets the timers after a sent packet or an answer.
func (s *sender) arm(now unit.Time) {
	if s.out.Flying() == 0 {
		s.rtoAt, s.probeAt, s.rackAt = unit.Never, unit.Never, unit.Never
		return
	}
	if s.rtoAt == unit.Never {
		s.rtoAt = now + s.timeout()<<min(s.lateRow, 6)
	}
	s.probeAt = now + s.silence()
}

// longest is the longest smoothed round trip of all flows: timers are the connection's (Isekai:
// max_rtt_state).
func (s *sender) longest() (rtt unit.Time) {
	for i := range s.flows {
		rtt = max(rtt, s.flows[i].rtt)
	}
	return rtt
}

// timeout is the retransmission time-out. Until a round trip is measured, the idle path's applies. Otherwise
// packets would be retransmitted before any acknowledgement can arrive.
func (s *sender) timeout() unit.Time { return max(s.set.MinTimeout, 2*max(s.idle, s.longest())) }

// silence returns the time without an answer after which the oldest packet is retransmitted; before a round trip is
// known, the timeout.
func (s *sender) silence() unit.Time {
	rtt := s.longest()
	if rtt == 0 {
		return s.timeout()
	}
	return unit.Time(s.set.ProbeAfter*float64(rtt)) + s.set.AckDelay
}

// At is the next of its times.
func (s *sender) At() unit.Time {
	at := min(s.rtoAt, s.probeAt, s.rackAt)
	if s.sendable() {
		for i := range s.flows {
			if f := &s.flows[i]; f.next > 0 {
				at = min(at, f.next)
			}
		}
	}
	return at
}

// Tick serves expired timers.
func (s *sender) Tick(now unit.Time) {
	for i := range s.flows { // pacing that has ended is not requested again
		if f := &s.flows[i]; f.next <= now {
			f.next = 0
		}
	}
	if now >= s.rackAt {
		s.rackAt = unit.Never
		s.rack(now)
	}
	switch {
	case now >= s.rtoAt:
		s.late(now)
	case now >= s.probeAt:
		s.probe(now)
	}
	s.note(now)
}

// PlaneIs drops packets in flight on a plane whose port failed, and moves its flows.
func (s *sender) PlaneIs(now unit.Time, plane int, up bool) {
	if plane >= s.set.Planes || plane >= 64 {
		return
	}
	if up {
		s.down &^= 1 << plane
		for i := range s.flows { // back to where they began
			if f := &s.flows[i]; i%s.set.Planes == plane && int(f.plane) != plane {
				s.move(now, i, uint8(plane))
			}
		}
		return
	}
	s.down |= 1 << plane
	una, next := s.out.Range()
	for i := range s.flows {
		if int(s.flows[i].plane) != plane {
			continue
		}
		for psn := una; psn < next; psn++ {
			if slot := s.out.At(psn); int(slot.Path) == i {
				s.lose(psn)
			}
		}
		s.leave(now, i, true)
	}
	s.note(now)
}

// lose has a packet sent again.
func (s *sender) lose(psn uint64) bool {
	slot := s.out.At(psn)
	if !s.out.Lose(psn) {
		return false
	}
	f := &s.flows[slot.Path]
	f.flying -= unit.Bytes(slot.Payload)
	return true
}

// oldest returns the send time of the first packet that is not known to have arrived.
func (s *sender) oldest() unit.Time {
	una, _ := s.out.Range()
	return s.out.At(una).Sent
}

// Take takes an acknowledgement.
func (s *sender) Take(now unit.Time, p *transport.Packet) (place bool) {
	if p.Kind != transport.Ack || s.out.Failed() {
		return false
	}
	news := s.acknowledge(now, p)
	id := int(p.EchoEV & (1<<flowBits - 1))
	if id < len(s.flows) && s.flows[id].label == p.EchoEV {
		s.answered(now, &s.flows[id])
		rtt := unit.Time(0)
		if d := now - p.Sent - p.Delay; p.Sent > 0 && d > 0 && p.Delay >= 0 {
			rtt = d
			s.flows[id].heard(rtt)
		}
		if s.flows[id].acked > 0 || rtt > 0 {
			s.tell(now, id, rtt, p)
		}
	}
	if news {
		s.lateRow, s.rtoAt = 0, unit.Never
		s.arm(now)
	}
	s.latest = max(s.latest, p.Sent)
	if p.Bits != [2]uint64{} || s.out.Flying() > 0 && s.oldest() < s.latest-s.timeout() {
		s.rack(now)
	}
	s.note(now)
	return false
}

// acknowledge marks the packets that arrived: all before Expect, and those set in the bits.
func (s *sender) acknowledge(now unit.Time, p *transport.Packet) (news bool) {
	s.out.Told(p, func(psn uint64) { news = s.came(now, psn) || news })
	s.out.Advance()
	return news
}

// came records the arrival of one packet.
func (s *sender) came(now unit.Time, psn uint64) bool {
	slot := s.out.At(psn)
	flying := slot != nil && slot.State == window.Flying
	slot, news := s.out.Ack(psn)
	if !news {
		return false
	}
	f := &s.flows[slot.Path]
	f.acked += unit.Bytes(slot.Payload)
	if flying {
		f.flying -= unit.Bytes(slot.Payload)
	}
	// The send time of a packet that was sent twice is ambiguous.
	if slot.Tries == 0 && slot.Sent > max(f.newest, f.since) {
		f.newest, f.reached = slot.Sent, now-slot.Sent
	}
	return true
}

// Say sends nothing: Falcon's senders only send data.
func (s *sender) Say(unit.Time, *transport.Packet) bool { return false }

// Completed pops a completion.
func (s *sender) Completed() (transport.Completion, bool) { return s.out.Completed() }

// InFlight returns the bytes in flight.
func (s *sender) InFlight() unit.Bytes { return s.out.InFlight() }

// note records for how long the window blocks the sender.
func (s *sender) note(now unit.Time) { s.Note(now, s.out.More() && s.shut(now)) }

// shut reports that no plane would get a packet.
func (s *sender) shut(now unit.Time) bool {
	if !s.sendable() {
		return true
	}
	for plane := range s.set.Planes {
		if s.down>>plane&1 == 0 && s.pick(now, plane) != noFlow {
			return false
		}
	}
	return true
}

// Signal reports what Protocol lists.
func (s *sender) Signal(_ unit.Time, name string) (float64, bool) {
	var windows unit.Bytes
	for i := range s.flows {
		windows += min(s.flows[i].window, unit.Bytes(s.set.Window)*s.set.MTU)
	}
	rtt := s.longest()
	switch name {
	case cc.SignalWindow:
		return float64(windows), true
	case cc.SignalDelay:
		return rtt.Seconds(), true
	case cc.SignalRate:
		line := float64(s.line) * float64(len(s.flows))
		if rtt == 0 {
			return line, true
		}
		return min(line, float64(8*windows)/rtt.Seconds()), true
	}
	return 0, false
}

// Counter reports what Protocol lists.
func (s *sender) Counter(name string) (int64, bool) {
	switch name {
	case "rack":
		return s.racks, true
	case "probes":
		return s.probes, true
	case "timeouts":
		return s.expired, true
	case "repaths":
		return s.repaths, true
	case cc.CounterCuts:
		var n int64
		for i := range s.flows {
			cuts, _ := s.flows[i].ctl.Counter(cc.CounterCuts)
			n += cuts
		}
		return n, true
	}
	return 0, false
}

// fail gives the connection up.
func (s *sender) fail() {
	s.out.Fail(rc.RetryExceeded)
	for i := range s.flows {
		s.flows[i].flying = 0
	}
	s.rtoAt, s.probeAt, s.rackAt = unit.Never, unit.Never, unit.Never
}

// Touch does nothing.
func (*sender) Touch(*transport.Packet, bool) {}

// Close gives back the room for packets.
func (s *sender) Close() { s.out.Close() }

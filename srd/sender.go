package srd

import (
	"railyard/cc"
	"railyard/rc"
	"railyard/transport"
	"railyard/transport/window"
	"railyard/unit"
)

// peer is the state that a NIC keeps for a far one.
type peer struct {
	s     *settings
	paths paths
	rate  rate
	down  uint64 // planes whose port does not work

	answered unit.Time // time of the latest packet from the far NIC
	newest   unit.Time // send time of the newest packet that is known to have arrived,
	reached  unit.Time // send time of the packet that it acknowledges
	grace    unit.Time // time before which packets sent during the far NIC's silence are not lost
	told     bool      // some sender reports its counters
}

// Peer makes it.
func (m *maker) Peer(path cc.Path, seed uint64) transport.Peer {
	return &peer{s: &m.settings, paths: newPaths(&m.settings, seed), rate: newRate(&m.settings, path.Line, path.RTT)}
}

// Sender makes the sending end of a connection, which shares the peer's state.
func (p *peer) Sender(uint64) transport.Sender {
	first := !p.told
	p.told = true
	return &sender{peer: p, s: p.s, out: window.NewOut(p.s.Window, p.s.MTU), lookAt: unit.Never, first: first,
		tail: tail{at: unit.Never}}
}

// sender is a connection's sending end.
type sender struct {
	*peer
	s      *settings
	out    window.Out
	lookAt unit.Time // time at which the oldest packet in flight may be lost
	tail   tail

	window.Stall
	expired, earlys int64
	cuts            int64 // number of rate reductions by the peer that this connection received
	first           bool  // of its peer
}

// MostInFlight is the window of packets, full ones.
func (s *sender) MostInFlight() unit.Bytes { return unit.Bytes(s.s.Window) * s.s.MTU }

// Post adds a message.
func (s *sender) Post(now unit.Time, r transport.Request) error {
	err := s.out.Post(r)
	s.note(now)
	return err
}

// Pending reports whether packets are to be sent or retransmitted.
func (s *sender) Pending() bool { return s.out.More() || s.out.AnyLost() }

func (s *sender) sendable() bool { return s.out.AnyLost() || s.out.Unsent() }

// Ready reports whether Next would make a packet.
func (s *sender) Ready(now unit.Time, plane int) bool {
	return s.down>>plane&1 == 0 && s.sendable() && s.rate.may(now)
}

// Next builds the packet to send now, lost ones first, each on the path whose turn it is.
func (s *sender) Next(now unit.Time, plane int, p *transport.Packet) bool {
	if !s.Ready(now, plane) {
		s.note(now)
		return false
	}
	path := s.paths.next(plane)
	psn, slot, again := s.out.Again(now, path)
	if !again {
		psn, slot = s.out.New(now, path)
	}
	slot.Fill(psn, p)
	p.EV, p.Plane = uint32(path), uint8(plane)
	s.rate.sent(now, p.Payload)
	if !s.sendable() {
		p.Flags |= transport.Asks
	}
	s.lookAt = min(s.lookAt, now+s.patience(path))
	s.mind(now)
	s.note(now)
	return true
}

// patience returns the time after which a packet of a path is lost, at least the timeout. It is three round trips
// of the path or the latest of any path, because a queue at the receiver's port delays all of them.
func (s *sender) patience(path int) unit.Time {
	return max(s.s.Timeout, 3*max(s.paths.all[path].rtt, s.rate.latest, s.rate.base))
}

// At returns the time of the sender's next check or transmission.
func (s *sender) At() unit.Time {
	if s.sendable() && s.rate.nextAt > 0 && s.rate.flying < s.rate.limit() {
		return min(s.lookAt, s.tail.at, s.rate.nextAt)
	}
	return min(s.lookAt, s.tail.at)
}

// Tick looks for packets that have been out too long.
func (s *sender) Tick(now unit.Time) {
	if s.rate.nextAt <= now {
		s.rate.nextAt = 0
	}
	if now >= s.lookAt {
		s.look(now)
	}
	if now >= s.tail.at {
		s.probe(now)
	}
	s.note(now)
}

// look marks packets as lost that have been in flight for too long, and sets the time of the next check. While the
// far NIC sends nothing at all, no packet is lost, but tail probes. Other senders' queues at the receiver's port
// delay all acknowledgements, and paths do not all fail together.
func (s *sender) look(now unit.Time) {
	s.lookAt = unit.Never
	una, next := s.out.Range()
	for psn := una; psn < next; psn++ {
		slot := s.out.At(psn)
		if slot.State != window.Flying {
			continue
		}
		due := slot.Sent + s.patience(int(slot.Path))<<min(slot.Tries, 5)
		if slot.Sent >= s.answered {
			continue
		}
		if at := s.passed(slot); at <= now {
			s.paths.lost(now, s.s, int(slot.Path))
			s.earlys++
			s.lose(psn)
			continue
		} else {
			due = min(max(due, s.grace), at)
		}
		if due > now {
			s.lookAt = min(s.lookAt, due)
			continue
		}
		if int(slot.Tries) >= s.s.Retries {
			s.fail()
			return
		}
		s.paths.lost(now, s.s, int(slot.Path))
		s.expired++
		s.lose(psn)
	}
}

func (s *sender) lose(psn uint64) {
	slot := s.out.At(psn)
	if s.out.Lose(psn) {
		s.rate.gone(slot.Payload)
	}
}

func (s *sender) fail() {
	s.rate.flying -= s.out.InFlight()
	s.out.Fail(rc.RetryExceeded)
	s.lookAt = unit.Never
}

// PlaneIs has all that is under way by a broken port sent again by others.
func (s *sender) PlaneIs(now unit.Time, plane int, up bool) {
	if plane >= s.s.Planes || plane >= 64 {
		return
	}
	if up {
		s.down &^= 1 << plane
		return
	}
	s.down |= 1 << plane
	una, next := s.out.Range()
	for psn := una; psn < next; psn++ {
		if slot := s.out.At(psn); slot.State == window.Flying && int(s.paths.all[slot.Path].plane) == plane {
			s.lose(psn)
		}
	}
	s.note(now)
}

// Take takes an acknowledgement.
func (s *sender) Take(now unit.Time, p *transport.Packet) (place bool) {
	if p.Kind != transport.Ack || s.out.Failed() {
		return false
	}
	if s.answered = now; s.tail.row > 0 {
		if s.lookAt = now; p.Sent <= s.tail.since { // an old packet: round trips now take this long
			s.grace = now + now - s.tail.since
		}
	}
	s.out.Told(p, s.came)
	if i := int(p.EchoEV); i < len(s.paths.all) && p.Sent > 0 && p.Delay >= 0 && now-p.Sent > p.Delay {
		rtt := now - p.Sent - p.Delay
		s.paths.heard(now, s.s, i, rtt, s.rate.least())
		cuts := s.rate.cuts
		s.rate.heard(now, p.Sent, rtt)
		if p.Sent > s.newest {
			s.newest, s.reached = p.Sent, rtt
		}
		s.cuts += s.rate.cuts - cuts
	}
	if p.Bits != [2]uint64{} {
		s.overtaken(now)
	}
	s.out.Advance()
	if una, next := s.out.Range(); una < next {
		if slot := s.out.At(una); slot.State == window.Flying {
			s.lookAt = min(s.lookAt, max(now, s.passed(slot)))
		}
	}
	s.tail.answer(now, max(s.rate.latest, 2*s.rate.least()))
	s.mind(now)
	s.note(now)
	return false
}

// came records the arrival of one packet.
func (s *sender) came(psn uint64) {
	slot := s.out.At(psn)
	flying := slot != nil && slot.State == window.Flying
	slot, news := s.out.Ack(psn)
	if !news {
		return
	}
	s.rate.came(slot.Payload)
	if flying {
		s.rate.gone(slot.Payload)
	}
	if x := &s.paths.all[slot.Path]; slot.Tries == 0 {
		x.newest = max(x.newest, slot.Sent)
	}
}

// overtaken marks packets as lost that left well before other packets of their path that have arrived. A path keeps
// order. It reads the packets that the bitmap reported.
func (s *sender) overtaken(now unit.Time) {
	una, next := s.out.Range()
	for psn := una; psn < min(next, una+128); psn++ {
		slot := s.out.At(psn)
		x := &s.paths.all[slot.Path]
		if slot.State == window.Flying && slot.Sent < x.newest && slot.Tries == 0 {
			s.paths.lost(now, s.s, int(slot.Path))
			s.earlys++
			s.lose(psn)
		}
	}
}

// Say sends nothing.
func (s *sender) Say(unit.Time, *transport.Packet) bool { return false }

// Completed pops a completion.
func (s *sender) Completed() (transport.Completion, bool) { return s.out.Completed() }

// InFlight returns the bytes in flight.
func (s *sender) InFlight() unit.Bytes { return s.out.InFlight() }

// note records for how long the limit or the pace blocks the sender.
func (s *sender) note(now unit.Time) {
	shut := !s.out.AnyLost() && s.out.More() && (!s.out.Unsent() || s.rate.flying >= s.rate.limit())
	s.rate.full = s.rate.full || shut || s.out.More() && s.rate.nextAt > now
	s.Note(now, shut)
}

// Signal reports what Protocol lists.
func (s *sender) Signal(_ unit.Time, name string) (float64, bool) {
	switch name {
	case cc.SignalRate:
		return float64(s.rate.now), true
	case cc.SignalWindow:
		return float64(s.rate.limit()), true
	case cc.SignalDelay:
		return s.paths.mean.Seconds(), true
	}
	return 0, false
}

// Counter reports what Protocol lists. Shifts belong to the peer; its first sender reports them.
func (s *sender) Counter(name string) (int64, bool) {
	switch name {
	case "timeouts":
		return s.expired, true
	case "early":
		return s.earlys, true
	case "shifts":
		if !s.first {
			return 0, true
		}
		return s.paths.shifts, true
	case cc.CounterCuts:
		return s.cuts, true
	}
	return 0, false
}

// Touch does nothing.
func (*sender) Touch(*transport.Packet, bool) {}

// Close gives back the room for packets.
func (s *sender) Close() { s.out.Close() }

package tcp

import (
	"railyard/cc"
	"railyard/rc"
	"railyard/transport"
	"railyard/transport/window"
	"railyard/unit"
)

// peer has no state that the connections to one host share.
type peer struct {
	of   *maker
	path cc.Path
}

// Peer makes it.
func (m *maker) Peer(path cc.Path, seed uint64) transport.Peer { return &peer{m, path} }

// Sender makes a connection's sending end. All its packets take one path.
func (p *peer) Sender(seed uint64) transport.Sender {
	s := &p.of.settings
	return &sender{s: s, out: window.NewOut(s.Window, s.MTU), control: NewWindow(s.DCTCP, float64(s.Window)),
		core: p.of.host.Core(s.Cores), ev: uint32(seed), rtt: p.path.RTT, dev: p.path.RTT / 2,
		chunkAt: unit.Never, copyAt: unit.Never, timer: unit.Never, lossAt: unit.Never}
}

// posted is a message whose packets are not all in the socket yet.
type posted struct {
	at      unit.Time
	bytes   unit.Bytes // that are not
	packets uint64
}

// sender is a connection's sending end.
type sender struct {
	s       *settings
	out     window.Out
	control Window
	ev      uint32
	down    uint64 // planes whose port does not work

	queue   []posted
	head    int
	socket  uint64    // packets that the socket has got, by number
	chunkAt unit.Time // arrival of the next chunk; Never: none is on its way
	copyAt  unit.Time // time at which it is staged and waits for a core; Never: it has a core
	chunk   uint64    // its packets
	cost    unit.Time // core time of its system call
	core    *transport.Core
	staged  unit.Time // time at which all that the application posted is in host memory

	rtt, dev unit.Time // smoothed round trip and its deviation (RFC 6298)
	measured bool
	newest   unit.Time // departure time of the latest packet known to have arrived,
	took     unit.Time // round trip of that packet
	recover  uint64    // no second cut before this packet is acknowledged
	timer    unit.Time // probe, or retransmission time-out
	backoff  int
	lossAt   unit.Time // time at which an overtaken packet is lost

	window.Stall
	timeouts, early int64
	busy            unit.Time
	copied, calls   int64
}

// MostInFlight is the window of packets, full ones.
func (s *sender) MostInFlight() unit.Bytes { return unit.Bytes(s.s.Window) * s.s.MTU }

// Post adds a message, which has to be copied to the socket.
func (s *sender) Post(now unit.Time, r transport.Request) error {
	err := s.out.Post(r)
	if err == nil {
		mtu := int64(s.s.MTU)
		packets := uint64(max(1, (r.Bytes+mtu-1)/mtu))
		s.queue = append(s.queue, posted{now + s.s.StageLatency, unit.Bytes(r.Bytes), packets})
		s.fill(now)
	}
	s.note(now)
	return err
}

// fill copies chunks to the socket. Chunks that are due have arrived; the next one is begun if the socket has room.
func (s *sender) fill(now unit.Time) {
	for {
		if s.chunkAt > now {
			if s.chunkAt != unit.Never {
				return
			}
		} else {
			s.socket, s.chunkAt = s.socket+s.chunk, unit.Never
		}
		if s.copyAt != unit.Never {
			if s.copyAt > now {
				return
			}
			s.copyAt = unit.Never
			s.chunkAt = s.core.Work(now, s.cost)
			continue
		}
		una, _ := s.out.Range()
		if s.head == len(s.queue) || s.socket+uint64(s.s.chunk) > una+uint64(s.s.Window) || s.out.Failed() {
			return
		}
		m := &s.queue[s.head]
		s.chunk = min(m.packets, uint64(s.s.chunk))
		bytes := min(m.bytes, unit.Bytes(s.chunk)*s.s.MTU)
		s.staged = max(s.staged, m.at) + s.s.staging(bytes)
		s.cost = s.s.Call + s.s.copying(bytes)
		s.busy += s.cost
		if s.core.Ends > 1 && s.staged > now { // other ends use the core meanwhile
			s.copyAt = s.staged
		} else {
			s.chunkAt = s.core.Work(max(now, s.staged), s.cost)
		}
		s.calls, s.copied = s.calls+1, s.copied+s.s.copies()*int64(bytes)
		m.packets, m.bytes = m.packets-s.chunk, m.bytes-bytes
		if m.packets == 0 {
			if s.head++; s.head == len(s.queue) {
				s.queue, s.head = s.queue[:0], 0
			} else if s.head > 64 && 2*s.head > len(s.queue) {
				s.queue, s.head = append(s.queue[:0], s.queue[s.head:]...), 0
			}
		}
	}
}

// Pending reports whether data are to be sent or retransmitted.
func (s *sender) Pending() bool { return s.out.More() || s.out.AnyLost() }

// sendable reports whether the socket has a packet that the window permits.
func (s *sender) sendable() bool {
	_, next := s.out.Range()
	return float64(s.out.Flying()) < s.control.Size && (s.out.AnyLost() || s.out.Unsent() && next < s.socket)
}

// Ready reports whether Next would make a packet.
func (s *sender) Ready(_ unit.Time, plane int) bool {
	return s.down>>plane&1 == 0 && s.plane(plane) && s.sendable()
}

// plane reports whether the connection's packets leave on a plane. They use one plane while it works.
func (s *sender) plane(plane int) bool {
	own := int(s.ev>>8) % s.s.Planes
	for s.down>>own&1 == 1 && s.down+1 != 1<<s.s.Planes {
		own = (own + 1) % s.s.Planes
	}
	return plane == own
}

// Next builds the packet to send now, lost ones first.
func (s *sender) Next(now unit.Time, plane int, p *transport.Packet) bool {
	if !s.Ready(now, plane) {
		s.note(now)
		return false
	}
	psn, slot, again := s.out.Again(now, plane)
	if !again {
		psn, slot = s.out.New(now, plane)
	}
	slot.Fill(psn, p)
	p.EV, p.Plane = s.ev, uint8(plane)
	s.core.Work(now, s.s.Tx)
	s.busy += s.s.Tx
	if !s.sendable() {
		p.Flags |= transport.Asks
	}
	if s.timer == unit.Never {
		s.arm(now)
	}
	s.note(now)
	return true
}

// unmeasured is the round trip before any is known (RFC 6298, 2.1 has 1 s).
const unmeasured = unit.Millisecond

// arm sets the timer: a probe two round trips after the last news (RFC 8985, 7.2), then time-outs that double.
func (s *sender) arm(now unit.Time) {
	rtt, dev := s.rtt, s.dev
	if !s.measured { // the path's round trip, without the time of the cores
		rtt, dev = max(rtt, unmeasured), max(dev, unmeasured/2)
	}
	switch {
	case s.out.Flying() == 0 && !s.out.AnyLost():
		s.timer = unit.Never
	case s.backoff == 0:
		s.timer = now + max(2*rtt, rtt+4*dev) + s.s.Interrupt
	default:
		s.timer = now + max(s.s.LeastRTO, rtt+4*dev)<<min(s.backoff-1, 6)
	}
}

// At returns the time of the sender's next timer event.
func (s *sender) At() unit.Time { return min(s.chunkAt, s.copyAt, s.timer, s.lossAt) }

// Tick fills the socket, and looks after packets that are out for too long.
func (s *sender) Tick(now unit.Time) {
	s.fill(now)
	if now >= s.lossAt {
		s.overtaken(now)
	}
	if now >= s.timer {
		s.expire(now)
	}
	s.note(now)
}

// expire sends the oldest packet again as a probe, or after a time-out all that is out.
func (s *sender) expire(now unit.Time) {
	una, next := s.out.Range()
	s.timeouts++
	for psn := una; psn < next; psn++ {
		slot := s.out.At(psn)
		if slot.State != window.Flying {
			continue
		}
		if int(slot.Tries) >= s.s.Retries {
			s.out.Fail(rc.RetryExceeded)
			s.timer, s.lossAt, s.chunkAt, s.copyAt = unit.Never, unit.Never, unit.Never, unit.Never
			s.queue, s.head = s.queue[:0], 0
			return
		}
		s.out.Lose(psn)
		if s.backoff == 0 {
			break
		}
	}
	if s.backoff == 1 {
		s.control.Restart(now)
		s.recover = next
	}
	s.backoff = min(s.backoff+1, 16)
	s.arm(now)
}

// Take takes an acknowledgement.
func (s *sender) Take(now unit.Time, p *transport.Packet) (place bool) {
	if p.Kind != transport.Ack || s.out.Failed() {
		return false
	}
	s.core.Work(now, s.s.Rx)
	s.busy += s.s.Rx
	full := float64(s.out.Flying()) >= s.control.Size-float64(s.s.chunk) // an unused window does not grow
	before, _ := s.out.Range()
	news := 0
	s.out.Told(p, func(psn uint64) {
		slot, fresh := s.out.Ack(psn)
		if !fresh {
			return
		}
		if news++; slot.Tries == 0 && slot.Sent > s.newest {
			s.newest = slot.Sent
		}
	})
	if p.Sent > 0 && now > p.Sent && news > 0 {
		s.sample(now - p.Sent)
	}
	s.out.Advance()
	una, next := s.out.Range()
	marked := p.Flags&transport.Marked != 0
	if news > 0 {
		s.control.Observe(float64(news), marked)
		if marked && una >= s.recover {
			s.control.Mark(now)
			s.recover = next
		}
		if full && (!marked || s.control.DCTCP) {
			s.control.Acked(now, s.rtt, float64(news))
		}
	}
	s.lossAt = unit.Never
	if una < next && s.out.At(una).State == window.Flying && s.out.At(una).Sent < s.newest {
		s.overtaken(now)
	}
	if news > 0 || una > before {
		s.backoff = 0
		s.arm(now)
	}
	s.fill(now)
	s.note(now)
	return false
}

// sample takes a round trip (RFC 6298, 2).
func (s *sender) sample(took unit.Time) {
	s.took = took
	if !s.measured {
		s.rtt, s.dev, s.measured = took, took/2, true
		return
	}
	d := took - s.rtt
	s.dev += (max(d, -d) - s.dev) / 4
	s.rtt += d / 8
}

// overtaken marks packets as lost that left before others that have arrived, a quarter of a round trip late (RFC
// 8985, 6.2).
func (s *sender) overtaken(now unit.Time) {
	s.lossAt = unit.Never
	una, next := s.out.Range()
	lost := false
	for psn := una; psn < next; psn++ {
		slot := s.out.At(psn)
		if slot.Sent >= s.newest && slot.Tries == 0 {
			break
		}
		if slot.State != window.Flying || slot.Sent >= s.newest {
			continue
		}
		if due := slot.Sent + max(s.took, s.rtt) + s.rtt/4; due > now {
			s.lossAt = min(s.lossAt, due)
			continue
		}
		if s.out.Lose(psn) {
			s.early++
			lost = true
		}
	}
	if lost && una >= s.recover {
		s.control.Cut(now)
		s.recover = next
	}
}

// PlaneIs moves the connection to another plane if its plane fails.
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
		if slot := s.out.At(psn); slot.State == window.Flying && int(slot.Path) == plane {
			s.out.Lose(psn)
		}
	}
	s.arm(now)
	s.note(now)
}

// Say sends nothing.
func (s *sender) Say(unit.Time, *transport.Packet) bool { return false }

// Completed pops a completion.
func (s *sender) Completed() (transport.Completion, bool) { return s.out.Completed() }

// InFlight returns the bytes in flight.
func (s *sender) InFlight() unit.Bytes { return s.out.InFlight() }

// note records for how long the window blocks the data in the socket.
func (s *sender) note(now unit.Time) {
	_, next := s.out.Range()
	has := s.out.AnyLost() || s.out.More() && next < s.socket
	s.Note(now, has && !s.sendable())
}

// Signal reports what Protocol lists.
func (s *sender) Signal(_ unit.Time, name string) (float64, bool) {
	switch name {
	case cc.SignalWindow:
		return s.control.Size * float64(s.s.MTU), true
	case cc.SignalDelay:
		return s.rtt.Seconds(), true
	case cc.SignalAlpha:
		return s.control.Alpha, true
	}
	return 0, false
}

// Counter reports what Protocol lists.
func (s *sender) Counter(name string) (int64, bool) {
	switch name {
	case "timeouts":
		return s.timeouts, true
	case "early":
		return s.early, true
	case cc.CounterCuts:
		return s.control.Cuts, true
	case CounterCPU:
		return int64(s.busy / unit.Nanosecond), true
	case CounterCopied:
		return s.copied, true
	case CounterCalls:
		return s.calls, true
	case CounterInterrupts:
		return 0, true
	}
	return 0, false
}

// Touch does nothing.
func (*sender) Touch(*transport.Packet, bool) {}

// Close gives back the room for packets.
func (s *sender) Close() { s.out.Close() }

package host

import (
	"slices"

	"railyard/cc"
	"railyard/rc"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// plain is a minimal protocol: a window of packets over all planes in turn, and an answer to each packet.
// Unanswered packets are retransmitted after a time-out, and messages end in any order.
type plain struct {
	mtu, window int
	timeout     unit.Time
	retries     int
	peers       int
	path        cc.Path
}

func (m *plain) Peer(p cc.Path, _ uint64) transport.Peer {
	m.peers++
	m.path = p
	return &plainPeer{m}
}

func (m *plain) Receiver(cc.Path, uint64) transport.Receiver {
	return &plainReceiver{got: map[uint32]uint64{}, have: map[uint32]bool{}}
}

func (m *plain) Wire(p *transport.Packet) int {
	if p.Kind != transport.Data {
		return roce.AckLen
	}
	return roce.DataLen(roce.WriteOnly, int(p.Payload))
}

func (m *plain) State() (int, int) { return 0, 0 }

type plainPeer struct{ *plain }

func (m *plainPeer) Sender(uint64) transport.Sender { return &plainSender{plain: m.plain} }

// flight is a packet that is to be answered.
type flight struct {
	packet transport.Packet
	due    unit.Time
	tries  int
}

type plainSender struct {
	*plain
	todo    []transport.Packet // not yet sent
	out     []flight           // in the order of their last transmission
	left    []int              // packets by message
	ids     []uint64
	psn     uint32
	down    uint32 // planes
	done    []transport.Completion
	late    int64
	ev      uint32
	full    unit.Time // since when the window is full, or how long it was
	wasFull unit.Time
}

func (s *plainSender) Post(_ unit.Time, r transport.Request) error {
	left, message := r.Bytes, uint32(len(s.left))
	s.left, s.ids = append(s.left, 0), append(s.ids, r.ID)
	for at := uint64(0); at == 0 || left > 0; s.psn++ {
		n := min(left, int64(s.mtu))
		p := transport.Packet{Kind: transport.Data, PSN: s.psn, Message: message, Payload: uint32(n),
			Offset: at, Bytes: uint64(r.Bytes)}
		s.todo, s.left[message] = append(s.todo, p), s.left[message]+1
		left, at = left-n, at+uint64(max(n, 1))
	}
	return nil
}

func (s *plainSender) Ready(_ unit.Time, plane int) bool {
	return len(s.todo) > 0 && len(s.out) < s.window && s.down&(1<<plane) == 0
}

func (s *plainSender) Next(now unit.Time, plane int, p *transport.Packet) bool {
	if !s.Ready(now, plane) {
		return false
	}
	tries := 0
	if *p = s.todo[0]; p.Flags&transport.Again != 0 {
		tries = int(p.Penalty)
	}
	s.todo = s.todo[1:]
	p.EV, p.Sent = s.ev*2654435761, now
	s.ev++
	s.out = append(s.out, flight{*p, now + s.timeout, tries})
	s.mark(now)
	return true
}

// mark records how long the window was full.
func (s *plainSender) mark(now unit.Time) {
	full := len(s.out) >= s.window && len(s.todo) > 0
	if full && s.full == 0 {
		s.full = now
	} else if !full && s.full > 0 {
		s.wasFull, s.full = s.wasFull+now-s.full, 0
	}
}

func (s *plainSender) Take(now unit.Time, p *transport.Packet) (store bool) {
	i := slices.IndexFunc(s.out, func(f flight) bool { return f.packet.PSN == p.PSN })
	if i < 0 {
		return false
	}
	f := s.out[i]
	if s.out = slices.Delete(s.out, i, i+1); p.Kind == transport.Nack {
		s.again(f)
	} else if m := f.packet.Message; s.left[m] == 1 {
		s.done = append(s.done, transport.Completion{ID: s.ids[m]})
	} else {
		s.left[m]--
	}
	s.mark(now)
	return false
}

// again inserts a packet before the packets to send.
func (s *plainSender) again(f flight) {
	if f.packet.Flags |= transport.Again; f.tries >= s.retries {
		s.done = append(s.done, transport.Completion{Status: rc.RetryExceeded})
		s.todo, s.out = nil, nil
		return
	}
	f.packet.Penalty = uint8(f.tries + 1)
	s.todo = slices.Insert(s.todo, 0, f.packet)
}

func (s *plainSender) At() unit.Time {
	if len(s.out) == 0 {
		return unit.Never
	}
	return s.out[0].due
}

func (s *plainSender) Tick(now unit.Time) {
	for len(s.out) > 0 && s.out[0].due <= now {
		f := s.out[0]
		s.out = s.out[1:]
		s.late++
		s.again(f)
	}
	s.mark(now)
}

func (s *plainSender) PlaneIs(_ unit.Time, plane int, up bool) {
	if s.down |= 1 << plane; up {
		s.down &^= 1 << plane
	}
}

func (s *plainSender) Completed() (c transport.Completion, ok bool) {
	if len(s.done) == 0 {
		return c, false
	}
	c, s.done = s.done[0], s.done[1:]
	return c, true
}

func (s *plainSender) Say(unit.Time, *transport.Packet) bool { return false }
func (s *plainSender) Pending() bool                         { return len(s.todo) > 0 }
func (s *plainSender) InFlight() unit.Bytes                  { return unit.Bytes(len(s.out) * s.mtu) }

func (s *plainSender) Held(now unit.Time) transport.Held {
	if s.full > 0 {
		return transport.Held{Window: s.wasFull + now - s.full}
	}
	return transport.Held{Window: s.wasFull}
}

func (s *plainSender) Counter(name string) (int64, bool) {
	return s.late, name == transport.CounterTimeouts
}

func (s *plainSender) Signal(_ unit.Time, name string) (float64, bool) {
	return float64(s.window * s.mtu), name == cc.SignalWindow
}

type plainReceiver struct {
	got     map[uint32]uint64 // bytes by message
	have    map[uint32]bool   // by PSN
	say     []transport.Packet
	came    []uint32
	planes  [8]int
	twice   int64
	placed  int64
	lastHop int
}

func (r *plainReceiver) Take(_ unit.Time, p *transport.Packet) (store bool) {
	a := transport.Packet{Kind: transport.Ack, Plane: p.Plane, PSN: p.PSN, EV: p.EV, EchoEV: p.EV}
	a.Flags = p.Flags & transport.Marked
	switch {
	case p.Flags&transport.Trimmed != 0:
		if a.Kind = transport.Nack; p.Flags&transport.LastHop != 0 {
			r.lastHop++
		}
	case r.have[p.PSN]:
		r.twice++
	default:
		r.have[p.PSN], store = true, true
		r.planes[p.Plane]++
		r.placed += int64(p.Payload)
		if r.got[p.Message] += uint64(p.Payload); r.got[p.Message] == p.Bytes {
			r.came = append(r.came, p.Message)
		}
	}
	r.say = append(r.say, a)
	return store
}

func (r *plainReceiver) Say(_ unit.Time, p *transport.Packet) bool {
	if len(r.say) == 0 {
		return false
	}
	*p, r.say = r.say[0], r.say[1:]
	return true
}

func (r *plainReceiver) Arrived() (uint32, bool) {
	if len(r.came) == 0 {
		return 0, false
	}
	m := r.came[0]
	r.came = r.came[1:]
	return m, true
}

func (r *plainReceiver) At() unit.Time                { return unit.Never }
func (r *plainReceiver) Tick(unit.Time)               {}
func (r *plainReceiver) PlaneIs(unit.Time, int, bool) {}
func (r *plainReceiver) Counter(name string) (int64, bool) {
	switch name {
	case transport.CounterDuplicates:
		return r.twice, true
	case transport.CounterPlaced:
		return r.placed, true
	}
	return 0, false
}

// Touch does nothing.
func (*plainSender) Touch(*transport.Packet, bool) {}

// Touch does nothing.
func (*plainReceiver) Touch(*transport.Packet, bool) {}

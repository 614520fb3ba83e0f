package transporttest

import (
	"errors"

	"railyard/cc"
	"railyard/internal/rng"
	"railyard/param"
	"railyard/rc"
	"railyard/transport"
	"railyard/unit"
)

// The toy is the minimal protocol that passes. Each packet has its own answer, time-out and random path; the window
// has a fixed size. breaks is the rule that it breaks, "" for none.
type toy struct{ breaks string }

const (
	toyWindow  = 512
	toyTimeout = 500 * unit.Microsecond
)

func toyProtocol(breaks string) *transport.Protocol {
	return &transport.Protocol{Name: "toy", Title: "Toy", Words: "a toy", Ordered: true,
		Params: []param.Param{}, Defaults: param.Values{},
		Signals:  []cc.Term{{Name: "window", Doc: "the window"}},
		Counters: []cc.Term{{Name: "again", Doc: "packets retransmitted"}},
		New: func(_ param.Values, c transport.Common) transport.Maker {
			return &toyMaker{toy: toy{breaks}, mtu: int64(c.MTU), planes: c.Planes}
		}}
}

type toyMaker struct {
	toy
	mtu    int64
	planes int
}

func (m *toyMaker) Peer(cc.Path, uint64) transport.Peer { return m }
func (m *toyMaker) Sender(seed uint64) transport.Sender {
	return &toySender{toyMaker: m, random: rng.New(seed, "toy"), slots: make([]toySlot, toyWindow),
		quit: unit.Never, talk: m.breaks == "chatter"}
}
func (m *toyMaker) Receiver(cc.Path, uint64) transport.Receiver {
	return &toyReceiver{toyMaker: m, have: make([]bool, 2*toyWindow)}
}
func (m *toyMaker) Wire(p *transport.Packet) int {
	if p.Flags&transport.Trimmed != 0 || p.Kind != transport.Data {
		return 64
	}
	return 64 + int(p.Payload)
}
func (m *toyMaker) State() (int, int) { return 100, 0 }

type toySlot struct {
	message       uint32
	offset, bytes int64
	at            unit.Time // when the packet is given up
	done          bool
}

type toyMessage struct {
	req         transport.Request
	first, last uint32
}

type toySender struct {
	*toyMaker
	random      rng.Stream
	messages    []toyMessage
	done        int
	cutting     int   // the message that is being sent
	offset      int64 // in it
	una, next   uint32
	slots       []toySlot
	inFlight    int64
	again       int64
	late        uint32 // the slot to retransmit
	isLate      bool
	completions []transport.Completion
	talk        bool
	quit        unit.Time
}

func (s *toySender) Post(_ unit.Time, r transport.Request) error {
	if s.breaks == "no post" {
		return errors.New("the queue is full")
	}
	s.messages = append(s.messages, toyMessage{req: r})
	return nil
}

func (s *toySender) slot(psn uint32) *toySlot { return &s.slots[psn%toyWindow] }

func (s *toySender) Take(_ unit.Time, p *transport.Packet) bool {
	if p.Kind != transport.Ack || p.PSN-s.una >= s.next-s.una {
		return false
	}
	if slot := s.slot(p.PSN); !slot.done {
		slot.done = true
		s.inFlight -= slot.bytes
	}
	for s.una != s.next && s.slot(s.una).done {
		s.una++
	}
	for s.done < s.cutting && int32(s.messages[s.done].last-s.una) < 0 {
		s.complete()
	}
	return false
}

func (s *toySender) complete() {
	id := s.messages[s.done].req.ID
	s.completions = append(s.completions, transport.Completion{ID: id, Status: rc.Success})
	if s.breaks == "completes twice" {
		s.completions = append(s.completions, s.completions[0])
	}
	s.done++
}

func (s *toySender) Say(_ unit.Time, p *transport.Packet) bool {
	if s.breaks == "talks" {
		p.Kind = transport.Control
		return true
	}
	return false
}

func (s *toySender) At() unit.Time {
	at := unit.Time(unit.Never)
	if s.breaks == "restless" {
		return 0
	}
	if s.isLate {
		return at
	}
	for psn := s.una; psn != s.next; psn++ {
		if slot := s.slot(psn); !slot.done {
			at = min(at, slot.at)
		}
	}
	if s.talk {
		at = min(at, s.quit)
	}
	return at
}

func (s *toySender) Tick(now unit.Time) {
	s.quit = now + unit.Millisecond
	for psn := s.una; psn != s.next; psn++ {
		if slot := s.slot(psn); !slot.done && slot.at <= now {
			s.late, s.isLate = psn, true
			return
		}
	}
}

func (s *toySender) PlaneIs(unit.Time, int, bool) {}
func (s *toySender) Counter(name string) (int64, bool) {
	return s.again, name == "again" || s.breaks == "invents"
}
func (s *toySender) Signal(_ unit.Time, name string) (float64, bool) {
	return toyWindow, name == "window" && s.breaks != "deaf"
}

func (s *toySender) Ready(_ unit.Time, plane int) bool {
	if s.breaks == "not ready" && s.random.Intn(50) == 0 {
		return false
	}
	return s.isLate || s.cutting < len(s.messages) && s.next-s.una < toyWindow
}

func (s *toySender) Next(now unit.Time, plane int, p *transport.Packet) bool {
	if !s.isLate && !(s.cutting < len(s.messages) && s.next-s.una < toyWindow) {
		return false
	}
	psn := s.next
	if s.isLate {
		psn, s.isLate = s.late, false
		s.again++
		p.Flags |= transport.Again
	} else {
		s.cut()
	}
	slot := s.slot(psn)
	m := &s.messages[slot.message]
	if slot.at = now + toyTimeout; s.breaks == "hasty" {
		slot.at = now + 5*unit.Microsecond
	}
	p.Kind, p.Plane, p.EV, p.PSN, p.Message = transport.Data, uint8(plane), s.path(), psn, slot.message
	p.Offset, p.Payload, p.Bytes = uint64(slot.offset), uint32(slot.bytes), uint64(m.req.Bytes)
	if psn == m.last && slot.offset+slot.bytes == m.req.Bytes {
		p.Flags |= transport.Last
	}
	if s.breaks == "forgets the end" && slot.offset > 0 {
		p.Offset--
	}
	return true
}

// path is a path at random, or by a clock that two runs do not share.
func (s *toySender) path() uint32 {
	if s.breaks == "rolls dice" {
		dice++
		return dice
	}
	return uint32(s.random.Uint64())
}

var dice uint32

// cut builds the next slot.
func (s *toySender) cut() {
	m := &s.messages[s.cutting]
	if s.offset == 0 {
		m.first = s.next
	}
	n := min(s.mtu, m.req.Bytes-s.offset)
	*s.slot(s.next) = toySlot{message: uint32(s.cutting), offset: s.offset, bytes: n}
	if s.breaks == "allocates" {
		s.slots = append([]toySlot(nil), s.slots...)
	}
	s.inFlight += n
	if s.offset += n; s.offset == m.req.Bytes {
		m.last = s.next
		s.cutting, s.offset = s.cutting+1, 0
		if s.breaks == "early" {
			s.complete()
		}
	}
	s.next++
}

func (s *toySender) Pending() bool { return s.una != s.next || s.cutting < len(s.messages) }

func (s *toySender) Completed() (c transport.Completion, ok bool) {
	if len(s.completions) == 0 {
		return c, false
	}
	c = s.completions[0]
	s.completions = append(s.completions[:0], s.completions[1:]...)
	return c, true
}

func (s *toySender) Held(unit.Time) transport.Held { return transport.Held{} }

func (s *toySender) InFlight() unit.Bytes {
	if s.breaks == "hoards" {
		return unit.Bytes(s.inFlight) + 1
	}
	return unit.Bytes(s.inFlight)
}

type toyReceiver struct {
	*toyMaker
	expect   uint32
	have     []bool // by PSN, for one window
	message  uint32 // message that arrives next
	last     [2 * toyWindow]bool
	answers  []uint32
	arrivals []uint32
}

func (r *toyReceiver) Take(_ unit.Time, p *transport.Packet) (place bool) {
	if p.Kind != transport.Data || p.Flags&transport.Trimmed != 0 || int32(p.PSN-r.expect) >= toyWindow {
		return false
	}
	if r.breaks == "panics" && p.Offset > 1<<40 {
		panic("an offset that no message has")
	}
	if r.breaks != "loses" || p.PSN%100 != 99 {
		r.answers = append(r.answers, p.PSN)
	}
	i := p.PSN % (2 * toyWindow)
	if int32(p.PSN-r.expect) < 0 || r.have[i] {
		return r.breaks == "places twice"
	}
	r.have[i], r.last[i] = true, p.Flags&transport.Last != 0
	for i = r.expect % (2 * toyWindow); r.have[i]; i = r.expect % (2 * toyWindow) {
		r.have[i] = false
		r.expect++
		if r.last[i] {
			r.arrivals = append(r.arrivals, r.message)
			r.message++
		}
	}
	return r.breaks != "refuses" || p.PSN%50 != 7
}

func (r *toyReceiver) Say(_ unit.Time, p *transport.Packet) bool {
	if len(r.answers) == 0 {
		return false
	}
	p.Kind, p.PSN, p.EV = transport.Ack, r.answers[0], r.answers[0]*77
	p.Plane = uint8(r.answers[0] % uint32(r.planes))
	r.answers = append(r.answers[:0], r.answers[1:]...)
	return true
}

func (r *toyReceiver) At() unit.Time                { return unit.Never }
func (r *toyReceiver) Tick(unit.Time)               {}
func (r *toyReceiver) PlaneIs(unit.Time, int, bool) {}
func (r *toyReceiver) Counter(string) (int64, bool) { return 0, false }

func (r *toyReceiver) Arrived() (m uint32, ok bool) {
	if len(r.arrivals) == 0 {
		return 0, false
	}
	m = r.arrivals[0]
	r.arrivals = append(r.arrivals[:0], r.arrivals[1:]...)
	return m, true
}

// Touch does nothing.
func (*toySender) Touch(*transport.Packet, bool) {}

// Touch does nothing.
func (*toyReceiver) Touch(*transport.Packet, bool) {}

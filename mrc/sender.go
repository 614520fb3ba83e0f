package mrc

import (
	"errors"
	"fmt"

	"railyard/cc"
	"railyard/internal/rng"
	"railyard/rc"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// Sender is the end of a connection that writes. What every packet reads of it is four cache lines, a fifth
// every answer (TestLines).
type Sender struct {
	peer      *Peer
	una, next uint32 // all before una have arrived, all before next were sent
	span      uint32 // packets that the receiver tracks
	cutting   uint32 // the current message, and its next packet
	cut       uint32
	posted    uint32
	oldest    uint32 // the first incomplete message
	tells     int32  // WRITEs with immediate that have begun and are not complete
	dead      bool
	busy      bool
	windowed  bool      // the window blocks data that could be sent,
	paced     bool      // or the pace,
	since     unit.Time // from then on

	slots    slots
	open     [4]uint64  // of slots, and
	one      [1]message // memory of one message, which then needs no allocation
	messages []message  // incomplete messages, from oldest on
	inFlight unit.Bytes
	retry    retrying
	silence  unit.Time // time at which the limit without an answer is exceeded; Never: nothing is in flight
	ports    ports

	probes probing
	m      *maker
	done   []transport.Completion
	random rng.Stream
	held   transport.Held // until since
	first  bool           // the first sender of its peer
	away   turned
	n      senderCounts
}

// turned is the time at which rejected packets may be retransmitted, together with other lost ones; 0: now.
type turned struct {
	until unit.Time
	psn   uint32 // the last one, and how often in a row
	n     int
}

// message is an incomplete WRITE.
type message struct {
	id      uint64
	bytes   int64
	first   uint32 // PSN, once its first packet was sent
	packets uint32
	tells   bool
}

// maxMessage is the longest WRITE (IBTA 9.7.2: 2^31 bytes).
const maxMessage = 1 << 31

func newSender(p *Peer, seed uint64) *Sender {
	s := &Sender{peer: p, m: p.m, random: rng.New(seed, "mrc sender"), span: uint32(p.m.Window)}
	s.ports.start(p.m.common.Planes)
	s.silence, s.slots.open, s.messages = unit.Never, s.open[:0], s.one[:0]
	s.probes.early = unit.Never
	return s
}

// MostInFlight is the range of packets that the receiver tracks, full ones.
func (s *Sender) MostInFlight() unit.Bytes { return unit.Bytes(s.span) * unit.Bytes(s.m.common.MTU) }

// errDead refuses work on a connection that has failed.
var errDead = errors.New("the connection has failed")

// Post appends a WRITE.
func (s *Sender) Post(now unit.Time, r transport.Request) error {
	switch {
	case s.dead:
		return errDead
	case r.Bytes < 0 || r.Bytes > maxMessage:
		return fmt.Errorf("a message has 0 to %d bytes, found %d", maxMessage, r.Bytes)
	}
	mtu := int64(s.m.common.MTU)
	s.messages = append(s.messages, message{id: r.ID, bytes: r.Bytes, tells: r.Tells,
		packets: uint32(max(1, (r.Bytes+mtu-1)/mtu))})
	s.posted++
	s.mind(now)
	return nil
}

func (s *Sender) message(number uint32) *message { return &s.messages[number-s.oldest] }

// mayCut reports whether a new packet may be sent.
func (s *Sender) mayCut() bool {
	if s.cutting == s.posted || s.next-s.una >= s.span {
		return false
	}
	return s.cut > 0 || !s.message(s.cutting).tells || int(s.tells) < s.peer.m.Immediates
}

// has reports whether there is data to send, regardless of the window and the pace.
func (s *Sender) has() bool { return !s.dead && (s.slots.anyLost() && s.away.until == 0 || s.mayCut()) }

// Ready reports whether Next would make a packet for a plane.
func (s *Sender) Ready(now unit.Time, plane int) bool {
	if !s.has() || !s.peer.usable(plane) {
		return false
	}
	return s.note(now, s.peer.room(now), s.peer.pace.NextAt <= now)
}

// Next makes the next data packet for a plane.
func (s *Sender) Next(now unit.Time, plane int, p *transport.Packet) bool {
	if !s.Ready(now, plane) {
		return false
	}
	ev, ok := s.peer.evs.next(plane)
	if !ok {
		if ev, ok = s.peer.evs.resort(plane); !ok {
			return false
		}
	}
	if s.inFlight == 0 {
		s.depart(now)
	}
	psn := s.next
	if s.slots.anyLost() && s.away.until == 0 {
		psn = s.again(p)
	} else {
		s.cutNext()
	}
	x := s.slots.at(psn)
	x.sent, x.ev, x.plane, x.refused = now, ev.number, uint8(plane), false
	s.fill(p, psn, x)
	p.EV = ev.value
	s.slots.push(min(x.tries, waits-1), psn)
	s.inFlight += unit.Bytes(p.Payload)
	s.peer.inFlight += unit.Bytes(p.Payload)
	if s.peer.asks(now, p.Flags&transport.Again != 0, !s.has()) {
		p.Flags |= transport.Asks
	}
	s.pace(now, p)
	return true
}

// again takes the first lost packet.
func (s *Sender) again(p *transport.Packet) (psn uint32) {
	psn = s.slots.list[lost].head
	s.slots.take(psn)
	p.Flags |= transport.Again
	s.n.again++
	return psn
}

// cutNext creates a slot for the next packet of the current message.
func (s *Sender) cutNext() {
	m := s.message(s.cutting)
	if s.cut == 0 {
		if m.first = s.next; m.tells {
			s.tells++
		}
	}
	s.slots.hold(s.una, int(s.next-s.una)+1)
	*s.slots.at(s.next) = slot{message: s.cutting, in: noList}
	s.next++
	if s.cut++; s.cut == m.packets {
		s.cutting, s.cut = s.cutting+1, 0
	}
}

// fill writes a packet's headers, but for its entropy value.
func (s *Sender) fill(p *transport.Packet, psn uint32, x *slot) {
	m := s.message(x.message)
	mtu := int64(s.peer.m.common.MTU)
	at := int64(psn-m.first) * mtu
	p.Kind, p.Plane = transport.Data, x.plane
	p.PSN, p.Message = psn&roce.PSNMask, x.message
	x.payload = uint32(min(mtu, m.bytes-at))
	p.Offset, p.Payload, p.Bytes = uint64(at), x.payload, uint64(m.bytes)
	p.Sent = x.sent
	if p.Flags |= transport.Stamped; psn-m.first == m.packets-1 {
		if p.Flags |= transport.Last; m.tells {
			p.Flags |= transport.Tells
		}
	}
}

// pace charges a packet to the congestion control's budget and rate.
func (s *Sender) pace(now unit.Time, p *transport.Packet) {
	pace := &s.peer.pace
	if !pace.Charged() {
		return
	}
	wire := int64(s.peer.m.Wire(p))
	if pace.Spent(now, wire) {
		s.peer.decide(now)
	}
	if pace.Rate < pace.Line {
		pace.Delay(now, wire, 0)
	}
}

// leave removes a packet from the data in flight.
func (s *Sender) leave(psn uint32, x *slot) {
	if x.underWay() {
		n := unit.Bytes(x.payload)
		s.inFlight -= n
		s.peer.inFlight -= n
	}
	if x.in != noList {
		s.slots.take(psn)
	}
}

// lose marks a packet in flight for retransmission.
func (s *Sender) lose(psn uint32) {
	x := s.slots.at(psn)
	s.leave(psn, x)
	x.tries = min(x.tries+1, 250)
	s.slots.push(lost, psn)
}

// complete ends the messages all of whose packets have arrived.
func (s *Sender) complete() {
	n := uint32(0)
	for s.oldest+n != s.cutting {
		m := &s.messages[n]
		if int32(s.una-m.first-m.packets) < 0 {
			break
		}
		if m.tells {
			s.tells--
		}
		s.done = append(s.done, transport.Completion{ID: m.id, Status: rc.Success})
		n++
	}
	if n > 0 {
		s.messages = append(s.messages[:0], s.messages[n:]...)
		s.oldest += n
	}
}

// die ends the connection. The oldest message completes with a status, and the others are flushed.
func (s *Sender) die(now unit.Time, why rc.Status) {
	if s.dead {
		return
	}
	for i := range s.messages {
		s.done = append(s.done, transport.Completion{ID: s.messages[i].id, Status: why})
		why = rc.Flushed
	}
	s.peer.inFlight -= s.inFlight
	s.dead, s.inFlight, s.messages, s.slots = true, 0, nil, slots{}
	s.una, s.oldest, s.cutting, s.away = s.next, s.posted, s.posted, turned{}
	s.mind(now)
}

// Pending reports whether there is data to send, now or later.
func (s *Sender) Pending() bool { return len(s.messages) > 0 }

// mind maintains the peer's count of connections with work.
func (s *Sender) mind(now unit.Time) {
	if busy := len(s.messages) > 0; busy != s.busy {
		if s.busy = busy; busy {
			s.peer.busy++
		} else {
			s.peer.busy--
			s.rest(now)
		}
	}
}

// Completed pops a completion.
func (s *Sender) Completed() (c transport.Completion, ok bool) {
	if len(s.done) == 0 {
		return c, false
	}
	c = s.done[0]
	s.done = append(s.done[:0], s.done[1:]...)
	return c, true
}

// InFlight returns the payload bytes in flight.
func (s *Sender) InFlight() unit.Bytes { return s.inFlight }

// Held returns the time during which the window or the pace blocked available data.
func (s *Sender) Held(now unit.Time) transport.Held { return s.heldUpTo(now) }

// Take processes an answer, or a probe of the far NIC.
func (s *Sender) Take(now unit.Time, p *transport.Packet) (place bool) {
	switch {
	case s.ports.take(p):
		s.farPorts(now)
	case p.Kind == transport.Ack, p.Kind == transport.Answer && p.Code == AboutConnection:
		s.sack(now, p)
	case p.Kind == transport.Nack:
		s.nack(now, p)
	case p.Kind == transport.Probe && p.Code == AboutEV:
		s.probes.answer(p)
	}
	s.mind(now)
	return false
}

// farPorts processes the far NIC's port state: packets in flight to a failed port are lost.
func (s *Sender) farPorts(now unit.Time) {
	s.peer.far = s.ports.far
	s.abandon(now)
}

// abandon marks packets on failed planes as lost.
func (s *Sender) abandon(now unit.Time) {
	up := s.peer.planes()
	for psn := s.una; psn != s.next; psn++ {
		if x := s.slots.at(psn); x.underWay() && up>>x.plane&1 == 0 {
			s.lose(psn)
		}
	}
}

// PlaneIs sets whether the NIC's own port to a plane works.
func (s *Sender) PlaneIs(now unit.Time, plane int, up bool) {
	if s.ports.planeIs(now, plane, up) {
		s.peer.own = s.ports.own
		s.abandon(now)
	}
}

// OnLine changes the rate of the line below the congestion control.
func (s *Sender) OnLine(now unit.Time, line unit.Rate) {
	s.peer.pace.SetLine(now, line)
	s.peer.decide(now)
}

// note records whether window and pace permit a packet now, and reports whether both do.
func (s *Sender) note(now unit.Time, room, pace bool) bool {
	if s.windowed == !room && s.paced == (room && !pace) {
		return room && pace
	}
	s.rest(now)
	s.windowed, s.paced, s.since = !room, room && !pace, now
	return room && pace
}

// rest records that nothing is delayed.
func (s *Sender) rest(now unit.Time) {
	s.held = s.heldUpTo(now)
	s.windowed, s.paced = false, false
}

func (s *Sender) heldUpTo(now unit.Time) transport.Held {
	t := s.held
	switch {
	case s.windowed:
		t.Window += now - s.since
	case s.paced:
		t.Pace += now - s.since
	}
	return t
}

var _ cc.Liner = (*Sender)(nil)

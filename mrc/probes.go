package mrc

import (
	"railyard/transport"
	"railyard/unit"
)

// probing is the state of a sender's probes, whose answers show whether paths assumed bad work, and what has
// arrived during silence. It also has the sender's answers to probes.
type probing struct {
	n       int32 // of asks
	doubts  int32 // pending probes of the connection
	answers answers
	inRow   int32 // questions about silence without an answer
	id      uint32
	early   unit.Time          // time at which the next overtaken packet may be lost
	asks    [mostProbes]uint16 // values to be probed
	said    int64
	asked   [recent]unit.Time // send times of the latest probes, by identifier
}

// recent is the number of probes in flight for which an answer also covers the earlier ones.
const recent = 16

// mostProbes is the number of bad values that are probed at a time.
const mostProbes = 4

// heard records that the far end is alive and has received the answered probe. It returns the probe's departure
// time. It returns 0 if the probe was sent more than once and the answer may belong to an earlier copy. The headers
// of a trimmed packet show only that the path works, because they overtake all data in the queue that was full.
func (s *Sender) heard(now unit.Time, p *transport.Packet) (sent unit.Time) {
	s.listen(now)
	if p.Kind == transport.Answer {
		if g := &s.probes; (g.id-p.PSN)&0xffff < recent {
			sent = g.asked[p.PSN%recent]
		}
	} else if psn := psn24(s.una, p.PSN); psn-s.una < s.next-s.una {
		if x := s.slots.at(psn); x.tries == 0 || now-x.sent >= s.peer.rtt.least {
			sent = x.sent
		}
	}
	if p.Kind != transport.Nack || !trimmed(p) {
		s.peer.arrive(now, sent)
	}
	return sent
}

// listen starts to wait for an answer. The limit of silence is halfway between the mean round trip and the timeout.
// The queue delays answers, so half a timeout would be less than one round trip.
func (s *Sender) listen(now unit.Time) {
	s.silence, s.probes.inRow = now+(s.peer.rtt.mean+s.peer.patience)/2, 0
}

// depart starts to wait for an answer to a packet before which nothing was in flight. Growing intervals of probes
// continue if it is a retransmission.
func (s *Sender) depart(now unit.Time) {
	silence, inRow := s.silence, s.probes.inRow
	if s.listen(now); s.una != s.next {
		s.silence, s.probes.inRow = max(silence, s.silence), inRow
	}
}

// due returns the time at which silence has lasted too long.
func (s *Sender) due() unit.Time {
	if s.inFlight == 0 {
		return unit.Never
	}
	return s.silence
}

// tick sends due probes: of some bad values once per round trip, of the connection after a silence and then at growing
// intervals.
func (g *probing) tick(now unit.Time, s *Sender) {
	p := s.peer
	if p.probeAt <= now {
		p.probeAt = unit.Never
		if n := len(p.evs.bad); n > 0 {
			p.probeAt = now + p.probeEvery()
			for range min(n, mostProbes-int(g.n)) {
				g.asks[g.n], _ = p.evs.probed()
				g.n++
			}
		}
	}
	if s.due() <= now {
		g.inRow = min(g.inRow+1, 12)
		g.doubts, s.silence = max(g.doubts, 1), now+p.patience<<g.inRow
	}
}

// answer processes the far end's probe of a path.
func (g *probing) answer(p *transport.Packet) { g.answers.add(p) }

// Say produces the next control packet.
func (s *Sender) Say(now unit.Time, p *transport.Packet) bool {
	g := &s.probes
	if s.ports.say(now, p, s.peer.roundTrip()) {
		p.EV = s.peer.evs.any(int(p.Plane))
		return true
	}
	if g.answers.say(p, s.ports.own) {
		p.EV = s.peer.evs.any(int(p.Plane))
		return true
	}
	for g.n > 0 {
		g.n--
		i := g.asks[g.n]
		if plane := s.peer.evs.plane(i); s.peer.planes()>>plane&1 != 0 {
			s.ask(now, p, plane, s.peer.evs.values[i])
			return true
		}
	}
	if g.doubts > 0 {
		g.doubts--
		if plane, ok := anyPlane(&s.random, s.peer.planes()); ok && !s.dead {
			s.ask(now, p, plane, s.peer.evs.any(plane))
			return true
		}
	}
	return false
}

// ask creates a probe of the connection on one path.
func (s *Sender) ask(now unit.Time, p *transport.Packet, plane int, ev uint32) {
	s.probes.id = (s.probes.id + 1) & 0xffff
	s.probes.said++
	p.Kind, p.Code, p.Plane, p.EV, p.PSN = transport.Probe, AboutConnection, uint8(plane), ev, s.probes.id
	s.probes.asked[s.probes.id%recent], p.Sent, p.Flags = now, now, transport.Stamped
}

// answers are questions about paths that wait to be answered.
type answers struct {
	list []question
}

type question struct {
	sent  unit.Time
	id    uint32
	plane uint8
}

// mostAnswers is the limit of queued answers; further ones are lost, like any packet.
const mostAnswers = 64

func (a *answers) add(p *transport.Packet) {
	if len(a.list) < mostAnswers {
		a.list = append(a.list, question{p.Sent, p.PSN & 0xffff, p.Plane})
	}
}

// say answers on the plane of the probe if its port works here.
func (a *answers) say(p *transport.Packet, own uint32) bool {
	for len(a.list) > 0 {
		last := len(a.list) - 1
		q := a.list[last]
		if a.list = a.list[:last]; own>>q.plane&1 == 0 || q.plane >= maxPlanes {
			continue
		}
		p.Kind, p.Code, p.PSN, p.Sent, p.Plane = transport.Answer, AboutEV, q.id, q.sent, q.plane
		p.Flags = transport.Stamped
		return true
	}
	return false
}

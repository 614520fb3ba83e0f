package mrc

import (
	"math/bits"

	"railyard/internal/rng"
	"railyard/transport"
	"railyard/unit"
)

// ports is the known state of both NICs' ports and the pending announcements. A Port Status Update is sent when a
// port of this end changes, and repeated until it is acknowledged. The far end thus stops using the plane before it
// loses packets. An update has a number: an older one that arrives later is ignored.
type ports struct {
	at            unit.Time // time of the next retransmission of the update; Never: it was answered
	own, far, all uint32    // planes whose port works
	id            uint32    // number of this end's last update
	heard         uint32    // number of the far end's last update
	tries         int32
	due           bool
	hasHeard      bool
	answers       bool
	answer        question // to be sent
	updates       int64
}

// mostUpdates is the number of times that an update is sent without an answer. By then the far end has been
// unreachable for long.
const mostUpdates = 16

func (s *ports) start(planes int) {
	s.all = uint32(1)<<planes - 1
	s.own, s.far, s.at = s.all, s.all, unit.Never
}

// planeIs processes the state of an own port and reports whether it changed.
func (s *ports) planeIs(now unit.Time, plane int, up bool) bool {
	bit := uint32(1) << plane & s.all
	if bit == 0 || s.own&bit != 0 == up {
		return false
	}
	s.own ^= bit
	s.id, s.due, s.tries, s.at = (s.id+1)&0xffff, true, 0, now
	return true
}

// take processes the far end's port state and reports whether it changed.
func (s *ports) take(p *transport.Packet) (changed bool) {
	switch {
	case p.Kind == transport.Answer && p.Code == AboutPorts:
		if p.PSN&0xffff == s.id {
			s.due, s.at = false, unit.Never
		}
	case p.Kind == transport.Control:
		s.answer, s.answers = question{p.Sent, p.PSN & 0xffff, p.Plane}, true
		up := uint32(p.Bits[0]) & s.all
		if old := s.hasHeard && int16(p.PSN-s.heard) <= 0; old || up == 0 {
			return false
		}
		s.heard, s.hasHeard = p.PSN&0xffff, true
		changed = up != s.far
		s.far = up
	}
	return changed
}

// tick retransmits an update.
func (s *ports) tick(now unit.Time) {
	if s.at > now {
		return
	}
	if s.due = s.tries < mostUpdates; !s.due {
		s.at = unit.Never
	}
}

// say sends an update, or acknowledges one.
func (s *ports) say(now unit.Time, p *transport.Packet, rtt unit.Time) bool {
	if s.answers {
		s.answers = false
		if plane, ok := s.back(s.answer.plane); ok {
			p.Kind, p.Code, p.PSN, p.Sent = transport.Answer, AboutPorts, s.answer.id, s.answer.sent
			p.Plane, p.Flags = plane, transport.Stamped
			return true
		}
	}
	if !s.due {
		return false
	}
	s.due = false
	s.at = now + max(2*rtt, unit.Microsecond)<<min(s.tries, 8)
	plane, ok := s.turn()
	if s.tries++; !ok {
		return false
	}
	s.updates++
	p.Kind, p.Code, p.PSN, p.Plane, p.Bits[0] = transport.Control, AboutPorts, s.id, plane, uint64(s.own)
	p.Sent, p.Flags = now, transport.Stamped
	return true
}

// back returns the plane of an arrival or, if this end's port to it does not work, another plane.
func (s *ports) back(plane uint8) (uint8, bool) {
	if plane < maxPlanes && s.own&s.far>>plane&1 != 0 {
		return plane, true
	}
	return s.turn()
}

// turn returns a plane that works at both ends, or at least here; another one each time.
func (s *ports) turn() (uint8, bool) {
	up := s.own & s.far
	if up == 0 {
		up = s.own
	}
	if up == 0 {
		return 0, false
	}
	n := int(s.tries) % bits.OnesCount32(up)
	for range n {
		up &= up - 1
	}
	return uint8(bits.TrailingZeros32(up)), true
}

// anyPlane returns a random one of a set of planes.
func anyPlane(r *rng.Stream, up uint32) (int, bool) {
	if up == 0 {
		return 0, false
	}
	for range r.Intn(bits.OnesCount32(up)) {
		up &= up - 1
	}
	return bits.TrailingZeros32(up), true
}

package mrc

import (
	"math/bits"

	"railyard/cc"
	"railyard/rc"
	"railyard/unit"
)

// firstTimeout is the timeout if round trips are neither known nor measured.
const firstTimeout = 20 * unit.Millisecond

// timeout returns the local ACK timeout of a first transmission: as configured, or by round trips (RFC 6298, 2.3).
// It is at least three unloaded round trips, because a marking queue is no loss yet.
func (p *Peer) timeout() unit.Time {
	switch {
	case p.m.Timeout > 0:
		return p.m.Timeout
	case p.rtt.mean == 0 && p.base == 0:
		return firstTimeout
	}
	base := p.base
	if base == 0 {
		base = p.rtt.least
	}
	t := max(3*base, p.rtt.mean+4*p.rtt.dev, 2*p.rtt.mean, p.m.Floor)
	return t + p.m.ackDelay(base)
}

// ackDelay returns the time that a receiver may wait for more before it answers.
func (m *maker) ackDelay(rtt unit.Time) unit.Time {
	if m.AckDelay > 0 {
		return m.AckDelay
	}
	if rtt == 0 {
		return unknownDelay
	}
	return max(rtt/4, 100*unit.Nanosecond)
}

// unknownDelay is the receiver's delay of answers before a round trip is known.
const unknownDelay = 50 * unit.Microsecond

// stretched is a timeout after some tries.
func (m *maker) stretched(t unit.Time, tries int) unit.Time {
	if m.Exponential {
		return t << min(tries, 12)
	}
	return t * unit.Time(tries+1)
}

// retrying is the counter that all packets share: timeouts without news in between.
type retrying struct {
	at    unit.Time // time before which the next timeout does not count and silence is tolerated
	asked unit.Time // time before which silence raises no further probes
	n     int
}

func (r *retrying) news() { r.n, r.at = 0, 0 }

// silent reports whether no packet sent after a packet is known to have arrived. Its timeout then proves nothing
// about its path. No packet is retransmitted and no value withdrawn until a probe is answered.
func (s *Sender) silent(x *slot) bool { return x.sent >= s.peer.arrived }

// wait counts a timeout in silence, and probes, at most once per timeout. In an incast, a NACK of a trimmed packet
// arrives every few us while data wait in the full queue.
func (s *Sender) wait(now, t unit.Time) {
	if now >= max(s.retry.at, s.retry.asked) {
		s.probes.doubts, s.retry.asked = mostProbes, now+t
		s.count(now, t)
	}
}

// count counts a retry; too many consecutive retries end the connection.
func (s *Sender) count(now, t unit.Time) {
	if now < s.retry.at {
		return
	}
	if s.retry.n++; s.retry.n > s.m.Retries {
		s.die(now, rc.RetryExceeded)
		return
	}
	s.retry.at = now + s.m.stretched(t, s.retry.n)
}

// firstOut returns the time at which the first packet times out.
func (s *Sender) firstOut() unit.Time {
	at, t := unit.Time(unit.Never), s.peer.patience
	for w := s.slots.waiting(); w != 0; w &= w - 1 {
		psn := s.slots.list[bits.TrailingZeros16(w)].head
		d := s.deadline(psn, t)
		if s.silent(s.slots.at(psn)) {
			d = max(d, s.retry.at, s.retry.asked)
		}
		at = min(at, d)
	}
	return at
}

func (s *Sender) deadline(psn uint32, t unit.Time) unit.Time {
	x := s.slots.at(psn)
	return x.sent + s.m.stretched(t, int(x.tries))
}

// timeOut marks packets lost that have waited for too long.
func (s *Sender) timeOut(now unit.Time) {
	t := s.peer.patience
	for w := s.slots.waiting(); w != 0; w &= w - 1 {
		i := bits.TrailingZeros16(w)
		for l := &s.slots.list[i]; s.slots.nonEmpty>>i&1 != 0 && s.deadline(l.head, t) <= now && !s.dead; {
			if s.silent(s.slots.at(l.head)) {
				s.wait(now, t)
				break
			}
			s.timedOut(now, l.head, t)
		}
	}
}

// timedOut marks one packet lost. Its path is suspected, unless the receiver reported another reason.
func (s *Sender) timedOut(now unit.Time, psn uint32, t unit.Time) {
	x := s.slots.at(psn)
	if s.n.timeouts++; !x.refused {
		s.peer.condemn(now, x.ev)
	}
	s.lose(psn)
	s.lossOf(now, cc.LossTimeout)
	s.count(now, t)
}

// At returns the time of the sender's next timer event.
func (s *Sender) At() unit.Time {
	at := min(s.ports.at, s.due())
	if len(s.messages) == 0 {
		return at
	}
	p := s.peer
	at = min(at, s.firstOut(), p.probeAt, p.timer, s.probes.early)
	if s.paced {
		at = min(at, p.pace.NextAt)
	}
	if s.away.until > 0 {
		at = min(at, s.away.until)
	}
	if s.windowed && p.penalty > 0 {
		at = min(at, p.until)
	}
	return at
}

// Tick runs the timers that are due.
func (s *Sender) Tick(now unit.Time) {
	p := s.peer
	s.ports.tick(now)
	if len(s.messages) > 0 {
		for i := 0; p.timer <= now && i < mostLate; i++ {
			p.pace.OnTimer(min(now, p.timer))
			p.decide(now)
		}
		s.probes.tick(now, s)
		if s.probes.early <= now {
			s.losesEarly(now)
		}
		s.timeOut(now)
	}
	if s.away.until <= now {
		s.away.until = 0
	}
	if p.penalty > 0 && p.until <= now {
		p.penalty = 0
	}
	if s.paced && p.pace.NextAt <= now || s.windowed && p.room(now) {
		s.rest(now)
	}
	s.mind(now)
}

// mostLate is the maximum number of timers of the congestion control that run in one call.
const mostLate = 1000

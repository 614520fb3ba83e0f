package mrc

import (
	"math/bits"

	"railyard/cc"
	"railyard/unit"
)

// early finds packets that are lost because later ones have come (RFC 8985). Packets take different paths, so
// one is lost that is out for as long as the latest that has come took, and for what paths may differ by. A
// probe that is answered counts as a later packet: so the last ones of a message are found, too.
type early struct {
	reached unit.Time // round trip of the latest packet that has come
	told    unit.Time // the congestion control is told of one loss per round trip
	now     unit.Time // of the answer at hand
	wrong   uint8     // how often what paths differ by was doubled, as a packet had come that was taken for lost
	right   uint8     // packets since then that had not
	n       int64
}

// mostWrong bounds the doubling; enoughRight takes one doubling back (RFC 8985, 6.2: 16 recoveries).
const (
	mostWrong   = 6
	enoughRight = 16
)

// arrive takes note of the latest packet that is known to have come.
func (p *Peer) arrive(now, sent unit.Time) {
	if sent > p.arrived {
		p.arrived, p.early.reached = sent, now-sent
	}
}

// slack returns the time by which one packet may be later than another: what round trips differ by, and what the
// far end waits with its answer, doubled for each mistake.
func (p *Peer) slack() unit.Time {
	least := max(p.base, p.rtt.least)
	return (max(4*p.rtt.dev, least/4) + p.m.ackDelay(least)) << p.early.wrong
}

// mistaken takes note that a packet had come before it went again.
func (e *early) mistaken() {
	e.right = 0
	e.wrong = min(e.wrong+1, mostWrong)
}

// look waits for the answers that are on their way behind one, before it takes anything for lost.
func (s *Sender) look(now unit.Time) {
	if !s.m.Early {
		return
	}
	if at := s.overtaken(); at < unit.Never {
		s.probes.early = min(s.probes.early, max(at, now+max(s.peer.rtt.least/8, 1)))
	}
}

// overtaken returns the time at which the first packet may be taken for lost that left before the latest one that
// has come.
func (s *Sender) overtaken() unit.Time {
	at, p := unit.Time(unit.Never), s.peer
	for w := s.slots.waiting(); w != 0; w &= w - 1 {
		x := s.slots.at(s.slots.list[bits.TrailingZeros16(w)].head)
		if x.sent < p.arrived {
			at = min(at, x.sent+p.early.reached+p.slack())
		}
	}
	return at
}

// losesEarly takes for lost what was overtaken for long enough.
func (s *Sender) losesEarly(now unit.Time) {
	p := s.peer
	e := p.early
	s.probes.early = unit.Never
	limit := now - e.reached - p.slack()
	for w := s.slots.waiting(); w != 0; w &= w - 1 {
		i := bits.TrailingZeros16(w)
		for l := &s.slots.list[i]; s.slots.nonEmpty>>i&1 != 0; {
			x := s.slots.at(l.head)
			if x.sent >= p.arrived || x.sent > limit {
				break
			}
			if e.n++; !x.refused {
				p.condemn(now, x.ev)
			}
			if e.right++; e.right == enoughRight && e.wrong > 0 {
				e.wrong, e.right = e.wrong-1, 0
			}
			s.lose(l.head)
			if now >= e.told {
				e.told = now + p.roundTrip()
				s.lossOf(now, cc.LossNak)
			}
		}
	}
	s.look(now)
}

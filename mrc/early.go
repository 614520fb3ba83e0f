package mrc

import (
	"math/bits"

	"railyard/cc"
	"railyard/unit"
)

// early finds lost packets by later arrivals (RFC 8985). Packets take different paths. A packet is therefore lost
// when its time in flight exceeds that of the latest arrival plus the difference between paths. An answered probe
// counts as a later packet, so losses at the end of a message are found, too.
type early struct {
	reached unit.Time // round trip of the newest packet that has arrived
	told    unit.Time // the congestion control receives one loss per round trip
	now     unit.Time // time of the answer
	// number of doublings of the difference between paths because a packet marked lost had arrived
	wrong uint8
	right uint8 // packets since then that had not
	n     int64
}

// mostWrong is the limit of doublings; enoughRight undoes one doubling (RFC 8985, 6.2: 16 recoveries).
const (
	mostWrong   = 6
	enoughRight = 16
)

// arrive records the latest packet that is known to have arrived.
func (p *Peer) arrive(now, sent unit.Time) {
	if sent > p.arrived {
		p.arrived, p.early.reached = sent, now-sent
	}
}

// slack returns by how much one packet may be later than another: the spread of round trips plus the far end's
// delay of answers, doubled for each error.
func (p *Peer) slack() unit.Time {
	least := max(p.base, p.rtt.least)
	return (max(4*p.rtt.dev, least/4) + p.m.ackDelay(least)) << p.early.wrong
}

// mistaken records that a packet had arrived before its retransmission.
func (e *early) mistaken() {
	e.right = 0
	e.wrong = min(e.wrong+1, mostWrong)
}

// look waits for answers in flight before it marks packets lost.
func (s *Sender) look(now unit.Time) {
	if !s.m.Early {
		return
	}
	if at := s.overtaken(); at < unit.Never {
		s.probes.early = min(s.probes.early, max(at, now+max(s.peer.rtt.least/8, 1)))
	}
}

// overtaken returns the time from which the first packet that left before the latest arrival may be marked lost.
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

// losesEarly marks packets lost that were overtaken long enough ago.
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

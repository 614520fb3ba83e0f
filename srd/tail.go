package srd

import (
	"railyard/transport/window"
	"railyard/unit"
)

// tail finds a run of lost packets at the end. No later arrival reveals these losses. If they fill the limit in
// flight no later packet is sent, and only silence reveals them. The limit of silence is twice the longest recent
// pause between answers, or two minimum round trips. Then the oldest packet is retransmitted (RFC 8985, 7). Its
// acknowledgement reveals the losses before it (sender.passed). Round trips are not used: after an incast's first
// burst they include a queue that no longer exists.
type tail struct {
	heard unit.Time // time of the last answer, or departure of the first packet in flight
	first bool      // no packet in flight has been answered
	pause unit.Time // the longest between answers, forgotten by an eighth per round trip
	began unit.Time // start of the current round trip
	row   int       // probes without an answer
	since unit.Time // send time of the packet that the first of them copies
	at    unit.Time // time of the next probe; Never: nothing is in flight
}

// answer records an answer. The interval before the first answer after a pause of the sender does not count.
func (q *tail) answer(now, roundTrip unit.Time) {
	if now-q.began > roundTrip {
		q.pause, q.began = q.pause-q.pause/8, now
	}
	if !q.first {
		q.pause = max(q.pause, now-q.heard)
	}
	q.heard, q.row, q.first = now, 0, false
}

// mind sets the time of the next probe.
func (s *sender) mind(now unit.Time) {
	q := &s.tail
	if s.out.Flying() == 0 {
		q.at = unit.Never
		return
	}
	if q.at == unit.Never {
		q.heard, q.first = now, true
	}
	patience := 2 * max(q.pause, s.rate.least())
	if q.first || q.pause == 0 { // a single answer defines no pause
		patience = max(s.s.Timeout, 3*max(s.rate.latest, s.rate.least()))
	}
	q.at = max(q.heard+patience<<min(q.row, 12), s.grace)
}

// probe retransmits the oldest packet in flight, on the path whose turn it is.
func (s *sender) probe(now unit.Time) {
	una, next := s.out.Range()
	for psn := una; psn < next; psn++ {
		slot := s.out.At(psn)
		if slot.State != window.Flying {
			continue
		}
		if int(slot.Tries) >= s.s.Retries {
			s.fail()
			return
		}
		if s.tail.row++; s.tail.row == 1 {
			s.tail.since = slot.Sent
		}
		s.paths.lost(now, s.s, int(slot.Path))
		s.expired++
		s.lose(psn)
		break
	}
	s.mind(now)
}

// passed reports whether a packet is lost because a later one has arrived on any path. Its time in flight must
// exceed that of the later packet, or its path's round trip, by a quarter and a minimum round trip.
func (s *sender) passed(slot *window.Slot) unit.Time {
	if slot.Sent >= s.newest {
		return unit.Never
	}
	took := max(s.paths.all[slot.Path].rtt, s.reached)
	return slot.Sent + took + took/4 + s.rate.least()
}

package falcon

import (
	"railyard/cc"
	"railyard/transport/window"
	"railyard/unit"
)

// rack finds lost packets by later arrivals on the same path (RFC 8985; Isekai: rack_retransmission_policy.cc). A
// packet is lost if a later packet has arrived and its own time in flight exceeds that of the later packet by a
// share of a round trip. It checks as many packets as an acknowledgement can report. The number of early
// retransmissions per packet is limited. They do not reduce the window (Isekai: max_decrease_on_eack_nack_drop is
// false): delay alone signals congestion. Railyard adds: a packet that left a timeout before the newest arrival on
// any path is also lost. If the paths lost all packets in flight, the answer to each probe would report one packet,
// on the probe's path, and would delay the time-out.
func (s *sender) rack(now unit.Time) {
	una, next := s.out.Range()
	old := s.latest - s.timeout()
	for psn := una; psn < min(next, una+128); psn++ {
		slot := s.out.At(psn)
		if slot.State != window.Flying || int(slot.Tries) >= s.set.Early {
			continue
		}
		f := &s.flows[slot.Path]
		if slot.Sent < old && s.lose(psn) {
			s.racks++
			continue
		}
		if slot.Sent > f.newest || slot.Sent < f.since {
			continue
		}
		due := slot.Sent + f.reached + unit.Time(s.set.Reorder*float64(f.rtt))
		if due > now {
			s.rackAt = min(s.rackAt, due)
			continue
		}
		if s.lose(psn) {
			s.racks++
		}
	}
}

// lost reports a loss to a flow's controller.
func (s *sender) lost(now unit.Time, id int, how cc.Loss) {
	f := &s.flows[id]
	f.ctl.OnLoss(now, how)
	f.decide(s.set.MTU, s.line)
}

// probe retransmits the oldest packet after more than a round trip of silence. Its acknowledgement reports which
// packets have arrived (Isekai: tlp_retransmission_policy.cc, FIRST_UNRECEIVED).
func (s *sender) probe(now unit.Time) {
	s.probeAt = unit.Never // a single probe until the next acknowledgement or timeout
	una, next := s.out.Range()
	for psn := una; psn < next; psn++ {
		if slot := s.out.At(psn); slot.State == window.Flying {
			s.suspect(&s.flows[slot.Path], slot.Sent)
			if int(slot.Tries) < s.set.Early && s.lose(psn) {
				s.probes++
			}
			return
		}
	}
}

// late retransmits all packets in flight after the retransmission time-out, and leaves the silent paths.
func (s *sender) late(now unit.Time) {
	limit := s.timeout() << min(s.lateRow, 6)
	if s.lateRow++; s.lateRow > s.set.Retries {
		s.fail()
		return
	}
	s.expired++
	var hit uint
	una, next := s.out.Range()
	for psn := una; psn < next; psn++ {
		slot := s.out.At(psn)
		if slot.State == window.Flying && now-slot.Sent >= min(limit, s.timeout()) {
			f := &s.flows[slot.Path]
			if f.heardAt < slot.Sent {
				hit |= 1 << slot.Path
			}
			s.lose(psn)
		}
	}
	for i := range s.flows {
		if hit>>i&1 != 0 {
			s.lost(now, i, cc.LossTimeout)
			s.leave(now, i, true)
		}
	}
	s.rtoAt, s.probeAt = now+s.timeout()<<min(s.lateRow, 6), unit.Never
}

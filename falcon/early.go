package falcon

import (
	"railyard/cc"
	"railyard/transport/window"
	"railyard/unit"
)

// rack finds packets that are lost because later ones of their path have come (RFC 8985; Isekai:
// rack_retransmission_policy.cc). A packet that left no later than the latest one that has come is lost when
// it is out for as long as that one took, and a share of a round trip more. It looks at as many packets as
// an acknowledgement can tell of; a packet goes again early only so often. Windows do not shrink for it
// (Isekai: max_decrease_on_eack_nack_drop is false): delay says what is congested. Ours: a packet that left a
// time-out before the latest one that has come by any path is lost as well. Where paths lost all that was out, each
// probe's answer tells of one packet, by the probe's path, and puts off the time-out.
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

// lost tells a flow's controller.
func (s *sender) lost(now unit.Time, id int, how cc.Loss) {
	f := &s.flows[id]
	f.ctl.OnLoss(now, how)
	f.decide(s.set.MTU, s.line)
}

// probe sends the oldest packet again when nothing was heard for more than a round trip: its acknowledgement
// tells what else has come (Isekai: tlp_retransmission_policy.cc, FIRST_UNRECEIVED).
func (s *sender) probe(now unit.Time) {
	s.probeAt = unit.Never // one until there is news, or the time-out
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

// late has all that is out for the retransmission time-out sent again, and leaves the paths that nothing was
// heard of.
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

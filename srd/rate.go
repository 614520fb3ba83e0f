package srd

import "railyard/unit"

// rate is the congestion control to one far NIC, over all paths and connections: a pace, and a limit in
// flight. Once per round trip it compares how long packets took with the least: above `slow` times that, on
// the mean of all paths, the rate is cut in proportion to the excess, towards what was acknowledged; else it
// grows by a fixed step. A path that is slow alone is a matter of shares, not of the rate.
type rate struct {
	s         *settings
	line, now unit.Rate
	base      unit.Time // the least round trip: told, or measured
	told      bool
	mtu       unit.Bytes
	nextAt    unit.Time // pace
	flying    unit.Bytes

	began unit.Time  // of the round that is on
	acked unit.Bytes // in it
	full  bool       // in it the rate or the limit held something back
	cuts  int64
}

// round trips where nobody knows the path and nothing is measured.
const unknownRTT = 100 * unit.Microsecond

func newRate(s *settings, line unit.Rate, rtt unit.Time) rate {
	return rate{s: s, line: line, now: line, base: rtt, told: rtt > 0, mtu: s.MTU}
}

func (r *rate) least() unit.Time {
	if r.base == 0 {
		return unknownRTT
	}
	return r.base
}

// limit is the most in flight, at least eight packets: below that a lost one would stop the others.
func (r *rate) limit() unit.Bytes {
	return max(8*r.mtu, unit.Bytes(r.s.gain*float64(unit.InTime(r.now, r.least()))))
}

// may reports whether a packet may leave now.
func (r *rate) may(now unit.Time) bool { return r.nextAt <= now && r.flying < r.limit() }

// sent charges a packet of so many bytes.
func (r *rate) sent(now unit.Time, payload uint32) {
	r.flying += unit.Bytes(payload)
	if r.now < r.line {
		r.nextAt = max(r.nextAt, now) + unit.Serialize(unit.Bytes(payload), r.now)
	}
}

// gone takes what is acknowledged or lost from what is in flight.
func (r *rate) gone(payload uint32) { r.flying = max(0, r.flying-unit.Bytes(payload)) }

// heard takes what came in, and the mean of the paths' round trips.
func (r *rate) heard(now unit.Time, acked unit.Bytes, rtt, mean unit.Time) {
	if rtt > 0 && !r.told && (r.base == 0 || rtt < r.base) {
		r.base = rtt
	}
	r.acked += acked
	gone := now - r.began
	if gone < max(r.least(), mean) {
		return
	}
	came := unit.Rate(float64(r.acked) * 8 / gone.Seconds())
	switch excess := float64(mean) - r.s.slow*float64(r.least()); {
	case mean > 0 && excess > 0:
		r.less(min(r.now, max(came, r.now/2)), min(r.s.cut, excess/float64(mean)))
	case r.full:
		r.now = min(r.line, r.now+unit.Rate(r.s.increase*float64(r.line)))
	}
	r.began, r.acked, r.full = now, 0, false
}

func (r *rate) less(from unit.Rate, by float64) {
	r.cuts++
	r.now = max(r.line/1000, unit.Rate(float64(from)*(1-by)))
}

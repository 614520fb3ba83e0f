package srd

import "railyard/unit"

// rate is the congestion control to one far NIC, over all paths and connections: a pace, and a limit in
// flight. A round ends when packets of a whole round trip have come back, and begins with those that
// leave then. Where they took above `slow` times the least round trip, on the mean of all paths, the rate
// is cut in proportion to the excess; else it grows by a fixed step. A path that is slow alone is a
// matter of shares, not of the rate.
type rate struct {
	s         *settings
	line, now unit.Rate
	base      unit.Time // the least round trip: told, or measured
	told      bool
	mtu       unit.Bytes
	nextAt    unit.Time // pace
	flying    unit.Bytes

	began   unit.Time // of the round that is on
	sum     unit.Time // of its packets' round trips
	samples int
	full    bool // in it the rate or the limit held something back
	cuts    int64
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

// heard takes the round trip of a packet that left at some moment. Those that left before the last cut say
// nothing of the rate since: what they met is what it was for.
func (r *rate) heard(now, left, rtt unit.Time) {
	if !r.told && (r.base == 0 || rtt < r.base) {
		r.base = rtt
	}
	if left < r.began {
		return
	}
	r.sum += rtt
	r.samples++
	mean := r.sum / unit.Time(r.samples)
	if now-r.began < 2*mean { // packets of a whole round trip have come back
		return
	}
	switch excess := float64(mean) - r.s.slow*float64(r.least()); {
	case excess > 0:
		r.less(min(r.s.cut, excess/float64(mean)))
	case r.full:
		r.now = min(r.line, r.now+unit.Rate(r.s.increase*float64(r.line)))
	}
	r.began, r.sum, r.samples, r.full = now, 0, 0, false
}

func (r *rate) less(by float64) {
	r.cuts++
	r.now = max(r.line/1000, unit.Rate(float64(r.now)*(1-by)))
}

package srd

import "railyard/unit"

// rate is the congestion control to one far NIC, over all paths and connections: a pace, and a limit in
// flight. A round ends when answers have come for a least round trip and two of them have passed, however
// much queues grow meanwhile. Where packets took above `slow` times the least round trip, on the mean of all
// paths, the rate becomes what arrived meanwhile by the acknowledgements' timing, and where the sender had no more to
// send falls in proportion to the excess; else it grows, by a quarter or a fixed step while there is next to no queue,
// the less the nearer that threshold is. A path that is slow alone is a matter of shares, not of the rate.
type rate struct {
	s         *settings
	line, now unit.Rate
	base      unit.Time // the least round trip: told, or measured
	told      bool
	mtu       unit.Bytes
	nextAt    unit.Time // pace
	flying    unit.Bytes
	grown     unit.Bytes // in flight at most, so far

	latest  unit.Time // round trip heard of
	began   unit.Time // of the round that is on
	cutAt   unit.Time
	first   unit.Time  // acknowledgement in it; 0: none yet
	got     unit.Bytes // acknowledged since
	sum     unit.Time  // of its packets' round trips
	samples int
	full    bool // in it the rate or the limit held something back
	cuts    int64
}

// round trips where nobody knows the path and nothing is measured.
const unknownRTT = 100 * unit.Microsecond

func newRate(s *settings, line unit.Rate, rtt unit.Time) rate {
	r := rate{s: s, line: line, now: line, base: rtt, told: rtt > 0, mtu: s.MTU}
	// a round trip's bytes, and those that an acknowledgement waits for
	r.grown = unit.InTime(line, r.least()) + unit.Bytes(s.AckEvery)*s.MTU
	return r
}

func (r *rate) least() unit.Time {
	if r.base == 0 {
		return unknownRTT
	}
	return r.base
}

// limit is the most in flight, at least eight packets: below that a lost one would stop the others.
func (r *rate) limit() unit.Bytes { return max(8*r.mtu, min(r.grown, r.most())) }

func (r *rate) most() unit.Bytes {
	return unit.Bytes(r.s.Gain * float64(unit.InTime(r.now, r.least())))
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

// came counts what is acknowledged: towards what arrives per time, and towards what may be in flight beyond
// what the path alone holds, as BBR has it (draft-ietf-ccwg-bbr, 5.6.4.6). Of many who begin at once, each
// knows by then.
func (r *rate) came(payload uint32) {
	r.got += unit.Bytes(payload)
	r.grown = min(r.grown+unit.Bytes(payload), r.most())
}

// arrives returns the rate at which data arrived in the current round, 0 where that cannot be told.
func (r *rate) arrives(now unit.Time) unit.Rate {
	if r.first == 0 || now <= r.first || !r.full {
		return 0
	}
	return unit.Rate(float64(r.got) * 8 / (now - r.first).Seconds())
}

// heard takes the round trip of a packet that left at some moment. Those that left before the last cut say
// nothing of the rate since: what they met is what it was for.
func (r *rate) heard(now, left, rtt unit.Time) {
	if !r.told && (r.base == 0 || rtt < r.base) {
		r.base = rtt
	}
	if r.latest = rtt; r.first == 0 {
		r.first, r.got = now, 0
	}
	if left < r.cutAt {
		return
	}
	r.sum += rtt
	r.samples++
	mean := r.sum / unit.Time(r.samples)
	if now-r.began < 2*r.least() || now-r.first < r.least() {
		return
	}
	target := r.s.Slow * float64(r.least())
	switch excess := float64(mean) - target; {
	case excess > 0:
		r.cutAt = now
		r.cuts++
		rate := r.arrives(now)
		if rate == 0 {
			rate = unit.Rate(float64(r.now) * (1 - min(r.s.Cut, excess/float64(mean))))
		}
		r.now = max(r.slowest(), min(r.now, rate))
	case r.full:
		step := max(r.s.Increase*float64(r.line), float64(r.now)/4)
		r.now = min(r.line, r.now+unit.Rate(step*min(1, -2*excess/target)))
	}
	r.began, r.first, r.sum, r.samples, r.full = now, 0, 0, 0, false
}

// slowest is a packet per round trip as it is now: below that nothing would be heard of the path for long,
// and the more senders there are the longer it takes.
func (r *rate) slowest() unit.Rate {
	return max(r.line/1000, unit.Rate(float64(r.mtu)*8/max(r.latest, r.least()).Seconds()))
}

package srd

import "railyard/unit"

// rate is the congestion control to one far NIC, over all paths and connections: a pace and a limit in flight. A
// round ends when acknowledgements have arrived for a minimum round trip and two minimum round trips have passed,
// even if queues grow. If the mean round trip of all paths exceeds `slow` times the minimum, the rate becomes the
// arrival rate of the acknowledgements. If the sender had no more data, the rate falls in proportion to the excess.
// Otherwise the rate grows. It grows by a quarter or a fixed step while there is almost no queue, and less as the
// delay approaches that threshold. A single slow path changes shares, not the rate.
type rate struct {
	s         *settings
	line, now unit.Rate
	base      unit.Time // minimum round trip: configured, or measured
	told      bool
	mtu       unit.Bytes
	nextAt    unit.Time // pace
	flying    unit.Bytes
	grown     unit.Bytes // largest number of bytes in flight so far

	latest  unit.Time // latest measured round trip
	began   unit.Time // start of the current round
	cutAt   unit.Time
	first   unit.Time  // acknowledgement in it; 0: none yet
	got     unit.Bytes // acknowledged since
	sum     unit.Time  // sum of its packets' round trips
	samples int
	full    bool // whether the rate or the limit blocked data in it
	cuts    int64
}

// round trips for an unknown path before the first measurement.
const unknownRTT = 100 * unit.Microsecond

func newRate(s *settings, line unit.Rate, rtt unit.Time) rate {
	r := rate{s: s, line: line, now: line, base: rtt, told: rtt > 0, mtu: s.MTU}
	// a round trip's bytes, and the bytes that an acknowledgement waits for
	r.grown = unit.InTime(line, r.least()) + unit.Bytes(s.AckEvery)*s.MTU
	return r
}

func (r *rate) least() unit.Time {
	if r.base == 0 {
		return unknownRTT
	}
	return r.base
}

// limit is the most in flight, at least eight packets: below that a lost one would stop the rest.
func (r *rate) limit() unit.Bytes { return max(8*r.mtu, min(r.grown, r.most())) }

func (r *rate) most() unit.Bytes {
	return unit.Bytes(r.s.Gain * float64(unit.InTime(r.now, r.least())))
}

// may reports whether a packet may leave now.
func (r *rate) may(now unit.Time) bool { return r.nextAt <= now && r.flying < r.limit() }

// sent charges the bytes of a packet.
func (r *rate) sent(now unit.Time, payload uint32) {
	r.flying += unit.Bytes(payload)
	if r.now < r.line {
		r.nextAt = max(r.nextAt, now) + unit.Serialize(unit.Bytes(payload), r.now)
	}
}

// gone removes acknowledged or lost bytes from the data in flight.
func (r *rate) gone(payload uint32) { r.flying = max(0, r.flying-unit.Bytes(payload)) }

// came counts acknowledged bytes. They determine the arrival rate and the allowance in flight beyond the path's own
// capacity, as in BBR (draft-ietf-ccwg-bbr, 5.6.4.6). All of many simultaneous senders have measured it by then.
func (r *rate) came(payload uint32) {
	r.got += unit.Bytes(payload)
	r.grown = min(r.grown+unit.Bytes(payload), r.most())
}

// arrives returns the arrival rate of data in the current round, 0 if it is unknown.
func (r *rate) arrives(now unit.Time) unit.Rate {
	if r.first == 0 || now <= r.first || !r.full {
		return 0
	}
	return unit.Rate(float64(r.got) * 8 / (now - r.first).Seconds())
}

// heard processes the round trip of a packet that left at a given time. Packets that left before the last reduction
// are ignored, because the same queue delayed them.
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

// slowest is the minimum rate, a packet per current round trip. Below it, feedback on the path would be rare, more
// so with more senders.
func (r *rate) slowest() unit.Rate {
	return max(r.line/1000, unit.Rate(float64(r.mtu)*8/max(r.latest, r.least()).Seconds()))
}

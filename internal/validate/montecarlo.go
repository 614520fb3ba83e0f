package validate

import (
	"math"

	"railyard/internal/rng"
)

// reactionPoint is DCQCN's sender from its paper (Zhu et al. 2015, section 3.1, figure 7 and equations 1 to 4),
// advanced from event to event: the next marked packet, the two timers, the byte counter. It is independent of cc,
// whose senders it tests, and works in seconds and bytes.
type reactionPoint struct {
	line, rate, target float64 // bytes per second
	alpha, now, sent   float64
	decayAt, raiseAt   float64 // times of the next decay of alpha and of the timer
	counter            float64 // bytes since the byte counter's last expiry
	time, bytes        int     // expiries since the last cut
	congested          bool
	lastCNP            float64
}

// The paper's deployment values at 40 Gbit/s (section 5.3).
const (
	paperGain    = 1.0 / 256
	paperK       = 55e-6 // alpha's timer
	paperTimer   = 55e-6
	paperCounter = 10e6
	paperSteps   = 5
	paperAI      = 40e6 / 8
	paperHAI     = 400e6 / 8
	paperCNPGap  = 50e-6
	paperFloor   = 40e6 / 8
)

func (s *reactionPoint) notified() {
	s.target = s.rate
	s.rate = math.Max(s.rate*(1-s.alpha/2), paperFloor)
	s.alpha = (1-paperGain)*s.alpha + paperGain
	s.time, s.bytes, s.counter = 0, 0, 0
	s.decayAt, s.raiseAt = s.now+paperK, s.now+paperTimer
	s.congested = true
}

func (s *reactionPoint) raise() {
	switch most, least := max(s.time, s.bytes), min(s.time, s.bytes); {
	case most <= paperSteps: // fast recovery
	case least > paperSteps:
		s.target += float64(least-paperSteps) * paperHAI
	default:
		s.target += paperAI
	}
	s.target = math.Min(s.target, s.line)
	s.rate = (s.rate + s.target) / 2
}

// meanRate runs the sender for the given seconds with packets marked independently with probability p, and returns its
// mean rate after the first tenth.
func meanRate(p, line, wire, seconds float64) float64 {
	s := &reactionPoint{line: line, rate: line, target: line, alpha: 1, lastCNP: -1, decayAt: math.Inf(1),
		raiseAt: math.Inf(1)}
	r := rng.New(11, "Monte Carlo")
	// The packets up to the next marked one are distributed geometrically.
	gap := func() float64 { return wire * math.Ceil(math.Log(1-r.Float64())/math.Log1p(-p)) }
	mark, from := gap(), -1.0
	for s.now < seconds {
		left := mark
		if s.congested {
			left = math.Min(left, paperCounter-s.counter)
		}
		next := math.Min(s.now+left/s.rate, math.Min(s.decayAt, s.raiseAt))
		done := s.rate * (next - s.now)
		s.now, s.sent, mark = next, s.sent+done, mark-done
		s.counter += done
		switch {
		case next == s.decayAt:
			s.alpha *= 1 - paperGain
			s.decayAt += paperK
		case next == s.raiseAt:
			s.time++
			s.raise()
			s.raiseAt += paperTimer
		case s.congested && paperCounter-s.counter < 1:
			s.counter = 0
			s.bytes++
			s.raise()
		default:
			if mark = gap(); s.now-s.lastCNP >= paperCNPGap {
				s.lastCNP = s.now
				s.notified()
			}
		}
		if from < 0 && s.now > seconds/10 {
			from, s.sent = s.now, 0
		}
	}
	return s.sent / (s.now - from)
}

// monteCarlo finds the mark probability that holds a sender at 1/n of 40 Gbit/s.
func monteCarlo(n int, wire float64) float64 {
	const line = 40e9 / 8
	lo, hi := 1e-5, 1e-1
	for range 14 {
		mid := math.Sqrt(lo * hi)
		if meanRate(mid, line, wire, 20) > line/float64(n) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Sqrt(lo * hi)
}

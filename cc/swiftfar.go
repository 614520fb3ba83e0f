package cc

import (
	"math"

	"railyard/unit"
)

// endWindow is Swift's second window (section 3.2 of the paper), for the delay of the far end. That is the time for
// which a packet is queued in the receiver's NIC before it is written to memory. It follows the rules of the
// fabric's window. Its own target is scaled neither by flows nor by switches. It sets no limit until the far end's
// delay was above its target once.
type endWindow struct {
	packets float64
	cutAt   unit.Time
}

func newEndWindow() endWindow { return endWindow{packets: math.Inf(1), cutAt: -unit.Never / 2} }

// heard updates the window from the far end's delay. fabric is the fabric's window; cut reports that it was
// reduced.
func (e *endWindow) heard(now unit.Time, s *swiftSettings, target float64, far, rtt unit.Time, acked,
	fabric float64) (cut bool) {
	delay := float64(far)
	switch {
	case delay >= target:
		if now-e.cutAt < rtt {
			return false
		}
		keep := max(1-float64(s.Beta*(delay-target)/delay), 1-s.Cut)
		e.packets, e.cutAt = max(s.Floor, min(e.packets, fabric)*keep), now
		return keep < 1
	case math.IsInf(e.packets, 1):
	case e.packets >= 1:
		e.packets += float64(s.AI*acked) / e.packets
	default:
		e.packets += float64(s.AI * acked)
	}
	if e.packets > 2*fabric { // the fabric's window is not the limiting one
		e.packets = math.Inf(1)
	}
	return false
}

// lost reduces it by the same part as a loss reduces the other.
func (e *endWindow) lost(floor, keep float64) {
	if !math.IsInf(e.packets, 1) {
		e.packets = max(floor, e.packets*keep)
	}
}

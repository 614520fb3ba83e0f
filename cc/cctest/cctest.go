// Package cctest is the conformance suite every congestion controller passes:
// what a NIC may rely on whatever the algorithm.
package cctest

import (
	"testing"

	"railyard/cc"
	"railyard/unit"

	"pgregory.net/rapid"
)

// Run checks a controller built by build for a line rate: whatever happens to
// it, its rate stays positive and at most the line rate, its window at least
// one packet, its timer is not in the past once it has been served, and it
// behaves the same when the same things happen again.
func Run(t *testing.T, line unit.Rate, build func() cc.Controller) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := build(), build()
		now := unit.Time(0)
		for range rapid.IntRange(1, 300).Draw(rt, "events") {
			now += unit.Time(rapid.Int64Range(0, int64(200*unit.Microsecond)).Draw(rt, "wait"))
			kind := rapid.IntRange(0, 5).Draw(rt, "kind")
			bytes := unit.Bytes(rapid.Int64Range(1, 1<<20).Draw(rt, "bytes"))
			for _, c := range []cc.Controller{a, b} {
				for d := c.Decision(); d.TimerAt <= now; d = c.Decision() {
					at := d.TimerAt
					c.OnTimer(at)
					if next := c.Decision().TimerAt; next <= at {
						rt.Fatalf("the timer of %v is armed for %v again", at, next)
					}
				}
				event(c, kind, now, bytes)
			}
			da, db := a.Decision(), b.Decision()
			if da != db {
				rt.Fatalf("the same events gave %+v and %+v", da, db)
			}
			if da.Rate <= 0 || da.Rate > line {
				rt.Fatalf("rate %v on a line of %v", da.Rate, line)
			}
			if da.Window < 0 || da.Budget < 0 {
				rt.Fatalf("decision %+v", da)
			}
		}
	})
}

func event(c cc.Controller, kind int, now unit.Time, b unit.Bytes) {
	switch kind {
	case 0:
		c.OnCNP(now)
	case 1:
		c.OnAck(now, &cc.Ack{Bytes: b, InFlight: b, RTT: 10 * unit.Microsecond})
	case 2:
		c.OnLoss(now, cc.LossNak)
	case 3:
		c.OnBytes(now, b)
	case 4:
		c.OnCredit(now, b)
	}
}

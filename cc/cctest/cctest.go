// Package cctest is the conformance suite every congestion controller passes:
// what a NIC may rely on whatever the algorithm.
package cctest

import (
	"math"
	"testing"

	"railyard/cc"
	"railyard/unit"

	"pgregory.net/rapid"
)

// Run checks an algorithm's controller for a line rate: whatever happens to
// it, its rate stays positive and at most the line rate, its window is none or
// positive, its timer is not in the past once it has been served, it
// behaves the same when the same things happen again, and it reports the signals
// and counters that the algorithm lists, and no others.
func Run(t *testing.T, alg *cc.Algorithm, line unit.Rate, build cc.Make) {
	rapid.Check(t, func(rt *rapid.T) {
		path := cc.Path{Line: line, MTU: 4096}
		a, b := build(path), build(path)
		counted := map[string]int64{}
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
			reports(rt, alg, a, now, counted)
		}
	})
}

// reports holds what a controller reports to what its algorithm lists.
func reports(rt *rapid.T, alg *cc.Algorithm, c cc.Controller, now unit.Time, counted map[string]int64) {
	for _, s := range alg.Signals {
		if x, ok := c.Signal(now, s.Name); !ok || math.IsNaN(x) || math.IsInf(x, 0) {
			rt.Fatalf("signal %s is %v, %v", s.Name, x, ok)
		}
	}
	for _, s := range alg.Counters {
		n, ok := c.Counter(s.Name)
		if !ok || n < counted[s.Name] {
			rt.Fatalf("counter %s is %d after %d, %v", s.Name, n, counted[s.Name], ok)
		}
		counted[s.Name] = n
	}
	if _, ok := c.Signal(now, "unheard of"); ok {
		rt.Fatalf("it reports a signal that its algorithm does not list")
	}
	if _, ok := c.Counter("unheard of"); ok {
		rt.Fatalf("it reports a counter that its algorithm does not list")
	}
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
		c.OnLoss(now, cc.LossTimeout)
	}
}

package cc_test

import (
	"testing"

	"railyard/cc"
	"railyard/internal/story"
	"railyard/unit"
)

// An NSCC sender competes with others in the fabric, then in an incast at its receiver, and then has the path alone
// again.
func TestNSCCStory(t *testing.T) {
	const us = unit.Microsecond
	c := nsccOn(t, "nscc:trim", 12*us)
	p := story.Open(`
		NSCC: a sender meets others in the fabric and a crowd at its receiver (docs/references.md, nscc).
		At 100 Gbit/s, 12 us there and back, for switches that trim: the target is 9 us of queueing. The
		window begins with one and a half bandwidth-delay products. A mark without much delay changes
		nothing, another path will do; a mark with delay cuts by the mean delay, once in a round trip. Where
		packets are trimmed each takes itself off the window, and where hardly anything arrives besides, the
		window becomes what has arrived. Unmarked answers open it again, fast when there is no delay.`)
	now := unit.Time(0)
	tell := func(what string) {
		p.Tell(now, "%-48s %7.3f packets, mean delay %.3f us", what, signal(t, c, "window")/nsccMTU,
			signal(t, c, "queue_delay")*1e6)
	}
	answers := func(n int, delay unit.Time, marked bool) {
		for range n {
			now += us / 2
			c.OnAck(now, &cc.Ack{Bytes: nsccMTU, InFlight: c.Decision().Window, RTT: 12*us + delay,
				Marked: marked})
		}
	}
	tell("it begins")
	answers(40, 2*us, true)
	tell("40 answers marked on the way, 2 us of delay")
	answers(200, 15*us, true)
	tell("200 more, 15 us of delay")
	answers(200, 8*us, false)
	tell("200 unmarked, just below the target")
	for range 30 {
		now += us
		c.OnLoss(now, cc.LossTrimmed)
	}
	tell("a crowd comes: 30 packets trimmed in 30 us")
	answers(3, 40*us, true)
	now += 25 * us
	c.OnLoss(now, cc.LossTrimmed)
	tell("three answers, silence, another trimmed")
	answers(20, 40*us, true)
	tell("marks of what was under way")
	answers(60, 12*us, false)
	tell("60 unmarked, above the target")
	answers(60, 0, false)
	tell("the crowd has gone: 60 without delay")
	p.Check(t, "nscc")
}

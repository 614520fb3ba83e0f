package cc_test

import (
	"testing"

	"railyard/cc"
	"railyard/internal/story"
	"railyard/unit"
)

// A Swift sender competes with an increasing number of flows, then sees an outage.
func TestSwiftStory(t *testing.T) {
	const us, mtu = unit.Microsecond, 4096
	c := swiftly(t, "swift:htsim", cc.Path{Line: 100 * unit.Gbps, MTU: mtu, RTT: 10 * us, Hops: 1})
	p := story.Open(`
		Swift: a sender meets more and more others on its path, and an outage (SIGCOMM 2020, algorithm 1).
		At 100 Gbit/s, over one switch, 10 us there and back, with htsim's constants: a base target of
		20 us, 3 us for the switch, and the more the smaller the window. It begins with what the path
		holds. Below the target an acknowledged window adds a packet; above it the window shrinks by 0.8
		of the excess, by half at most, and once in a round trip. Below one packet, one is sent at a time,
		at a pace.`)
	now := unit.Time(0)
	tell := func(what string) {
		d := c.Decision()
		text := "%-44s %7.3f packets, target %v"
		if d.Rate < 100*unit.Gbps {
			text += ", one packet at a time at " + d.Rate.String()
		}
		aim := unit.Time(signal(t, c, "target_delay") * float64(unit.Second))
		p.Tell(now, text, what, signal(t, c, "window")/mtu, aim/unit.Nanosecond*unit.Nanosecond)
	}
	// acks acknowledges whole windows, one per round trip
	window := func(rtt unit.Time, times int) {
		for range times {
			now += rtt
			c.OnAck(now, &cc.Ack{Bytes: c.Decision().Window, RTT: rtt})
		}
	}
	tell("it begins")
	window(10*us, 20)
	tell("20 windows acknowledged, 10 us each")
	window(30*us, 1)
	tell("others come: 30 us")
	now += 10 * us
	c.OnAck(now, &cc.Ack{Bytes: mtu, RTT: 31 * us})
	tell("31 us, in the same round trip")
	window(33*us, 1)
	tell("33 us, a round trip later")
	window(120*us, 1)
	tell("a crowd comes: 120 us")
	window(120*us, 6)
	tell("six more of 120 us")
	window(140*us, 3)
	tell("three of 140 us, beyond any target")
	window(60*us, 1)
	tell("the crowd has gone: 60 us")
	window(20*us, 30)
	tell("30 windows of 20 us")
	now += 20 * us
	c.OnAck(now, &cc.Ack{Bytes: mtu})
	tell("what went again is acknowledged: no time")
	now += 100 * us
	c.OnLoss(now, cc.LossNak)
	tell("a NAK")
	for _, what := range []string{"an outage: a time-out", "a second", "a third"} {
		now += 500 * us
		c.OnLoss(now, cc.LossTimeout)
		tell(what)
	}
	window(10*us, 1)
	tell("the path is whole again: 10 us")
	window(10*us, 20)
	tell("20 windows of 10 us")
	p.Check(t, "swift")
}

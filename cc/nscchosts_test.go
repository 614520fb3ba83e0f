package cc_test

import (
	"testing"

	"railyard/cc"
	"railyard/unit"
)

// The hosts' part of a round trip is not network delay. If a process on sockets is scheduled 10 ms late, its window
// does not change, and the largest window covers the usual host time at line rate. The same round trip without a
// host time is a very long delay in which almost nothing arrived.
func TestNSCCHosts(t *testing.T) {
	const us, ms = unit.Microsecond, unit.Millisecond
	grown := func() (c cc.Controller, now unit.Time) {
		c = nsccOn(t, "nscc:sockets", 0)
		for range 2000 {
			now += 20 * us
			c.OnAck(now, &cc.Ack{Bytes: nsccMTU, RTT: 210 * us, Far: 200 * us, FarWithin: true})
		}
		return c, now
	}
	c, now := grown()
	before := signal(t, c, cc.SignalWindow)
	if least := 1.5 * 200e-6 * 100e9 / 8; before < least {
		t.Errorf("hosts take 200 us: the window is %v, less than the %v that fill the line", before, least)
	}
	if got := signal(t, c, "queue_delay"); got != 0 {
		t.Errorf("a queue of %v s is seen in a network without any", got)
	}
	c.OnAck(now+10*ms, &cc.Ack{Bytes: nsccMTU, RTT: 10 * ms, Far: 10*ms - 10*us, FarWithin: true})
	if got := signal(t, c, cc.SignalWindow); got < before {
		t.Errorf("hosts took 10 ms: the window went from %v to %v", before, got)
	}
	c, now = grown()
	c.OnAck(now+10*ms, &cc.Ack{Bytes: nsccMTU, RTT: 10 * ms})
	if got := signal(t, c, cc.SignalWindow); got > before/2 {
		t.Errorf("the network took 10 ms: the window went from %v to %v only", before, got)
	}
}

// TestNSCCFastBelowTarget: a delay that permits the fast increase is below the target; a target of 0 means the
// path's.
func TestNSCCFastBelowTarget(t *testing.T) {
	const us = unit.Microsecond
	for _, c := range []struct {
		below, target unit.Time
		faulty        string
	}{{us, 0, ""}, {us, 2 * us, ""}, {us, us, "fast_below"}, {2 * us, us, "fast_below"}} {
		a := cc.Lookup("nscc")
		v := a.Profile("trim").Values(line)
		v["fast_below"], v["target_delay"] = c.below, c.target
		if name, fault := a.Check(v); name != c.faulty || (fault == "") != (name == "") {
			t.Errorf("%v below a target of %v: %q, %q", c.below, c.target, name, fault)
		}
	}
}

// A round trip that grows in the network counts as delay, whatever the hosts' part is.
func TestNSCCHostsAndQueue(t *testing.T) {
	const us, ms = unit.Microsecond, unit.Millisecond
	c := nsccOn(t, "nscc:sockets", 0)
	c.OnAck(0, &cc.Ack{Bytes: nsccMTU, RTT: 110 * us, Far: 100 * us, FarWithin: true})
	c.OnAck(ms, &cc.Ack{Bytes: nsccMTU, RTT: 2110 * us, Far: 100 * us, FarWithin: true, Marked: true})
	comesTo(t, "mean delay", signal(t, c, "queue_delay"), 0.0125*2000e-6)
}

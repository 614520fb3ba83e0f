package host

import (
	"testing"

	"railyard/cc"
	"railyard/internal/fabric"
	"railyard/internal/queue"
	"railyard/unit"

	"pgregory.net/rapid"
)

// at changes the rate of a port's cable, as a run does.
func (l *lab) at(port int32, r unit.Rate) {
	l.Net.SetLink(port, fabric.LinkState{Up: true, Rate: r})
	l.Reline(port)
	l.Reline(l.Net.Ports[port].Peer)
}

// At half of its rate a NIC's port sends each packet in twice the time, and afterwards as before. The frame on the
// wire finishes at its initial rate.
func TestHalfAPort(t *testing.T) {
	l := newLab(t, nil, 1, 1)
	port := l.nics[0].ports[0]
	c := l.connect(0, 1, 0)
	l.Send(c, 1000*4096, 0)
	sent := func(from, until unit.Time) int64 {
		l.run(from)
		before := l.Net.Sent(port)
		l.run(until)
		return l.Net.Sent(port) - before
	}
	const us = unit.Microsecond
	if got, want := sent(10*us, 20*us), int64(unit.InTime(rate, 10*us)); got < want-1 || got > want {
		t.Errorf("whole: %d bytes in 10 us, want %d", got, want)
	}
	l.at(port, rate/2)
	if got, want := sent(21*us, 31*us), int64(unit.InTime(rate/2, 10*us)); got < want-1 || got > want {
		t.Errorf("half: %d bytes in 10 us, want %d", got, want)
	}
	if l.senders[c].pace.Line != rate/2 || l.Line(c) != rate {
		t.Errorf("half: the pace ends at %v, of a line of %v", l.senders[c].pace.Line, l.Line(c))
	}
	l.at(port, rate)
	if got, want := sent(32*us, 42*us), int64(unit.InTime(rate, 10*us)); got < want-1 || got > want {
		t.Errorf("whole again: %d bytes in 10 us, want %d", got, want)
	}
}

// DCQCN never paces above the port's current rate, whatever the congestion and the changes. If no CNP reduced the
// rate, it uses a recovered port without waiting for its timers.
func TestDCQCNFollowsItsPort(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLab(t, func(c *Config, s *queue.Spec) {
			c.Services[0].CC = cc.Lookup("dcqcn").Use("nic", rate)
			c.Services[0].CNPs = true
			s.Queues[3].WRED = queue.WRED{Min: 20 * unit.KB, Max: 100 * unit.KB, Probability: 1, ECN: true}
		}, 1, 1, 1)
		line := []unit.Rate{rate, rate}
		l.OnRate = func(c int32, r unit.Rate) {
			if r > line[c] {
				rt.Fatalf("%v: queue pair %d is paced at %v on a port of %v", l.Net.Q.Now(), c, r, line[c])
			}
		}
		for i := range 2 {
			l.Send(l.connect(int32(i), 2, 0), 50*unit.MB, 0)
		}
		for range rapid.IntRange(1, 10).Draw(rt, "changes") {
			l.run(l.Net.Q.Now() + unit.Time(rapid.IntRange(1, 200).Draw(rt, "wait"))*unit.Microsecond)
			i := rapid.IntRange(0, 1).Draw(rt, "NIC")
			line[i] = rate / unit.Rate(rapid.IntRange(1, 8).Draw(rt, "share"))
			l.at(l.nics[i].ports[0], line[i])
			if p := &l.senders[i].pace; p.Rate > line[i] || p.Line != line[i] {
				rt.Fatalf("the port has %v now, the pace is %v of %v", line[i], p.Rate, p.Line)
			}
		}
	})
	alone := func(c *Config, _ *queue.Spec) { c.Services[0].CC = cc.Lookup("dcqcn").Use("nic", rate) }
	l := newLab(t, alone, 1, 1)
	c := l.connect(0, 1, 0)
	for _, r := range []unit.Rate{rate / 2, rate / 10, rate} {
		if l.at(l.nics[0].ports[0], r); l.senders[c].pace.Rate != r {
			t.Errorf("nobody cut it, the port has %v, the pace is %v", r, l.senders[c].pace.Rate)
		}
	}
	l.at(l.nics[0].ports[0], rate/2)
	if again := l.connect(0, 1, 1); l.senders[again].pace.Rate != rate/2 {
		t.Errorf("set up on a port of %v, the pace is %v", rate/2, l.senders[again].pace.Rate)
	}
}

// The line rate of a bundle's queue pair is that of its ports: all of them with spraying, otherwise its own.
func TestLineOfABundle(t *testing.T) {
	lines := map[Bond][2]unit.Rate{BondSpray: {rate * 5 / 4, rate * 5 / 4}, BondAffinity: {rate / 4, rate}}
	for mode, want := range lines {
		l := newLab(t, func(c *Config, _ *queue.Spec) { c.Bond = mode }, 2, 1)
		a, b := l.connect(0, 1, 0), l.connect(0, 1, 1)
		l.at(l.nics[0].ports[0], rate/4)
		if got := [2]unit.Rate{l.senders[a].pace.Line, l.senders[b].pace.Line}; got != want {
			t.Errorf("mode %d, one port at a quarter: lines %v, want %v", mode, got, want)
		}
		l.Rebond(func(_, _ int32) []int32 { return l.nics[0].ports[1:] })
		if got := l.senders[a].pace.Line; got != rate {
			t.Errorf("mode %d: moved to the whole port, the line is %v", mode, got)
		}
	}
}

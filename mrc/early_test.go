package mrc

import (
	"slices"
	"testing"

	"railyard/internal/rng"
	"railyard/param"
	"railyard/transport"
	"railyard/unit"
)

// lossyPair carries messages one after another over paths of 100 Gbit/s whose round trips differ by up to a
// quarter. It loses data, probes and answers at random.
type lossyPair struct {
	now  unit.Time
	s    *Sender
	r    *Receiver
	air  []carried
	loss float64
	rand rng.Stream
	free unit.Time // when the wire is free
}

type carried struct {
	at unit.Time
	to transport.End
	p  transport.Packet
}

func (l *lossyPair) put(to transport.End, p transport.Packet) {
	if l.rand.Float64() < l.loss {
		return
	}
	at := max(l.now, l.free)
	if p.Kind == transport.Data {
		at += 330 * unit.Nanosecond
		l.free = at
	}
	path := unit.Time(p.EV%8) * 150 * unit.Nanosecond
	l.air = append(l.air, carried{at + 5*unit.Microsecond + path, to, p})
}

// say makes both ends send all their control packets.
func (l *lossyPair) say() {
	for p := (transport.Packet{}); l.free <= l.now && l.s.Next(l.now, 0, &p); p = (transport.Packet{}) {
		l.put(l.r, p)
	}
	for p := (transport.Packet{}); l.s.Say(l.now, &p); p = (transport.Packet{}) {
		l.put(l.r, p)
	}
	for p := (transport.Packet{}); l.r.Say(l.now, &p); p = (transport.Packet{}) {
		l.put(l.s, p)
	}
}

// step advances to the next event.
func (l *lossyPair) step() {
	l.say()
	at := min(l.s.At(), l.r.At())
	first := -1
	for i := range l.air {
		if first < 0 || l.air[i].at < l.air[first].at {
			first = i
		}
	}
	if first >= 0 {
		at = min(at, l.air[first].at)
	}
	if l.free > l.now {
		at = min(at, l.free)
	}
	l.now = max(at, l.now+1)
	if first >= 0 && l.air[first].at <= l.now {
		x := l.air[first]
		l.air = slices.Delete(l.air, first, first+1)
		x.to.Take(l.now, &x.p)
	}
	if l.s.At() <= l.now {
		l.s.Tick(l.now)
	}
	if l.r.At() <= l.now {
		l.r.Tick(l.now)
	}
	for ok := true; ok; _, ok = l.r.Arrived() {
	}
}

// TestEarly: without trimming, lost packets are retransmitted once later ones have arrived, before their timeout.
// Messages of 64 packets complete earlier, without loss nothing is retransmitted, and little is retransmitted
// twice.
func TestEarly(t *testing.T) {
	const messages = 200
	run := func(loss float64, early bool) (took unit.Time, l *lossyPair) {
		m := newMaker(with(param.Values{"early": early}), transport.Common{MTU: 4096})
		l = &lossyPair{loss: loss, rand: rng.New(3, "loss"), s: newSender(newPeer(m, testPath, 1), 1),
			r: newReceiver(m, testPath, 1)}
		for n := range messages {
			if err := l.s.Post(l.now, transport.Request{ID: uint64(n), Bytes: 256 << 10}); err != nil {
				t.Fatal(err)
			}
			for done := false; !done; _, done = l.s.Completed() {
				l.step()
			}
		}
		return l.now / messages, l
	}
	clean, l := run(0, true)
	if l.s.n.again > 0 {
		t.Errorf("%d packets go again though none is lost", l.s.n.again)
	}
	for _, c := range []struct {
		loss, least float64 // minimum reduction of the lost time, compared with time-outs alone
	}{{0.001, 0.3}, {0.01, 0.3}, {0.05, 0.3}} {
		late, _ := run(c.loss, false)
		took, l := run(c.loss, true)
		e := l.s.peer.early.n
		t.Logf("%g: %v, %v by time-outs alone, %v without loss; %d early, %d time-outs, %d twice", c.loss, took, late,
			clean, e, l.s.n.timeouts, l.r.n.duplicates)
		if gained := 1 - float64(took-clean)/float64(late-clean); gained < c.least {
			t.Errorf("%g: %v, %v by time-outs alone, %v without loss", c.loss, took, late, clean)
		}
		if l.s.n.timeouts > e/4 {
			t.Errorf("%g: %d time-outs, %d early", c.loss, l.s.n.timeouts, e)
		}
		if l.r.n.duplicates > e/4+4 {
			t.Errorf("%g: %d packets came twice, %d were lost", c.loss, l.r.n.duplicates, e)
		}
	}
}

package host

import (
	"testing"

	"railyard/cc"
	"railyard/internal/queue"
	"railyard/unit"
)

// Closed queue pairs whose rate was reduced run no timer once their last message is acknowledged, and a late CNP
// changes nothing. An open queue pair goes on until its rate has recovered.
func TestClosedQueuePairsRest(t *testing.T) {
	paper := cc.DCQCNPaper(rate)
	l := newLab(t, func(c *Config, s *queue.Spec) {
		c.Services[0].CNPs = true
		c.Services[0].CC = func(p cc.Path) cc.Controller { return cc.NewDCQCN(&paper, p.Line) }
		s.Queues[3].WRED = queue.WRED{Min: 10 * unit.KB, Max: 20 * unit.KB, Probability: 1, ECN: true}
	}, 1, 1, 1)
	closed, open := l.connect(0, 2, 0), l.connect(1, 2, 0)
	l.Send(closed, 2*unit.MB, 0)
	l.Close(closed)
	l.Send(open, 2*unit.MB, 0)
	l.run(600 * unit.Microsecond)
	if cuts, _ := l.Counter(closed, cc.CounterCuts); len(l.ends) != 2 || cuts == 0 {
		t.Fatalf("%d messages have come, %d rate reductions", len(l.ends), cuts)
	}
	if !l.Closed(closed) || l.Closed(open) {
		t.Errorf("closed: %v, %v", l.Closed(closed), l.Closed(open))
	}
	if l.senders[closed].timerAt != unit.Never || l.senders[open].timerAt == unit.Never {
		t.Errorf("timers at %v and %v", l.senders[closed].timerAt, l.senders[open].timerAt)
	}
	cuts, _ := l.Counter(closed, cc.CounterCuts)
	l.notify(closed, l.nics[2].ports[0])
	l.run(610 * unit.Microsecond)
	if late, _ := l.Counter(closed, cc.CounterCuts); late != cuts || l.senders[closed].timerAt != unit.Never {
		t.Errorf("a late CNP: %d rate reductions, %d before; timer at %v", late, cuts, l.senders[closed].timerAt)
	}
}

// Closed connections of a protocol leave the list of their peer when they are done, in any order. The others still
// send, and new ones join.
func TestClosedEndsLeaveTheirPeer(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {1, 0, 2}} {
		l := newPlanes(t, &plain{window: 4, timeout: unit.Millisecond}, 2, 2, nil)
		conns := []int32{l.connect(0, 1, 0), l.connect(0, 1, 1), l.connect(0, 1, 2)}
		left := 3
		for round, i := range order {
			c := conns[i]
			l.Send(c, 100_000, 0)
			l.Close(c)
			l.run(l.Net.Q.Now() + unit.Millisecond)
			if left--; !l.Closed(c) || len(l.ends) != round+1 {
				t.Fatalf("order %v: %d messages came, closed: %v", order, len(l.ends), l.Closed(c))
			}
			first := l.peers[peerKey{0, 0, 1}].last
			n := 0
			for o := first; n == 0 && o >= 0 || n > 0 && o != first; o = l.carried[o].next {
				if n++; l.Closed(o) {
					t.Errorf("order %v: %d is closed, and one of its peer's", order, o)
				}
			}
			if n != left {
				t.Errorf("order %v: %d of the peer's are left, want %d", order, n, left)
			}
		}
		l.Send(l.connect(0, 1, 3), 100_000, 0)
		if l.run(l.Net.Q.Now() + unit.Millisecond); len(l.ends) != 4 {
			t.Errorf("order %v: %d messages came", order, len(l.ends))
		}
	}
}

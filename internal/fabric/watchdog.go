package fabric

import (
	"railyard/internal/queue"
	"railyard/unit"
)

// stormState is the watchdog's view of one (port, priority) between polls.
type stormState struct {
	sent    uint32 // packets the queue had sent at the last poll
	stuck   unit.Time
	quiet   unit.Time
	gotLast int64
	stormed bool
}

// poll is the PFC watchdog, by SONiC's rule for Mellanox ASICs (HANDBOOK.md
// 3.4): a queue that holds packets, sends none and stays paused for the whole
// detection time is stormed; its packets are dropped (or forwarded) and pauses
// ignored until no pause frame has come for the restoration time.
func (n *Net) poll(node int32) {
	sw := &n.Sw[node]
	w := sw.Spec.Watchdog
	for i, port := range sw.ports {
		for c := range queue.Classes {
			if sw.lossless&(1<<c) != 0 {
				n.watch(sw, port, c, &sw.polled[i*queue.Classes+c])
			}
		}
	}
	if n.Q.Len() >= n.pollers { // the watchdogs alone must not keep a dead run alive
		n.Q.Push(n.Q.Now()+w.Poll, KindPoll, node, 0)
	}
}

// Idle reports whether nothing but watchdogs is pending.
func (n *Net) Idle() bool { return n.Q.Len() <= n.pollers }

func (n *Net) watch(sw *Switch, port int32, c int, s *stormState) {
	w := sw.Spec.Watchdog
	op, st, q := &n.Ports[port], &n.Stats[port], &n.classes[n.slot(port, c)]
	if s.stormed {
		if st.PauseGot == s.gotLast {
			s.quiet += w.Poll
		} else {
			s.quiet = 0
		}
		s.gotLast = st.PauseGot
		if s.quiet >= w.Restore {
			*s = stormState{sent: q.sent}
			n.trace("restore", port, c)
		} else if !w.Forward {
			n.flush(port, c)
		}
		return
	}
	stuck := op.NonEmpty&(1<<c) != 0 && op.Paused&(1<<c) != 0 && q.sent == s.sent
	s.sent = q.sent
	if !stuck {
		s.stuck = 0
		return
	}
	s.stuck += w.Poll
	if s.stuck < w.Detect {
		return
	}
	s.stormed, s.quiet, s.gotLast = true, 0, st.PauseGot
	n.Storms++
	n.trace("storm", port, c)
	if !w.Forward {
		n.flush(port, c)
	}
	n.unpause(port, c)
}

// flush drops everything a stormed queue holds.
func (n *Net) flush(port int32, c int) {
	op := &n.Ports[port]
	for op.NonEmpty&(1<<c) != 0 {
		pi, p := n.Dequeue(n.Q.Now(), port, op, c)
		n.release(&n.Sw[op.Node], p)
		n.StormDrops++
		n.drop(port, pi, p)
	}
}

// stormed reports whether the watchdog has taken over a queue.
func (n *Net) stormed(sw *Switch, port int32, prio int) bool {
	for i, p := range sw.ports {
		if p == port {
			return sw.polled[i*queue.Classes+prio].stormed
		}
	}
	return false
}

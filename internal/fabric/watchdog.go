package fabric

import (
	"railyard/internal/engine"
	"railyard/internal/queue"
)

// stormState is the watchdog's view of one (port, priority).
type stormState struct {
	got, gotLast uint32 // PFC frames with this priority, pause or resume: so far, and at the last poll
	polls        uint32 // polls in a row: stuck, or, while stormed, without a pause frame
	paused       bool   // whether it was paused at the last poll
	resumed      bool   // since the last poll
	stormed      bool
}

// poll is the PFC watchdog, by SONiC's rules (docs/references.md, watchdog). A queue is stuck over a poll interval
// if it holds packets and was paused at both ends of the interval, without a resume between them. Between the polls
// a paused queue sends nothing, whether packets are queued or pass through an idle port. A queue that is stuck for
// the whole detection time is stormed, until no PFC frame arrives for the restoration time.
func (n *Net) poll(node int32) {
	sw := &n.Sw[node]
	w := sw.Spec.Watchdog
	for _, port := range sw.ports {
		for c := range queue.Classes {
			if sw.lossless&(1<<c) != 0 {
				n.watch(node, port, c, &w)
			}
		}
	}
	n.Q.Push(engine.Node(node), n.Q.Now()+w.Poll, KindPoll, node, 0)
}

// Idle reports whether nothing but watchdogs is pending. The event loop checks after each KindPoll whether other
// events are left. Watchdogs alone must not keep a dead run alive, and a switch cannot check that.
func (n *Net) Idle() bool { return n.Q.Len() <= n.pollers }

func (n *Net) watch(node, port int32, c int, w *queue.Watchdog) {
	tx, s := &n.Ports[port], &n.storms[n.slot(port, c)]
	if s.stormed {
		quiet := s.got == s.gotLast
		s.gotLast = s.got
		if s.count(quiet); w.Reached(int(s.polls), w.Restore) {
			n.restore(node, port, c, s)
		}
		return
	}
	paused := tx.Paused&(1<<c) != 0
	stuck := paused && s.paused && !s.resumed && tx.NonEmpty&(1<<c) != 0
	s.paused, s.resumed = paused, false
	if s.count(stuck); w.Reached(int(s.polls), w.Detect) {
		n.storm(node, port, c, s)
	}
}

// count counts consecutive polls.
func (s *stormState) count(again bool) {
	if !again {
		s.polls = 0
	} else {
		s.polls++
	}
}

// storm marks a queue as stormed. PFC of its priority is then off at the port, in both directions. With the action
// drop, all packets are lost that are queued there, are routed to it or arrive by it. SONiC's drop action uses ACLs
// at ingress and egress, or buffer profiles of size zero for the queue and the priority group.
func (n *Net) storm(node, port int32, c int, s *stormState) {
	slot := n.slot(port, c)
	*s = stormState{got: s.got, gotLast: s.got, stormed: true}
	n.Storms++
	n.trace("storm", port, c)
	n.cfg[port].noPFC |= 1 << c // the class was enabled, or no pause would have been counted
	n.ing[slot].pausing = false // the peer's pause runs out
	n.refresh.Disarm(slot)
	if sw := &n.Sw[node]; !sw.Spec.Watchdog.Forward {
		sw.stormed++
		n.forward[node].slow |= slowStorm
		n.flush(port, c)
	}
	n.unpause(port, c)
}

// restore gives a queue back.
func (n *Net) restore(node, port int32, c int, s *stormState) {
	*s = stormState{got: s.got}
	n.cfg[port].noPFC &^= 1 << c
	if sw := &n.Sw[node]; !sw.Spec.Watchdog.Forward {
		if sw.stormed--; sw.stormed == 0 {
			n.forward[node].slow &^= slowStorm
		}
	}
	n.trace("restore", port, c)
}

// inStorm drops a packet that is routed to a stormed queue, or arrives by its port and priority.
func (n *Net) inStorm(in, out, pi int32, p *Packet) bool {
	at := out
	if !n.storms[n.slot(out, int(p.Class))].stormed {
		at = in
		if !n.storms[n.slot(in, int(p.Came))].stormed {
			return false
		}
	}
	n.StormDrops++
	n.drop(at, pi, p)
	return true
}

// flush drops everything a stormed queue holds.
func (n *Net) flush(port int32, c int) {
	tx := &n.Ports[port]
	for tx.NonEmpty&(1<<c) != 0 {
		pi, p := n.Dequeue(n.Q.Now(), port, tx, c)
		if n.sched == nil {
			n.release(&n.Sw[tx.Node], port, p)
		} else {
			n.sched.at[tx.Node].Egress -= int64(p.Size)
		}
		n.StormDrops++
		n.drop(port, pi, p)
	}
}

package mrc

import (
	"testing"

	"railyard/cc"
	"railyard/transport/transporttest"
)

// Cuts of the window to a destination are the connections' whose answers made them: over all connections they
// add up to what its congestion control has counted. What else a peer counts is reported once.
func TestCutsAddUp(t *testing.T) {
	n := transporttest.New(transporttest.Setup{Protocol: &Protocol, Values: with(nil), Planes: 1, Paths: 4,
		MTU: 4096, Seed: 5, Conns: 3})
	for p := range n.Paths[transporttest.There][0] {
		n.Paths[transporttest.There][0][p].Mark, n.Paths[transporttest.There][0][p].Loss = 0.2, 0.002
	}
	for c := range 3 {
		n.Post(c, 4<<20, false)
	}
	finish(t, n)
	var of [2]int64
	cuts, skips, acted := int64(0), int64(0), 0
	for c := range 3 {
		s := n.Sender(c).(*Sender)
		if own := count(s, cc.CounterCuts); own > 0 {
			acted++
			cuts += own
		}
		skips += count(s, "ev_skips")
		of[0], _ = s.peer.pace.Ctl.Counter(cc.CounterCuts)
		of[1] = s.peer.evs.skips
	}
	if cuts != of[0] || acted < 2 || skips != of[1] || skips == 0 {
		t.Errorf("%d cuts on %d connections, %d skips; the peer has %d and %d", cuts, acted, skips, of[0],
			of[1])
	}
	if _, ok := n.Sender(0).Signal(n.Now, "queue_delay"); !ok {
		t.Error("a signal of the congestion control is not reported")
	}
}

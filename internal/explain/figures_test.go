package explain

import (
	"math"
	"testing"

	"railyard/internal/result"
	"railyard/internal/topo"
)

// Jain's index is 1 for equal shares and 1/n if one of n has everything. Messages of a queue pair that overlap, or
// were posted together, count the time while any was in flight. Messages without an end do not count.
func TestFairness(t *testing.T) {
	message := func(qp int32, posted, done, ideal int64) result.FlowRow {
		return result.FlowRow{QP: qp, Posted: posted, Done: done, Ideal: ideal}
	}
	for _, c := range []struct {
		conns int
		rows  []result.FlowRow
		want  float64
	}{
		{2, nil, 0},
		{2, []result.FlowRow{message(0, 0, 200, 100), message(1, 50, 250, 100)}, 1},
		{2, []result.FlowRow{message(0, 0, 100, 100), message(1, 0, 300, 100)}, // 1 and 1/3
			16. / 9 / (2 * 10 / 9.)},
		{4, []result.FlowRow{message(3, 0, 400, 100)}, 1},
		{2, []result.FlowRow{message(0, 0, 200, 100), message(0, 0, 400, 100), // half a time
			message(1, 1000, 1200, 100)}, 1},
		{2, []result.FlowRow{message(0, 0, 200, 100), message(1, 0, -1, 100)}, 1},
	} {
		if got := fairness(c.conns, c.rows); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v: %v, want %v", c.rows, got, c.want)
		}
	}
}

// The mean queue is that of a switch's port, over all of the time, and NICs' queues are none.
func TestMeanQueue(t *testing.T) {
	g := &topo.Graph{Nodes: []topo.Node{{Role: topo.Host}, {Role: topo.Leaf}}}
	r := &reading{graph: g, seen: &Observation{At: 1000,
		Ports: []Port{{Node: 0, Bytes: 1100}, {Node: 1, Bytes: 1050}, {Node: 1}},
		Recorded: result.Tables{Links: []result.LinkRow{{Port: 0, Start: 0, Length: 1000, Queued: 900},
			{Port: 1, Start: 0, Length: 100, Queued: 500}, {Port: 1, Start: 100, Length: 100, Queued: 100},
			{Port: 2, Start: 900, Length: 100, Queued: 590}}}}}
	if got := r.meanQueue(); got != 60 { // (500 + 100) x 100 / 1000
		t.Errorf("the mean queue is %v, want 60B", got)
	}
	s := &result.Summary{NetworkBytes: 1000}
	r.figures(s, nil)
	if s.NICBytes != 1100 || math.Abs(s.Overhead()-0.1) > 1e-12 {
		t.Errorf("NICs sent %d, overhead %v", s.NICBytes, s.Overhead())
	}
	if none := (&result.Summary{}).Overhead(); none != 0 {
		t.Errorf("an overhead of %v of nothing", none)
	}
}

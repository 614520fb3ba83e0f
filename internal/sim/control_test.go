package sim

import (
	"testing"

	"railyard/cc"
	"railyard/internal/result"
)

// A run's summary reports whether congestion control acted: its counters, summed over queue pairs, and the number
// of queue pairs that it slowed. Without an algorithm it reports nothing.
func TestSummaryOfControl(t *testing.T) {
	for _, c := range []struct {
		algorithm string
		senders   int
		acts      bool
	}{{"swift", 8, true}, {"dcqcn", 8, true}, {"swift", 1, false}, {"dcqcn", 1, false}, {"none", 8, false}} {
		r, s, tab := runAll(t, incast(c.senders, 2, "2MB"), "cc.algorithm="+c.algorithm)
		if len(s.Control) != 1 {
			t.Fatalf("%d services", len(s.Control))
		}
		got := s.Control[0]
		a := cc.Lookup(c.algorithm)
		if got.Algorithm != c.algorithm || got.Title != a.Title || got.QueuePairs != int64(2*c.senders) ||
			len(got.Counters) != len(a.Counters) {
			t.Errorf("%s: %+v", c.algorithm, got)
		}
		acted, cuts := int64(0), int64(0)
		for _, q := range tab.QPs {
			if cuts += q.Cuts; q.Cuts > 0 {
				acted++
			}
		}
		if got.Acted != acted || got.Cuts() != cuts || (acted > 0) != c.acts ||
			(got.Held > 0) != (c.acts && paced(r)) {
			t.Errorf("%s, %d senders: %d cuts on %d queue pairs: %+v", c.algorithm, c.senders, cuts, acted,
				got)
		}
		for _, k := range got.Counters {
			if k.Name == cc.CounterCNPs && k.Count != s.CNPs {
				t.Errorf("%s heard %d of %d CNPs", c.algorithm, k.Count, s.CNPs)
			}
		}
	}
}

// paced reports that a queue pair's packets waited for their pace.
func paced(r *Run) bool {
	for c := range int32(r.Hosts.Conns()) {
		if r.Hosts.Held(c).Sum() > 0 {
			return true
		}
	}
	return false
}

// The table of signals has the algorithm's list, by queue pair, from its first action on. Rows are in the order of
// time and contain only changes. The last number of reductions equals the queue pair's.
func TestTableOfSignals(t *testing.T) {
	for _, algorithm := range []string{"swift", "dcqcn"} {
		_, s, tab := runAll(t, incast(8, 1, "5MB"), "cc.algorithm="+algorithm)
		listed := map[string]bool{cc.CounterCuts: true}
		for _, x := range s.Control[0].Signals {
			listed[x.Name] = true
		}
		type key struct {
			qp     int32
			signal string
		}
		last := map[key]result.SignalRow{}
		for _, x := range tab.Signals {
			k := key{x.QP, x.Signal}
			before, seen := last[k]
			if !listed[x.Signal] || seen && (x.At <= before.At || x.Value == before.Value) {
				t.Fatalf("%s: %+v after %+v", algorithm, x, before)
			}
			last[k] = x
		}
		for _, q := range tab.QPs {
			for name := range listed {
				x, ok := last[key{q.QP, name}]
				if ok != (q.Cuts > 0) || name == cc.CounterCuts && int64(x.Value) > q.Cuts {
					t.Errorf("%s, queue pair %d with %d cuts: %s is %+v", algorithm, q.QP, q.Cuts, name, x)
				}
			}
			if q.Service != s.Control[0].Service {
				t.Errorf("queue pair %d has service %q", q.QP, q.Service)
			}
		}
	}
}

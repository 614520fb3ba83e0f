package sim

import (
	"testing"

	"railyard/cc"
)

// A run's summary says whether congestion control acted: its own counters, summed over queue pairs, and on
// how many of them it cut; and nothing of an algorithm that there is none of.
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
		if got.Acted != acted || got.Cuts() != cuts || (acted > 0) != c.acts || (got.Held > 0) != (c.acts && paced(r)) {
			t.Errorf("%s, %d senders: %d cuts on %d queue pairs: %+v", c.algorithm, c.senders, cuts, acted, got)
		}
		for _, k := range got.Counters {
			if k.Name == cc.CounterCNPs && k.Count != s.CNPs {
				t.Errorf("%s heard %d of %d CNPs", c.algorithm, k.Count, s.CNPs)
			}
		}
	}
}

// paced reports that some queue pair's packets waited for their pace.
func paced(r *Run) bool {
	for c := range int32(r.Hosts.Conns()) {
		if r.Hosts.Held(c) > 0 {
			return true
		}
	}
	return false
}

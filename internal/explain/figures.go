package explain

import (
	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/unit"
)

// figures sets the figures for comparisons of congestion control: the mean queue, what NICs sent in addition to the
// payload, and the fairness among flows.
func (r *reading) figures(s *result.Summary, flows []result.FlowRow) {
	s.QueueMean = int64(r.meanQueue())
	sent := unit.Bytes(0)
	for i := range r.seen.Ports {
		if p := &r.seen.Ports[i]; r.graph.Nodes[p.Node].Role == topo.Host {
			sent += p.Bytes
		}
	}
	if s.NetworkBytes > 0 {
		s.NICBytes = int64(sent)
	}
	s.Fairness = fairness(len(r.seen.Conns), flows)
}

// meanQueue returns the longest time-averaged queue of any switch port. It is computed from samples at the ends of
// intervals; missing samples count as an empty queue.
func (r *reading) meanQueue() (longest unit.Bytes) {
	if r.seen.At <= 0 {
		return 0
	}
	sums := make([]float64, len(r.seen.Ports))
	for i := range r.seen.Recorded.Links {
		row := &r.seen.Recorded.Links[i]
		if r.graph.Nodes[r.seen.Ports[row.Port].Node].Role != topo.Host {
			sums[row.Port] += float64(float64(row.Queued) * float64(row.Length))
		}
	}
	for _, x := range sums {
		longest = max(longest, unit.Bytes(x/float64(r.seen.At)))
	}
	return longest
}

// fairness is Jain's index over connections: for each the sum of its messages' ideal times over the time with a message
// in flight. 1 means equal shares, 1/n that one connection has all; 0 without messages. (Jain, Chiu and Hawe 1984 take
// throughputs as shares of each one's optimum.)
func fairness(conns int, messages []result.FlowRow) float64 {
	type flow struct{ ideal, busy, until int64 }
	flows := make([]flow, conns)
	for i := range messages {
		m := &messages[i]
		if m.Done < 0 {
			continue
		}
		f := &flows[m.QP]
		f.ideal += m.Ideal
		f.busy += max(0, m.Done-max(m.Posted, f.until)) // a connection's messages end in their order
		f.until = max(f.until, m.Done)
	}
	n, sum, squares := 0.0, 0.0, 0.0
	for _, f := range flows {
		if f.busy <= 0 {
			continue
		}
		x := float64(f.ideal) / float64(f.busy)
		n, sum, squares = n+1, sum+x, squares+float64(x*x)
	}
	if squares == 0 {
		return 0
	}
	return float64(sum*sum) / float64(n*squares)
}

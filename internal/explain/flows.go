package explain

import (
	"slices"

	"railyard/internal/result"
	"railyard/internal/workload"
	"railyard/roce"
	"railyard/unit"
)

// wireBytes returns a message's bytes on the wire, with preambles and gaps.
func (r *reading) wireBytes(b unit.Bytes) unit.Bytes { return r.seen.Rules.Wire(b) }

// Wire returns a message's bytes on the wire, with preambles and gaps.
func (r *Rules) Wire(b unit.Bytes) unit.Bytes {
	mtu := r.MTU
	n := max(1, (b+mtu-1)/mtu)
	if frame := r.Frame; frame != nil {
		last := frame(int(b - (n-1)*mtu))
		return (n-1)*unit.Bytes(frame(int(mtu))+roce.PreambleIFG) + unit.Bytes(last+roce.PreambleIFG)
	}
	pad := (4 - b%4) % 4
	pad += n * unit.Bytes(r.More)
	if r.WriteOnly {
		return b + pad + n*(62+16+20) + 4 // the last one's immediate
	}
	return b + pad + n*(62+20) + 16
}

// pathOf follows the first shortest path between two NICs.
func (r *reading) pathOf(src, dst int) *pathCost {
	g := r.graph
	path := &pathCost{}
	visit := func(l, from, side int) {
		s := stage{rate: r.rate(r.port(l, from)), hop: r.seen.Ports[r.port(l, from)].Flight}
		if side > 0 && r.plan.Scheduled != nil {
			link := r.graph.Links[l]
			s.side, s.back = side, r.seen.Ports[r.port(l, link.A+link.B-from)].Flight
			path.inside = append(path.inside, s)
			return
		}
		path.links = append(path.links, s)
	}
	first := g.NICs[src].Links[0]
	visit(first, g.Hosts[g.NICs[src].Host], 0)
	node := g.Links[first].A + g.Links[first].B - g.Hosts[g.NICs[src].Host]
	for range len(g.Nodes) {
		if l, ok := r.seen.Routes.Near(node, dst); ok {
			visit(l, node, 0)
			break
		}
		next := r.seen.Routes.Next(node, r.seen.Routes.Locator[dst])
		if len(next) == 0 {
			break
		}
		l := next[0]
		visit(l, node, len(next))
		node = g.Links[l].A + g.Links[l].B - node
	}
	return path
}

// latency returns a packet's time over a path beyond its time on the slowest link; without delays, the rest for links
// and switches that add no delay. With cut, switches forward once the header is in.
func (r *reading) latency(path *pathCost, payload unit.Bytes, delays, cut bool) unit.Time {
	packet := payload + 62 + roce.PreambleIFG + unit.Bytes(r.seen.Rules.More)
	if frame := r.seen.Rules.Frame; frame != nil {
		packet = unit.Bytes(frame(int(payload)) + roce.PreambleIFG)
	}
	header := cutHeader(r.seen.Rules.More) + roce.PreambleIFG
	at, tail, longest := unit.Time(0), unit.Time(0), unit.Time(0) // at: its header has come
	for i, s := range path.links {
		if i > 0 && s.rate > path.links[i-1].rate || !cut {
			at = tail // a faster link waits for the whole packet
		}
		took := unit.Serialize(packet, s.rate)
		longest = max(longest, took)
		tail = at + took
		if at += unit.Serialize(min(header, packet), s.rate); delays {
			at, tail = at+s.hop, tail+s.hop
		}
	}
	switch {
	case delays && path.inside != nil:
		tail += crossing(r.plan.Scheduled, path.inside, packet-roce.PreambleIFG)
	case !delays && r.plan.Scheduled != nil:
		return 0
	}
	if delays {
		tail += 2 * r.seen.Rules.NICLatency
	}
	return tail - longest
}

// flows fills the flow table and the completion times.
func (r *reading) flows(s *result.Summary, t *result.Tables) {
	times := make([]int64, 0, len(r.seen.Messages))
	var slower []float64
	random := !slices.ContainsFunc(r.plan.Jobs, func(j workload.Job) bool { return !j.Open })
	t.Flows = slices.Grow(t.Flows, len(r.seen.Messages))
	names := make([]string, r.graph.Ends())
	for i := range names {
		names[i] = r.graph.GPUName(i)
	}
	alone := r.newIdealizer()
	for i := range r.seen.Messages {
		m := &r.seen.Messages[i]
		op := &r.dag.Ops[r.seen.Messages[int32(i)].Op]
		row := result.FlowRow{Message: int64(i), From: names[op.Rank], To: names[op.Peer], QP: m.Conn,
			Bytes:  int64(m.Bytes),
			Posted: int64(m.Posted), Done: int64(m.Done), Ideal: int64(alone.of(int32(i))),
			Class: op.Class.String(), Job: r.jobOf(m.Op)}
		if m.Done == 0 {
			row.Done = -1
		} else {
			times = append(times, int64(m.Done-m.Posted))
			if random && row.Ideal > 0 {
				slower = append(slower, float64(row.Done-row.Posted)/float64(row.Ideal))
			}
		}
		t.Flows = append(t.Flows, row)
	}
	s.Flows = flowTimes(times)
	if len(slower) > 0 {
		slices.Sort(slower)
		at := func(p int) float64 { return slower[result.NearestRank(len(slower), p)] }
		s.Flows.Slowdown = &result.Slowdowns{P50: at(50), P99: at(99), Max: at(100)}
		for _, x := range slower {
			s.Flows.Slowdown.Mean += x / float64(len(slower))
		}
	}
}

func flowTimes(times []int64) result.FlowTimes {
	f := result.FlowTimes{Count: int64(len(times))}
	if len(times) == 0 {
		return f
	}
	slices.Sort(times)
	sum := int64(0)
	for _, x := range times {
		sum += x / int64(len(times))
	}
	at := func(p int) int64 { return times[result.NearestRank(len(times), p)] }
	f.Mean, f.P50, f.P99, f.Max = sum, at(50), at(99), times[len(times)-1]
	return f
}

// queuePairs fills the tables of queue pairs and of the ports they went through.
func (r *reading) queuePairs(t *result.Tables) {
	messages, packets := make([]int64, len(r.seen.Conns)), make([]int64, len(r.seen.Conns))
	mtu, job := r.seen.Rules.MTU, make([]string, len(r.seen.Conns))
	for i := range r.seen.Messages {
		m := &r.seen.Messages[i]
		if messages[m.Conn]++; messages[m.Conn] == 1 {
			job[m.Conn] = r.jobOf(m.Op)
		}
		packets[m.Conn] += int64(max(1, (m.Bytes+mtu-1)/mtu))
	}
	for c := range messages {
		k := &r.seen.Conns[c]
		t.QPs = append(t.QPs, result.QPRow{QP: int32(c), Service: r.plan.Services[k.Service].Name,
			Job: job[c], From: r.graph.NICName(int(k.From)), To: r.graph.NICName(int(k.To)),
			Line: int64(k.Line), Marked: k.Marked, Retrans: k.Again, Messages: messages[c], Cuts: k.Cuts})
	}
	r.eachWait(func(w Wait) {
		// Every sixteenth packet was looked at, but no more crossed the port than there are.
		n := min(16*int64(w.Samples), packets[w.Conn]+r.seen.Conns[w.Conn].Again)
		t.Paths = append(t.Paths, result.PathRow{QP: w.Conn, Port: w.Port, Packets: n,
			Wait:      int64(float64(w.Total) / float64(max(w.Samples, 1)) * float64(n)),
			QueuePeak: int64(w.MaxQueue)})
	})
	if r.seen.Packets == nil && r.seen.Rules.Hashed {
		r.hops(t, packets)
	}
	slices.SortFunc(t.Paths, func(a, b result.PathRow) int {
		if a.QP != b.QP {
			return int(a.QP - b.QP)
		}
		return int(a.Port - b.Port)
	})
}

// hops adds the ports of switches on the paths that hashing selects for queue pairs without simulated packets.
func (r *reading) hops(t *result.Tables, packets []int64) {
	for c, n := range packets {
		leaves := r.seen.Ways.Leaves(int32(c))
		for _, leaf := range leaves {
			if n == 0 {
				break
			}
			for _, port := range r.seen.Ways.PathFrom(int32(c), leaf) {
				t.Paths = append(t.Paths, result.PathRow{QP: int32(c), Port: port, Packets: n / int64(len(leaves))})
			}
		}
	}
}

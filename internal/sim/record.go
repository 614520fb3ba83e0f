package sim

import (
	"slices"
	"sort"

	"railyard/cc"
	"railyard/internal/fabric"
	"railyard/internal/queue"
	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/unit"
)

// maxRateRows bounds the table of rates.
const maxRateRows = 200_000

// rates records a queue pair's congestion control when it changed since the last
// sample.
type rates struct {
	rows   []result.RateRow
	last   []result.RateRow // by queue pair
	missed int64
	next   unit.Time // when to look again
}

// rateEvery is how often rates are looked at, at most: the timers that raise them take
// 55 us or longer. A NIC may cut every 4 us; the table's cuts count them all.
const rateEvery = 50 * unit.Microsecond

// take looks at all queue pairs.
func (x *rates) take(n *Network) {
	now := n.Net.Q.Now()
	if now < x.next {
		return
	}
	x.next = now + rateEvery
	for c := len(x.last); c < n.Hosts.Conns(); c++ {
		x.last = append(x.last, result.RateRow{QP: int32(c)})
	}
	for c := range x.last {
		ctl := n.Hosts.Controller(int32(c))
		cuts, _ := ctl.Counter(cc.CounterCuts)
		if cuts == 0 {
			continue
		}
		rate, _ := ctl.Signal(now, cc.SignalRate)
		target, _ := ctl.Signal(now, cc.SignalTarget)
		alpha, _ := ctl.Signal(now, cc.SignalAlpha)
		row := result.RateRow{At: int64(now), QP: int32(c), Rate: int64(rate), Target: int64(target), Alpha: alpha, Cuts: cuts}
		if l := &x.last[c]; l.Rate == row.Rate && l.Cuts == row.Cuts {
			continue
		}
		x.last[c] = row
		if len(x.rows) >= maxRateRows {
			x.missed++
			continue
		}
		x.rows = append(x.rows, row)
	}
}

// queuePairs fills the tables of queue pairs and of the ports they went through.
func (r *Run) queuePairs(t *result.Tables) {
	messages, packets := make([]int64, r.Hosts.Conns()), make([]int64, r.Hosts.Conns())
	mtu := unit.Bytes(r.Host.RC.MTU)
	for i := range r.Hosts.Messages {
		m := &r.Hosts.Messages[i]
		messages[m.Conn]++
		packets[m.Conn] += int64(max(1, (m.Bytes+mtu-1)/mtu))
	}
	for c := range messages {
		src, dst := r.Hosts.Peers(int32(c))
		row := result.QPRow{QP: int32(c), From: r.Graph.NICName(int(src)), To: r.Graph.NICName(int(dst)), Line: int64(r.Hosts.Line(int32(c))),
			Marked: r.Hosts.CEMarks(int32(c)), Retrans: r.Hosts.Retransmitted(int32(c)), Messages: messages[c]}
		row.Cuts, _ = r.Hosts.Controller(int32(c)).Counter(cc.CounterCuts)
		t.QPs = append(t.QPs, row)
	}
	r.Net.Waits.Each(func(w fabric.Wait) {
		// Every sixteenth packet was looked at, but no more crossed the port than there are.
		n := min(16*int64(w.Samples), packets[w.QP]+r.Hosts.Retransmitted(w.QP))
		t.Paths = append(t.Paths, result.PathRow{QP: w.QP, Port: w.Port, Packets: n,
			Wait: int64(float64(w.Total) / float64(max(w.Samples, 1)) * float64(n)), QueuePeak: int64(w.MaxQueue)})
	})
	slices.SortFunc(t.Paths, func(a, b result.PathRow) int {
		if a.QP != b.QP {
			return int(a.QP - b.QP)
		}
		return int(a.Port - b.Port)
	})
}

// topology describes the fabric.
func (r *Run) topology() *result.Topology {
	g := r.Graph
	t := &result.Topology{Kind: g.Kind, GPUs: g.GPUs}
	data := int(r.Host.DataPrio)
	index := map[*queue.Spec]int{}
	for i, n := range g.Nodes {
		row := result.TopologyNode{Name: n.Name, Role: n.Role.String(), Tier: n.Tier, Config: -1}
		if spec := r.Plan.SpecOf(i); n.Role != topo.Host && spec != nil {
			at, seen := index[spec]
			if !seen {
				q := spec.Queues[data]
				at = len(t.Configs)
				index[spec] = at
				t.Configs = append(t.Configs, result.QueueConfig{Queue: data, Lossless: q.Lossless, WREDMin: int64(q.WRED.Min), WREDMax: int64(q.WRED.Max),
					Probability: q.WRED.Probability, XOff: int64(q.XOff), XOn: int64(q.XOn), Buffer: int64(spec.Buffer)})
			}
			row.Config = at
		}
		t.Nodes = append(t.Nodes, row)
	}
	for i, l := range g.Links {
		t.Links = append(t.Links, result.TopologyLink{A: l.A, B: l.B, APort: l.APort, BPort: l.BPort, FromA: r.Port(i, l.A), FromB: r.Port(i, l.B), Rate: int64(l.Rate), LengthMM: l.LengthMM})
	}
	for i, nic := range g.NICs {
		t.NICs = append(t.NICs, result.TopologyNIC{Name: g.NICName(i), Host: g.Hosts[nic.Host], Rail: nic.Rail, Links: nic.Links})
	}
	return t
}

// pauseSpan is a time in which a port was paused, and the egress port whose congestion
// made its peer do that, -1 where that is not a switch's.
type pauseSpan struct {
	from, to unit.Time
	cause    int32
}

// pauseIndex is when each port was paused, in order.
type pauseIndex map[int32][]pauseSpan

// within returns the pauses of a port that overlap a time.
func (p pauseIndex) within(port int32, from, to unit.Time) []pauseSpan {
	all := p[port]
	i := sort.Search(len(all), func(i int) bool { return all[i].to > from })
	n := sort.Search(len(all), func(i int) bool { return all[i].from >= to })
	return all[i:max(i, n)]
}

// root follows a pause's cause to the port that was congested without being paused.
func (p pauseIndex) root(port int32, at unit.Time) int32 {
	for range len(p) {
		spans := p.within(port, at, at+1)
		if len(spans) == 0 || spans[0].cause < 0 {
			break
		}
		port = spans[0].cause
	}
	return port
}

func (r *Run) pauseIntervals() pauseIndex {
	out := pauseIndex{}
	began := map[int32]pauseSpan{}
	for _, p := range r.pauses {
		switch at := unit.Time(p.At); p.What {
		case "pause":
			if _, on := began[p.Port]; !on {
				began[p.Port] = pauseSpan{from: at, cause: p.Cause}
			}
		case "resume":
			if s, on := began[p.Port]; on {
				s.to = at
				out[p.Port] = append(out[p.Port], s)
				delete(began, p.Port)
			}
		}
	}
	for port, s := range began {
		s.to = r.Net.Q.Now()
		out[port] = append(out[port], s)
	}
	return out
}

package sim

import (
	"slices"

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

// rateEvery is how often rates are looked at, at most: DCQCN's timers take 55 us.
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
		d, ok := n.Hosts.Controller(int32(c)).(*cc.DCQCN)
		if !ok || d.Cuts == 0 {
			continue
		}
		rate, target := d.Rates()
		row := result.RateRow{At: int64(now), QP: int32(c), Rate: int64(rate), Target: int64(target), Alpha: d.Alpha(now), Cuts: int64(d.Cuts)}
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
	messages := make([]int64, r.Hosts.Conns())
	for i := range r.Hosts.Messages {
		messages[r.Hosts.Messages[i].Conn]++
	}
	for c := range messages {
		src, dst := r.Hosts.Peers(int32(c))
		row := result.QPRow{QP: int32(c), From: r.Graph.NICName(int(src)), To: r.Graph.NICName(int(dst)), Line: int64(r.Net.Rate(r.nicPort(int32(c)))),
			Marked: r.Hosts.CEMarks(int32(c)), Retrans: r.Hosts.Retransmitted(int32(c)), Messages: messages[c]}
		if d, ok := r.Hosts.Controller(int32(c)).(*cc.DCQCN); ok {
			row.Cuts = int64(d.Cuts)
		}
		t.QPs = append(t.QPs, row)
	}
	r.Net.Waits.Each(func(w fabric.Wait) {
		t.Paths = append(t.Paths, result.PathRow{QP: w.QP, Port: w.Port, Packets: 16 * int64(w.Samples), Wait: 16 * int64(w.Total), QueuePeak: int64(w.MaxQueue)})
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

// overlap is how long a port was paused between two times, by its PFC events.
func (p pauseIndex) overlap(port int32, from, to unit.Time) (sum unit.Time) {
	for _, s := range p[port] {
		if d := min(s.to, to) - max(s.from, from); d > 0 {
			sum += d
		}
	}
	return sum
}

// pauseIndex is the intervals in which ports were paused.
type pauseIndex map[int32][]struct{ from, to unit.Time }

func (r *Run) pauseIntervals() pauseIndex {
	out := pauseIndex{}
	began := map[int32]unit.Time{}
	for _, p := range r.pauses {
		switch at := unit.Time(p.At); p.What {
		case "pause":
			if _, on := began[p.Port]; !on {
				began[p.Port] = at
			}
		case "resume":
			if from, on := began[p.Port]; on {
				out[p.Port] = append(out[p.Port], struct{ from, to unit.Time }{from, at})
				delete(began, p.Port)
			}
		}
	}
	for port, from := range began {
		out[port] = append(out[port], struct{ from, to unit.Time }{from, r.Net.Q.Now()})
	}
	return out
}

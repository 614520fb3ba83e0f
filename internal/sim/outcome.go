package sim

import (
	"fmt"
	"sort"

	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/internal/workload"
	"railyard/unit"
)

// maxRankRows bounds the table of rank operations; longer runs keep compute
// and collectives of the first ranks only.
const maxRankRows = 400_000

// Outcome turns a finished run into what the run directory holds. Wall-clock
// figures are the caller's to fill in.
func (r *Run) Outcome(version string) (*result.Summary, *result.Tables, []string) {
	n := r.Net
	s := &result.Summary{Name: r.Plan.File.Name, Version: version, Seed: r.Plan.File.Seed, Fidelity: "packet", LB: r.Plan.File.LB, Congestion: r.Plan.Congestion,
		Complete: !r.interrupted && r.Exec.Done(), GPUs: r.Graph.TotalGPUs(),
		Packets: n.Injected, PacketHops: n.Hops, DataPackets: r.Hosts.Count.DataPackets, DataPacketHops: n.DataHops,
		NetworkBytes: int64(r.carrier.delivered), NVLinkBytes: int64(r.Exec.NVBytes), Events: n.Q.Popped(),
		ECNMarks: n.Marks, CNPs: r.Hosts.Count.CNPs, PFCPauses: n.Pauses, PFCFrames: n.PauseFrames,
		Drops: n.Drops, DropsCorrupt: n.CorruptDrops, DropsDown: n.DownDrops,
		Retransmissions: r.Hosts.Count.Retransmissions, OutOfOrder: r.Hosts.Count.OutOfOrder, Naks: r.Hosts.Count.Naks,
		Timeouts: r.Hosts.Count.Timeouts, FailedQPs: r.Hosts.Count.Failed, ReorderPeak: r.Hosts.Count.HeldPeak, PFCStorms: n.Storms, DropsStorm: n.StormDrops, DropsWRED: n.WREDDrops, DropsNoRoute: n.NoRoute}
	for i := range n.Sw {
		if c := n.Sw[i].Chooser; c != nil {
			s.FlowletMoves += c.Moved()
		}
	}
	t := &result.Tables{Links: r.sampler.rows, Pauses: r.pauses, Rates: r.sampler.rates.rows, Topology: r.topology()}
	r.queuePairs(t)
	r.critical(t)
	r.timeline(s)
	r.flows(s, t)
	r.ports(s, t)
	s.Collectives = r.collectives()
	b := r.newBlamer()
	s.Slowest = b.slowest()
	if last := r.lastOp(); last >= 0 {
		s.Chain = b.step(last)
	}
	var limits []string
	if r.missed > 0 {
		limits = append(limits, "pauses.parquet holds the first 200000 PFC events")
	}
	if r.sampler.rates.missed > 0 {
		limits = append(limits, fmt.Sprintf("rates.parquet holds the first %d changes of rate", maxRateRows))
	}
	if b.causes(t) {
		limits = append(limits, fmt.Sprintf("collectives.parquet holds the first %d collectives", maxCollectiveRows))
	}
	if r.ranks(t) {
		limits = append(limits, "ranks.parquet holds the first 400000 operations of ranks")
	}
	if m := r.Plan.Training; m != nil {
		s.Params = m.Model.Params()
		s.Tokens, s.TrainingGPUs = m.Global()*m.Seq, m.GPUs()
		s.FLOPs = m.Model.StepFLOPs(s.Tokens, m.Seq)
		if s.StepTime > 0 && s.Complete {
			s.MFU = s.FLOPs / unit.Time(s.StepTime).Seconds() / (float64(m.GPUs()) * m.GPU.BF16)
		}
	}
	return s, t, limits
}

// timeline splits the step as the rank that ended last saw it: its computing, and
// each gap before a computation by what held it up. The parts add up to the step time.
func (r *Run) timeline(s *result.Summary) {
	lastOp := r.lastOp()
	now := r.Net.Q.Now()
	s.StepTime = int64(now)
	if lastOp < 0 {
		return
	}
	if r.Exec.Done() {
		s.StepTime = int64(r.Exec.End[lastOp])
	}
	rank := r.Exec.DAG.Ops[lastOp].Rank
	at := unit.Time(0) // accounted up to here
	for i := range r.Exec.DAG.Ops {
		o := &r.Exec.DAG.Ops[i]
		if !o.Compute() || o.Class == workload.TensorParallel || o.Rank != rank || r.Exec.End[i] == unit.Never { // such a one is a folded group's ring: a wait
			continue
		}
		if gap := r.Exec.Start[i] - at; gap > 0 {
			r.blame(s, r.Exec.Cause[i], at, gap)
		}
		from := max(r.Exec.Start[i], at)
		if o.Class == workload.Other {
			s.ExposedOther += int64(max(r.Exec.End[i]-from, 0))
		} else {
			s.Compute += int64(max(r.Exec.End[i]-from, 0))
		}
		at = max(at, r.Exec.End[i])
	}
	if tail := unit.Time(s.StepTime) - at; tail > 0 {
		r.blame(s, lastOp, at, tail)
	}
	s.ExposedComm = s.ExposedTP + s.ExposedPP + s.ExposedDP + s.ExposedCP + s.ExposedEP + s.ExposedOther
}

// lastOp is the operation that ended last, -1 for none.
func (r *Run) lastOp() int32 {
	last := int32(-1)
	for i := range r.Exec.DAG.Ops {
		if r.Exec.End[i] != unit.Never && (last < 0 || r.Exec.End[i] >= r.Exec.End[last]) {
			last = int32(i)
		}
	}
	return last
}

// blame books a gap that began at a time to what held the rank up: it follows the
// chain of operations that ended last, backwards. While that was a transfer the
// gap is its class's; while another rank computed, or nothing ran, it is bubble.
func (r *Run) blame(s *result.Summary, cause int32, at, gap unit.Time) {
	t := at + gap
	for t > at && cause >= 0 {
		began := max(r.Exec.Start[cause], at)
		if d := int64(t - began); d > 0 {
			*bookOf(s, &r.Exec.DAG.Ops[cause]) += d
			t = began
		}
		cause = r.Exec.Cause[cause]
	}
	s.Bubble += int64(t - at)
}

// bookOf is the account of an operation in a rank's gap.
func bookOf(s *result.Summary, o *workload.Op) *int64 {
	switch o.Class {
	case workload.TensorParallel:
		return &s.ExposedTP
	case workload.PipelineParallel:
		return &s.ExposedPP
	case workload.DataParallel:
		return &s.ExposedDP
	case workload.ContextParallel:
		return &s.ExposedCP
	case workload.ExpertParallel:
		return &s.ExposedEP
	case workload.Other:
		return &s.ExposedOther
	}
	return &s.Bubble
}

// wireBytes returns what a message costs on the wire, preambles and gaps
// included.
func (r *Run) wireBytes(b unit.Bytes) unit.Bytes {
	mtu := unit.Bytes(r.Host.RC.MTU)
	n := max(1, (b+mtu-1)/mtu)
	pad := (4 - b%4) % 4
	if r.Host.RC.WriteOnly {
		return b + pad + n*(62+16+20) + 4 // the last one's immediate
	}
	return b + pad + n*(62+20) + 16
}

// pathOf follows the first shortest path between two NICs and returns its
// slowest rate and the latency of one full packet beyond that link.
func (r *Run) pathOf(src, dst int) (unit.Rate, unit.Time) {
	g := r.Graph
	rate := unit.Rate(0)
	latency := unit.Time(0)
	packet := unit.Bytes(r.Host.RC.MTU) + 62 + 20
	visit := func(l, from int) {
		link := g.Links[l]
		latency += r.Net.Ports[r.Port(l, from)].Hop + unit.Serialize(packet, link.Rate)
		if rate == 0 || link.Rate < rate {
			rate = link.Rate
		}
	}
	first := g.NICs[src].Links[0]
	visit(first, g.Hosts[g.NICs[src].Host])
	node := g.Links[first].A + g.Links[first].B - g.Hosts[g.NICs[src].Host]
	for range len(g.Nodes) {
		if l, ok := r.Paths.Near[node][dst]; ok {
			visit(l, node)
			break
		}
		next := r.Paths.Next(node, r.Paths.Locator[dst])
		if len(next) == 0 {
			break
		}
		l := next[0]
		visit(l, node)
		node = g.Links[l].A + g.Links[l].B - node
	}
	return rate, latency - unit.Serialize(packet, rate)
}

// flows fills the flow table and the completion times.
func (r *Run) flows(s *result.Summary, t *result.Tables) {
	var times []int64
	names := make([]string, r.Graph.TotalGPUs())
	for i := range names {
		names[i] = r.Graph.GPUName(i)
	}
	alone := r.newIdealizer()
	for i := range r.Hosts.Messages {
		m := &r.Hosts.Messages[i]
		op := &r.Exec.DAG.Ops[r.op(int32(i))]
		row := result.FlowRow{Message: int64(i), From: names[op.Rank], To: names[op.Peer], QP: m.Conn, Bytes: int64(m.Bytes),
			Posted: int64(m.Posted), Done: int64(m.Done), Ideal: int64(alone.of(int32(i))), Class: op.Class.String()}
		if m.Done == 0 {
			row.Done = -1
		} else {
			times = append(times, int64(m.Done-m.Posted))
		}
		t.Flows = append(t.Flows, row)
	}
	s.Flows = flowTimes(times)
}

func flowTimes(times []int64) result.FlowTimes {
	f := result.FlowTimes{Count: int64(len(times))}
	if len(times) == 0 {
		return f
	}
	sort.Slice(times, func(i, j int) bool { return times[i] < times[j] })
	sum := int64(0)
	for _, x := range times {
		sum += x / int64(len(times))
	}
	at := func(p int) int64 { return times[(len(times)*p+99)/100-1] } // nearest rank
	f.Mean, f.P50, f.P99, f.Max = sum, at(50), at(99), times[len(times)-1]
	return f
}

// ports fills the port table and the link figures.
func (r *Run) ports(s *result.Summary, t *result.Tables) {
	n, g := r.Net, r.Graph
	end := max(n.Q.Now(), 1)
	type load struct {
		port int32
		util float64
	}
	var loads []load
	up := &s.Links
	up.UplinkMin = 1
	for i := range n.Ports {
		p := &n.Ports[i]
		st := &n.Stats[i]
		link := g.Links[r.linkOf[i]]
		node, peer := int(p.Node), link.A+link.B-int(p.Node)
		row := result.PortRow{Port: int32(i), Name: r.PortName(int32(i)), Node: g.Nodes[node].Name, Peer: g.Nodes[peer].Name,
			Role: g.Nodes[node].Role.String(), Rate: int64(link.Rate), WireBytes: n.Sent(int32(i)), Frames: p.TxFrames,
			Marks: st.Marks, Drops: st.Drops + st.Lost, PauseFramesSent: st.PauseSent, PauseFramesGot: st.PauseGot,
			Paused: int64(n.PausedFor(int32(i)))}
		for c := range 8 {
			row.QueuePeak = max(row.QueuePeak, int64(n.QueuePeak(int32(i), c)))
			in, head := n.IngressPeak(int32(i), c)
			row.IngressPeak, row.HeadroomPeak = max(row.IngressPeak, int64(in)), max(row.HeadroomPeak, int64(head))
		}
		s.PFCPause += row.Paused
		if g.Nodes[node].Role != topo.Host {
			s.QueuePeak = max(s.QueuePeak, row.QueuePeak)
		}
		t.Ports = append(t.Ports, row)
		util := float64(unit.Serialize(unit.Bytes(row.WireBytes), link.Rate)) / float64(end)
		loads = append(loads, load{int32(i), util})
		up.Mean += util
		if p.TxBytes == 0 {
			up.Idle++
		}
		if g.Nodes[node].Role != topo.Host && g.Nodes[peer].Role != topo.Host && g.Nodes[peer].Tier > g.Nodes[node].Tier {
			up.Uplinks++
			up.UplinkMean += util
			up.UplinkMax, up.UplinkMin = max(up.UplinkMax, util), min(up.UplinkMin, util)
			if p.TxBytes == 0 {
				up.UplinkIdle++
			}
		}
	}
	up.Count = len(n.Ports)
	up.Mean /= float64(max(up.Count, 1))
	if up.Uplinks > 0 {
		up.UplinkMean /= float64(up.Uplinks)
	} else {
		up.UplinkMin = 0
	}
	sort.SliceStable(loads, func(i, j int) bool { return loads[i].util > loads[j].util })
	for _, l := range loads[:min(5, len(loads))] {
		if l.util == 0 {
			break
		}
		row := t.Ports[l.port]
		up.Hottest = append(up.Hottest, result.LinkLoad{Name: row.Name, ToHost: g.Nodes[n.Ports[n.Ports[l.port].Peer].Node].Role == topo.Host, Utilisation: l.util, Marks: row.Marks, QueuePeak: row.QueuePeak, Paused: row.Paused})
	}
	if len(loads) > 0 {
		up.Max = loads[0].util
	}
}

// ranks fills the table of rank operations: every computation, and every
// collective as each of its ranks saw it. It reports whether it had to stop.
func (r *Run) ranks(t *result.Tables) (cut bool) {
	type span struct{ from, to unit.Time }
	spans := make([]map[int32]span, len(r.Exec.DAG.Colls))
	add := func(c, rank int32, from, to unit.Time) {
		if spans[c] == nil {
			spans[c] = map[int32]span{}
		}
		s, ok := spans[c][rank]
		if !ok {
			s = span{from, to}
		}
		spans[c][rank] = span{min(s.from, from), max(s.to, to)}
	}
	for i := range r.Exec.DAG.Ops {
		o := &r.Exec.DAG.Ops[i]
		if r.Exec.End[i] == unit.Never {
			continue
		}
		if o.Compute() {
			if len(t.Ranks) >= maxRankRows {
				return true
			}
			t.Ranks = append(t.Ranks, result.RankRow{Rank: o.Rank, Start: int64(r.Exec.Start[i]), End: int64(r.Exec.End[i]), Class: o.Class.String(), Name: o.Class.String()})
		} else if o.Coll >= 0 {
			add(o.Coll, o.Rank, r.Exec.Start[i], r.Exec.End[i])
			add(o.Coll, o.Peer, r.Exec.Start[i], r.Exec.End[i])
		}
	}
	for c, m := range spans {
		ranks := make([]int32, 0, len(m))
		for k := range m {
			ranks = append(ranks, k)
		}
		sort.Slice(ranks, func(i, j int) bool { return ranks[i] < ranks[j] })
		for _, k := range ranks {
			if len(t.Ranks) >= maxRankRows {
				return true
			}
			t.Ranks = append(t.Ranks, result.RankRow{Rank: k, Start: int64(m[k].from), End: int64(m[k].to),
				Class: r.Exec.DAG.Colls[c].Class.String(), Name: r.Exec.DAG.Colls[c].Name})
		}
	}
	return false
}

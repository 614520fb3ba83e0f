package facts

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"railyard/cc"
	"railyard/internal/cause"
	"railyard/internal/coll"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// blind are the congestion controls to which round-trip times mean nothing: neither targets nor windows follow them.
var blind = map[string]bool{"none": true, "dcqcn": true}

// Of returns the facts of a resolved scenario that remedies and counterfactuals depend on. What a run of it lost is
// unknown until Count adds it.
func Of(p *scenario.Plan) *cause.Facts {
	g, s := p.Graph, p.Default()
	if len(p.Jobs) == 1 { // it may have a class of its own
		s = &p.Services[p.Jobs[0].Service]
	}
	file := p.Settled()
	f := &cause.Facts{Transport: scenario.RoCE, CC: s.CC.Name, Delays: !blind[s.CC.Name],
		Credits: s.CC.Credit != nil, LB: p.LB.Name, Recovery: "go-back-n", WriteOnly: p.RC.WriteOnly, Mixes: p.Mixes(),
		Overtakes: p.Overtakes(), NakAfter: p.RC.NakAfter,
		PFC: p.Spec.LosslessMask() != 0, Scheduled: p.Scheduled != nil, Kind: p.Shape.Kind,
		Bond: p.NICs.Bond, QPs: p.QPs, PCIe: p.NICs.PCIe, Channels: len(g.Channels) > 0,
		SlowPCIe: p.NICs.PCIe > 0 || len(p.Buses) > 0,
		Events:   len(p.Events) > 0, Storms: p.Storms(), Jobs: len(p.Jobs),
		Reorder: p.NICs.Reorder.Bytes, ReorderEntries: p.NICs.Reorder.Entries,
		ReorderLocal: p.NICs.Reorder.Placement == rc.ThroughNIC}
	if s.Carried != nil {
		f.Transport, f.OwnControl = s.Carried.Name, s.Carried.Own
		f.Delays = f.Delays || s.Carried.Own
		f.Hosted = s.Carried.Free != nil
		f.GPUDirect, _ = s.Carried.Values["gpudirect"].(bool)
		for _, key := range []string{"window", "psn_range"} {
			if n, is := s.Carried.Values[key].(int); is {
				f.Flight = n
			}
		}
	}
	if s.Carried == nil && p.RC.Recovery == rc.Selective {
		f.Recovery, f.Flight, f.Named = "selective", p.RC.Window, p.RC.Named
	}
	if s.Carried == nil {
		f.Timeout = file.Transport.Timeout
	}
	f.SameSeed = p.Spec.SameSeed
	f.MaxWindow, _ = s.Values["max_window"].(float64)
	number := p.Spec.DSCP[s.DSCP]
	queue := &p.Spec.Queues[number]
	f.Queue = strconv.Itoa(int(number))
	f.Lossless, f.Trims, f.XOff, f.Limit = queue.Lossless, queue.Trim, queue.XOff, queue.Limit
	f.ToLossless = toLossless(p, &file, s)
	f.Headroom = queue.Headroom
	if f.Kind == "rail" || f.Kind == "pod" {
		f.Uplinks = file.Fabric.Uplinks
	}
	for i := range p.Jobs {
		if t := p.Jobs[i].Training; t != nil {
			_, mixed := t.Fastest()
			f.MixedGPUs = f.MixedGPUs || mixed
		}
	}
	for i := range g.NICs {
		f.Ports = max(f.Ports, len(g.NICs[i].Links))
	}
	const edge = -1
	tiers := map[int]unit.Time{} // the longest cable of each
	for i := range g.Links {
		l := &g.Links[i]
		f.BitErrors = f.BitErrors || l.BER > 0
		tier := edge
		if IsFabric(g, l) {
			f.FabricRate = max(f.FabricRate, l.Rate)
			tier = min(g.Nodes[l.A].Tier, g.Nodes[l.B].Tier)
		} else {
			f.HostRate = max(f.HostRate, l.Rate)
		}
		tiers[tier] = max(tiers[tier], l.Propagation())
	}
	f.Noticed = noticed(p)
	fails := func(e scenario.Event) bool {
		return e.UpDown != scenario.UpDown{} || e.StuckMirrors != scenario.StuckMirrors{}
	}
	f.Circuits = len(p.Dark)+len(p.Phases) > 0 && len(file.Failures) == 0 && !slices.ContainsFunc(file.Events, fails)
	for i := range p.Events {
		f.BitErrors = f.BitErrors || p.Events[i].BER > 0
	}
	roundTrip := unit.Time(0)
	for _, cable := range tiers {
		roundTrip += 4 * cable // up and down, and back
	}
	f.Window = window(roundTrip.Seconds()*float64(f.HostRate)/8/float64(p.RC.MTU), p.RC.Window)
	delete(tiers, edge)
	f.Switches = len(tiers)
	_, hosts := roce.StampRate(f.HostRate)
	_, switches := roce.StampRate(f.FabricRate)
	f.Telemetry = !p.LB.Reorders(p.LBValues) && hosts && (switches || f.FabricRate == 0) &&
		2*len(tiers)+1 <= cc.MostHops && f.Kind != "torus" && f.Kind != "dragonfly"
	stored := unit.Time(2*len(tiers)+1) * unit.Serialize(unit.Bytes(p.RC.MTU), max(f.HostRate, unit.Gbps))
	f.Far = roundTrip/2 > 10*stored
	if s := file.Storage; s != nil {
		f.Store = cause.Store{Servers: s.Servers, NICs: s.NICs, Read: s.Read, Write: s.Write}
	}
	if t := file.Workload.Traffic; t != nil && t.Collective != nil {
		c := p.Jobs[0].DAG.Colls
		f.Trees = len(c) > 0 && c[0].By == coll.ByTree
	}
	return f
}

// window returns the transport.window with which selective retransmission fills a path: twice the packets of a round
// trip, since a retransmission takes another one. It is 0 where the one that is set has room for them.
func window(packets float64, set int) int {
	const most = 65536
	need := min(most, 1<<bits.Len(uint(2*packets)))
	if need <= set {
		return 0
	}
	return need
}

// noticed returns the time at which switches first change routes for a failure during a run that counts the
// connections whose paths change; 0 for other runs.
func noticed(p *scenario.Plan) unit.Time {
	first, fails := unit.Never, map[int]bool{}
	if !p.LB.Fixed() || p.Default().Carried != nil || len(p.Phases)+len(p.Chips) > 0 {
		return 0
	}
	for i := range p.Events {
		e := &p.Events[i]
		if toggles, known := fails[e.Link]; e.FromStart() && e.Toggles || known && toggles != e.Toggles {
			return 0
		}
		if fails[e.Link] = e.Toggles; e.Toggles && e.Heard {
			first = min(first, e.At+e.Converge)
		}
		if e.Toggles && e.Noticed {
			first = min(first, e.At+e.Detect)
		}
	}
	for _, toggles := range fails {
		if toggles {
			return first
		}
	}
	return 0
}

// Count adds what a run sent and lost to the facts of its scenario.
func Count(f *cause.Facts, s *result.Summary) {
	f.Inside = s.Packets == 0 && s.NetworkBytes == 0
	CountPath(f, s)
	f.Lost = cause.Lost{Known: true, BitErrors: s.DropsCorrupt, Down: s.DropsDown + s.DropsNoRoute,
		Timeouts: s.Timeouts, Full: s.Drops - s.DropsCorrupt - s.DropsDown - s.DropsNoRoute - s.DropsStorm + s.Trims}
	f.Unmet = f.Noticed > 0 && s.Packets > 0 && f.Lost.Down == 0 &&
		(len(s.Moves) > 0 || int64(f.Noticed) > s.StepTime) &&
		!slices.ContainsFunc(s.Moves, func(m result.Move) bool { return m.Moved > 0 })
}

// CountPath adds what the account of a run's critical path tells.
func CountPath(f *cause.Facts, s *result.Summary) {
	f.Stores = float64(s.StoredLatency) >= LeastCost*float64(s.StepTime)
	f.NVLinkLatency = s.Chain != nil && 2*s.NVLinkLatency > s.Chain.Own[cause.Latency]
}

// IsFabric reports whether a link joins two switches.
func IsFabric(g *topo.Graph, l *topo.Link) bool {
	return g.Nodes[l.A].Role != topo.Host && g.Nodes[l.B].Role != topo.Host
}

// toLossless is the setting of a DSCP whose queue has PFC, for data whose queue has none; "" where no queue has it, or
// jobs choose DSCPs apart.
func toLossless(p *scenario.Plan, file *scenario.File, of *scenario.Service) string {
	key := "transport.data_dscp"
	for i := range file.Jobs {
		switch {
		case file.Jobs[i].DSCP == nil:
		case len(file.Jobs) > 1:
			return ""
		default:
			key = "jobs[0].dscp"
		}
	}
	protects := func(dscp int) bool { return p.Spec.Queues[p.Spec.DSCP[dscp]].Lossless }
	if protects(int(of.DSCP)) {
		return ""
	}
	for dscp := range p.Spec.DSCP {
		if protects(dscp) {
			return fmt.Sprintf("%s=%d", key, dscp)
		}
	}
	return ""
}

package sim

import (
	"slices"

	"railyard/cc"
	"railyard/internal/explain"
	"railyard/internal/fabric"
	"railyard/internal/host"
	"railyard/internal/result"
	"railyard/internal/route"
	"railyard/internal/scenario"
	"railyard/transport"
	"railyard/unit"
)

// Outcome turns a run, finished or not, into the content of the run directory: see explain.Outcome.
func (r *Run) Outcome(version string) (*result.Summary, *result.Tables, []string) {
	o := r.Observe()
	return explain.Outcome(r.Plan, r.Exec, o, version)
}

// Observe returns the observation of the network until now.
func (r *Run) Observe() *explain.Observation {
	if r.fresh != nil {
		r.fresh()
	}
	o := &explain.Observation{Fidelity: "packet", At: r.Net.Q.Now(), Routes: r.Paths,
		Maps: r.maps(), Ways: r.Hosts, Rules: r.Rules(),
		Counted:  r.totals(),
		NaksLost: r.naksLost(),
		Recorded: result.Tables{Links: r.sampler.rows, Pauses: r.pauses, Signals: r.sampler.signals.rows,
			NICs: r.sampler.nics.rows}}
	if o.Holds, o.Held = r.holders.until(o.At), slices.Clone(r.holders.held); r.missed > 0 {
		o.PausesUntil = unit.Time(r.pauses[len(r.pauses)-1].At)
		o.Cuts = append(o.Cuts, cutOf("pauses", len(r.pauses), r.missed))
	}
	if n := len(o.Held); r.missed > 0 || n >= maxHeldRows {
		o.Cuts = append(o.Cuts, result.TableCut{Table: "pause_flows", Rows: int64(n)})
	}
	if g := &r.sampler.signals; g.missed > 0 {
		o.Cuts = append(o.Cuts, cutOf("signals", len(g.rows), g.missed))
	}
	if r.chains != nil {
		o.Chains = explain.Chains{Count: r.chains.seen.Count, All: slices.Clone(r.chains.seen.All)}
	}
	if r.teller != nil {
		o.Story = slices.Clone(r.teller.rows)
	}
	o.Lost, o.Dead, o.Moves = r.carrier.lost, r.dead, r.moves
	if r.Tunnel != nil {
		o.Limits = append(o.Limits, r.Tunnel.words())
	}
	r.carried(o)
	o.Conns, o.Ports = r.Connections(), r.Ports()
	p := &explain.Packets{Troubles: r.carrier.troubles.all}
	r.waits().Each(func(w fabric.Wait) {
		p.Waits = append(p.Waits, explain.Wait{Conn: w.QP, Port: w.Port, Total: w.Total,
			Samples: w.Samples, MaxQueue: w.MaxQueue})
	})
	o.Packets = p
	return o
}

// naksLost returns the number of RC's NAKs that senders have not received.
func (r *Run) naksLost() int64 {
	if r.Plan.Default().Carried != nil {
		return 0
	}
	return r.Hosts.Count.Naks - r.Hosts.Count.NaksReceived
}

// cutOf returns the cut of a table that has n rows and lacks others.
func cutOf(table string, n int, missed int64) result.TableCut {
	return result.TableCut{Table: table, Rows: int64(n), Total: int64(n) + missed}
}

// Rules returns the rules from bytes to time of a network.
func (n *Network) Rules() explain.Rules {
	s := n.Setup
	rules := explain.Rules{MTU: unit.Bytes(s.Host.RC.MTU), WriteOnly: s.Host.RC.WriteOnly, CutThrough: s.CutThrough,
		NICLatency: s.Host.Latency, PCIe: s.Host.PCIe, Hashed: s.LB.Fixed(), Spreads: s.LB.Reorders(s.LBValues),
		More: s.more(), SpreadsNIC: s.Host.Bond == host.BondSpray, Detours: route.Is[route.Steerer](s.LB),
		Direct: route.Is[route.Direct](s.LB)}
	if of := s.Host.Service(scenario.DefaultService); of != nil && of.Protocol != nil {
		rules.Frame = func(payload int) int {
			return of.Protocol.Wire(&transport.Packet{Kind: transport.Data, Payload: uint32(payload),
				Bytes: uint64(payload)})
		}
		rules.Entropy = rules.Hashed
		rules.Hashed, rules.Spreads, rules.SpreadsNIC = false, true, true
	}
	for _, b := range s.Buses {
		if rules.Buses == nil {
			rules.Buses = make([]unit.Rate, len(n.Graph.NICs))
		}
		for _, nic := range b.NICs {
			if was := &rules.Buses[nic]; *was == 0 || b.Rate < *was {
				*was = b.Rate
			}
		}
	}
	return rules
}

// totals are the totals of network and transport.
func (r *Run) totals() result.Summary {
	s := r.counts()
	s.NetworkBytes, s.FirstDrop = int64(r.carrier.delivered), r.dropped
	s.Reorder, s.Control, s.Scheduled = r.reorderMemory(), r.control(), r.scheduled()
	return s
}

// counts returns the counters of every network.
func (r *Network) counts() (s result.Summary) {
	n, c := r.Net, &r.Hosts.Count
	s.Packets, s.PacketHops, s.DataPackets, s.DataPacketHops = n.Injected, n.PacketHops, c.DataPackets,
		n.DataPacketHops
	s.Events = n.Q.Popped()
	s.ECNMarks, s.CNPs, s.PFCPauses, s.PFCFrames = n.Marks, c.CNPs, n.Pauses, n.PauseFrames
	s.PFCFull = n.FullPauses
	s.Drops, s.DropsCorrupt, s.DropsDown = n.Drops, n.CorruptDrops, n.DownDrops
	s.DropsStorm, s.DropsWRED, s.DropsNoRoute = n.StormDrops, n.WREDDrops, n.NoRoute
	s.Trims, s.TrimmedBytes, s.DropsTrimmed = n.Trims, n.TrimmedBytes, n.TrimDrops
	s.Retransmissions, s.OutOfOrder, s.Naks, s.Timeouts = c.Retransmissions, c.OutOfOrder, c.Naks, c.Timeouts
	s.EarlyTimeouts = c.EarlyTimeouts
	s.FailedQPs, s.ReorderPeak, s.PFCStorms = c.Failed, c.HeldPeak, n.Storms
	for i := range n.Sw {
		if c := n.Sw[i].Chooser; c != nil {
			s.FlowletMoves += c.Moved()
		}
	}
	return s
}

// carried takes down messages.
func (n *Network) carried(o *explain.Observation) {
	o.Messages = make([]explain.Message, len(n.Hosts.Messages))
	for i := range o.Messages {
		m := &n.Hosts.Messages[i]
		o.Messages[i] = explain.Message{Op: int32(m.Tag), Conn: m.Conn, Bytes: m.Bytes, Posted: m.Posted,
			Done: m.Done}
	}
}

// Connections are the queue pairs that were set up.
func (n *Network) Connections() []explain.Conn {
	conns := make([]explain.Conn, n.Hosts.Conns())
	for i := range conns {
		c, k := int32(i), &conns[i]
		k.From, k.To = n.Hosts.Peers(c)
		k.Service = n.Hosts.ServiceOf(c)
		k.Port, k.Home, k.Line = n.Hosts.Port(c), n.Hosts.Home(c), n.Hosts.Line(c)
		k.Most, k.Own, k.RTT = n.Hosts.Bound(c)
		k.Granted, k.Unasked, k.Pulls = n.Hosts.Granted(c)
		k.Cuts, _ = n.Hosts.Counter(c, cc.CounterCuts)
		k.Marked, k.Again = n.Hosts.CEMarks(c), n.Hosts.Retransmitted(c)
	}
	return conns
}

// Ports returns the counters of all ports.
func (n *Network) Ports() []explain.Port {
	net := n.Net
	ports := make([]explain.Port, 2*len(n.Graph.Links)) // those inside edges follow
	for i := range ports {
		at, p, st, out := int32(i), &net.Ports[i], &net.Stats[i], &ports[i]
		*out = explain.Port{Link: n.linkOf[i], Node: p.Node, Peer: p.Peer, Rate: net.Rate(at),
			Flight: p.Flight,
			Bytes:  unit.Bytes(net.Sent(at)), Used: p.TxBytes != 0}
		k := &out.Packets
		k.Frames, k.Marks, k.Drops, k.Trims = p.TxFrames, st.Marks, st.Drops+st.Lost, st.Trims
		k.PauseSent, k.PauseGot, k.Paused = st.PauseSent, st.PauseGot, net.PausedFor(at)
		k.PausedBy = n.pauseCause(at)
		for c := range 8 {
			k.QueuePeak = max(k.QueuePeak, net.QueuePeak(at, c))
			in, head := net.IngressPeak(at, c)
			k.IngressPeak, k.HeadroomPeak = max(k.IngressPeak, in), max(k.HeadroomPeak, head)
		}
	}
	return ports
}

// pauseCause returns the port whose congestion paused a port, -1 for none. It uses the first service's class or one
// to which it rises, or the next service's if those were never paused.
func (n *Network) pauseCause(port int32) int32 {
	for i := range n.Setup.Host.Services {
		class := n.Setup.Host.Services[i].Class
		classes := n.Setup.Rise[class]
		if len(classes) == 0 { // none are raised
			classes = []uint8{class}
		}
		for _, c := range classes {
			if cause := n.Net.PauseCause(port, int(c)); cause >= 0 {
				return cause
			}
		}
	}
	return -1
}

// LeafOf returns the first switch of a GPU's NIC.
func (n *Network) LeafOf(gpu string) string {
	g, err := n.Graph.FindGPU(gpu)
	if err != nil {
		return ""
	}
	nic := n.Graph.NICs[n.Graph.NICOf[g]]
	l := n.Graph.Links[nic.Links[0]]
	return n.Graph.Nodes[l.A+l.B-n.Graph.Hosts[nic.Host]].Name
}

// WaitSum returns the queueing delay of all packets at a port, scaled up from
// the sampled sixteenth of them.
func (r *Run) WaitSum(port int32) (total unit.Time) {
	r.waits().Each(func(w fabric.Wait) {
		if w.Port == port {
			total += 16 * w.Total
		}
	})
	return total
}

// waits returns queueing delays by connection and port: none where a tunnel carries them.
func (r *Run) waits() *fabric.WaitTable {
	if r.Net.Waits == nil {
		return fabric.NewWaitTable()
	}
	return r.Net.Waits
}

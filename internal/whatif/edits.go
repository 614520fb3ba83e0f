package whatif

import (
	"maps"
	"slices"

	"railyard/internal/cause"
	"railyard/internal/facts"
	"railyard/internal/queue"
	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/roce"
	"railyard/unit"
)

// Buffers without limit: what no queue of a run of ours reaches.
const (
	noLimitBuffer = 2000 * unit.MB
	noLimitXOff   = 600 * unit.MB
	noLimitXOn    = 500 * unit.MB
)

// unsay takes what edits make unsaid out of a scenario that is not resolved yet.
func unsay(f *scenario.File, edits []cause.Edit) {
	for _, e := range edits {
		switch e {
		case cause.NoFailures:
			f.Failures = nil
			strip(f, func(e *scenario.Event) { e.UpDown = scenario.UpDown{} })
		case cause.NoSlowdowns:
			strip(f, func(e *scenario.Event) { e.NewRate = scenario.NewRate{} })
		case cause.NoBitErrors:
			strip(f, func(e *scenario.Event) { e.BER = nil })
		case cause.NoStorms:
			strip(f, func(e *scenario.Event) { e.Storm = nil })
		}
	}
}

// strip removes a change from all events, and then the events without any change.
func strip(f *scenario.File, change func(*scenario.Event)) {
	f.Events = slices.Clone(f.Events)
	for i := range f.Events {
		change(&f.Events[i])
	}
	f.Events = slices.DeleteFunc(f.Events, func(e scenario.Event) bool {
		return len(e.Changes()) == 0
	})
}

// apply makes the edits of a resolved plan.
func apply(p *scenario.Plan, edits []cause.Edit) {
	g := p.Graph
	for _, e := range edits {
		switch e {
		case cause.NoDelay:
			noDelay(p)
		case cause.FastReceivers:
			fastReceivers(p)
		case cause.FastFabric:
			keepingRoom(p, func() { fastFabric(p) })
		case cause.NoBitErrors:
			for i := range g.Links {
				g.Links[i].BER = 0
			}
			for i := range p.Events {
				p.Events[i].BER = 0
			}
		case cause.NoPCIe:
			p.NICs.PCIe, p.Buses = 0, nil
		case cause.NoReorderLimit:
			p.NICs.Reorder.Bytes, p.NICs.Reorder.Entries = 0, 0
		case cause.NoHostTime:
			noHostTime(p)
		case cause.EvenRanks:
			for i := range p.Jobs {
				p.Jobs[i].DAG = p.Jobs[i].Even()
			}
		case cause.NoLimits:
			p.Respec(noLimits)
		case cause.NoSlowdowns:
			keepingRoom(p, func() { ofKind(p) })
		}
	}
}

// fastFabric lets all links between switches be faster.
func fastFabric(p *scenario.Plan) {
	g := p.Graph
	faster := fasterBy(p, cause.FabricTimes)
	for i := range g.Links {
		if l := &g.Links[i]; facts.IsFabric(g, l) {
			l.Rate = faster(l.Rate)
		}
	}
	for i := range p.Events {
		if e := &p.Events[i]; facts.IsFabric(g, &g.Links[e.Link]) {
			e.Rate, e.Back = faster(e.Rate), faster(e.Back)
		}
	}
}

// fasterBy multiplies rates. Where switches write telemetry that names rates by codes (INT), it takes the next rate
// that has a code, or the last.
func fasterBy(p *scenario.Plan, times int) func(unit.Rate) unit.Rate {
	coded := false
	for i := range p.Services {
		s := &p.Services[i]
		kind := roce.Telemetry(s.CC.Reports(s.Values))
		coded = coded || kind == roce.TelemetryINT || kind == roce.TelemetryIFA
	}
	return func(r unit.Rate) unit.Rate {
		if !coded {
			return r * unit.Rate(times)
		}
		best := r
		for of := r; best < r*unit.Rate(times) && of <= r*unit.Rate(2*times); of *= 2 {
			if _, ok := roce.StampRate(of); ok {
				best = of
			}
		}
		return best
	}
}

// noDelay takes the delay of cables, switches, NICs and NVLink away, and the wait for whole packets in switches.
func noDelay(p *scenario.Plan) {
	keepingRoom(p, func() {
		for i := range p.Graph.Links {
			p.Graph.Links[i].LengthMM, p.Graph.Links[i].Delay = 0, 0
		}
		for i := range p.Graph.Nodes {
			p.Graph.Nodes[i].Pipeline = 0
		}
		p.Switching.Pipeline, p.Switching.CutThrough = 0, p.Scheduled == nil
		p.NICs.Latency, p.NVLatency = 0, 0
	})
}

// cables changes rate, length and delay of all links.
func cables(p *scenario.Plan, change func(*cause.Cable)) {
	for i := range p.Graph.Links {
		l := &p.Graph.Links[i]
		c := cause.Cable{Rate: l.Rate, LengthMM: l.LengthMM, Delay: l.Propagation()}
		was := c
		change(&c)
		if l.Rate = c.Rate; c.LengthMM != was.LengthMM {
			l.LengthMM, l.Delay = c.LengthMM, 0
		}
		if c.Delay != was.Delay {
			l.Delay = c.Delay
		}
	}
}

// fastReceivers lets links to NICs carry what all NICs send, in that direction: NICs send no faster than before.
func fastReceivers(p *scenario.Plan) {
	g, faster := p.Graph, fasterBy(p, len(p.Graph.NICs))
	var first []scenario.LinkEvent
	// in returns the rate at which a link's NIC receives: A sends at Rate, B at Back.
	in := func(e *scenario.LinkEvent) *unit.Rate {
		if g.Nodes[g.Links[e.Link].A].Role == topo.Host {
			return &e.Back
		}
		return &e.Rate
	}
	for i := range g.Links {
		if l := &g.Links[i]; !facts.IsFabric(g, l) {
			first = append(first, scenario.LinkEvent{Link: i, LinkState: scenario.AsBuilt(l)})
			r := in(&first[len(first)-1])
			*r = faster(*r)
		}
	}
	for i := range p.Events {
		if e := &p.Events[i]; !facts.IsFabric(g, &g.Links[e.Link]) {
			r := in(e)
			*r = faster(*r)
		}
	}
	p.Events = append(first, p.Events...)
}

// noLimits gives a switch buffers that neither drop, trim nor pause.
func noLimits(_ int, s *queue.Spec) {
	s.Buffer = noLimitBuffer
	for i := range s.Queues {
		q := &s.Queues[i]
		if q.Lossless {
			q.XOff, q.XOn, q.XOnOffset = noLimitXOff, noLimitXOn, 0
		} else {
			q.Limit = noLimitXOff
		}
		if !q.WRED.ECN {
			q.WRED = queue.WRED{}
		}
	}
}

// noHostTime gives transports in software the values with which hosts take no time.
func noHostTime(p *scenario.Plan) {
	for i := range p.Services {
		if c := p.Services[i].Carried; c != nil && c.Free != nil {
			own := *c
			own.Values = maps.Clone(c.Values)
			maps.Copy(own.Values, c.Free)
			p.Services[i].Carried = &own
		}
	}
}

// keepingRoom changes links and leaves each switch the memory that it shares now: headroom follows rates and delays.
func keepingRoom(p *scenario.Plan, change func()) {
	before := p.Reserved()
	change()
	after := p.Reserved()
	p.Respec(func(node int, s *queue.Spec) { s.Buffer += after[node] - before[node] })
}

// ofKind gives each link its nominal rate, that of most links between nodes of the same two groups. Events that are
// left change no rate.
func ofKind(p *scenario.Plan) {
	g := p.Graph
	for i, rate := range g.KindRates() {
		g.Links[i].Rate = rate
	}
	for i := range p.Events {
		e := &p.Events[i]
		e.Rate, e.Back = g.Links[e.Link].Rate, g.Links[e.Link].Rate
	}
}

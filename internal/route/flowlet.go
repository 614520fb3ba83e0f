package route

import (
	"railyard/param"
	"railyard/unit"
)

// Flowlet is the dynamic load balancing of the source documents. The first packet is hashed. After an idle gap, a
// flow whose port is loaded above a threshold moves to the least loaded port.
var Flowlet = Policy{
	Name: "flowlet", Title: "flowlets",
	Params: []param.Param{
		{Name: "flowlet_gap", Doc: "idle time after which a flow may change path",
			Kind: param.Duration, Min: "1ns", Max: "1s"},
		{Name: "utilisation", Doc: "percent of line rate above which it does",
			Kind: param.Number, Min: "0", Max: "100"},
		interval,
	},
	Defaults: param.Values{"flowlet_gap": 50 * unit.Microsecond, "utilisation": 50.,
		"interval": 20 * unit.Microsecond},
	Shown:   true,
	DLB:     "flowlet",
	Unmoved: "no flow left a gap of lb_options.flowlet_gap while its path was loaded, so none was rerouted: RDMA at line rate leaves no gaps.",
	New: func(v param.Values, s Site) Chooser {
		c := &flowlet{seed: s.Seed, gap: param.Value[unit.Time](v, "flowlet_gap"),
			utilisation: param.Value[float64](v, "utilisation") / 100,
			meters:      newMeters(param.Value[unit.Time](v, "interval")),
			table:       make([]flowletEntry, FlowletEntries)}
		for i := range c.table {
			c.table[i].port = -1
		}
		return c
	},
}

// FlowletEntries is the size of the hardware-like flowlet table.
const FlowletEntries = 4096

type flowlet struct {
	seed        uint32
	gap         unit.Time // idle time that ends a flowlet
	utilisation float64   // a flowlet may move if its port's load is above this share
	meters
	table []flowletEntry
	moved int64
}

type flowletEntry struct {
	last unit.Time
	port int32
	key  uint32
}

func (c *flowlet) Renew(*Table) {}
func (c *flowlet) Moved() int64 { return c.moved }

func (c *flowlet) Pick(now unit.Time, group []int32, _ int, flow uint32, ports []Port) int32 {
	e := &c.table[Hash(flow, c.seed)%FlowletEntries]
	member := false
	if e.port >= 0 && e.key == flow {
		for _, g := range group {
			member = member || g == e.port
		}
	}
	if !member {
		*e = flowletEntry{last: now, port: group[Hashed(flow, c.seed, len(group))], key: flow}
		return e.port
	}
	if load := c.load(now, e.port, ports); now-e.last > c.gap && load > c.utilisation {
		if to := c.leastUsed(now, group, ports); to != e.port {
			e.port = to
			c.moved++
		}
	}
	e.last = now
	return e.port
}

// load is a port's share of line rate, plus one when packets wait.
func (c *flowlet) load(now unit.Time, port int32, ports []Port) float64 {
	util := c.meters.load(now, port, ports)
	if ports[port].Queued > 0 {
		util++
	}
	return util
}

func (c *flowlet) leastUsed(now unit.Time, group []int32, ports []Port) int32 {
	best, least := group[0], 1e18
	for _, g := range group {
		p := &ports[g]
		drain := float64(p.Queued) * 8 * float64(unit.Second) / float64(p.Rate)
		if l := c.load(now, g, ports) + drain/float64(c.interval); l < least {
			best, least = g, l
		}
	}
	return best
}

package route

import (
	"railyard/param"
	"railyard/unit"
)

// UGAL decides for each packet that leaves its region whether it goes straight or by way of another one,
// drawn at random: straight while what waits there, times its hops, is no more than what waits on the
// detour, times its own, and a bias (Singh 2005; Kim et al., ISCA 2008, UGAL-L). A detour counts as twice
// as long, as in BookSim (dragonfly.cpp). What waits is what the switch has in its own queues: a cable
// that is full behind the next switch is seen once that one pauses, or fills.
var UGAL = Policy{
	Name: "ugal", Title: "UGAL by local queues",
	Params: []param.Param{
		{Name: "bias", Kind: param.Size, Min: "1B", Max: "100MB", Zero: true,
			Doc: "so much more may wait on the straight way before packets take detours"},
	},
	Defaults: param.Values{"bias": 8 * unit.KiB}, // about two packets
	Detours:  true,
	Sprays:   always,
	New: func(v param.Values, s Site) Chooser {
		c := &ugal{valiant: valiant{ecmp{seed: s.Seed}, detour{stream: s.Stream, perPacket: true}}}
		c.bias = int64(param.Value[unit.Bytes](v, "bias"))
		return c
	},
}

// ugal draws detours as valiant does.
type ugal struct {
	valiant
	bias int64
}

// Via compares the ports that the packet would leave by.
func (c *ugal) Via(now unit.Time, loc int, flow uint32, ports []Port) int {
	r := c.valiant.Via(now, loc, flow, ports)
	if r < 0 {
		return -1
	}
	straight, way := c.table.Group(loc), c.table.Group(c.table.Regions.Loc[r])
	if straight < 0 || way < 0 {
		return r
	}
	queued := func(group int32) int64 {
		return int64(ports[c.Pick(now, c.table.Ports(group), int(group), flow, ports)].Queued)
	}
	if queued(straight) <= 2*queued(way)+c.bias {
		return -1
	}
	return r
}

// Vias are all that valiant's are, and straight on.
func (c *ugal) Vias(out []int, loc int) []int {
	if out = c.valiant.Vias(out, loc); out[len(out)-1] >= 0 {
		out = append(out, -1)
	}
	return out
}

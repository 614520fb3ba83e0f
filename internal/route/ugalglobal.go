package route

import (
	"railyard/param"
	"railyard/unit"
)

// UGALG is UGAL with the queues of the whole group. A packet's switch has the load of all links out of the region,
// at any switch (Kim et al., ISCA 2008, UGAL-G). A real switch cannot have this information immediately: it is an
// ideal for comparison, as in the paper.
var UGALG = Policy{
	Name: "ugal-g", Title: "UGAL by global queues",
	Params:   ugalParams,
	Defaults: param.Values{"bias": ugalBias},
	Sprays:   always,
	New: func(v param.Values, s Site) Chooser {
		return &ugalGlobal{*newUGAL(v, s)}
	},
}

// ugalGlobal reads the queues of one more switch than ugal.
type ugalGlobal struct{ ugal }

func (*ugalGlobal) Oracle() {}

func (c *ugalGlobal) Via(now unit.Time, loc int, flow uint32, ports []Port) int {
	r := c.valiant.Via(now, loc, flow, ports)
	if r < 0 {
		return -1
	}
	straight := c.waiting(now, c.table.Group(loc), c.table.Regions.Of[loc], flow, ports)
	way := c.waiting(now, c.table.Group(c.table.Regions.Loc[r]), r, flow, ports)
	if straight < 0 || way >= 0 && straight <= 2*way+c.bias {
		return -1
	}
	return r
}

// waiting returns the bytes queued on the path from this region to another one: at the packet's port here, and at
// the next switch's links to that region. -1: there is no path.
func (c *ugalGlobal) waiting(now unit.Time, group int32, region int, flow uint32, ports []Port) int64 {
	if group < 0 {
		return -1
	}
	out := c.Pick(now, c.table.Ports(group), int(group), flow, ports)
	bytes := int64(ports[out].Queued)
	gates := c.table.Regions.Gates[Gate{ports[ports[out].Peer].Node, int32(region)}]
	if len(gates) == 0 { // the port itself leaves the region
		return bytes
	}
	sum := int64(0)
	for _, g := range gates {
		sum += int64(ports[g].Queued)
	}
	return bytes + sum/int64(len(gates))
}

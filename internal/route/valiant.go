package route

import (
	"railyard/internal/rng"
	"railyard/param"
	"railyard/unit"
)

// Valiant sends traffic that leaves its region through a random intermediate region, other than the sender's and
// the receiver's. From there on the packet takes the shortest path (Valiant and Brebner, STOC 1981). For groups of
// a dragonfly see Kim et al., ISCA 2008. Under any traffic, each link then carries the load of uniform traffic. At
// most half of that is the sender's own. Traffic within a region takes the direct path, because it crosses none of
// the cables that could be overloaded.
//
// On a torus each switch is a region, and both legs use dimension order, each with its own classes. If each packet
// has its own detour there, it also takes a random one of two equally long sides of a ring, because one flow may be
// a switch's whole traffic.
var Valiant = Policy{
	Name: "valiant", Title: "Valiant's detours",
	Params: []param.Param{
		{Name: "per_packet", Kind: param.Flag, Doc: "each packet crosses its own group, not each flow"},
	},
	Defaults: param.Values{"per_packet": false},
	Sprays:   func(v param.Values) bool { return param.Value[bool](v, "per_packet") },
	New: func(v param.Values, s Site) Chooser {
		d := detour{stream: s.Stream}
		d.perPacket, d.viaSeed = param.Value[bool](v, "per_packet"), uint32(d.stream.Uint64())
		if d.perPacket && s.Torus {
			return &strewn{d}
		}
		return &around{valiant{ecmp{seed: s.Seed}, d}}
	},
}

// valiant hashes among ports of equal cost, on each leg.
type valiant struct {
	ecmp
	detour
}

func (c *valiant) Renew(t *Table) { c.table = t }

// around is valiant with any switch of a torus as the intermediate one.
type around struct{ valiant }

func (*around) Around() {}

// strewn draws one intermediate region.
type strewn struct{ detour }

func (*strewn) Around() {}

func (c *strewn) Renew(t *Table) { c.table = t }

func (c *strewn) Moved() int64 { return 0 }

func (c *strewn) Pick(_ unit.Time, group []int32, _ int, _ uint32, _ []Port) int32 {
	return group[c.stream.Intn(len(group))]
}

// detour draws the intermediate region of packets.
type detour struct {
	stream    rng.Stream
	viaSeed   uint32 // seed of the hash among regions, distinct from that among ports
	perPacket bool
	table     *Table
}

// Classes returns, on a torus, two classes of dimension order for each leg. Otherwise it returns one for local and
// global, one for local and global again, and one for local (Kim et al., ISCA 2008).
func (*detour) Classes(torus bool) int {
	if torus {
		return 4
	}
	return 3
}

func (*detour) Rises(torus bool) string {
	if torus {
		return "after the cable that closes a ring, on the second leg, and after such a cable there"
	}
	return "after each cable between groups"
}

func (c *detour) Via(_ unit.Time, loc int, flow uint32, _ []Port) int {
	vias := c.eligible(loc)
	if vias < 1 {
		return -1
	}
	at := 0
	if c.perPacket {
		at = c.stream.Intn(vias)
	} else {
		at = Hashed(flow, c.viaSeed, vias)
	}
	for range vias { // the next region, if a failure leaves no path to this one
		if r := c.region(loc, at); c.table.Group(c.table.Regions.Loc[r]) != Unreachable {
			return r
		}
		at = (at + 1) % vias
	}
	return -1
}

func (c *detour) Vias(out []int, loc int) []int {
	vias := c.eligible(loc)
	for at := range vias {
		if r := c.region(loc, at); c.table.Group(c.table.Regions.Loc[r]) != Unreachable {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		out = append(out, -1)
	}
	return out
}

// eligible returns the number of regions other than the sender's and the receiver's; 0 if those are one region.
func (c *detour) eligible(loc int) int {
	to := c.table.Regions.Of[loc]
	if to < 0 || to == c.table.Home {
		return 0
	}
	return len(c.table.Regions.Loc) - 2
}

// region returns the eligible region with number at.
func (c *detour) region(loc, at int) int {
	low, high := c.table.Home, c.table.Regions.Of[loc]
	if low > high {
		low, high = high, low
	}
	if at >= low {
		at++
	}
	if at >= high {
		at++
	}
	return at
}

package route

import (
	"railyard/param"
	"railyard/unit"
)

// UGAL decides for each packet that leaves its region between the direct path and a detour through a random region.
// The packet takes the direct path if the bytes queued there, times its hops, are at most those of the detour,
// times the detour's hops, plus a bias (Singh 2005; Kim et al., ISCA 2008, UGAL-L). A detour counts as twice the
// length, as in BookSim (dragonfly.cpp). The load of a port is its queue plus the bytes sent without returned
// credit: BookSim compares used credits (GetUsedCredit). A full cable that a whole group uses is therefore visible
// at the group's other switches. The buffer of the cable's switch holds the data that each of them sends there.
// Ethernet with PFC alone returns no credit; credit-based flow control does (UEC 1.0, CBFC; InfiniBand). With
// credits=false, a full cable at the next switch is detected when that switch pauses. If congestion control keeps
// its queue short, it is never detected.
//
// A detour by the same port as the direct path cannot be compared with it, and another is drawn. Otherwise h/(ah)
// of all packets would take the direct path under any load: h of a group's links to others are at the switch of the
// full link. No host could then send more than 1/p (Kim et al., section 4.3, whose UGAL-LVC separates the two by
// queue).
var UGAL = Policy{
	Name: "ugal", Title: "UGAL by local queues",
	Params: append([]param.Param{
		{Name: "credits", Kind: param.Flag,
			Doc: "what the next switch holds of a port's packets counts as waiting, as credits show it, in lossless queues; false: Ethernet switches with PFC alone"},
	}, ugalParams...),
	Defaults: param.Values{"bias": ugalBias, "credits": true},
	Sprays:   always,
	New: func(v param.Values, s Site) Chooser {
		c := newUGAL(v, s)
		c.credits = param.Value[bool](v, "credits")
		return c
	},
}

var ugalParams = []param.Param{
	{Name: "bias", Kind: param.Size, Min: "1B", Max: "100MB", Zero: true,
		Doc: "so much more may wait on the straight way before packets take detours"},
}

const ugalBias = 8 * unit.KiB // about two packets

func newUGAL(v param.Values, s Site) *ugal {
	c := &ugal{valiant: valiant{ecmp{seed: s.Seed}, detour{stream: s.Stream, perPacket: true}}}
	c.bias = int64(param.Value[unit.Bytes](v, "bias"))
	return c
}

// ugal draws detours as valiant does.
type ugal struct {
	valiant
	bias    int64
	credits bool
	held    []int32 // by port: bytes queued at the next switch; nil: unknown
}

// Credits reports whether used credits count.
func (c *ugal) Credits() bool { return c.credits }

// Credit includes them.
func (c *ugal) Credit(held []int32) { c.held = held }

// waits returns the bytes that a packet has before it by a port.
func (c *ugal) waits(port int32, ports []Port) int64 {
	bytes := int64(ports[port].Queued)
	if c.held != nil {
		bytes += int64(c.held[port])
	}
	return bytes
}

// Via compares the ports that the packet would leave by.
func (c *ugal) Via(now unit.Time, loc int, flow uint32, ports []Port) int {
	port := func(group int32) int32 { return c.Pick(now, c.table.Ports(group), int(group), flow, ports) }
	for range draws {
		r := c.valiant.Via(now, loc, flow, ports)
		if r < 0 {
			return -1
		}
		straight, way := c.table.Group(loc), c.table.Group(c.table.Regions.Loc[r])
		if straight < 0 || way < 0 {
			return r
		}
		if a, b := port(straight), port(way); a != b {
			if c.waits(a, ports) <= 2*c.waits(b, ports)+c.bias {
				return -1
			}
			return r
		}
	}
	return -1
}

// draws is the maximum number of detours that a packet draws before it takes the direct path.
const draws = 8

// Vias are all that valiant's are, and straight on.
func (c *ugal) Vias(out []int, loc int) []int {
	if out = c.valiant.Vias(out, loc); out[len(out)-1] >= 0 {
		out = append(out, -1)
	}
	return out
}

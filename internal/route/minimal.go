package route

import (
	"railyard/param"
	"railyard/unit"
)

// Minimal sends packets on the shortest paths through as few regions as possible. On a dragonfly these are local,
// global, local (Kim et al., ISCA 2008). The shortest paths of all would cross two global links if that saves a
// local one. The class rises on each of these links, as with detours, so that pauses cannot deadlock.
var Minimal = Policy{
	Name: "minimal", Title: "minimal routing between groups",
	New: func(_ param.Values, s Site) Chooser {
		return &minimal{valiant{ecmp{seed: s.Seed}, detour{stream: s.Stream}}}
	},
}

// minimal has the table of regions, as valiant does, and uses no intermediate region.
type minimal struct{ valiant }

func (*minimal) Direct() {}

func (c *minimal) Via(unit.Time, int, uint32, []Port) int { return -1 }

func (c *minimal) Vias(out []int, _ int) []int { return append(out, -1) }

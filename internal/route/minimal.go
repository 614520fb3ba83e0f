package route

import (
	"railyard/param"
	"railyard/unit"
)

// Minimal sends packets the shortest ways that leave as few regions as can be: on a dragonfly local, global,
// local (Kim et al., ISCA 2008), where the shortest of all cross two global cables if that saves a local one.
// The class rises on each of these, as with detours, so that pauses cannot deadlock.
var Minimal = Policy{
	Name: "minimal", Title: "minimal routing between groups",
	New: func(_ param.Values, s Site) Chooser {
		return &minimal{valiant{ecmp{seed: s.Seed}, detour{stream: s.Stream}}}
	},
}

// minimal knows the regions, as valiant does, and goes by way of none.
type minimal struct{ valiant }

func (*minimal) Direct() {}

func (c *minimal) Via(unit.Time, int, uint32, []Port) int { return -1 }

func (c *minimal) Vias(out []int, _ int) []int { return append(out, -1) }

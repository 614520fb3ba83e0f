package design

import "slices"

// valleys reports whether packets between some leaves must take a path down and up again. A path passes switches
// that share an AS at most once, so they cannot share one then. RFC 7938, section 5.2.2, assumes fabrics in which
// all paths lead up and then down.
func (d *Design) valleys() bool {
	words := (len(d.Switches) + 63) / 64
	below := map[int][]uint64{} // leaves reachable downwards, by node
	above := map[int][]int{}    // neighbours of a higher tier
	for i, s := range d.Switches {
		below[s.Node] = make([]uint64, words)
		if s.Tier == 1 {
			below[s.Node][i/64] |= 1 << (i % 64)
		}
	}
	for _, l := range d.Graph.Links {
		switch a, b := d.byNode[l.A], d.byNode[l.B]; {
		case a == nil || b == nil:
		case a.Tier < b.Tier:
			above[l.A] = append(above[l.A], l.B)
		case b.Tier < a.Tier:
			above[l.B] = append(above[l.B], l.A)
		}
	}
	rising := slices.Clone(d.Switches)
	slices.SortStableFunc(rising, func(a, b *Switch) int { return a.Tier - b.Tier })
	for _, s := range rising {
		for _, up := range above[s.Node] {
			union(below[up], below[s.Node])
		}
	}
	slices.Reverse(rising)
	for _, s := range rising { // and then those reachable through an upper switch
		for _, up := range above[s.Node] {
			union(below[s.Node], below[up])
		}
	}
	all := map[int][]uint64{} // leaves by connected part of the fabric
	part := d.podOf(rising[0].Tier)
	for i, s := range d.Switches {
		if p := part[s.Node]; s.Tier == 1 {
			if all[p] == nil {
				all[p] = make([]uint64, words)
			}
			all[p][i/64] |= 1 << (i % 64)
		}
	}
	return slices.ContainsFunc(d.Switches, func(s *Switch) bool {
		return s.Tier == 1 && !slices.Equal(below[s.Node], all[part[s.Node]])
	})
}

// union adds the members of a set to another one.
func union(to, from []uint64) {
	for i, w := range from {
		to[i] |= w
	}
}

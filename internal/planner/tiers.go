package planner

import "math"

// clos is leaves in equal groups and a tier above them.
type clos struct {
	groups     int // of leaves
	down       int // servers of a group, links of a leaf to NICs, or the caller's unit
	tops, each int // switches above, and links of a leaf to each of them
}

// up returns the number of cables that a leaf has up.
func (x clos) up() int { return x.tops * x.each }

// cheapest finds the cheapest Clos over numbers of groups, from the smallest on. size returns for each number the
// down links of a leaf, its required uplinks and its free ports. A group has perGroup leaves, a switch of the upper
// tier has the given ports, links to it have the given rate, and there are networks of them.
func (in FabricInput) cheapest(least, perGroup, rate int, size func(groups int) (down, need, room int), ports,
	networks int) (best clos) {
	leaf, _ := in.Prices.switchPart(in.Leaf)
	top, _ := in.Prices.switchPart(in.Top)
	cost, switches := math.Inf(1), math.MaxInt
	for groups := least; groups <= 2*least+8 && groups*perGroup <= ports; groups++ {
		down, need, room := size(groups)
		leaves := groups * perGroup
		for each := 1; each*leaves <= ports && each <= room; each++ {
			tops := ceilInt(need, each)
			if tops*each > room {
				continue
			}
			cable := in.linkPrice(rate, in.Prices.Racks.middle(in.Hosts()), each, in.Leaf, in.Top)
			sum := float64(networks) * (leaf*float64(leaves) + top*float64(tops) + cable*float64(leaves*tops*each))
			if n := leaves + tops; sum < cost || sum == cost && n < switches {
				best, cost, switches = clos{groups, down, tops, each}, sum, n
			}
		}
	}
	return best
}

// level is a number of equal parts of a fabric, and the capacity of each to the others, in servers.
type level struct {
	count int
	up    float64
}

// crossing returns the share of half the servers' traffic that a Clos carries to the other half, in the order of
// servers: topo's bisection. Levels are ordered from the top to the servers. Traffic within a part stays there, and
// other traffic uses the part's uplinks up to their rate. One server has no halves: 0.
func crossing(servers int, levels ...level) float64 {
	half := servers / 2
	if half == 0 {
		return 0
	}
	carried := 0.0
	var visit func(first int, levels []level) (out, in float64)
	visit = func(first int, levels []level) (out, in float64) {
		l := levels[0]
		if len(levels) == 1 {
			a := min(max(half-first, 0), l.count)
			out, in = float64(a), float64(min(max(2*half-first, 0), l.count)-a)
		} else {
			size := 1
			for _, below := range levels[1:] {
				size *= below.count
			}
			for i := range l.count {
				o, n := visit(first+i*size, levels[1:])
				out, in = out+min(o, l.up), in+min(n, l.up)
			}
		}
		turned := min(out, in)
		carried += turned
		return out - turned, in - turned
	}
	visit(0, levels)
	return carried / float64(half)
}

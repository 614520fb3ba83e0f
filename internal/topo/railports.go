package topo

import (
	"cmp"
	"slices"
)

// RailPorts is the ports of a switch that lead to the NICs of one rail.
type RailPorts struct {
	Rail  int   // from 0
	Links []int // in the order of the servers
	NICs  []int // by link
}

// RailPorts lists by rail which of a switch's ports lead to servers, and those that lead to switches, in the
// order of the panel.
func (g *Graph) RailPorts(node int) (rails []RailPorts, others []int) {
	by := map[int]*RailPorts{}
	for i, n := range g.NICs {
		for _, l := range n.Links {
			if g.Links[l].A+g.Links[l].B-g.Hosts[n.Host] != node {
				continue
			}
			if by[n.Rail] == nil {
				by[n.Rail] = &RailPorts{Rail: n.Rail}
			}
			r := by[n.Rail]
			r.Links, r.NICs = append(r.Links, l), append(r.NICs, i)
		}
	}
	for _, r := range by {
		rails = append(rails, *r)
	}
	slices.SortFunc(rails, func(a, b RailPorts) int { return a.Rail - b.Rail })
	for l := range g.Links {
		a, b := g.Links[l].A, g.Links[l].B
		if (a == node || b == node) && g.Nodes[a+b-node].Role != Host {
			others = append(others, l)
		}
	}
	slices.SortStableFunc(others, func(a, b int) int {
		x, y := g.Jack(a, node), g.Jack(b, node)
		return cmp.Or(cmp.Compare(x.Port, y.Port), cmp.Compare(x.Part, y.Part))
	})
	return rails, others
}

package topo

import "railyard/unit"

// KindRates returns the rate of each link's kind: the highest among links that join nodes of the same two groups, or
// roles where nodes have no groups.
func (g *Graph) KindRates() []unit.Rate {
	type kind struct{ a, b string }
	of := func(l *Link) kind {
		name := func(node int) string {
			if g.Stands != nil {
				return g.Stands[node].Group
			}
			return g.Nodes[node].Role.String()
		}
		a, b := name(l.A), name(l.B)
		return kind{min(a, b), max(a, b)}
	}
	best := map[kind]unit.Rate{}
	for i := range g.Links {
		k := of(&g.Links[i])
		best[k] = max(best[k], g.Links[i].Rate)
	}
	rates := make([]unit.Rate, len(g.Links))
	for i := range g.Links {
		rates[i] = best[of(&g.Links[i])]
	}
	return rates
}

package site

import (
	"slices"

	"railyard/internal/field"
	"railyard/internal/topo"
)

// Between lists the links of a rule that connects any two values of a place: count links for each pair, the lower
// value first. of is the nodes at each value. A value's cables lead to the other values in turn, and its nodes take
// each of them in order: a dragonfly's, with one cable between groups.
func Between(of [][]int, count, each int, visit func(a, b int) bool) {
	others := len(of) - 1
	end := func(at, peer, round int) int {
		nodes, take := of[at], each
		if take == 0 {
			take = (count*others + len(nodes) - 1) / len(nodes)
		}
		return nodes[min((round*others+peer)/take, len(nodes)-1)]
	}
	for x := range of {
		for y := x + 1; y < len(of); y++ {
			for r := range count {
				if !visit(end(x, y-1, r), end(y, x, r)) {
					return
				}
			}
		}
	}
}

// between adds the links of a rule that connects all values of a place with each other.
func (j *joiner) between() error {
	r, at := j.rule, j.to.place(j.rule.Between)
	key := j.key + ".between"
	switch {
	case j.from.server || r.From != r.To:
		return field.New(key, "connects the places of one group of switches: from and to are the same; found %s and %s", r.From, r.To)
	case at < 0:
		return field.New(key, "%s has no place %q; it has %s", r.To, r.Between, orNone(j.to.places))
	case len(r.Same)+len(r.Match) > 0 || r.Wrap || r.Share:
		return field.New(key, "already sets the connected nodes: same, match, wrap and share have no effect")
	case r.Each < 0 || r.Each > 1024:
		return field.New(j.key+".each", "1 to 1024 cables of a node, found %d", r.Each)
	}
	values := map[int][]int{}
	var order []int
	for i, n := range j.among {
		v := n.at[at]
		if values[v] == nil {
			order = append(order, v)
		}
		values[v] = append(values[v], i)
	}
	slices.Sort(order)
	if len(order) < 2 {
		return field.New(key, "%s is at one %s only: it has no other to connect", r.To, r.Between)
	}
	count := max(r.Count, r.Lag, 1)
	var of [][]int
	for _, v := range order {
		of = append(of, values[v])
		if own := r.Each * len(values[v]); own > 0 && own < count*(len(order)-1) {
			return field.New(j.key+".each", "%s %d has %d nodes of %d cables each, and %d cables to %d others",
				r.Between, v, len(values[v]), r.Each, count*(len(order)-1), len(order)-1)
		}
	}
	if most := topo.MaxLinks - len(j.b.cables); len(order)*(len(order)-1)/2*count > most {
		return field.New(j.key, "more than %d cables in total", topo.MaxLinks)
	}
	Between(of, count, r.Each, func(a, b int) bool {
		j.b.cables = append(j.b.cables, cable{from: j.among[a], to: j.among[b], rule: j.index, rate: r.Rate})
		j.joined++
		return true
	})
	return nil
}

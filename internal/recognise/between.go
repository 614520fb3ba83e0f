package recognise

import (
	"railyard/internal/cabling"
	"railyard/internal/site"
)

// joins returns the rule that connects each two values of a place of one group by as many links, nil if the cabling
// differs: a dragonfly's groups.
func (c *class) joins(place int) *rule {
	g := c.lo
	at, of := map[int]int{}, [][]int(nil)
	for v := 1; v <= g.size[place]; v++ {
		for k := range g.nodes {
			if g.at[k][place] != v {
				continue
			}
			if _, ok := at[v]; !ok {
				at[v], of = len(of), append(of, nil)
			}
			of[at[v]] = append(of[at[v]], k)
		}
	}
	out, most, total := map[int]int{}, 0, 0
	for p, n := range c.left {
		if g.at[p.a][place] != g.at[p.b][place] {
			out[p.a], out[p.b] = out[p.a]+n, out[p.b]+n
			most, total = max(most, out[p.a], out[p.b]), total+n
		}
	}
	pairs := len(of) * (len(of) - 1) / 2
	if len(of) < 3 || len(of) == len(g.nodes) || total == 0 || total%pairs != 0 {
		return nil
	}
	r := &rule{from: g, to: g, count: total / pairs, binds: make([]binding, len(g.pad)), covers: total,
		between: place + 1}
	for p := range r.binds {
		r.binds[p].src = anything
	}
	even := 0 // number that site assumes unless each is set
	for _, nodes := range of {
		even = max(even, (r.count*(len(of)-1)+len(nodes)-1)/len(nodes))
	}
	if most != even {
		r.each = most
	}
	r.runs, r.covers = map[pair]int{}, 0
	site.Between(of, r.count, r.each, func(a, b int) bool {
		r.runs[pair{min(a, b), max(a, b), 0}]++
		r.covers++
		return true
	})
	for p, n := range r.runs {
		if c.left[p] < n {
			return nil
		}
	}
	return r
}

// joined are the possible rules of that kind for a class.
func (c *class) joined() (out []*rule) {
	if c.lo != c.hi || c.lo.kind != cabling.Switch || c.lo.folded {
		return nil
	}
	for p := range c.lo.pad {
		if r := c.joins(p); r != nil {
			out = append(out, r)
		}
	}
	return out
}

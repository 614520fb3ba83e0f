package recognise

import (
	"slices"

	"railyard/internal/cabling"
)

// plain is a rule between named nodes: one, and all nodes of a row with equal links to it; then the nodes of its own
// row with the same links.
func (c *class) plain(s pair) *rule {
	r := &rule{from: c.lo, to: c.hi, count: c.left[s], single: true, fix: make([][]int, len(c.lo.pad)),
		toFix: make([][]int, len(c.hi.pad)), binds: make([]binding, len(c.hi.pad))}
	for p := range r.binds {
		r.binds[p].src = anything
	}
	for p, v := range c.lo.at[s.a] {
		r.fix[p] = []int{v}
	}
	for p, v := range c.hi.at[s.b] {
		r.toFix[p] = []int{v}
	}
	if c.lo.kind == cabling.Server {
		r.nics, r.count = []int{(s.nic-1)/c.lo.ports + 1}, 1
		r.covers = 1
		for p := range r.fix {
			c.widen(r, r.fix, p, c.lo)
		}
		return r
	}
	row, best := -1, 1
	for p := range r.toFix {
		if n := len(c.row(s, p, r.count)); n > best {
			row, best = p, n
		}
	}
	if row >= 0 {
		r.toFix[row] = c.row(s, row, r.count)
	}
	if r.covers = best * r.count; c.lo != c.hi {
		for p := range r.fix {
			c.widen(r, r.fix, p, c.lo)
		}
	}
	return r
}

// row are the values of a place of hi at which a node of lo has as many cables.
func (c *class) row(s pair, p, count int) (vals []int) {
	for k, at := range c.hi.at {
		if c.left[pair{s.a, k, s.nic}] != count || c.lo == c.hi && k < s.a {
			continue
		}
		same := true
		for q := range at {
			same = same && (q == p || at[q] == c.hi.at[s.b][q])
		}
		if same {
			vals = append(vals, at[p])
		}
	}
	slices.Sort(vals)
	return slices.Compact(vals)
}

// widen adds the values of a place of lo at which the nodes have the same cables.
func (c *class) widen(r *rule, fix [][]int, p int, g *group) {
	was := fix[p]
	if len(was) != 1 {
		return
	}
	x := newIndex(r.to, r.binds)
	var vals []int
	bad := map[int]bool{}
	fix[p] = nil
	for k, at := range g.at {
		if !allowed(fix, at) {
			continue
		}
		ok, some := true, false
		for _, e := range c.endsOf(k, g) {
			if r.nics == nil || slices.Contains(r.nics, e.nic) {
				c.pairs(r, x, e, func(q pair) bool {
					ok, some = ok && c.left[q] == r.count, true
					return ok
				})
			}
		}
		if ok && some {
			vals = append(vals, at[p])
		} else {
			bad[at[p]] = true
		}
	}
	vals = slices.DeleteFunc(vals, func(v int) bool { return bad[v] })
	slices.Sort(vals)
	if vals = slices.Compact(vals); len(vals) == 0 {
		vals = was
	}
	r.covers *= len(vals)
	fix[p] = vals
}

// endsOf are the ends of one node of lo.
func (c *class) endsOf(k int, g *group) (out []end) {
	if g.kind != cabling.Server {
		return []end{{node: k}}
	}
	p := g.ports
	for i := range len(c.f.at[g.nodes[k]]) {
		out = append(out, end{k, i/p + 1, i%p + 1})
	}
	return out
}

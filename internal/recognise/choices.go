package recognise

import (
	"cmp"
	"slices"

	"railyard/internal/cabling"
)

// choices returns the possible bindings of a place of to, given one link: nothing, its value there, or a binding that
// fits that link and most others.
func (c *class) choices(from, to *group, e end, t, p int, wrap bool) []binding {
	want := to.at[t][p]
	lo, hi := want, want
	for _, at := range to.at {
		lo, hi = min(lo, at[p]), max(hi, at[p])
	}
	var all []binding
	add := func(b binding) {
		got := b.of(from.at[e.node], e.nic, e.port)
		if got == want {
			all = append(all, b)
			return
		}
		if from == to && len(b.steps) > 0 {
			return
		}
		for _, d := range []int{want - got, want - got - hi, want - got + hi} {
			if d != want-got && !wrap || from == to && abs(d) > 64 {
				continue
			}
			x := b
			x.cost += 8
			if x.steps = append(slices.Clone(b.steps), step{'+', d}); d < 0 {
				x.steps[len(b.steps)] = step{'-', -d}
			}
			all = append(all, x)
		}
	}
	span := hi - lo + 1
	source := func(src, size, cost int) {
		add(binding{src: src, cost: cost})
		if from == to && src == p {
			return
		}
		for d := 2; d < size; d++ {
			if size%d != 0 {
				continue
			}
			b := binding{src: src, steps: []step{{'/', d}}, cost: cost + 3}
			if size/d > span && span > 1 {
				b.steps = append(b.steps, step{'%', span})
				b.cost += 3
			}
			add(b)
		}
		if span > 1 && size > span {
			add(binding{src: src, steps: []step{{'%', span}}, cost: cost + 3})
		}
	}
	for i := range from.pad {
		cost := 2
		if i != p {
			cost = 3
		}
		source(i, from.size[i], cost)
	}
	if from.kind == cabling.Server {
		most := 0
		for _, n := range from.nodes {
			most = max(most, len(c.f.at[n])/from.ports)
		}
		if source(theNIC, most, 2); from.ports > 1 {
			source(thePort, from.ports, 2)
		}
	}
	return append(c.likely(from, to, p, all), binding{src: anything}, binding{src: constant, value: want, cost: 10})
}

func abs(v int) int { return max(v, -v) }

// likely keeps the bindings that hold for most of the remaining links.
func (c *class) likely(from, to *group, p int, all []binding) []binding {
	type held struct {
		b binding
		n int
	}
	var h []held
	for _, b := range all {
		h = append(h, held{b, 0})
	}
	seen, stride := 0, max(1, len(c.order)/1000)
	for i := c.next; i < len(c.order); i += stride {
		x := c.order[i]
		if c.left[x] == 0 {
			continue
		}
		seen++
		a, t := x.a, x.b
		if from == c.hi && c.lo != c.hi {
			a, t = t, a
		}
		nic, port := 0, 0
		if from.kind == cabling.Server {
			nic, port = (x.nic-1)/from.ports+1, (x.nic-1)%from.ports+1
		}
		for k := range h {
			if h[k].b.of(from.at[a], nic, port) == to.at[t][p] {
				h[k].n++
			}
		}
	}
	slices.SortStableFunc(h, func(a, b held) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.b.cost, b.b.cost))
	})
	var out []binding
	for _, x := range h {
		if len(out) == 5 || len(out) == 1 && h[0].n == seen && x.n < seen || len(out) == 2 && x.n == seen {
			break
		}
		out = append(out, x.b)
	}
	return out
}

package recognise

import (
	"cmp"
	"slices"

	"railyard/internal/cabling"
	"railyard/internal/field"
	"railyard/unit"
)

// once finds rules, class by class of links: the one that covers most of the remaining links and nothing else, until
// none is left.
func (f *finder) once() error {
	f.rules = nil
	type kind struct {
		lo, hi *group
		rate   unit.Rate
		mm     int64
	}
	classes := map[kind]*class{}
	var order []*class
	rank := map[*group]int{}
	for i, g := range f.groups {
		rank[g] = i
	}
	for i, w := range f.cables {
		a, b := w.a, w.b
		if rank[f.of[a]] > rank[f.of[b]] {
			a, b = b, a
		}
		k := kind{f.of[a], f.of[b], w.rate, w.mm}
		c := classes[k]
		if c == nil {
			c = &class{f: f, lo: k.lo, hi: k.hi, rate: k.rate, mm: k.mm, left: map[pair]int{}}
			classes[k] = c
			order = append(order, c)
		}
		p := pair{f.place[a], f.place[b], f.nic[i]}
		if k.lo == k.hi && p.a > p.b {
			p.a, p.b = p.b, p.a
		}
		if c.left[p] == 0 {
			c.order = append(c.order, p)
		}
		c.left[p]++
		c.total++
	}
	slices.SortStableFunc(order, func(x, y *class) int {
		return cmp.Or(cmp.Compare(rank[x.lo], rank[y.lo]), cmp.Compare(rank[x.hi], rank[y.hi]))
	})
	for _, c := range order {
		slices.SortFunc(c.order, func(x, y pair) int {
			return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b), cmp.Compare(x.nic, y.nic))
		})
		for c.total > 0 {
			r := c.best()
			if r == nil {
				return c.stuck()
			}
			r.rate, r.mm = c.rate, c.mm
			if f.rules = append(f.rules, r); f.most > 0 && len(f.rules) >= f.most {
				return errTooMany
			}
		}
	}
	return nil
}

// stuck is an error about cables that no rule of the language can run.
func (c *class) stuck() error {
	s := c.sample()
	n := c.f.c.Nodes[c.lo.nodes[s.a]]
	return field.New("--nic-ports", "the cables of %s follow no pattern, and single ports of a NIC cannot be named: leave it out, so that each of its cables is a NIC", n.Name)
}

// sample returns the first remaining link.
func (c *class) sample() pair {
	for c.left[c.order[c.next]] == 0 {
		c.next++
	}
	return c.order[c.next]
}

// poor is the number of consecutive rules of little coverage after which patterns are given up.
const poor = 24

// best returns the rule that covers most of the remaining links, and removes it.
func (c *class) best() *rule {
	s := c.sample()
	var found []*rule
	if c.patience < poor {
		found = c.joined()
		for _, from := range c.sides() {
			found = append(found, c.candidates(from, s)...)
		}
		slices.SortStableFunc(found, func(a, b *rule) int {
			return cmp.Or(cmp.Compare(b.covers, a.covers), cmp.Compare(a.cost(), b.cost()))
		})
	}
	plain := c.plain(s)
	for _, r := range found {
		whole := r.fix == nil && r.nics == nil
		few := r.covers < 4 && r.cost() > 6 && r.between == 0 // such a formula fits every list
		if r.covers < plain.covers || few || r.covers == plain.covers && !whole {
			continue
		}
		if c.take(r) {
			if c.patience++; r.covers > 4 {
				c.patience = 0
			}
			return r
		}
	}
	c.patience++
	if !c.take(plain) { // a NIC whose ports have different paths
		return nil
	}
	return plain
}

// sides are the groups from which a rule may look: servers always, else either.
func (c *class) sides() []*group {
	if c.lo.kind == cabling.Server || c.lo == c.hi {
		return []*group{c.lo}
	}
	return []*group{c.lo, c.hi}
}

// cost orders rules that cover the same: fewer words first.
func (r *rule) cost() (n int) {
	for _, b := range r.binds {
		n += b.cost
	}
	for _, fix := range [][][]int{r.fix, r.toFix} {
		for _, v := range fix {
			if v != nil {
				n += 20
			}
		}
	}
	if r.nics != nil {
		n += 15
	}
	if r.wrap {
		n++
	}
	if r.between > 0 {
		n += 20 // a step to the next value is easier to read
	}
	return n
}

// candidates are rules that cover a link and only existing links.
func (c *class) candidates(from *group, s pair) (out []*rule) {
	to := c.hi
	e, t := end{node: s.a}, s.b
	switch {
	case from.kind == cabling.Server:
		e.nic, e.port = (s.nic-1)/from.ports+1, (s.nic-1)%from.ports+1
	case from == c.hi && c.lo != c.hi:
		to, e.node, t = c.lo, s.b, s.a
	}
	ends := c.ends(from)
	for _, wrap := range []bool{false, true} {
		if wrap && from != to {
			break
		}
		choices := make([][]binding, len(to.pad))
		for p := range to.pad {
			choices[p] = c.choices(from, to, e, t, p, wrap)
		}
		each(few(choices), func(binds []binding) {
			r := &rule{from: from, to: to, binds: slices.Clone(binds), wrap: wrap, count: 1}
			steps := r.stepped()
			if wrap && !steps || from == to && !steps && crossed(binds) {
				return
			}
			out = append(out, c.regions(r, ends, e)...)
		})
	}
	return out
}

// most is the maximum number of tried combinations of bindings for a link.
const most = 500

// few drops choices, the least likely first, until there are not too many combinations: names may
// have twenty numbers.
func few(choices [][]binding) [][]binding {
	for {
		n, long := 1, 0
		for i, c := range choices {
			if n = min(n*len(c), 1<<30); len(c) > len(choices[long]) {
				long = i
			}
		}
		if n <= most || len(choices) == 0 {
			return choices
		}
		c := choices[long]
		if len(c) > 2 { // the last two are any value and the constant
			choices[long] = append(c[:len(c)-3:len(c)-3], c[len(c)-2:]...)
		} else {
			choices[long] = c[:1]
		}
	}
}

// crossed reports whether a rule within a group, seen from its other end, would be another one.
func crossed(binds []binding) bool {
	for p, b := range binds {
		if b.src != anything && !(b.same() && b.src == p) {
			return true
		}
	}
	return false
}

// each visits all combinations, the last fastest.
func each[T any](choices [][]T, visit func([]T)) {
	at := make([]T, len(choices))
	var walk func(i int)
	walk = func(i int) {
		if i == len(choices) {
			visit(at)
			return
		}
		for _, at[i] = range choices[i] {
			walk(i + 1)
		}
	}
	walk(0)
}

// regions returns a rule for all ends of from, or for those at some values of one place, if it covers only existing
// links.
func (c *class) regions(r *rule, ends []end, s end) (out []*rule) {
	x := newIndex(r.to, r.binds)
	type seen struct{ n, least int }
	see := make([]seen, len(ends))
	all := true
	for i, e := range ends {
		see[i].least = 1 << 30
		ok := c.pairs(r, x, e, func(p pair) bool {
			see[i].n++
			see[i].least = min(see[i].least, c.left[p])
			return see[i].least > 0
		})
		if !ok || r.from.kind == cabling.Server && see[i].n > 1 {
			see[i].n, all = -1, false
			if e == s {
				return nil
			}
		}
	}
	emit := func(fix [][]int, nics []int, in func(i int) bool) {
		n, least := 0, 1<<30
		for i := range ends {
			if see[i].n > 0 && in(i) {
				n, least = n+see[i].n, min(least, see[i].least)
			}
		}
		if n == 0 {
			return
		}
		y := *r
		y.fix, y.nics, y.count, y.covers = fix, nics, least, n*least
		if r.from.kind == cabling.Server && least > 1 {
			return
		}
		out = append(out, &y)
	}
	if all {
		emit(nil, nil, func(int) bool { return true })
		return out
	}
	if r.from == r.to && !r.stepped() {
		return nil // the end at which a rule starts depends on the order of nodes
	}
	dims := len(r.from.pad)
	val := func(i, d int) int {
		if d == dims {
			return ends[i].nic
		}
		return r.from.at[ends[i].node][d]
	}
	sv := func(d int) int {
		if d == dims {
			return s.nic
		}
		return r.from.at[s.node][d]
	}
	last := dims
	if r.from.kind == cabling.Server {
		last++
	}
	for fixed := -1; fixed < last; fixed++ {
		for d := range last {
			if d == fixed {
				continue
			}
			in := func(i int) bool { return fixed < 0 || val(i, fixed) == sv(fixed) }
			bad, good := map[int]bool{}, map[int]bool{}
			for i := range ends {
				if in(i) && see[i].n < 0 {
					bad[val(i, d)] = true
				}
			}
			if bad[sv(d)] {
				continue
			}
			var vals []int
			for i := range ends {
				if v := val(i, d); in(i) && see[i].n > 0 && !bad[v] && !good[v] {
					good[v] = true
					vals = append(vals, v)
				}
			}
			slices.Sort(vals)
			fix, nics := make([][]int, dims), []int(nil)
			set := func(d int, v []int) {
				if d == dims {
					nics = v
				} else {
					fix[d] = v
				}
			}
			if set(d, vals); fixed >= 0 {
				set(fixed, []int{sv(fixed)})
			}
			emit(fix, nics, func(i int) bool { return in(i) && good[val(i, d)] })
		}
	}
	return out
}

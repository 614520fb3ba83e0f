package recognise

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/cabling"
	"railyard/unit"
)

// Possible values of a place of the upper end at the lower one, besides one of its places.
const (
	anything = -1 // the variable is not bound
	constant = -2
	theNIC   = -3
	thePort  = -4
)

// binding is the value of one place of to at from: a place, then steps, as in package site.
type binding struct {
	src   int // a place of from, or one of the above
	value int // of a constant
	steps []step
	cost  int
}

type step struct {
	op byte
	by int
}

// of is the value at an end of from.
func (b binding) of(at []int, nic, port int) int {
	v := b.value
	switch {
	case b.src >= 0:
		v = at[b.src]
	case b.src == theNIC:
		v = nic
	case b.src == thePort:
		v = port
	}
	for _, s := range b.steps {
		switch s.op {
		case '+':
			v += s.by
		case '-':
			v -= s.by
		case '%':
			v = (v-1)%s.by + 1
		case '/':
			v = (v-1)/s.by + 1
		}
	}
	return v
}

// text returns the binding in the language.
func (b binding) text(from *group) string {
	s := strconv.Itoa(b.value)
	switch {
	case b.src >= 0:
		s = from.word[b.src]
	case b.src == theNIC:
		s = "nic"
	case b.src == thePort:
		s = "port"
	}
	for _, x := range b.steps {
		s += string(x.op) + strconv.Itoa(x.by)
	}
	return s
}

// same reports whether the binding is a place as it is.
func (b binding) same() bool { return b.src >= 0 && len(b.steps) == 0 }

// rule is cables of one pattern.
type rule struct {
	from, to *group
	binds    []binding
	wrap     bool
	fix      [][]int // values of from's places, nil for all
	toFix    [][]int // and of to's
	nics     []int   // nil for all
	count    int
	rate     unit.Rate
	mm       int64
	covers   int // cables
	single   bool

	between int          // a place, from 1: each two values of it are connected
	each    int          // links that each node gets before the next one; 0: an even share
	runs    map[pair]int // its cables
}

// end is one end of from: a node, and a NIC's port if it is a server.
type end struct{ node, nic, port int }

// pair is a cable between nodes of two groups: their places in the groups, and the lower one's
// NIC port. Within a group the first is the smaller.
type pair struct{ a, b, nic int }

// class is all cables between two groups of one rate and length that no rule covers yet.
type class struct {
	f        *finder
	lo, hi   *group
	rate     unit.Rate
	mm       int64
	order    []pair
	left     map[pair]int
	total    int
	next     int // index of the next; all before it are covered
	patience int
}

// ends returns the lower ends of a group in the class, or its upper ones.
func (c *class) ends(from *group) (out []end) {
	if from.kind != cabling.Server {
		for k := range from.nodes {
			out = append(out, end{node: k})
		}
		return out
	}
	p := from.ports
	for k, n := range from.nodes {
		for i := range len(c.f.at[n]) {
			out = append(out, end{k, i/p + 1, i%p + 1})
		}
	}
	return out
}

// pair is the cable from an end to a node.
func (c *class) pair(from *group, e end, to int) pair {
	switch {
	case from.kind == cabling.Server:
		return pair{e.node, to, (e.nic-1)*from.ports + e.port}
	case c.lo == c.hi:
		return pair{min(e.node, to), max(e.node, to), 0}
	case from == c.hi:
		return pair{to, e.node, 0}
	}
	return pair{e.node, to, 0}
}

// index finds nodes of to by the bound places.
type index struct {
	places []int
	at     map[string][]int
}

func newIndex(to *group, binds []binding) index {
	x := index{at: map[string][]int{}}
	for p, b := range binds {
		if b.src != anything {
			x.places = append(x.places, p)
		}
	}
	buf := make([]int, len(x.places))
	for k, at := range to.at {
		for i, p := range x.places {
			buf[i] = at[p]
		}
		key := keyOf(buf)
		x.at[key] = append(x.at[key], k)
	}
	return x
}

func keyOf(v []int) string {
	b := make([]byte, 0, 24)
	for _, x := range v {
		b = strconv.AppendInt(append(b, '/'), int64(x), 10)
	}
	return string(b)
}

// targets are the nodes that an end of from is cabled to under bindings.
func (r *rule) targets(x index, e end) []int {
	buf := make([]int, len(x.places))
	for i, p := range x.places {
		v := r.binds[p].of(r.from.at[e.node], e.nic, e.port)
		if n := r.to.size[p]; r.wrap && n > 0 {
			v = ((v-1)%n+n)%n + 1
		}
		buf[i] = v
	}
	return x.at[keyOf(buf)]
}

// stepped reports whether a binding has steps: then a rule within a group has a direction.
func (r *rule) stepped() bool {
	return slices.ContainsFunc(r.binds, func(b binding) bool { return len(b.steps) > 0 })
}

// pairs yields the links of a rule, each as often as it occurs, while visit returns true.
func (c *class) pairs(r *rule, x index, e end, visit func(p pair) bool) bool {
	within := r.from == r.to
	for _, t := range r.targets(x, e) {
		if within && (t == e.node || !r.stepped() && t < e.node) || !allowed(r.toFix, r.to.at[t]) {
			continue
		}
		if !visit(c.pair(r.from, e, t)) {
			return false
		}
	}
	return true
}

// allowed reports whether places have the required values.
func allowed(fix [][]int, at []int) bool {
	for p, vals := range fix {
		if vals != nil && !slices.Contains(vals, at[p]) {
			return false
		}
	}
	return true
}

// reach reports whether a rule is about an end.
func (r *rule) reach(e end) bool {
	return allowed(r.fix, r.from.at[e.node]) && (r.nics == nil || slices.Contains(r.nics, e.nic))
}

// take removes the links that a rule covers, and reports whether all of them remained.
func (c *class) take(r *rule) bool {
	runs := r.runs
	if runs == nil {
		x := newIndex(r.to, r.binds)
		runs = map[pair]int{}
		for _, e := range c.ends(r.from) {
			if r.reach(e) {
				c.pairs(r, x, e, func(p pair) bool { runs[p] += r.count; return true })
			}
		}
	}
	for p, n := range runs {
		if c.left[p] < n {
			return false
		}
	}
	r.covers = 0
	for p, n := range runs {
		c.left[p] -= n
		r.covers += n
	}
	c.total -= r.covers
	return r.covers > 0
}

// pattern writes nodes by name: leaf-[1-4,7]-2.
func (g *group) pattern(fix [][]int) string {
	all := true
	for _, v := range fix {
		all = all && v == nil
	}
	if all {
		return g.name
	}
	if g.folded {
		return g.foldedPattern(fix)
	}
	s := g.text[0]
	for p := range g.pad {
		vals := fix[p]
		if vals == nil {
			for _, at := range g.at {
				vals = append(vals, at[p])
			}
			slices.Sort(vals)
			vals = slices.Compact(vals)
		}
		shown := make([]int, len(vals))
		for i, v := range vals {
			shown[i] = v - g.base[p]
		}
		if len(shown) == 1 {
			s += fmt.Sprintf("%0*d", g.pad[p], shown[0])
		} else {
			s += "[" + ranges(shown) + "]"
		}
		s += g.text[p+1]
	}
	return s
}

// foldedPattern writes nodes whose name has one number for two places.
func (g *group) foldedPattern(fix [][]int) string {
	var vals []int
	for k, at := range g.at {
		if allowed(fix, at) {
			vals = append(vals, k+1-g.base[0])
		}
	}
	if len(vals) == 1 {
		return fmt.Sprintf("%s%0*d%s", g.text[0], g.pad[0], vals[0], g.text[1])
	}
	return g.text[0] + "[" + ranges(vals) + "]" + g.text[1]
}

// ranges writes ascending numbers: 1-4,7.
func ranges(v []int) string {
	var parts []string
	for i := 0; i < len(v); {
		j := i
		for j+1 < len(v) && v[j+1] == v[j]+1 {
			j++
		}
		if j > i {
			parts = append(parts, fmt.Sprintf("%d-%d", v[i], v[j]))
		} else {
			parts = append(parts, strconv.Itoa(v[i]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

package recognise

import (
	"railyard/internal/cabling"
	"railyard/internal/field"
)

// infer finds rules, and tries whether splitting a group's one number into two gives fewer. rail-1 to rail-8 may be
// four segments of two, though their names do not show it.
func (f *finder) infer() error {
	if err := f.once(); err != nil {
		return err
	}
	for _, g := range f.groups {
		if g.kind == cabling.Server || len(g.pad) != 1 || len(g.boxes) != 1 || !g.countable() || f.aimedAt(g) < 2 {
			continue
		}
		best, by, n := f.rules, 0, len(g.nodes)
		for b := 2; b < n; b++ {
			if n%b != 0 {
				continue
			}
			g.fold(b)
			if f.most = len(best) + 1; f.once() == nil && weight(f.rules) < weight(best) {
				best, by = f.rules, b
			}
			g.unfold()
		}
		if f.most = 0; by > 0 {
			g.fold(by)
		}
		f.rules = best
	}
	return nil
}

// weight returns the length of a description.
func weight(rules []*rule) (n int) {
	for _, r := range rules {
		n += 30 + r.cost()
	}
	return n
}

// errTooMany ends a search that has found as many rules as there were.
var errTooMany = field.New("", "more rules than before")

// aimedAt returns the number of rules that a group is in.
func (f *finder) aimedAt(g *group) (n int) {
	for _, r := range f.rules {
		if r.from == g || r.to == g {
			n++
		}
	}
	return n
}

// fold splits a group's one number into two: blocks of the given size.
func (g *group) fold(by int) {
	n := len(g.nodes)
	g.folded = true
	g.pad, g.base, g.word = append(g.pad, 0), append(g.base, 0), append(g.word, "")
	g.size = []int{n / by, by}
	for k := range g.at {
		g.at[k] = []int{k/by + 1, k%by + 1}
	}
	g.boxes[0].vals = [][]int{count(n / by), count(by)}
}

// unfold undoes fold.
func (g *group) unfold() {
	n := len(g.nodes)
	g.folded = false
	g.pad, g.base, g.word, g.size = g.pad[:1], g.base[:1], g.word[:1], []int{n}
	for k := range g.at {
		g.at[k] = []int{k + 1}
	}
	g.boxes[0].vals = [][]int{count(n)}
}

// count is 1 to n.
func count(n int) (out []int) {
	for i := range n {
		out = append(out, i+1)
	}
	return out
}

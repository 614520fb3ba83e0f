package planner

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/internal/field"
)

// Patterns of circuits between groups.
const (
	EvenPattern = "even" // equal numbers between any two groups, as in a dragonfly
	RingPattern = "ring" // each to the next: half of the fibers in each direction, as cubes of a torus
)

// CircuitInput is groups whose fibres all end at an optical circuit switch: dragonfly groups, or cubes of a torus
// in one dimension. One event changes them: they grow, or one fails.
type CircuitInput struct {
	Groups  int
	Fibres  int // of a group
	Pattern string
	Grow    int // number of groups after growth; 0: none
	Without int // number of the failed group, from 1; 0: none
}

// Circuits are the circuits of an OCS, and the circuits that a change moves.
type Circuits struct {
	Before []Circuit `json:"before"`
	After  []Circuit `json:"after,omitempty"`
	Dark   int       `json:"circuits_that_end"`
	New    int       `json:"circuits_that_begin"`
	Stay   int       `json:"circuits_that_stay"`
	From   Spread    `json:"pairs_before"`
	To     Spread    `json:"pairs_after,omitempty"`
	Ports  int       `json:"ports"`
	Free   int       `json:"ports_left_dark"` // dark ports after the change, ports of a failed group included
}

// Circuit is two connected ports, from 1, the lower first. A group's fibres take ports side by side.
type Circuit [2]int

func (c Circuit) String() string { return fmt.Sprintf("%d-%d", c[0], c[1]) }

// Spread counts the circuits of pairs of groups.
type Spread struct {
	Pairs int      `json:"joined_pairs"`
	Apart [][2]int `json:"pairs_without_circuit,omitempty"` // pairs of the pattern, from 1, without enough fibers
	Least int      `json:"least"`                           // of connected pairs
	Most  int      `json:"most"`
	Dark  int      `json:"dark_ports"` // dark ports of working groups
	Parts int      `json:"parts"`      // number of connected parts, also through other groups
}

const maxFibres = 4096 // ports of an OCS

// Check refuses what an OCS cannot connect.
func (in CircuitInput) Check() error {
	n := max(in.Groups, in.Grow)
	switch {
	case in.Groups < 2:
		return field.New("groups", "takes two and more, found %d", in.Groups)
	case in.Fibres < 1 || n*in.Fibres > maxFibres:
		return field.New("fibres", "%d groups of %d fibres do not fit the 1 to %d ports of an OCS", n, in.Fibres, maxFibres)
	case in.Grow != 0 && in.Grow <= in.Groups:
		return field.New("to", "%d groups are not more than the present %d", in.Grow, in.Groups)
	case in.Without < 0 || in.Without > in.Groups:
		return field.New("without", "unknown group %d of %d", in.Without, in.Groups)
	case in.Grow > 0 && in.Without > 0:
		return field.New("without", "is another change than growing: one of the two")
	case in.Pattern == RingPattern && (in.Fibres%2 != 0 || in.Groups < 3):
		return field.New("fibres",
			"a ring takes three groups with as many fibres either way, found %d groups of %d",
			in.Groups, in.Fibres)
	case in.Pattern == RingPattern && in.Without > 0 && in.Groups < 4:
		return field.New("groups", "a ring of %d is none without one", in.Groups)
	}
	return nil
}

// joints is circuits by their ends.
type joints struct {
	fibres int
	to     []int // by port, from 0: the opposite port; -1: dark
}

func newJoints(groups, fibres int) *joints {
	return &joints{fibres, slices.Repeat([]int{-1}, groups*fibres)}
}

func (j *joints) group(port int) int { return port / j.fibres }

func (j *joints) join(a, b int) { j.to[a], j.to[b] = b, a }

// free is a group's first dark port, -1: none.
func (j *joints) free(group int) int {
	for p := group * j.fibres; p < (group+1)*j.fibres; p++ {
		if j.to[p] < 0 {
			return p
		}
	}
	return -1
}

// between counts the circuits of pairs of groups.
func (j *joints) between() map[[2]int]int {
	n := map[[2]int]int{}
	for a, b := range j.to {
		if b > a {
			n[[2]int{j.group(a), j.group(b)}]++
		}
	}
	return n
}

func (j *joints) circuits() (all []Circuit) {
	for a, b := range j.to {
		if b > a {
			all = append(all, Circuit{a + 1, b + 1})
		}
	}
	return all
}

// spread counts the connections of the groups in the pattern.
func (j *joints) spread(groups []int, pattern string) (s Spread) {
	have := j.between()
	for i, a := range groups {
		for k, b := range groups[i+1:] {
			n, next := have[[2]int{a, b}], k == 0 || i == 0 && k == len(groups)-2
			switch {
			case n > 0:
				if s.Pairs++; s.Pairs == 1 || n < s.Least {
					s.Least = n
				}
				s.Most = max(s.Most, n)
			case pattern != RingPattern || next:
				s.Apart = append(s.Apart, [2]int{a + 1, b + 1})
			}
		}
	}
	part := map[int]int{} // by group: the lowest-numbered group that it reaches
	for _, g := range groups {
		part[g] = g
	}
	for changed := true; changed; {
		changed = false
		for pair := range have {
			least := min(part[pair[0]], part[pair[1]])
			changed = changed || part[pair[0]] != least || part[pair[1]] != least
			part[pair[0]], part[pair[1]] = least, least
		}
	}
	for _, g := range groups {
		if part[g] == g {
			s.Parts++
		}
	}
	for p, to := range j.to {
		if to < 0 && slices.Contains(groups, j.group(p)) {
			s.Dark++
		}
	}
	return s
}

// even connects dark fibers of groups in turn. It takes the two groups with the fewest common circuits, of those
// the two with most dark fibers, of those the first.
func (j *joints) even(groups []int) {
	have, dark := j.between(), map[int]int{}
	for p, to := range j.to {
		if to < 0 {
			dark[j.group(p)]++
		}
	}
	rest := slices.DeleteFunc(slices.Clone(groups), func(g int) bool { return dark[g] == 0 })
	for least := 0; len(rest) > 1; {
		// Of most dark fibres first, in the order of groups: the first partner of a group is its best.
		slices.SortFunc(rest, func(a, b int) int { return cmp.Or(cmp.Compare(dark[b], dark[a]), cmp.Compare(a, b)) })
		best, most := pairOf(rest, dark, have, least)
		if most == 0 {
			least++
			continue
		}
		j.join(j.free(best[0]), j.free(best[1]))
		have[best]++
		for _, g := range best {
			if dark[g]--; dark[g] == 0 {
				rest = slices.DeleteFunc(rest, func(x int) bool { return x == g })
			}
		}
	}
}

// pairOf returns the pair of groups with a given number of common circuits that has most dark fibers, and that
// number; 0: no pair. rest lists the groups by their dark fibers, most first. Few groups are tried, because most
// pairs have equally many circuits.
func pairOf(rest []int, dark map[int]int, have map[[2]int]int, circuits int) (best [2]int, most int) {
	for i, a := range rest {
		if i+1 < len(rest) && dark[a]+dark[rest[i+1]] < most {
			break
		}
		for _, b := range rest[i+1:] {
			d, pair := dark[a]+dark[b], [2]int{min(a, b), max(a, b)}
			if d < most {
				break
			}
			if have[pair] != circuits {
				continue
			}
			if d > most || slices.Compare(pair[:], best[:]) < 0 {
				best, most = pair, d
			}
			break
		}
	}
	return best, most
}

// ring connects each group's second half of fibers to the next group's first half, while these are dark.
func (j *joints) ring(groups []int) {
	half := j.fibres / 2
	for i, a := range groups {
		b := groups[(i+1)%len(groups)]
		for k := range half {
			out, in := a*j.fibres+half+k, b*j.fibres+k
			if j.to[out] < 0 && j.to[in] < 0 {
				j.join(out, in)
			}
		}
	}
}

// Plan connects groups. When they grow or one fails, it changes as few circuits as possible.
func (in CircuitInput) Plan() (*Circuits, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	all := max(in.Groups, in.Grow)
	j := newJoints(all, in.Fibres)
	join := j.even
	if in.Pattern == RingPattern {
		join = j.ring
	}
	join(upTo(in.Groups))
	c := &Circuits{Before: j.circuits(), From: j.spread(upTo(in.Groups), in.Pattern), Ports: len(j.to)}
	if all == in.Groups && in.Without == 0 {
		c.Stay = len(c.Before)
		return c, nil
	}
	was := slices.Clone(j.to)
	left := upTo(all)
	switch {
	case in.Without > 0:
		left = slices.Delete(left, in.Without-1, in.Without)
		for p, to := range j.to {
			if to >= 0 && j.group(p) == in.Without-1 {
				j.to[p], j.to[to] = -1, -1
			}
		}
	case in.Pattern == RingPattern: // the new ones are on the path from the last group to the first
		for p := (in.Groups - 1) * in.Fibres; p < in.Groups*in.Fibres; p++ {
			if to := j.to[p]; to >= 0 && to < in.Fibres && p%in.Fibres >= in.Fibres/2 {
				j.to[p], j.to[to] = -1, -1
			}
		}
	default:
		for g := in.Groups; g < all; g++ {
			j.admit(g)
		}
	}
	join(left)
	c.After, c.To = j.circuits(), j.spread(left, in.Pattern)
	for a, b := range was {
		switch {
		case b > a && j.to[a] == b:
			c.Stay++
		case b > a:
			c.Dark++
		}
	}
	c.New, c.Free = len(c.After)-c.Stay, c.To.Dark
	if in.Without > 0 {
		c.Free += in.Fibres
	}
	return c, nil
}

// admit gives a new group circuits to the earlier groups. For each two fibers it disconnects one circuit of the two
// groups with most in common (of those the two with the fewest to the new one), and connects both ends to the new
// group.
func (j *joints) admit(g int) {
	have := j.between()
	for range j.fibres / 2 {
		pairs := make([][2]int, 0, len(have))
		for pair, n := range have {
			if n > 0 && pair[1] < g {
				pairs = append(pairs, pair)
			}
		}
		if len(pairs) == 0 {
			return
		}
		mine := func(p [2]int) int { return have[[2]int{p[0], g}] + have[[2]int{p[1], g}] }
		pair := slices.MinFunc(pairs, func(a, b [2]int) int {
			return cmp.Or(cmp.Compare(have[b], have[a]), cmp.Compare(mine(a), mine(b)), cmp.Compare(a[0], b[0]),
				cmp.Compare(a[1], b[1]))
		})
		for a := pair[0] * j.fibres; a < (pair[0]+1)*j.fibres; a++ {
			b := j.to[a]
			if b < 0 || j.group(b) != pair[1] {
				continue
			}
			j.to[a], j.to[b] = -1, -1
			j.join(a, j.free(g))
			j.join(b, j.free(g))
			break
		}
		have[pair]--
		have[[2]int{pair[0], g}]++
		have[[2]int{pair[1], g}]++
	}
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

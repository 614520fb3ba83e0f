package cabling

import (
	"fmt"
	"slices"
	"strings"

	"railyard/unit"
)

// Naming names the port of a number, from 1, in one language.
type Naming func(number int) string

// Finding is a difference between a design and the actual cabling.
type Finding struct {
	Kind   string `json:"kind"`             // one of the kinds below
	Design string `json:"design,omitempty"` // the cable in the design
	Cabled string `json:"cabled,omitempty"` // actual cable
	Place  string `json:"place,omitempty"`  // source line
}

func (f Finding) String() string {
	switch f.Kind {
	case "missing":
		return "missing: " + f.Design
	case "unexpected":
		return "unexpected: " + f.Cabled
	case "contradiction":
		return "contradiction: " + f.Cabled
	}
	return fmt.Sprintf("%s: %s; the design has %s", f.Kind, f.Cabled, f.Design)
}

// Kinds of findings, in the order of reports.
var kinds = []string{"contradiction", "swapped", "miscabled", "other-port", "rate", "missing", "unexpected"}

// Difference is the result of a comparison.
type Difference struct {
	Design   int       `json:"design_cables"`
	Cabled   int       `json:"cabled"`
	Same     int       `json:"same"`
	Ports    int       `json:"same_with_ports"` // cables of both lists whose ports are known and equal
	Findings []Finding `json:"findings"`
}

// diff is a comparison in progress. A cable is known by its number on either side.
type diff struct {
	d, c *Cabling
	node []int             // node of the design for each node of c; -1: none
	port map[endKey]string // port name in the design for each port of c; none if unknown
	used []bool            // matched cables of the design
	done []bool            // and likewise the actual cables
	out  *Difference
}

// Compare compares the actual cabling with a design. Ports are compared if the actual names can be mapped to the
// design's: by one of the naming schemes, or in order if the numbers are equal.
func Compare(design, cabled *Cabling, namings []Naming) *Difference {
	x := &diff{d: design, c: cabled, port: map[endKey]string{},
		used: make([]bool, len(design.Cables)), done: make([]bool, len(cabled.Cables)),
		out: &Difference{Design: len(design.Cables), Cabled: len(cabled.Cables), Findings: []Finding{}}}
	x.nodes()
	x.ports(namings)
	for _, k := range cabled.Conflicts {
		x.out.Findings = append(x.out.Findings, Finding{"contradiction", "", k.Text + ", by " +
			k.Other.String(), k.At.String()})
	}
	for _, exact := range []bool{true, false} {
		x.same(exact)
	}
	x.swaps()
	x.pairs("other-port", func(d, c Cable) bool { return x.joins(d, c) })
	x.pairs("miscabled", func(d, c Cable) bool { return x.shares(d, c) })
	x.rest()
	slices.SortStableFunc(x.out.Findings, func(a, b Finding) int {
		return slices.Index(kinds, a.Kind) - slices.Index(kinds, b.Kind)
	})
	return x.out
}

// nodes finds the design's nodes: by name, by name without domain, and in either case of letters unless two names
// differ only in that.
func (x *diff) nodes() {
	exact, fold := map[string]int{}, map[string]int{}
	for i, n := range x.d.Nodes {
		exact[n.Name] = i
		low := strings.ToLower(n.Name)
		if _, twice := fold[low]; twice {
			i = -1
		}
		fold[low] = i
	}
	find := func(name string) int {
		if k, ok := exact[name]; ok {
			return k
		}
		if k, ok := fold[strings.ToLower(name)]; ok {
			return k
		}
		return -1
	}
	x.node = make([]int, len(x.c.Nodes))
	for i, n := range x.c.Nodes {
		if x.node[i] = find(n.Name); x.node[i] < 0 {
			short, _, _ := strings.Cut(n.Name, ".")
			x.node[i] = find(short)
		}
	}
}

// ports determines how each device names its ports.
func (x *diff) ports(namings []Naming) {
	here, there := map[int][]string{}, map[int][]string{}
	gather := func(c *Cabling, into map[int][]string) {
		for _, k := range c.Cables {
			for _, e := range []End{k.A, k.B} {
				if e.Port != "" {
					into[e.Node] = append(into[e.Node], e.Port)
				}
			}
		}
	}
	gather(x.c, here)
	gather(x.d, there)
	for n := range x.c.Nodes {
		if x.node[n] < 0 || len(here[n]) == 0 {
			continue
		}
		mine := there[x.node[n]]
		best := map[string]string{}
		for _, name := range append([]Naming{nil}, namings...) {
			as := map[string]string{}
			for _, p := range mine {
				if name == nil {
					as[PortKey(p)] = p
				} else if k := trailing(p); k > 0 {
					as[PortKey(name(k))] = p
				}
			}
			hits := map[string]string{}
			for _, p := range here[n] {
				if d, ok := as[PortKey(p)]; ok {
					hits[p] = d
				}
			}
			if len(hits) > len(best) {
				best = hits
			}
		}
		if 2*len(best) < len(here[n]) && len(mine) == len(here[n]) {
			a, b := slices.Clone(here[n]), slices.Clone(mine)
			slices.SortFunc(a, naturally)
			slices.SortFunc(b, naturally)
			for i := range a {
				best[a[i]] = b[i]
			}
		}
		for _, p := range here[n] {
			if d, ok := best[p]; ok {
				x.port[endKey{n, p}] = d
			} else if len(best) > 0 {
				x.port[endKey{n, p}] = "not " + p // not a port of the design
			}
		}
	}
}

// trailing is the number that a port's name ends with.
func trailing(p string) (n int) {
	scale := 1
	for i := len(p) - 1; i >= 0 && p[i] >= '0' && p[i] <= '9' && scale <= 1_000_000; i-- {
		n += int(p[i]-'0') * scale
		scale *= 10
	}
	return n
}

// naturally compares names of ports with their last numbers as numbers.
func naturally(a, b string) int {
	if x, y := strings.TrimRight(a, "0123456789"), strings.TrimRight(b, "0123456789"); x != y {
		return strings.Compare(x, y)
	}
	return trailing(a) - trailing(b)
}

// as returns an actual end by the design's names; its port is "" if unknown.
func (x *diff) as(e End) End { return End{x.node[e.Node], x.port[endKey{e.Node, e.Port}]} }

// is reports whether an actual end may be the design's.
func is(c, d End) bool { return c.Node == d.Node && (c.Port == "" || c.Port == d.Port) }

// same removes correct cables: with both ports, then with the known part.
func (x *diff) same(exact bool) {
	between := map[[2]int][]int{}
	for i, k := range x.d.Cables {
		if !x.used[i] {
			between[nodesOf(k.A.Node, k.B.Node)] = append(between[nodesOf(k.A.Node, k.B.Node)], i)
		}
	}
	for i, k := range x.c.Cables {
		a, b := x.as(k.A), x.as(k.B)
		if x.done[i] || a.Node < 0 || b.Node < 0 || exact && (a.Port == "" || b.Port == "") {
			continue
		}
		for _, j := range between[nodesOf(a.Node, b.Node)] {
			d := x.d.Cables[j]
			if !x.used[j] && (is(a, d.A) && is(b, d.B) || is(a, d.B) && is(b, d.A)) {
				x.match(j, i)
				if x.out.Same++; exact {
					x.out.Ports++
				}
				if k.Rate != 0 && d.Rate != 0 && k.Rate != d.Rate {
					x.tell("rate", fmt.Sprintf("%s does %v", x.cabled(i), k.Rate), d.Rate.String(), i)
				}
				break
			}
		}
	}
}

func nodesOf(a, b int) [2]int { return [2]int{min(a, b), max(a, b)} }

func (x *diff) match(d, c int) { x.used[d], x.done[c] = true, true }

func (x *diff) tell(kind, cabled, design string, c int) {
	f := Finding{Kind: kind, Design: design, Cabled: cabled}
	if c >= 0 {
		f.Place = x.c.Cables[c].At.String()
	}
	x.out.Findings = append(x.out.Findings, f)
}

func (x *diff) cabled(i int) string {
	k := x.c.Cables[i]
	return x.c.End(k.A) + " to " + x.c.End(k.B)
}

func (x *diff) designed(i int) string {
	k := x.d.Cables[i]
	return x.d.End(k.A) + " to " + x.d.End(k.B)
}

// joins reports whether both cables are between the same nodes.
func (x *diff) joins(d, c Cable) bool {
	a, b := x.node[c.A.Node], x.node[c.B.Node]
	return a >= 0 && b >= 0 && nodesOf(a, b) == nodesOf(d.A.Node, d.B.Node)
}

// shares reports whether both have one end in common.
func (x *diff) shares(d, c Cable) bool {
	return slices.ContainsFunc([]End{x.as(c.A), x.as(c.B)}, func(e End) bool {
		return e.Node >= 0 && e.Port != "" && (e == d.A || e == d.B)
	})
}

// pairs matches the remaining cables on both sides, one finding per pair.
func (x *diff) pairs(kind string, fits func(d, c Cable) bool) {
	near := x.left()
	for i, k := range x.c.Cables {
		if x.done[i] {
			continue
		}
		for _, e := range []End{k.A, k.B} {
			for _, j := range near[x.node[e.Node]] {
				if !x.used[j] && !x.done[i] && fits(x.d.Cables[j], k) {
					x.match(j, i)
					x.tell(kind, x.cabled(i), x.designed(j), i)
				}
			}
		}
	}
}

// left returns the design's unmatched cables, by node.
func (x *diff) left() map[int][]int {
	out := map[int][]int{}
	for j, d := range x.d.Cables {
		if !x.used[j] {
			out[d.A.Node], out[d.B.Node] = append(out[d.A.Node], j), append(out[d.B.Node], j)
		}
	}
	return out
}

// swaps finds two cables with exchanged ends: a connects to d and c to b, while the design has a to b and c to d.
func (x *diff) swaps() {
	near := x.left()
	cabled := map[[2]int][]int{}
	for i, k := range x.c.Cables {
		if a, b := x.node[k.A.Node], x.node[k.B.Node]; !x.done[i] && a >= 0 && b >= 0 {
			cabled[nodesOf(a, b)] = append(cabled[nodesOf(a, b)], i)
		}
	}
	for i, k := range x.c.Cables {
		a, b := x.as(k.A), x.as(k.B)
		if x.done[i] || a.Node < 0 || b.Node < 0 {
			continue
		}
		x.swap(i, a, b, near, cabled)
	}
}

// swap looks for the other cable of an exchange.
func (x *diff) swap(i int, a, b End, near map[int][]int, cabled map[[2]int][]int) {
	for _, j := range near[a.Node] {
		d := x.d.Cables[j]
		if x.used[j] || !is(a, d.A) && !is(a, d.B) {
			continue
		}
		for _, l := range near[b.Node] {
			e := x.d.Cables[l]
			if x.used[l] || l == j || !is(b, e.A) && !is(b, e.B) {
				continue
			}
			p, q := other(d, a), other(e, b)
			for _, m := range cabled[nodesOf(p.Node, q.Node)] {
				u, v := x.as(x.c.Cables[m].A), x.as(x.c.Cables[m].B)
				if x.done[m] || m == i || !(is(u, p) && is(v, q) || is(u, q) && is(v, p)) {
					continue
				}
				x.match(j, i)
				x.match(l, m)
				x.tell("swapped", x.cabled(i)+" and "+x.cabled(m), x.designed(j)+" and "+x.designed(l), i)
				return
			}
		}
	}
}

// other returns a cable's other end.
func other(k Cable, e End) End {
	if is(e, k.A) {
		return k.B
	}
	return k.A
}

// rest reports the cables of only one side. Cables of a device without a file are one finding.
func (x *diff) rest() {
	seen := map[int]bool{}
	for _, n := range x.node {
		seen[n] = true
	}
	absent := map[int]int{}
	for j, d := range x.d.Cables {
		switch {
		case x.used[j]:
		case !seen[d.A.Node]:
			absent[d.A.Node]++
		case !seen[d.B.Node]:
			absent[d.B.Node]++
		default:
			x.tell("missing", "", x.designed(j), -1)
		}
	}
	for n := range x.d.Nodes {
		if absent[n] > 0 {
			x.tell("missing", "", fmt.Sprintf("%s is in no file: all of its %s that are left",
				x.d.Nodes[n].Name, unit.Plural(absent[n], "cable")), -1)
		}
	}
	for i, k := range x.c.Cables {
		if x.done[i] {
			continue
		}
		text := x.cabled(i)
		for _, e := range []End{k.A, k.B} {
			if x.node[e.Node] < 0 {
				text += "; " + x.c.Nodes[e.Node].Name + " is not in the design"
			}
		}
		x.tell("unexpected", text, "", i)
	}
}

// Package cabling reads cabling from common file formats: containerlab, lists of cables, LLDP neighbour tables,
// inventories, the topologies of other simulators. Each format is a file of this package and an entry of its
// registry (registry.go); all produce a Cabling. Two cablings can be compared (compare.go), such as a design with
// the actual cabling.
package cabling

import (
	"fmt"
	"sort"
	"strings"

	"railyard/internal/field"
	"railyard/internal/topo"
	"railyard/unit"
)

// Kind is the kind of a node.
type Kind uint8

// Kinds; most sources do not contain them.
const (
	Unknown Kind = iota
	Server
	Switch
)

func (k Kind) String() string { return [...]string{"node of unknown kind", "server", "switch"}[k] }

// Place is a file and a line.
type Place struct {
	File      string
	Line, Col int
}

func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Node is a server or a switch.
type Node struct {
	Name  string
	Kind  Kind
	Role  string // rail, leaf, aggregation, spine, super-spine or core, if the source has it
	Model string // model as the source writes it
	GPUs  int    // -1 if unknown
	At    Place
}

// End is one end of a cable.
type End struct {
	Node int
	Port string // port as written, "" if the source has no ports
}

// Cable connects two nodes. Unknown values are 0.
type Cable struct {
	A, B     End
	Rate     unit.Rate
	LengthMM int64
	At       Place

	guess bool // the far port is unknown: the neighbour announced a MAC address or a description
	both  bool // reported by both ends
}

// Note is a fact that did not fit, and its number of occurrences.
type Note struct {
	At    Place // the first time
	Text  string
	Count int
}

// Conflict is two statements about one port that cannot both be true.
type Conflict struct {
	At, Other Place
	Text      string
}

// Cabling is the nodes and cables that files list.
type Cabling struct {
	Formats   []string // formats of the files, each once
	Nodes     []Node
	Cables    []Cable
	Notes     []Note
	Conflicts []Conflict
	GPU       string // GPU of all servers, if the source has it
	byName    map[string]int
}

// Node is the index of a name, -1 for none.
func (c *Cabling) Node(name string) int {
	if i, ok := c.byName[name]; ok {
		return i
	}
	return -1
}

// End returns the name of an end: leaf-1:Eth3.
func (c *Cabling) End(e End) string {
	if e.Port == "" {
		return c.Nodes[e.Node].Name
	}
	return c.Nodes[e.Node].Name + ":" + e.Port
}

// Err is the conflicts as errors with both places.
func (c *Cabling) Err() error {
	var l field.List
	for _, x := range c.Conflicts {
		l = append(l, x.At.fail("%s, which contradicts %s", x.Text, x.Other))
	}
	return l.Err()
}

func (p Place) fail(format string, args ...any) *field.Error {
	return &field.Error{File: p.File, Line: p.Line, Col: p.Col, Msg: fmt.Sprintf(format, args...)}
}

// Of is the cabling of a graph.
func Of(g *topo.Graph) *Cabling {
	c := &Cabling{byName: map[string]int{}}
	for i, n := range g.Nodes {
		k := Switch
		if n.Role == topo.Host {
			k = Server
		}
		c.byName[n.Name] = i
		c.Nodes = append(c.Nodes, Node{Name: n.Name, Kind: k, Role: n.Role.String(), GPUs: -1})
	}
	for _, l := range g.Links {
		c.Cables = append(c.Cables, Cable{A: End{l.A, l.APort}, B: End{l.B, l.BPort}, Rate: l.Rate,
			LengthMM: l.LengthMM})
	}
	return c
}

// Bundle is all cables of one kind between two nodes.
type Bundle struct {
	A, B     string // nodes by name, the smaller first
	Rate     unit.Rate
	LengthMM int64
}

func (b Bundle) String() string {
	s := b.A + " to " + b.B
	if b.Rate > 0 {
		s += fmt.Sprintf(" at %v", b.Rate)
	}
	if b.LengthMM > 0 {
		s += fmt.Sprintf(" over %gm", float64(b.LengthMM)/1000)
	}
	return s
}

// Bundles counts cables by their ends and properties, without port names. Rates and lengths are included only on
// request, because not every source has them.
func (c *Cabling) Bundles(rates, lengths bool) map[Bundle]int {
	out := map[Bundle]int{}
	for i := range c.Cables {
		x := &c.Cables[i]
		b := Bundle{A: c.Nodes[x.A.Node].Name, B: c.Nodes[x.B.Node].Name}
		if b.A > b.B {
			b.A, b.B = b.B, b.A
		}
		if rates {
			b.Rate = x.Rate
		}
		if lengths {
			b.LengthMM = x.LengthMM
		}
		out[b]++
	}
	return out
}

// Same describes the difference of two cablings as graphs, in a few words, "" if they are equal.
func Same(a, b *Cabling, rates, lengths bool) string {
	if len(a.Nodes) != len(b.Nodes) {
		return fmt.Sprintf("%s and %d", unit.Plural(len(a.Nodes), "node"), len(b.Nodes))
	}
	for _, n := range a.Nodes {
		i := b.Node(n.Name)
		if i < 0 {
			return fmt.Sprintf("%s is in one only", n.Name)
		}
		if k := b.Nodes[i].Kind; k != n.Kind {
			return fmt.Sprintf("%s is a %v and a %v", n.Name, n.Kind, k)
		}
	}
	if len(a.Cables) != len(b.Cables) {
		return fmt.Sprintf("%s and %d", unit.Plural(len(a.Cables), "cable"), len(b.Cables))
	}
	x, y := a.Bundles(rates, lengths), b.Bundles(rates, lengths)
	var wrong []string
	for k, n := range x {
		if y[k] != n {
			wrong = append(wrong, fmt.Sprintf("%v: %d and %d", k, n, y[k]))
		}
	}
	if len(wrong) == 0 {
		return ""
	}
	sort.Strings(wrong)
	return strings.Join(wrong[:min(3, len(wrong))], "; ")
}

// New is a cabling of nodes and cables.
func New(nodes []Node, cables []Cable) *Cabling {
	c := &Cabling{Nodes: nodes, Cables: cables, byName: map[string]int{}}
	for i, n := range nodes {
		c.byName[n.Name] = i
	}
	return c
}

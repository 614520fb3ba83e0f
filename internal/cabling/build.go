package cabling

import (
	"fmt"
	"regexp"
	"strings"

	"railyard/internal/topo"
	"railyard/unit"
)

// builder collects the contents of several files.
type builder struct {
	c          *Cabling
	file       string // which is read
	ends       map[endKey]int
	open       map[[2]int][]int // from, to: one-sided cables whose far port is unknown
	notes      map[string]int
	rates      map[endKey]unit.Rate // rates of ports, by inventories
	own        map[string]bool      // devices with their own output
	claims     []claim              // of neighbour tables
	management bool                 // management networks are cabling too
}

// endKey is a port of a node.
type endKey struct {
	node int
	port string
}

func newBuilder() *builder {
	return &builder{c: &Cabling{byName: map[string]int{}}, ends: map[endKey]int{}, open: map[[2]int][]int{},
		notes: map[string]int{}, rates: map[endKey]unit.Rate{}, own: map[string]bool{}}
}

func (b *builder) at(line, col int) Place { return Place{b.file, line, col} }

// note records unsupported input; equal words count once.
func (b *builder) note(at Place, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if i, ok := b.notes[text]; ok {
		b.c.Notes[i].Count++
		return
	}
	if len(b.c.Notes) < 1000 {
		b.notes[text] = len(b.c.Notes)
		b.c.Notes = append(b.c.Notes, Note{at, text, 1})
	}
}

// node returns a node; a new name creates one. Read recovers if there are too many.
func (b *builder) node(at Place, name string) int {
	if i, ok := b.c.byName[name]; ok {
		return i
	}
	if len(b.c.Nodes) >= topo.MaxNodes {
		panic(at.fail("more than %d nodes: packet fidelity takes no more", topo.MaxNodes))
	}
	b.c.byName[name] = len(b.c.Nodes)
	b.c.Nodes = append(b.c.Nodes, Node{Name: name, GPUs: -1, At: at})
	return len(b.c.Nodes) - 1
}

// is sets the kind of a node; the first source with a kind wins.
func (b *builder) is(node int, k Kind, role string) {
	n := &b.c.Nodes[node]
	if n.Kind == Unknown {
		n.Kind = k
	}
	if n.Role == "" {
		n.Role = role
	}
}

// cable adds a cable, unless one of its ports already has one. In that case both are one cable reported by its two
// ends, or they contradict each other.
func (b *builder) cable(x Cable) {
	if x.A.Node == x.B.Node {
		b.note(x.At, "%s is cabled to itself: left out", b.c.Nodes[x.A.Node].Name)
		return
	}
	ka, kb := endKey{x.A.Node, PortKey(x.A.Port)}, endKey{x.B.Node, PortKey(x.B.Port)}
	ia, knownA := b.find(ka)
	ib, knownB := b.find(kb)
	switch {
	case knownA && knownB && ia == ib:
		b.again(ia, x)
	case knownA && b.fits(ia, x):
		b.again(ia, x)
		b.register(kb, ia)
	case knownB && b.fits(ib, x):
		b.again(ib, x)
		b.register(ka, ib)
	case knownA:
		b.conflict(x, x.A, ia)
	case knownB:
		b.conflict(x, x.B, ib)
	default:
		if i, ok := b.half(x); ok {
			b.again(i, x)
			b.register(ka, i)
			return
		}
		if len(b.c.Cables) >= topo.MaxLinks {
			panic(x.At.fail("more than %d cables: packet fidelity takes no more", topo.MaxLinks))
		}
		b.c.Cables = append(b.c.Cables, x)
		i := len(b.c.Cables) - 1
		b.register(ka, i)
		b.register(kb, i)
		if x.guess {
			k := [2]int{x.A.Node, x.B.Node}
			b.open[k] = append(b.open[k], i)
		}
	}
}

// find returns the cable of a port; a node without port names has none.
func (b *builder) find(k endKey) (int, bool) {
	if k.port == "" {
		return 0, false
	}
	i, ok := b.ends[k]
	return i, ok
}

func (b *builder) register(k endKey, cable int) {
	if k.port != "" {
		b.ends[k] = cable
	}
}

// fits reports whether an entry describes a cable with one end at the same port, if one side does not know the
// other port.
func (b *builder) fits(i int, x Cable) bool {
	old := b.c.Cables[i]
	same := old.A.Node == x.A.Node && old.B.Node == x.B.Node || old.A.Node == x.B.Node && old.B.Node == x.A.Node
	return same && (old.guess || x.guess)
}

// half finds a one-sided cable in the other direction whose far port is unknown, because a neighbour announces a
// MAC address instead of its port's name.
func (b *builder) half(x Cable) (int, bool) {
	k := [2]int{x.B.Node, x.A.Node}
	if !x.guess || len(b.open[k]) == 0 {
		return 0, false
	}
	i := b.open[k][0]
	b.open[k] = b.open[k][1:]
	return i, true
}

// again adds a second entry's data to a cable.
func (b *builder) again(i int, x Cable) {
	old := &b.c.Cables[i]
	if old.A.Node == x.B.Node {
		x.A, x.B = x.B, x.A
	}
	if old.B.Port == "" || old.guess && x.B.Port != "" {
		old.B.Port = x.B.Port
	}
	if old.A.Port == "" {
		old.A.Port = x.A.Port
	}
	if old.Rate != 0 && x.Rate != 0 && old.Rate != x.Rate {
		b.c.Conflicts = append(b.c.Conflicts, Conflict{x.At, old.At, fmt.Sprintf("the cable from %s to %s does %v",
			b.c.End(x.A), b.c.End(x.B), x.Rate)})
	}
	if old.Rate == 0 {
		old.Rate = x.Rate
	}
	if old.LengthMM == 0 {
		old.LengthMM = x.LengthMM
	}
	old.both, old.guess = true, false
}

// conflict keeps that a port has two cables.
func (b *builder) conflict(x Cable, end End, old int) {
	o := b.c.Cables[old]
	far := x.B
	if end == x.B {
		far = x.A
	}
	was := o.B
	if o.B.Node == end.Node && PortKey(o.B.Port) == PortKey(end.Port) {
		was = o.A
	}
	b.c.Conflicts = append(b.c.Conflicts, Conflict{x.At, o.At, fmt.Sprintf("%s is cabled to %s here, and to %s",
		b.c.End(end), b.c.End(far), b.c.End(was))})
}

var portHead = regexp.MustCompile(`^([a-z]+)[ -]?(\d.*)$`)

// PortKey is the canonical form of a port's name: Eth1/3, Et1/3 and Ethernet1/3 are one.
func PortKey(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	m := portHead.FindStringSubmatch(s)
	if m == nil {
		return s
	}
	if m[1] == "et" || m[1] == "ethernet" {
		m[1] = "eth"
	}
	return m[1] + m[2]
}

// finish combines the files' data about ports and devices.
func (b *builder) finish() *Cabling {
	for i := range b.c.Cables {
		x := &b.c.Cables[i]
		for _, e := range []End{x.A, x.B} {
			if r := b.rates[endKey{e.Node, PortKey(e.Port)}]; r != 0 && (x.Rate == 0 || r < x.Rate) {
				x.Rate = r
			}
		}
	}
	return b.c
}

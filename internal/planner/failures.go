package planner

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"railyard/internal/topo"
	"railyard/internal/workload"
)

// FailureKinds are the kinds of elements that can fail alone.
var FailureKinds = []string{"link", "switch", "card", "nic", "server", "nvswitch", "pcie"}

// Element is a component of a fabric that can fail, named as in a scenario's events.
type Element struct {
	Kind  string
	Name  string   // a cable's port, a switch, a NIC, a server
	Ports []string // ports of a line card
	Tier  string   // its tier: leaf–spine, spine, host
	Class int      // elements of one class are equivalent: see Alike
}

// String names an element in a table.
func (e *Element) String() string {
	if e.Kind == "card" {
		return fmt.Sprintf("%s %s to %s", e.Name, e.Ports[0], e.Ports[len(e.Ports)-1])
	}
	return e.Name
}

// Elements lists the components that can fail, by kind, with line cards of the given ports. If NICs are listed,
// links of NICs with one link are not, because such a link fails with its NIC (Single counts these links).
func Elements(g *topo.Graph, alike *Alike, kinds []string, card int) (all []Element) {
	classes := map[string]int{}
	add := func(e Element, what ...any) {
		key := fmt.Sprint(e.Kind, e.Tier, what)
		if _, known := classes[key]; !known {
			classes[key] = len(classes)
		}
		e.Class = classes[key]
		all = append(all, e)
	}
	if slices.Contains(kinds, "link") {
		without := map[int]bool{}
		if slices.Contains(kinds, "nic") {
			without = Single(g)
		}
		links(g, alike, without, add)
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Role == topo.Host {
			continue
		}
		if slices.Contains(kinds, "switch") {
			add(Element{Kind: "switch", Name: n.Name, Tier: n.Role.String()}, alike.nodes[i])
		}
		if slices.Contains(kinds, "card") && card > 0 {
			cards(g, alike, i, card, add)
		}
	}
	if slices.Contains(kinds, "nic") {
		for i := range g.NICs {
			add(Element{Kind: "nic", Name: g.NICName(i), Tier: "host"}, alike.nics[i])
		}
	}
	if slices.Contains(kinds, "server") {
		for _, h := range g.Hosts {
			add(Element{Kind: "server", Name: g.Nodes[h].Name, Tier: "host"}, alike.nodes[h])
		}
	}
	slices.SortStableFunc(all, func(a, b Element) int {
		return cmp.Compare(slices.Index(FailureKinds, a.Kind), slices.Index(FailureKinds, b.Kind))
	})
	return all
}

// Within is the elements inside a server, or inside servers that share NVLink: how many, and the name and the
// weight of each. Elements of one kind and weight are equivalent if their servers are.
type Within struct {
	Host   int // the first server
	Count  int
	Name   func(number int) string
	Weight func(number int) int
}

// Inside lists elements inside servers of a kind, after the classes of others.
func Inside(g *topo.Graph, alike *Alike, kind string, classes int, servers []Within) (all []Element) {
	of := map[string]int{}
	for _, s := range servers {
		for i := range s.Count {
			key := fmt.Sprint(alike.nodes[g.Hosts[s.Host]], s.Weight(i))
			if _, known := of[key]; !known {
				of[key] = classes + len(of)
			}
			all = append(all, Element{Kind: kind, Name: s.Name(i), Tier: "host", Class: of[key]})
		}
	}
	return all
}

// Single returns the links that are the only one of a NIC.
func Single(g *topo.Graph) map[int]bool {
	single := map[int]bool{}
	for i := range g.NICs {
		if n := &g.NICs[i]; len(n.Links) == 1 {
			single[n.Links[0]] = true
		}
	}
	return single
}

// links lists the cables, without some.
func links(g *topo.Graph, alike *Alike, without map[int]bool, add func(Element, ...any)) {
	for i := range g.Links {
		l := &g.Links[i]
		low, high := l.A, l.B
		if g.Nodes[low].Tier > g.Nodes[high].Tier {
			low, high = high, low
		}
		if without[i] {
			continue
		}
		a, b := alike.nodes[low], alike.nodes[high]
		if g.Nodes[low].Role == topo.Host {
			a = alike.nics[alike.nicOf[i]]
		} else if g.Nodes[low].Tier == g.Nodes[high].Tier && a > b {
			a, b = b, a
		}
		add(Element{Kind: "link", Name: g.End(i, high),
			Tier: g.Nodes[low].Role.String() + "–" + g.Nodes[high].Role.String()}, a, b, alike.cables[i])
	}
}

// cards lists a switch's line cards: its connected ports in their order, in groups of the given size.
func cards(g *topo.Graph, alike *Alike, node, size int, add func(Element, ...any)) {
	var of []int
	for i, l := range g.Links {
		if l.A == node || l.B == node {
			of = append(of, i)
		}
	}
	slices.SortStableFunc(of, func(a, b int) int { return cmp.Compare(g.Jack(a, node).Port, g.Jack(b, node).Port) })
	for card := range slices.Chunk(of, size) {
		e := Element{Kind: "card", Name: g.Nodes[node].Name, Tier: g.Nodes[node].Role.String()}
		var far []uint64
		for _, l := range card {
			name := g.End(l, node)
			e.Ports = append(e.Ports, name[len(e.Name)+1:])
			far = append(far, alike.nodes[g.Links[l].A]^alike.nodes[g.Links[l].B]^alike.cables[l])
		}
		slices.Sort(far)
		add(e, alike.nodes[node], far)
	}
}

// Alike partitions a fabric under a workload into equivalent parts by colour refinement. Parts with different
// links, neighbours or GPU work get different colours, so one part of a colour represents all. How flows hash is
// not looked at: it differs between any two.
type Alike struct {
	nodes, nics, gpus []uint64 // colours
	cables            []uint64
	nicOf             map[int]int // by link of a server: the NIC
}

// maxRounds is the number of refinements: the largest distance in any supported fabric.
const maxRounds = 64

// NewAlike compares the parts of a fabric under a workload, whose ranks are GPUs; nil: under none.
func NewAlike(g *topo.Graph, d *workload.DAG) *Alike {
	n, nics, gpus := len(g.Nodes), len(g.NICs), g.TotalGPUs()
	a := &Alike{cables: make([]uint64, len(g.Links)), nicOf: map[int]int{}}
	colour := make([]uint64, n+nics+gpus)
	for i := range g.Nodes {
		x := &g.Nodes[i]
		colour[i] = topo.Mix(1, uint64(x.Role), uint64(x.Tier), uint64(x.Buffer), uint64(x.Pipeline))
	}
	var edges []topo.Edge
	both := func(a, b int, label uint64) {
		edges = append(edges, topo.Edge{From: int32(a), To: int32(b), Label: label},
			topo.Edge{From: int32(b), To: int32(a), Label: label})
	}
	for i := range g.Links {
		l := &g.Links[i]
		a.cables[i] = topo.Mix(2, uint64(l.Rate), uint64(l.Propagation()), math.Float64bits(l.BER))
		both(l.A, l.B, a.cables[i])
	}
	for i := range g.NICs {
		nic := &g.NICs[i]
		colour[n+i] = 3
		both(n+i, g.Hosts[nic.Host], 4)
		for _, l := range nic.Links {
			a.nicOf[l] = i
			both(n+i, g.Links[l].A+g.Links[l].B-g.Hosts[nic.Host], a.cables[l])
		}
	}
	for gpu := range gpus {
		both(n+nics+gpu, g.Hosts[g.HostOf(gpu)], 5)
		for way := range g.Ways(gpu) {
			both(n+nics+gpu, n+g.WayOf(gpu, way), 6)
		}
	}
	edges = append(edges, a.traffic(d, colour[n+nics:], n+nics)...)
	topo.Refine(colour, edges, maxRounds)
	a.nodes, a.nics, a.gpus = colour[:n], colour[n:n+nics], colour[n+nics:]
	return a
}

// traffic colours GPUs by their work and returns the receivers of each.
func (a *Alike) traffic(d *workload.DAG, colour []uint64, base int) (edges []topo.Edge) {
	for i := range colour {
		colour[i] = 7
	}
	if d == nil {
		return nil
	}
	type pair struct{ from, to int32 }
	type load struct{ bytes, count uint64 }
	sent := map[pair]*load{}
	var order []pair
	for i := range d.Ops {
		o := &d.Ops[i]
		if o.Compute() {
			colour[o.Rank] += topo.Mix(8, uint64(o.Dur), uint64(o.Class))
			continue
		}
		p := pair{o.Rank, o.Peer}
		if sent[p] == nil {
			sent[p] = &load{}
			order = append(order, p)
		}
		sent[p].bytes += uint64(o.Bytes)
		sent[p].count++
	}
	for _, p := range order {
		l := sent[p]
		from, to := int32(base)+p.from, int32(base)+p.to
		edges = append(edges, topo.Edge{From: from, To: to, Label: topo.Mix(9, l.bytes, l.count)},
			topo.Edge{From: to, To: from, Label: topo.Mix(10, l.bytes, l.count)})
	}
	return edges
}

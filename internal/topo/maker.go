package topo

import (
	"fmt"
	"slices"

	"railyard/internal/panel"
	"railyard/unit"
)

// Maker builds a graph of servers that may differ from one another.
type Maker struct{ g *Graph }

// NewMaker starts a graph.
func NewMaker(kind string) *Maker { return &Maker{newGraph(kind)} }

// Switch adds a switch and returns its node.
func (m *Maker) Switch(name string, r Role, tier int) (node int, err error) {
	if err := m.fresh(name); err != nil {
		return 0, err
	}
	defer bounded(&err)
	return m.g.AddNode(name, r, tier), nil
}

// Server adds a server with GPUs and NICs, and returns its node and its first NIC. A NIC's rail is its position in the
// server unless Cable sets another.
func (m *Maker) Server(name string, gpus, nics int) (node, first int, err error) {
	if err := m.fresh(name); err != nil {
		return 0, 0, err
	}
	defer bounded(&err)
	g := m.g
	if len(g.gpuHost)+gpus > MaxGPUs {
		return 0, 0, fmt.Errorf("more than the %d GPUs that packet fidelity takes", MaxGPUs)
	}
	node, first = g.AddNode(name, Host, 0), len(g.NICs)
	for i := range nics {
		g.NICs = append(g.NICs, NIC{Host: len(g.Hosts) - 1, Index: i, Rail: i})
	}
	g.deal(gpus, nics)
	if g.cards != nil {
		g.cards = append(g.cards, make([][]int, gpus)...)
	}
	return node, first, nil
}

// MoreNICs gives the last added server NICs that its GPUs do not use by default: storage NICs.
func (m *Maker) MoreNICs(n int) {
	g := m.g
	for range n {
		last := &g.NICs[len(g.NICs)-1]
		g.NICs = append(g.NICs, NIC{Host: last.Host, Index: last.Index + 1, Rail: last.Index + 1})
	}
}

// Stand sets the location of a node.
func (m *Maker) Stand(node int, s Stand) {
	for len(m.g.Stands) <= node {
		m.g.Stands = append(m.g.Stands, Stand{})
	}
	m.g.Stands[node] = s
}

// Uses sets the NICs of the last added server's GPUs: by GPU, the positions of the NICs that it uses in turn.
func (m *Maker) Uses(nics [][]int) error {
	g := m.g
	host := len(g.firstGPU) - 2
	first, last := g.GPUsOf(host)
	if g.cards == nil {
		g.cards = make([][]int, last)
	}
	begin := len(g.NICs)
	for begin > 0 && g.NICs[begin-1].Host == host {
		begin--
	}
	if len(nics) != last-first {
		return fmt.Errorf("%[2]d NICs of the server, and %[1]s set", unit.Plural(len(nics), "GPU"), last-first)
	}
	for i, uses := range nics {
		if len(uses) == 0 {
			return fmt.Errorf("GPU %d has no NIC", i+1)
		}
		g.cards[first+i] = nil
		for _, n := range uses {
			if n < 0 || begin+n >= len(g.NICs) {
				return fmt.Errorf("GPU %d has NIC %d of %d", i+1, n+1, len(g.NICs)-begin)
			}
			g.cards[first+i] = append(g.cards[first+i], begin+n)
		}
		g.NICOf[first+i] = g.cards[first+i][0]
	}
	return nil
}

func (m *Maker) fresh(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if m.g.Node(name) >= 0 {
		return fmt.Errorf("%q is repeated", name)
	}
	return nil
}

// Cable runs a cable between two nodes.
func (m *Maker) Cable(a, b int, c Cable) (link int, err error) {
	defer bounded(&err)
	return m.g.Connect(a, b, c), nil
}

// Plug sets the ports at both ends of the last added link. A switch names its ports as its system does. A switch
// without a known system numbers its cables unless its ports are listed.
func (m *Maker) Plug(jacks [2]panel.Jack, listed [2]bool) {
	l := &m.g.Links[len(m.g.Links)-1]
	l.AJack, l.BJack = jacks[0], jacks[1]
	for i, e := range []struct {
		node int
		name *string
	}{{l.A, &l.APort}, {l.B, &l.BPort}} {
		switch p := m.g.Nodes[e.node].Panel; {
		case p != nil && p.System != "":
			*e.name = p.Own(jacks[i])
		case listed[i]:
			*e.name = p.Name("", jacks[i])
		}
	}
}

// Panel sets a switch's ports.
func (m *Maker) Panel(node int, p *panel.Panel) { m.g.Nodes[node].Panel = p }

// CableNIC runs a cable from a NIC's port, both from 0, to a switch; rail is the NIC's rail, unchanged if below 0.
// A NIC's ports are cabled in order.
func (m *Maker) CableNIC(nic, port, ports, to, rail int, c Cable) (err error) {
	defer bounded(&err)
	n := &m.g.NICs[nic]
	l := m.g.Connect(m.g.Hosts[n.Host], to, c)
	m.g.Links[l].APort = fmt.Sprintf("nic%d", n.Index+1)
	if ports > 1 {
		m.g.Links[l].APort += fmt.Sprintf("p%d", port+1)
	}
	n.Links = append(n.Links, l)
	if rail >= 0 {
		n.Rail = rail
	}
	return nil
}

// Graph returns the built graph.
func (m *Maker) Graph() (*Graph, error) {
	switch g := m.g; {
	case len(g.Hosts) == 0:
		return nil, fmt.Errorf("the fabric has no servers")
	case len(g.gpuHost) == 0:
		return nil, fmt.Errorf("no server has a GPU")
	}
	return m.g, nil
}

// KindRates returns the nominal rate of each link: that of most links between nodes of the same two groups, or roles
// if nodes have no groups, if it is higher than the link's. Of two rates as frequent it is the lower one, since half
// of the links are no exception, unless there is one link of each. Links faster than most have their own rate. NICs of
// storage servers, and those for storage alone, are groups of their own.
func (g *Graph) KindRates() []unit.Rate {
	type kind struct {
		a, b string
		of   int // NIC for storage alone, in a GPU server 1 and in a storage server 2
	}
	stored := map[*Link]int{}
	if s := g.stores; s != nil {
		for of, nics := range [][][]int{s.front, s.nics} {
			for _, nic := range slices.Concat(nics...) {
				for _, l := range g.NICs[nic].Links {
					stored[&g.Links[l]] = 1 + of
				}
			}
		}
	}
	of := func(l *Link) kind {
		name := func(node int) string {
			if g.Stands != nil {
				return g.Stands[node].Group
			}
			return g.Nodes[node].Role.String()
		}
		a, b := name(l.A), name(l.B)
		return kind{min(a, b), max(a, b), stored[l]}
	}
	type rated struct {
		kind
		rate unit.Rate
	}
	count, most := map[rated]int{}, map[kind]unit.Rate{}
	for i := range g.Links {
		count[rated{of(&g.Links[i]), g.Links[i].Rate}]++
	}
	for x, n := range count {
		if m := count[rated{x.kind, most[x.kind]}]; n > m || n == m && (x.rate < most[x.kind]) == (n > 1) {
			most[x.kind] = x.rate
		}
	}
	rates := make([]unit.Rate, len(g.Links))
	for i := range g.Links {
		rates[i] = max(g.Links[i].Rate, most[of(&g.Links[i])])
	}
	return rates
}

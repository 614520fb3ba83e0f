package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/topo"
)

// thing is the target of an event: its links and the component that they form.
type thing struct {
	kind  string // link, switch, card, nic, server, circuit, ocs, mirrors, cube, nvswitch, pcie
	name  string
	cards string // ports of a card, or the two ports of a circuit
	group string // group names the circuits on several OCSes that switch at the same time
	node  int    // a switch, or the server that it is in
	nic   int    // -1: no NIC
	ports []int  // ports of a card whose ports are separate NICs
	chip  int    // index of an NVSwitch in its domain
	gpus  [2]int // first GPU of a PCIe switch, and the GPU after its last one
	links []int
	near  []int // by link: the node at the affected end
}

// key returns a string that is unique among the targets of a scenario.
func (t *thing) key() string { return t.kind + " " + t.name + " " + t.cards }

// String returns a target's name in notes: a link by its port.
func (t *thing) String() string {
	switch t.kind {
	case "link":
		return t.name
	case "card":
		return "line card " + t.cards + " of " + t.name
	case "nic":
		return "NIC " + t.name
	case "circuit", "mirrors":
		return "circuit " + t.cards + " of " + t.name
	case "ocs":
		return "OCS " + t.name
	case "cube":
		return t.name
	case "nvswitch":
		return "NVSwitch " + t.name
	case "pcie":
		return "PCIe switch " + t.name
	}
	return t.kind + " " + t.name
}

// circuitsOf begins the name of circuits that move together.
const circuitsOf = "circuits of "

// by returns the component that a link event is attributed to, or "" for a single link.
func (t *thing) by() string {
	switch t.kind {
	case "link":
		return ""
	case "circuit":
		if t.group != "" {
			return t.group
		}
		return circuitsOf + t.name
	}
	return t.String()
}

// things resolves the names in events to targets.
type things struct {
	g     *topo.Graph
	ports map[string]topo.LinkEnd
	nics  map[string]int
	cards map[string][]int // cards whose ports are separate NICs
	optic func(key string, e *Event) (*thing, error)
	chip  func(key, name string) (*thing, error)
	pcie  func(key, name string) (*thing, error)
	of    [][]int // by node: its links, in the order of its ports
}

func newThings(g *topo.Graph) *things {
	t := &things{g: g, ports: make(map[string]topo.LinkEnd, 2*len(g.Links)), nics: map[string]int{},
		cards: map[string][]int{},
		of:    make([][]int, len(g.Nodes))}
	for i, l := range g.Links {
		for _, node := range []int{l.A, l.B} {
			t.ports[g.End(i, node)] = topo.LinkEnd{Link: i, Node: node}
			t.of[node] = append(t.of[node], i)
		}
	}
	for node, links := range t.of {
		slices.SortStableFunc(links, func(a, b int) int {
			x, y := g.Jack(a, node), g.Jack(b, node)
			return cmp.Or(cmp.Compare(x.Port, y.Port), cmp.Compare(x.Part, y.Part))
		})
	}
	for i := range g.NICs {
		t.nics[g.NICName(i)] = i
		if g.NICs[i].Port > 0 {
			t.cards[g.CardName(i)] = append(t.cards[g.CardName(i)], i)
		}
	}
	return t
}

// find returns the target of an event. key is the YAML path of the event, for errors.
func (t *things) find(key string, e *Event) (*thing, error) {
	var named []string
	for _, n := range [][2]string{{"link", e.Link}, {"switch", e.Switch}, {"nic", e.NIC},
		{"server", e.Server}, {"nvswitch", e.NVSwitch}, {"pcie_switch", e.PCIe}, {"ocs", e.OCS}, {"cube", e.Cube}} {
		if n[1] != "" {
			named = append(named, n[0])
		}
	}
	if len(named) != 1 {
		found := "names nothing"
		if len(named) > 1 {
			found = "names " + strings.Join(named, " and ")
		}
		return nil, field.New(key, "%s; accepted: one of link, switch, nic, server, nvswitch, pcie_switch, ocs and cube",
			found)
	}
	if e.Circuit != "" && e.OCS == "" {
		return nil, field.New(key+".circuit", "is one of an OCS, and none is named")
	}
	if len(e.Ports) > 0 && e.Switch == "" {
		return nil, field.New(key+".ports", "belong to a switch, and none is named")
	}
	switch named[0] {
	case "link":
		return t.link(key+".link", e.Link)
	case "switch":
		return t.atSwitch(key, e)
	case "ocs":
		return t.optic(key, e)
	case "cube":
		return t.cube(key+".cube", e.Cube)
	case "nic":
		return t.nic(key+".nic", e.NIC)
	case "nvswitch":
		return t.chip(key+".nvswitch", e.NVSwitch)
	case "pcie_switch":
		return t.pcie(key+".pcie_switch", e.PCIe)
	}
	return t.server(key+".server", e.Server)
}

// link finds the cable at a port that a key names.
func (t *things) link(key, name string) (*thing, error) {
	end, ok := t.ports[name]
	if !ok {
		return nil, field.New(key, "unknown port %q; names are like %s", name,
			t.g.End(0, t.g.Links[0].B))
	}
	return &thing{kind: "link", name: name, node: end.Node, nic: -1, links: []int{end.Link},
		near: []int{end.Node}}, nil
}

// node finds a switch or a server.
func (t *things) node(key, name string, host bool) (int, error) {
	node := t.g.Node(name)
	if node >= 0 && (t.g.Nodes[node].Role == topo.Host) == host {
		return node, nil
	}
	var some []string
	for _, n := range t.g.Nodes {
		if (n.Role == topo.Host) == host && len(some) < 3 {
			some = append(some, n.Name)
		}
	}
	what := "switch"
	if host {
		what = "server"
	}
	if len(some) == 0 {
		return 0, field.New(key, "unknown %s %q: the fabric has none", what, name)
	}
	return 0, field.New(key, "unknown %s %q; names are like %s", what, name,
		strings.Join(some, ", "))
}

// atSwitch finds a switch, or a line card of it.
func (t *things) atSwitch(key string, e *Event) (*thing, error) {
	node, err := t.node(key+".switch", e.Switch, false)
	if err != nil {
		return nil, err
	}
	th := &thing{kind: "switch", name: e.Switch, node: node, nic: -1, links: t.of[node]}
	if len(e.Ports) > 0 {
		th.kind, th.cards = "card", strings.Join(e.Ports, ",")
		if th.links, err = t.card(key, node, e.Ports); err != nil {
			return nil, err
		}
	}
	if len(th.links) == 0 {
		return nil, field.New(key+".switch", "%s has no cable", e.Switch)
	}
	th.near = slices.Repeat([]int{node}, len(th.links))
	return th, nil
}

// card lists the cables of a line card: ports, and stretches of them in the switch's order.
func (t *things) card(key string, node int, ports []string) (links []int, err error) {
	at := func(port string) int {
		return slices.IndexFunc(t.of[node], func(l int) bool {
			return t.g.End(l, node) == t.g.Nodes[node].Name+":"+port
		})
	}
	for i, p := range ports {
		from, to := at(p), at(p)
		for k := range len(p) {
			if from < 0 && p[k] == '-' {
				from, to = at(p[:k]), at(p[k+1:])
			}
		}
		if from < 0 || to < from {
			first, last := t.of[node][0], t.of[node][len(t.of[node])-1]
			return nil, field.New(fmt.Sprintf("%s.ports[%d]", key, i), "%s has no cable at %q; its ports with cables are %s to %s, and a stretch is written Eth1-Eth4", t.g.Nodes[node].Name, p,
				t.g.End(first, node), t.g.End(last, node))
		}
		for _, l := range t.of[node][from : to+1] {
			if !slices.Contains(links, l) {
				links = append(links, l)
			}
		}
	}
	return links, nil
}

// nic finds a NIC.
func (t *things) nic(key, name string) (*thing, error) {
	i, ok := t.nics[name]
	if ports := t.cards[name]; ports != nil {
		card := &thing{kind: "nic", name: name, node: t.g.Hosts[t.g.NICs[ports[0]].Host], nic: ports[0],
			ports: ports}
		for _, port := range ports {
			card.links = append(card.links, t.g.NICs[port].Links...)
		}
		card.near = slices.Repeat([]int{card.node}, len(card.links))
		return card, nil
	}
	if !ok {
		return nil, field.New(key, "unknown NIC %q; names are like %s", name, t.g.NICName(0))
	}
	n := &t.g.NICs[i]
	node := t.g.Hosts[n.Host]
	return &thing{kind: "nic", name: name, node: node, nic: i, links: n.Links,
		near: slices.Repeat([]int{node}, len(n.Links))}, nil
}

// server finds a server.
func (t *things) server(key, name string) (*thing, error) {
	node, err := t.node(key, name, true)
	if err != nil {
		return nil, err
	}
	return &thing{kind: "server", name: name, node: node, nic: -1, links: t.of[node],
		near: slices.Repeat([]int{node}, len(t.of[node]))}, nil
}

// cube finds a cube of a torus of cubes: all of its switches.
func (t *things) cube(key, name string) (*thing, error) {
	c := t.g.Cubes
	if c == nil {
		return nil, field.New(key, "the fabric is not a torus of cubes (kind: cubes)")
	}
	for cube := range c.Place {
		if c.Name(cube) != name {
			continue
		}
		th := &thing{kind: "cube", name: name, node: -1, nic: -1}
		seen := map[int]bool{}
		for n, of := range c.Of {
			if int(of) != cube || t.g.Nodes[n].Role == topo.Host {
				continue
			}
			for _, l := range t.of[n] {
				if !seen[l] {
					seen[l] = true
					th.links, th.near = append(th.links, l), append(th.near, n)
				}
			}
		}
		return th, nil
	}
	return nil, field.New(key, "unknown cube %q; names are %s to %s", name, c.Name(0),
		c.Name(len(c.Place)-1))
}

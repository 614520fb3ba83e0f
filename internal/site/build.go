package site

import (
	"fmt"
	"sort"

	"railyard/internal/field"

	"railyard/internal/topo"
	"railyard/unit"
)

// Defaults are the defaults of a rule's cables.
type Defaults struct {
	Host, Fabric topo.Cable
}

// builder turns a description into nodes and cables.
type builder struct {
	site       *Site
	types      map[string]*Type
	typeNames  []string
	groups     map[string]*group
	groupNames []string
	byName     map[string]*node
	nodes      []*node
	cables     []cable
	ports      int   // of servers' cards
	domain     []int // by server: which share NVLink
	floor      Floor
}

// Build makes the graph. Errors are *field.Error.
func (s *Site) Build(d Defaults) (*topo.Graph, error) {
	g, _, err := s.Make(d)
	return g, err
}

// Make builds the graph, and returns each server's type in the graph's numbering, with inherited properties.
func (s *Site) Make(d Defaults) (*topo.Graph, []*Type, error) {
	b, err := s.prepare(d)
	if err != nil {
		return nil, nil, err
	}
	g, err := b.graph(d)
	var servers []*Type
	for _, n := range b.nodes {
		if n.typ.server() {
			servers = append(servers, n.typ)
		}
	}
	return g, servers, err
}

// prepare resolves the types, expands the nodes, runs the cables and gives them ports.
func (s *Site) prepare(d Defaults) (*builder, error) {
	b := &builder{site: s, floor: s.plan(), types: map[string]*Type{}, groups: map[string]*group{},
		byName: map[string]*node{}}
	rates := func() error { return b.rates(d) }
	for _, step := range []func() error{b.resolveTypes, b.expand, b.join, rates, b.domains, b.order, b.account} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// order numbers the nodes as in the graph, and sorts the links: links of servers first, by their NICs' ports,
// independent of the order of rules.
func (b *builder) order() error {
	for i, n := range b.nodes {
		n.id = i
	}
	sort.SliceStable(b.cables, func(i, k int) bool {
		x, y := &b.cables[i], &b.cables[k]
		switch {
		case x.nic == 0 || y.nic == 0:
			return x.nic > 0 && y.nic == 0
		case x.from.id != y.from.id:
			return x.from.id < y.from.id
		case x.nic != y.nic:
			return x.nic < y.nic
		}
		return x.port < y.port
	})
	return nil
}

// rates gives every cable a rate.
func (b *builder) rates(d Defaults) error {
	for i := range b.cables {
		c := &b.cables[i]
		if c.rate == 0 {
			c.rate = d.of(c).Rate
		}
		if c.rate <= 0 || c.rate > unit.Rate(100e12) {
			return field.New(fmt.Sprintf("cables[%d].rate", c.rule),
				"a rate is missing: here, in the server's nic_rate, or in fabric_link")
		}
	}
	return nil
}

// of is the default for a cable: a server's, or one between switches.
func (d Defaults) of(c *cable) topo.Cable {
	if c.nic > 0 {
		return d.Host
	}
	return d.Fabric
}

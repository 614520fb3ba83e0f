package site

import (
	"fmt"

	"railyard/internal/field"

	"railyard/internal/topo"
)

// default tiers of roles.
var tiers = map[topo.Role]int{
	topo.Rail:        1,
	topo.Leaf:        1,
	topo.Aggregation: 2,
	topo.Spine:       2,
	topo.SuperSpine:  3,
	topo.Core:        3,
}

// graph makes the topo.Graph: nodes in the order in which they are written, then cables.
func (b *builder) graph(d Defaults) (*topo.Graph, error) {
	m := topo.NewMaker("site")
	first := map[*node]int{} // NIC of a server
	for _, n := range b.nodes {
		var err error
		if n.typ.server() {
			n.id, first[n], err = m.Server(n.name, n.typ.GPUs, n.typ.NICs-n.typ.StorageNICs)
			if err == nil {
				m.MoreNICs(n.typ.StorageNICs)
			}
			if err == nil && n.typ.Machine != nil {
				err = m.Uses(n.typ.Machine.Uses)
			}
		} else {
			role, _ := topo.ParseRole(n.typ.Role) // checked with the type
			tier := n.typ.Tier
			fill(&tier, tiers[role])
			if n.id, err = m.Switch(n.name, role, tier); err == nil {
				m.Panel(n.id, n.typ.panel())
			}
		}
		if err != nil {
			return nil, field.New("nodes", "%s: %v", n.group, err)
		}
		m.Stand(n.id, b.stand(n))
	}
	if err := m.Share(b.domain); err != nil {
		return nil, field.New("nodes", "%s", err.Error())
	}
	links := make([]int, len(b.cables))
	for i := range b.cables {
		c := &b.cables[i]
		var err error
		if spec := b.cable(c, d); c.nic > 0 {
			err = m.CableNIC(first[c.from]+c.nic-1, c.port-1, c.from.typ.NICPorts, c.to.id, c.rail-1, spec)
		} else {
			links[i], err = m.Cable(c.from.id, c.to.id, spec)
		}
		if err != nil {
			return nil, field.New(fmt.Sprintf("cables[%d]", c.rule), "%s", err.Error())
		}
		m.Plug(c.jacks, [2]bool{c.from.ports.plugged != nil, c.to.ports.plugged != nil})
	}
	g, err := m.Graph()
	if err != nil {
		return nil, field.New("nodes", "%s", err.Error())
	}
	if g.Regions, err = b.regions(); err != nil {
		return nil, err
	}
	if err := b.channels(g, links); err != nil {
		return nil, err
	}
	for _, n := range b.nodes {
		at := &g.Nodes[n.id]
		at.Buffer, at.ModelBuffer, at.Pipeline = n.typ.Buffer, n.typ.Known, n.typ.Pipeline
		at.HwSKU = n.typ.HwSKU
		at.RailMap = !n.typ.server() && n.typ.mapped()
	}
	return g, nil
}

// stand returns the location of a node; if there is one node per place, its number is omitted.
func (b *builder) stand(n *node) topo.Stand {
	g := b.groups[n.group]
	words := len(g.places)
	if g.size[words-1] == 1 {
		words--
	}
	return topo.Stand{Group: n.group, Words: g.places[:words], At: n.at[:words], Row: n.rack.Row, Rack: n.rack.Rack}
}

// cable returns the properties of a cable: its rule's words, then the defaults.
func (b *builder) cable(c *cable, d Defaults) topo.Cable {
	r := &b.site.Cables[c.rule]
	out := d.of(c)
	out.Rate = c.rate
	switch none := (Rack{}); {
	case r.Cable != 0:
		out.LengthMM, out.Delay = int64(r.Cable), 0
	case c.from.rack != none && c.to.rack != none:
		out.LengthMM, out.Delay = int64(b.floor.Between(c.from.rack, c.to.rack)), 0
	}
	if r.Delay != 0 {
		out.Delay = r.Delay
	}
	if r.BER != 0 {
		out.BER = r.BER
	}
	if r.FEC != 0 {
		if out.Delay == 0 {
			out.Delay = topo.CableDelay(out.LengthMM)
		}
		out.Delay += r.FEC
	}
	return out
}

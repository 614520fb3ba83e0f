package scenario

import (
	"strings"

	"railyard/internal/field"
	"railyard/internal/route"
	"railyard/internal/topo"
	"railyard/param"
	"railyard/transport/protocols"
	"railyard/unit"
)

// structured lays out the entropy values of NICs whose switches read them.
func (p *resolver) structured() error {
	if !route.Is[route.EVReader](p.LB) {
		return nil
	}
	c := p.Default().Carried
	if c == nil || c.Profile == "" {
		title := "RC"
		if c != nil {
			title = c.Title
		}
		return field.New("lb", "%s has switches read entropy values that are laid out for them, and %s has none of that kind; accepted with transport.kind %s", p.LB.Name, title, givenEVs())
	}
	ports, err := p.choices()
	if err != nil {
		return err
	}
	room := route.Room(c.Common.IPv6)
	f, key, fault := route.LayOut(p.LBValues, ports, room)
	if fault != "" && key != "" {
		return field.New("lb_options."+key, "%s", fault)
	} else if fault != "" {
		return field.New("lb", "%s", fault)
	}
	planes := max(1, c.Common.Planes)
	each := param.Value[int](c.Values, c.Profile) / planes
	if c.Common.EVs, err = f.Values(ports, planes, each, room); err != nil {
		return field.New(field.Join("transport."+c.Name, c.Profile), "lb %s: %v", p.LB.Name, err)
	}
	return nil
}

// givenEVs lists the protocols that use configured entropy values.
func givenEVs() string {
	var names []string
	for _, of := range protocols.All {
		if of.Profile != "" {
			names = append(names, of.Name)
		}
	}
	return strings.Join(names, ", ")
}

// choices returns, by tier, the maximum number of ports among which a switch chooses: all uplinks, or the cables to
// one lower switch. A link within a tier would make paths read one field twice.
func (p *resolver) choices() (most [route.Tiers]int, err error) {
	g := p.Graph
	type bundle struct{ from, to int }
	rates := map[bundle][]unit.Rate{} // to -1: up
	for i := range g.Links {
		l := &g.Links[i]
		a, b := l.A, l.B
		if g.Nodes[a].Role == topo.Host || g.Nodes[b].Role == topo.Host {
			continue
		}
		if g.Nodes[a].Tier > g.Nodes[b].Tier {
			a, b = b, a
		}
		switch low, high := g.Nodes[a].Tier, g.Nodes[b].Tier; {
		case low == high:
			return most, field.New("lb",
				"%s names one port per tier of switches, and %s connects two of tier %d; accepted with fabrics whose cables lead up or down", p.LB.Name, g.Direction(i, a), low)
		case high > route.Tiers:
			return most, field.New("lb", "%s has bits for %d tiers of switches, and %s is of tier %d",
				p.LB.Name, route.Tiers, g.Nodes[b].Name, high)
		}
		rates[bundle{a, -1}] = append(rates[bundle{a, -1}], l.Rate)
		rates[bundle{b, a}] = append(rates[bundle{b, a}], l.Rate)
	}
	for at, r := range rates { // the most of each tier, in any order
		n := 0
		for _, share := range route.Shares(r) {
			n += share
		}
		tier := &most[max(g.Nodes[at.from].Tier, 1)-1]
		*tier = max(*tier, n)
	}
	return most, nil
}

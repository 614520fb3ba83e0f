package site

import (
	"fmt"

	"railyard/internal/field"
	"railyard/internal/panel"
	"railyard/unit"
)

// listed connects the cables of rules that list the ports of their switches (from_ports, to_ports): at every switch
// the first cable of the rule to the first port of the list, and so on.
func (b *builder) listed() error {
	lists := make([][2][]panel.Jack, len(b.site.Cables))
	for i := range b.site.Cables {
		r := &b.site.Cables[i]
		for side, text := range []string{r.FromPorts, r.ToPorts} {
			if text == "" {
				continue
			}
			if g := b.groups[r.From]; side == 0 && g != nil && g.server {
				return field.New(sideKey(i, side), "%s is servers: nics selects their cards", r.From)
			}
			jacks, err := parseJacks(text)
			if err != nil {
				return field.New(sideKey(i, side), "%s", err.Error())
			}
			lists[i][side] = jacks
		}
	}
	type turn struct {
		n          *node
		rule, side int
	}
	next := map[turn]int{}
	for i := range b.cables {
		c := &b.cables[i]
		for side, n := range []*node{c.from, c.to} {
			jacks := lists[c.rule][side]
			if jacks == nil {
				continue
			}
			t := turn{n, c.rule, side}
			k, key := next[t], sideKey(c.rule, side)
			switch next[t]++; {
			case n.typ.server():
				return field.New(key, "%s is a server: nics selects its cards", n.name)
			case c.jacks[side].Port > 0:
				return field.New(key, "the map of rails of type %s sets the ports of %s already: use one of the two", n.typ.Name, n.name)
			case k == len(jacks):
				return field.New(key, "%s has more cables of this rule than the list has ports, %d", n.name, len(jacks))
			}
			if err := n.plug(c, side, jacks[k]); err != nil {
				return field.New(key, "%s: %v", n.name, err)
			}
		}
	}
	return nil
}

func sideKey(rule, side int) string {
	return fmt.Sprintf("cables[%d].%s", rule, [2]string{"from_ports", "to_ports"}[side])
}

// plug puts an end of a cable into a port that a map of rails or a rule lists.
func (n *node) plug(c *cable, side int, j panel.Jack) error {
	rate := unit.Rate(0) // the rate of the port, if the type has ports
	if k := kindAt(n.ports.panel, j.Port); k != nil {
		rate = k.rate
	} else if len(n.ports.panel) > 0 {
		last := n.ports.panel[len(n.ports.panel)-1]
		return fmt.Errorf("unknown port %d; they go from 1 to %d", j.Port, last.before+last.count)
	}
	if rate > 0 && c.rate > rate {
		return fmt.Errorf("port %d does %v, the cable of %s %v", j.Port, rate, c.from.name, c.rate)
	}
	if j.Part > 0 && j.Parts == 0 {
		parts := n.ports.split
		if rate > 0 {
			parts = min(parts, int(rate/c.rate))
		}
		if j.Parts = uint8(parts); j.Part > j.Parts {
			return fmt.Errorf("port %d has no part %d of %v; it splits into %d (split of type %s)", j.Port, j.Part, c.rate, parts, n.typ.Name)
		}
	}
	if n.ports.plugged == nil {
		n.ports.plugged = map[int32]uint16{}
	}
	if n.ports.reserved == nil {
		n.ports.reserved = map[int32]bool{}
	}
	before := n.ports.plugged[j.Port]
	if before&(1|1<<j.Part) != 0 || before > 0 && j.Part == 0 {
		return fmt.Errorf("port %s has a cable already", j)
	}
	n.ports.plugged[j.Port] |= 1 << j.Part
	n.ports.reserved[j.Port] = true
	n.ports.by[c.rule]++
	n.ports.ends++
	c.jacks[side] = j
	return nil
}

// Cabled is a cable of a description: which rule runs it, and its ends; NIC and Port are from 1 at a server, else 0.
type Cabled struct {
	Rule      int
	From, To  string
	NIC, Port int
}

// Cabled lists the cables in the order in which switches give them ports.
func (s *Site) Cabled(d Defaults) ([]Cabled, error) {
	b, err := s.prepare(d)
	if err != nil {
		return nil, err
	}
	out := make([]Cabled, len(b.cables))
	for i, c := range b.cables {
		out[i] = Cabled{c.rule, c.from.name, c.to.name, c.nic, c.port}
	}
	return out, nil
}

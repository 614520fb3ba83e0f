package site

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"railyard/internal/field"
	"railyard/internal/panel"
	"railyard/internal/topo"
	"railyard/unit"
)

// budget is the use of a switch's ports.
type budget struct {
	kinds []portKind // smallest rate first
	panel []portKind // in their order
	split int
	used  []int                      // by kind
	open  []map[unit.Rate]panel.Jack // by kind: the last cable of a rate in a split port
	by    map[int]int                // cables by rule
	any   int32                      // ports used, without a limit
	ends  int                        // cables

	reserved map[int32]bool   // ports that a map of rails or a rule's list of ports reserves
	plugged  map[int32]uint16 // the same: bit 0 the whole port, bit n its part n
}

func newBudget(t *Type) budget {
	kinds, _ := parsePorts(t.Ports) // checked with the type
	front := slices.Clone(kinds)
	sort.SliceStable(kinds, func(i, k int) bool { return kinds[i].rate < kinds[k].rate })
	b := budget{kinds: kinds, panel: front, split: max(t.Split, 1), used: make([]int, len(kinds)), by: map[int]int{}}
	for range kinds {
		b.open = append(b.open, map[unit.Rate]panel.Jack{})
	}
	return b
}

// take uses a port for a cable of a rate: the slowest sufficient one, preferably one already split for this rate. It
// returns its position, and whether there was one.
func (b *budget) take(rule int, rate unit.Rate) (panel.Jack, bool) {
	b.by[rule]++
	b.ends++
	if len(b.kinds) == 0 {
		for b.any++; b.reserved[b.any]; {
			b.any++
		}
		return panel.Jack{Port: b.any}, true
	}
	for i, k := range b.kinds {
		if k.rate < rate {
			continue
		}
		if j := b.open[i][rate]; j.Part < j.Parts {
			j.Part++
			b.open[i][rate] = j
			return j, true
		}
		for b.used[i] < k.count && b.reserved[int32(k.before+b.used[i]+1)] {
			b.used[i]++
		}
		if b.used[i] < k.count {
			b.used[i]++
			j := panel.Jack{Port: int32(k.before + b.used[i])}
			if parts := min(b.split, int(k.rate/rate)); parts > 1 {
				j.Part, j.Parts = 1, uint8(parts)
			}
			b.open[i][rate] = j
			return j, true
		}
	}
	return panel.Jack{}, false
}

// fastest is the highest rate of a port.
func (b *budget) fastest() unit.Rate {
	if len(b.kinds) == 0 {
		return unit.Rate(1) << 62
	}
	return b.kinds[len(b.kinds)-1].rate
}

// account compares the used ports of switches and servers with the existing ones.
func (b *builder) account() error {
	for _, n := range b.nodes {
		if !n.typ.server() {
			n.ports = newBudget(n.typ)
		}
	}
	if err := b.railed(); err != nil {
		return err
	}
	if err := b.listed(); err != nil {
		return err
	}
	over := map[*node]int{} // the rule that found no port
	type end struct {
		n         *node
		nic, port int
	}
	taken := map[end]int{} // rule+1
	for i := range b.cables {
		c := &b.cables[i]
		if c.nic > 0 {
			e := end{c.from, c.nic, c.port}
			if before := taken[e]; before > 0 {
				return field.New(fmt.Sprintf("cables[%d]", c.rule),
					"port %d of NIC %d of %s has a cable by cables[%d] already", c.port, c.nic,
					c.from.name, before-1)
			}
			taken[e] = c.rule + 1
		}
		for k, n := range []*node{c.from, c.to} {
			if n.typ.server() {
				continue
			}
			if c.rate > n.ports.fastest() {
				return field.New(fmt.Sprintf("cables[%d].rate", c.rule),
					"%v is more than the %v that a port of %s (%s) can do", c.rate, n.ports.fastest(),
					n.name, n.typ.Ports)
			}
			var ok bool
			if c.jacks[k].Port > 0 {
				continue // a port that a map or a list reserves
			}
			if c.jacks[k], ok = n.ports.take(c.rule, c.rate); !ok {
				if _, seen := over[n]; !seen {
					over[n] = c.rule
				}
			}
		}
	}
	for _, n := range b.nodes {
		if rule, bad := over[n]; bad {
			return field.New(fmt.Sprintf("cables[%d]", rule), "%s", b.sum(n))
		}
		if n.ports.ends > n.typ.Radix && n.typ.Radix > 0 {
			return field.New(fmt.Sprintf("types[%d]", b.typeAt(n.typ)), "%s has %d cables, and a %s has %d ports at most, broken out or not", n.name, n.ports.ends, n.typ.Model, n.typ.Radix)
		}
	}
	for _, n := range b.nodes {
		if !n.typ.server() && len(n.ports.by) == 0 {
			return field.New("cables", "no rule cables %s of %s", n.name, n.group)
		}
		for nic := 1; n.typ.server() && nic <= n.typ.NICs; nic++ {
			for port := 1; port <= n.typ.NICPorts; port++ {
				if taken[end{n, nic, port}] == 0 {
					return field.New("cables", "no rule cables port %d of NIC %d of %s", port, nic, n.name)
				}
			}
		}
	}
	return nil
}

// typeAt returns the index of a type in the file.
func (b *builder) typeAt(t *Type) int { return slices.Index(b.typeNames, t.Name) }

// sum describes the use of a switch's ports.
func (b *builder) sum(n *node) string {
	rules := make([]int, 0, len(n.ports.by))
	for r := range n.ports.by {
		rules = append(rules, r)
	}
	sort.Ints(rules)
	var parts []string
	for _, r := range rules {
		c := b.site.Cables[r]
		parts = append(parts, fmt.Sprintf("%d by cables[%d] (%s to %s)", n.ports.by[r], r, c.From, c.To))
	}
	split := ""
	if n.ports.split > 1 {
		split = fmt.Sprintf(", each broken out into up to %d,", n.ports.split)
	}
	kept := ""
	if len(n.ports.reserved) > 0 {
		split = strings.TrimSuffix(split, ",")
	}
	if len(n.ports.reserved) > 0 {
		kept = fmt.Sprintf(", of which %d are reserved by a map of rails, from_ports or to_ports,", len(n.ports.reserved))
	}
	return fmt.Sprintf("%s has more cables than ports: %s; its type %s has %s%s%s and no more",
		n.name, strings.Join(parts, " + "), n.typ.Name, n.typ.Ports, split, kept)
}

// lag checks a rule's channels.
func (j *joiner) lag() error {
	r := j.rule
	switch {
	case r.Lag == 0 && r.Min == 0:
		return nil
	case r.Lag == 0:
		return field.New(j.key+".min_links", "is of a channel: lag sets the number of cables in one")
	case j.from.server:
		return field.New(j.key+".lag", "%s is servers; channels are of cables between switches, and server.bond sets what a NIC does with two ports", r.From)
	case r.Lag < 1 || r.Lag > topo.MaxMembers:
		return field.New(j.key+".lag", "a channel has 1 to %d cables, found %d", topo.MaxMembers, r.Lag)
	case r.Min < 0 || r.Min > r.Lag:
		return field.New(j.key+".min_links", "1 to %d, the members that there are, found %d", r.Lag, r.Min)
	case r.Share:
		return field.New(j.key+".lag", "share gives each end one cable, which makes no channel")
	case r.Count > 0 && r.Count%r.Lag != 0:
		return field.New(j.key+".count", "%d cables make no channels of %d", r.Count, r.Lag)
	}
	return nil
}

// channels bundles the cables of rules with a lag; links are the graph's, by cable.
func (b *builder) channels(g *topo.Graph, links []int) error {
	by := map[int][]int{}
	for i := range b.cables {
		by[b.cables[i].rule] = append(by[b.cables[i].rule], links[i])
	}
	for i := range b.site.Cables {
		r := &b.site.Cables[i]
		if r.Lag < 1 {
			continue
		}
		if err := g.BundleEach(by[i], r.Lag, r.Min); err != nil {
			return field.New(fmt.Sprintf("cables[%d].lag", i), "%v", err)
		}
	}
	return nil
}

// panel returns the front of a switch: its ports as written, with the lanes that its model gives a port of their
// rate. Nil if neither a model nor a system is named: port names are unknown.
func (t *Type) panel() *panel.Panel {
	model := modelOf(strings.ToLower(t.Model))
	if model == nil && t.OS == "" {
		return nil
	}
	kinds, _ := parsePorts(t.Ports) // checked with the type
	p := &panel.Panel{System: t.OS, Model: strings.ToLower(t.Model)}
	lane := unit.Rate(0)
	if model != nil {
		own, _ := parsePorts(model.Ports)
		sort.Slice(own, func(i, k int) bool { return own[i].rate > own[k].rate })
		if model.Lanes > 0 {
			lane = own[0].rate / unit.Rate(model.Lanes)
		}
	}
	if t.Lanes > 0 {
		p.Each = t.Lanes
		if len(kinds) > 0 {
			fastest := slices.MaxFunc(kinds, func(a, b portKind) int { return cmp.Compare(a.rate, b.rate) }).rate
			lane = fastest / unit.Rate(t.Lanes)
		}
	}
	for _, k := range kinds {
		r := panel.Run{Ports: k.count}
		if lane > 0 {
			r.Lanes = int((k.rate + lane - 1) / lane)
		}
		p.Runs = append(p.Runs, r)
	}
	return p
}

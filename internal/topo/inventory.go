package topo

import (
	"fmt"
	"sort"
	"strings"

	"railyard/unit"
)

// Tier is one layer of switches in an inventory.
type Tier struct {
	Role             string    `json:"role"`
	Tier             int       `json:"tier"`
	Switches         int       `json:"switches"`
	Down             unit.Rate `json:"down_bps"` // rate of all cables to the tier below
	Up               unit.Rate `json:"up_bps"`
	Oversubscription float64   `json:"oversubscription"` // down over up; 0 at the top
}

// CableCount is one kind of cable.
type CableCount struct {
	From     string    `json:"from"`
	To       string    `json:"to"`
	Rate     unit.Rate `json:"rate_bps"`
	LengthMM int64     `json:"length_mm"`
	Delay    unit.Time `json:"delay_ps,omitempty"` // 0: the length's
	Count    int       `json:"count"`
}

// ChannelCount is one kind of layer 3 port channel.
type ChannelCount struct {
	From    string    `json:"from"`
	To      string    `json:"to"`
	Members int       `json:"members"`
	Rate    unit.Rate `json:"rate_bps"` // of all members
	Min     int       `json:"min_links"`
	Count   int       `json:"count"`
}

// Inventory lists the parts of a fabric.
type Inventory struct {
	Kind      string         `json:"kind"`
	Hosts     int            `json:"hosts"`
	GPUs      int            `json:"gpus"`
	NICs      int            `json:"nics"`
	Domains   int            `json:"nvlink_domains,omitempty"` // domains of several servers
	PerDomain int            `json:"gpus_per_nvlink_domain,omitempty"`
	Switches  map[string]int `json:"switches"`
	Cables    []CableCount   `json:"cables"`
	Channels  []ChannelCount `json:"port_channels,omitempty"`
	Tiers     []Tier         `json:"tiers"`
	Racks     int            `json:"racks,omitempty"` // on the floor
	Metres    float64        `json:"cable_metres,omitempty"`
	// rate in one direction, from half the hosts to the other half
	Bisection unit.Rate `json:"bisection_bps"`
	Share     float64   `json:"bisection_share"` // relative to the NICs' rate of one half; 1 is full
}

// Inventory counts a fabric.
func (g *Graph) Inventory() *Inventory {
	inv := g.count()
	inv.Bisection, inv.Share = g.Bisection()
	return inv
}

// Tiers lists the layers of switches, from the leaves upwards.
func (g *Graph) Tiers() []Tier { return g.count().Tiers }

func (g *Graph) count() *Inventory {
	inv := &Inventory{Kind: g.Kind, Hosts: len(g.Hosts), GPUs: g.TotalGPUs(), NICs: g.Cards(),
		Switches: map[string]int{}}
	if g.domains != nil {
		inv.Domains, inv.PerDomain = g.Domains(), g.PerDomain()
	}
	tiers := map[int]*Tier{}
	for _, n := range g.Nodes {
		if n.Role == Host {
			continue
		}
		inv.Switches[n.Role.String()]++
		if tiers[n.Tier] == nil {
			tiers[n.Tier] = &Tier{Role: n.Role.String(), Tier: n.Tier}
		}
		tiers[n.Tier].Switches++
	}
	cables := map[CableCount]int{}
	for _, l := range g.Links {
		lo, hi := g.Nodes[l.A], g.Nodes[l.B]
		if lo.Tier > hi.Tier {
			lo, hi = hi, lo
		}
		cables[CableCount{From: lo.Role.String(), To: hi.Role.String(), Rate: l.Rate, LengthMM: l.LengthMM,
			Delay: l.Delay}]++
		if lo.Tier == hi.Tier {
			continue
		}
		if t := tiers[lo.Tier]; t != nil && lo.Role != Host {
			t.Up += l.Rate
		}
		tiers[hi.Tier].Down += l.Rate
	}
	for c, n := range cables {
		c.Count = n
		inv.Cables = append(inv.Cables, c)
	}
	sort.Slice(inv.Cables, func(i, j int) bool {
		a, b := inv.Cables[i], inv.Cables[j]
		key := func(c *CableCount) string { return fmt.Sprint(c.From, c.To, c.Rate, c.LengthMM, c.Delay) }
		return key(&a) < key(&b)
	})
	inv.Racks, inv.Metres = g.floor()
	inv.Channels = g.countChannels()
	for _, t := range tiers {
		if t.Up > 0 {
			t.Oversubscription = float64(t.Down) / float64(t.Up)
		}
		inv.Tiers = append(inv.Tiers, *t)
	}
	sort.Slice(inv.Tiers, func(i, j int) bool { return inv.Tiers[i].Tier < inv.Tiers[j].Tier })
	return inv
}

// Dot writes the fabric as a Graphviz graph, with tiers as ranks and parallel cables as one edge.
func (g *Graph) Dot() string {
	var b strings.Builder
	b.WriteString("graph fabric {\n  rankdir=BT; ranksep=1.5; splines=line; node [shape=box, fontname=\"sans-serif\"];\n")
	g.dotDomains(&b)
	g.dotRacks(&b)
	byTier := map[int][]string{}
	top := 0
	for _, n := range g.Nodes {
		byTier[n.Tier] = append(byTier[n.Tier], n.Name)
		top = max(top, n.Tier)
	}
	for t := 0; t <= top; t++ {
		if len(byTier[t]) == 0 {
			continue
		}
		b.WriteString("  { rank=same;")
		for _, n := range byTier[t] {
			fmt.Fprintf(&b, " %q;", n)
		}
		b.WriteString(" }\n")
	}
	type edge struct{ a, b string }
	count := map[edge]int{}
	rate := map[edge]unit.Rate{}
	bundles := map[edge]map[int]bool{}
	var order []edge
	for _, l := range g.Links {
		e := edge{g.Nodes[l.A].Name, g.Nodes[l.B].Name}
		if count[e] == 0 {
			order = append(order, e)
		}
		count[e]++
		rate[e] += l.Rate
		if l.Channel > 0 {
			if bundles[e] == nil {
				bundles[e] = map[int]bool{}
			}
			bundles[e][l.Channel] = true
		}
	}
	for _, e := range order {
		label := rate[e].String()
		if count[e] > 1 {
			label = fmt.Sprintf("%s, %v", unit.Plural(count[e], "cable"), rate[e])
		}
		if n := len(bundles[e]); n > 0 && count[e] > 1 {
			label = fmt.Sprintf("%s in %s, %v", unit.Plural(count[e], "cable"), unit.Plural(n, "channel"), rate[e])
		}
		fmt.Fprintf(&b, "  %q -- %q [label=%q];\n", e.a, e.b, label)
	}
	b.WriteString("}\n")
	return b.String()
}

// dotDomains frames servers that share NVLink. Ranks have to hold across frames, which older rules forbid.
func (g *Graph) dotDomains(b *strings.Builder) {
	if racks, _ := g.floor(); g.domains == nil || racks > 0 { // frames overlap
		return
	}
	b.WriteString("  newrank=true;\n")
	for d := range g.Domains() {
		first, last := g.ServersIn(d)
		if last-first < 2 {
			continue
		}
		from, to := g.GPUsIn(d)
		fmt.Fprintf(b, "  subgraph %q { label=%q; style=rounded;", fmt.Sprintf("cluster_%d", d+1),
			fmt.Sprintf("%s: %s share NVLink", g.DomainName(d), unit.Plural(to-from, "GPU")))
		for _, node := range g.Hosts[first:last] {
			fmt.Fprintf(b, " %q;", g.Nodes[node].Name)
		}
		b.WriteString(" }\n")
	}
}

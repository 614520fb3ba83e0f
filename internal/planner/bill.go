package planner

import (
	"cmp"
	"fmt"
	"strings"

	"railyard/unit"
)

// Part is a count of equal links, and the cables and optics that form them.
type Part struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Count  int    `json:"count"`  // links of the scenario
	Metres int    `json:"metres"` // of the longest
	Rate   int    `json:"gbps"`   // of each link
	Order  []Item `json:"order"`  // items for the hosts that the GPUs need

	each    int // links between two switches that have any
	columns int // columns of host links: leaves that share the same hosts
	hosts   int // number of these hosts
}

// Item is a count of equal cables or optics to order.
type Item struct {
	Count  int    `json:"count"`
	Name   string `json:"part"`
	Rate   int    `json:"gbps"`             // rate of the port that it is plugged into
	Parts  int    `json:"parts,omitempty"`  // links of that port, broken out; 0: not broken out
	Link   int    `json:"link_gbps"`        // of each link
	Both   bool   `json:"both,omitempty"`   // a straight cable whose two ports are broken out
	Metres int    `json:"metres,omitempty"` // 0: an optic

	Price float64 `json:"unit_price"`
	Total float64 `json:"total_price"`

	watts float64 // of one
}

func (x Item) String() string {
	split, length := fmt.Sprintf("%d × %dG", x.Parts, x.Link), fmt.Sprintf("%s, %d m", x.Name, x.Metres)
	switch {
	case x.Metres == 0 && x.Parts == 0:
		return fmt.Sprintf("%dG %s", x.Rate, x.Name)
	case x.Metres == 0:
		return fmt.Sprintf("%dG %s, %s", x.Rate, x.Name, split)
	case x.Both:
		return fmt.Sprintf("%dG %s, both ports %s", x.Rate, length, split)
	case x.Parts > 0:
		return fmt.Sprintf("%dG to %s %s", x.Rate, split, length)
	}
	return fmt.Sprintf("%dG %s", x.Rate, length)
}

// end is one side of equal links.
type end struct {
	rate  int // Gbit/s of a port
	parts int // links of a port
	ports int // ports of all devices together
}

// tier finds the switches named by a part's From or To: "leaf of another group" are leaves.
func (d *Design) tier(role string) (t Tier, ok bool) {
	role, _, _ = strings.Cut(role, " ")
	for _, t := range d.Tiers {
		if t.Role == role {
			return t, true
		}
	}
	return t, false
}

// model returns the switch of a tier.
func (in *FabricInput) model(t Tier) SwitchModel {
	if t.Model == in.Leaf.String() && (t.Model != in.Top.String() || t.Role == "leaf" || t.Role == "rail") {
		return in.Leaf
	}
	return in.Top
}

// side returns an end of equal links, n of them distributed evenly over the switches of a tier.
func (in *FabricInput) side(t Tier, rate, n int) end {
	x := in.model(t).end(rate)
	least, more := n/t.Count, n%t.Count
	x.ports = (t.Count-more)*ceilInt(least, x.parts) + more*ceilInt(least+1, x.parts)
	return x
}

// end is the port of a switch that carries links of a rate.
func (s SwitchModel) end(rate int) end {
	if n := s.parts(rate); n > 1 {
		return end{rate: s.Rate, parts: n}
	}
	return end{rate: rate, parts: 1}
}

// linkPrice returns the price of one link between two switches connected by several.
func (in *FabricInput) linkPrice(rate, metres, each int, one, other SwitchModel) (sum float64) {
	a, b := one.end(rate), other.end(rate)
	n := each * a.parts * b.parts
	a.ports, b.ports = n/a.parts, n/b.parts
	for _, x := range in.Prices.order(n, each, rate, metres, a, b) {
		sum += x.Price * float64(x.Count)
	}
	return sum / float64(n)
}

// crowded returns the switch that has too few ports if each kind of its links uses whole ports; "" for none.
func (in *FabricInput) crowded(d *Design) string {
	for _, t := range d.Tiers {
		ports := 0
		for _, p := range d.Cables {
			n := 0
			for _, role := range []string{p.From, p.To} {
				if x, ok := d.tier(role); ok && x.Role == t.Role {
					n += p.Count
				}
			}
			ports += ceilInt(in.side(t, cmp.Or(p.Rate, in.NICRate), n).ports, t.Count)
		}
		if most := in.model(t).Ports; ports > most {
			return fmt.Sprintf("needs %s of %v, broken out; it has %d", unit.Plural(ports, "port"), in.model(t), most)
		}
	}
	return ""
}

// bill lists the items to order for a part's links. Hosts fill the leaves in order, so a part without all of the
// scenario's hosts omits the last ones.
func (in *FabricInput) bill(d *Design, p *Part) {
	p.Rate = cmp.Or(p.Rate, in.NICRate)
	to, _ := d.tier(p.To)
	from, ok := d.tier(p.From)
	if !ok {
		in.hostBill(d, p, to)
		return
	}
	a, b := in.side(from, p.Rate, p.Count), in.side(to, p.Rate, p.Count)
	if from.Role == to.Role { // every switch has both ends
		a = in.side(from, p.Rate, 2*p.Count)
		b = end{a.rate, a.parts, 0}
	}
	p.Order = in.Prices.order(p.Count, max(1, p.each), p.Rate, p.Metres, a, b)
}

// hostBill lists the items of links to hosts. Hosts in the rack of their switch have a cable inside the rack, as
// far as they fill ports of the switch. The others have the longest cable.
func (in *FabricInput) hostBill(d *Design, p *Part, to Tier) {
	column := in.Hosts() * in.PerServer * d.NICPorts / p.columns
	x := in.model(to).end(p.Rate)
	same := to.Down // links of a switch to the hosts in its rack
	if in.Prices.Racks.count(p.hosts) > 1 {
		same = to.Down / p.hosts * in.Prices.Racks.Hosts / x.parts * x.parts
	}
	var links, ports [2]int // inside the rack, and from others
	add := func(switches, n int) {
		for i, n := range []int{min(n, same), n - min(n, same)} {
			links[i], ports[i] = links[i]+switches*n, ports[i]+switches*ceilInt(n, x.parts)
		}
	}
	add(p.columns*(column/to.Down), to.Down)
	add(p.columns, column%to.Down)
	for i, metres := range []int{sold(in.Prices.Racks.Inside), p.Metres} {
		if x.ports = ports[i]; links[i] > 0 {
			p.Order = append(p.Order,
				in.Prices.order(links[i], 1, p.Rate, metres, end{p.Rate, 1, links[i]}, x)...)
		}
	}
}

// order lists the cables and optics of several links between the same two devices. A split port uses a breakout
// cable if the other ends are whole ports. If both ends are broken out, a port's number of links between the same
// two switches share a straight cable. The remaining links have an optic in each port and fibres.
func (p *Prices) order(links, each, rate, metres int, a, b end) (out []Item) {
	cable, far := p.cablePart(float64(metres)), p.optics(float64(metres))
	add := func(n int, c CablePrice, x end) *Item {
		c = c.at(x.rate)
		y := Item{Count: n, Name: c.Name, Rate: x.rate, Link: rate, Metres: metres, Price: c.Price, watts: c.Watts}
		if x.parts > 1 {
			y.Parts = x.parts
		}
		out = append(out, y)
		return &out[len(out)-1]
	}
	whole := end{rate, 1, links}
	alike := a.rate == b.rate && a.parts == b.parts
	if alike {
		a.ports, b.ports = a.ports+b.ports, 0
	}
	switch broken := min(a.parts, b.parts) > 1; {
	case cable.Optic != nil:
	case a.parts > 1 && !broken:
		add(a.ports, cable, a)
		return out
	case b.parts > 1 && !broken:
		add(b.ports, cable, b)
		return out
	case !broken || far.Optic == nil:
		add(links, cable, whole)
		return out
	case alike && each >= a.parts:
		n := links / each * (each / a.parts)
		add(n, cable, a).Both = true
		links, a.ports = links-n*a.parts, a.ports-2*n
	}
	for _, x := range []end{a, b} {
		if x.ports > 0 {
			add(x.ports, *far.Optic, x).Metres = 0
		}
	}
	if links > 0 {
		add(links, far, whole)
	}
	return out
}

package planner

import (
	"fmt"
	"math"
	"strings"

	"railyard/internal/topo"
	"railyard/unit"
)

// maxRadix bounds the ports of a switch that a regular fabric is made of.
const maxRadix = 2048

// maxSide bounds the torus that topo builds.
const maxSide = 21

// flat is the scenario of a fabric without rails.
func (in FabricInput) flat(kind, fabric string, between lengths) string {
	return strings.Replace(in.scenario(kind, fabric, between, 1), "groups: rail", "groups: all", 1)
}

// dragonfly returns the cheapest dragonfly, with a = 2p = 2h as near as the ports permit (Kim et al. 2008;
// docs/references.md, topologies). It has only as many groups as needed, which share the global cables. A fabric
// too small for three such groups has smaller ones, with several cables between two switches, so that a group's own
// bandwidth stays. Its oversubscription is the ratio of NICs to global links: 1:1 is p = h.
func dragonfly(in FabricInput, d Design) Design {
	radix := min(in.ports(in.Leaf), maxRadix)
	x, ok := filled(radix, in)
	if !ok {
		p := (radix + 1) / 4
		return refuse(d,
			"no dragonfly of %v, %s of %dG, has three groups or more for %s in hosts of %d; balanced it has %d at most",
			in.Leaf, unit.Plural(radix, "port"), in.NICRate, unit.Plural(in.GPUs, "GPU"), in.PerServer,
			2*p*p*(2*p*p+1))
	}
	a, switches, n := x.GroupSize, x.GroupSize*x.Groups, x.Hosts()
	d.GPUs = n
	d.Tiers = []Tier{{"leaf", in.Leaf.String(), switches, x.K, x.Radix() - x.K, x.K, 0, 0}}
	m := in.dragonflyLengths(x)
	d.Cables = []Part{{From: "host", To: "leaf", Count: n, Metres: m.host, hosts: x.K / in.PerServer, columns: 1},
		{From: "leaf", To: "leaf in its group", Count: x.Groups * x.Local * a * (a - 1) / 2, Metres: m.near,
			each: x.Local},
		{From: "leaf", To: "leaf of another group",
			Count: x.Between() * x.Groups * (x.Groups - 1) / 2, Metres: m.far}}
	d.Hops = 4
	global := x.Between() * (x.Groups - 1)
	d.Ratio = float64(x.K*a) / float64(global)
	d.because = fmt.Sprintf("%d NICs of a group have %d links to %d other groups, as many to each", x.K*a, global,
		x.Groups-1)
	// From half the groups to the other half, over the global links between them; measure is more precise.
	half := x.Groups / 2
	d.Bisection = min(1, float64(half*(x.Groups-half)*x.Between())/(float64(n)/2))
	d.Note = fmt.Sprintf("p = %d, h = %d, a = %d, %d groups, %s between two; minimal routing (lb=ugal and lb=valiant take detours)",
		x.K, x.Global, a, x.Groups, unit.Plural(x.Between(), "link"))
	d.build = &topo.Params{Server: in.server(), K: x.K, GroupSize: a, Local: x.Local, Global: x.Global,
		Groups: x.Groups, HostCable: in.cable(), Fabric: in.cable()}
	if n <= topo.MaxGPUs {
		d.Scenario = in.flat("dragonfly",
			fmt.Sprintf("k: %d\n  group_size: %d\n  local_links: %d\n  global_links: %d\n  groups: %d",
				x.K, a, x.Local, x.Global, x.Groups), m) + "lb: minimal\n"
	}
	return d
}

// server and cable return the server and the cable of the direct networks' graphs.
func (in FabricInput) server() topo.Server {
	return topo.Server{GPUs: in.PerServer, NICs: in.PerServer, Ports: 1}
}

func (in FabricInput) cable() topo.Cable { return topo.Cable{Rate: unit.Rate(in.NICRate) * unit.Gbps} }

// filled finds the cheapest dragonfly of switches with a number of ports, hosts' links included. A switch has as
// many links to other groups as the oversubscription requires for its NICs, which belong to whole hosts. Within its
// group it has twice as many.
func filled(radix int, in FabricInput) (best topo.Dragonfly, ok bool) {
	least, short := math.Inf(1), true
	for p := radix / in.PerServer * in.PerServer; p >= 1; p -= in.PerServer {
		up := upwards(p, in.Ratio)
		for local := 1; local <= up; local++ {
			a := ceilInt(2*up, local)
			x := topo.Dragonfly{K: p, GroupSize: a, Local: local, Global: up,
				Groups: max(3, ceilInt(in.GPUs, a*p))}
			// Every other group gets equally many links; the remainder may take one more from each switch.
			for ; in.Leaf.holds(in.NICRate, p, local*(a-1), x.Global) && p+local*(a-1)+x.Global <= radix; x.Global++ {
				x, err := x.Balanced()
				if err != nil {
					break
				}
				less := float64(a*p) > atMost(in.Ratio)*float64(x.Between()*(x.Groups-1))
				cost := in.costOf(x)
				if !less && short || less == short && cost < least {
					best, least, short, ok = x, cost, less, true
				}
				if !less {
					break
				}
			}
		}
	}
	return best, ok
}

// costOf returns the price of a dragonfly's switches and cables.
func (in FabricInput) costOf(x topo.Dragonfly) float64 {
	price, _ := in.Prices.switchPart(in.Leaf)
	m := in.dragonflyLengths(x)
	host := in.linkPrice(in.NICRate, m.host, 1, SwitchModel{Ports: 1, Rate: in.NICRate}, in.Leaf)
	near := in.linkPrice(in.NICRate, m.near, x.Local, in.Leaf, in.Leaf)
	far := in.linkPrice(in.NICRate, m.far, 1, in.Leaf, in.Leaf)
	local := x.Groups * x.Local * x.GroupSize * (x.GroupSize - 1) / 2
	global := x.Between() * x.Groups * (x.Groups - 1) / 2
	return float64(x.GroupSize*x.Groups)*price + float64(x.Hosts())*host + float64(local)*near +
		float64(global)*far
}

// dragonflyLengths returns the lengths of a dragonfly's cables: from end to end of a group's racks, and of all
// racks.
func (in FabricInput) dragonflyLengths(x topo.Dragonfly) lengths {
	r, hosts := in.Prices.Racks, x.K/in.PerServer
	return lengths{r.middle(hosts), r.across(x.GroupSize * hosts), r.across(in.Hosts())}
}

// torusLengths returns the lengths of a torus's cables. Rows of switches are folded, so that a neighbour is at most
// two racks away. The exception is the direction with the farthest neighbours, where the racks of two layers lie
// between them.
func (in FabricInput) torusLengths(side, hosts int) lengths {
	r := in.Prices.Racks
	return lengths{host: r.middle(hosts), near: r.across(min(2*side*side*hosts, in.Hosts()))}
}

// torus designs a cube of switches with six neighbours. Each switch has the cheapest numbers of servers and of
// cables to a neighbour that reach the oversubscription between its halves, or the nearest ones
// (docs/references.md, topologies).
func torus(in FabricInput, d Design) Design {
	ports := in.ports(in.Leaf)
	price, _ := in.Prices.switchPart(in.Leaf)
	n, hosts, per := 0, 0, 0
	least, share, whole := math.Inf(1), 0.0, false // whole: topo builds it
	for h := 1; h*in.PerServer+3 <= ports; h++ {
		down := h * in.PerServer
		side := max(2, int(math.Ceil(math.Cbrt(float64(in.Hosts())/float64(h))-1e-9)))
		// all-to-all also crosses links in the middle of a whole torus, by cable and side
		neighbours, across := 6, 4.0
		if side == 2 { // a ring of two is one cable
			neighbours, across = 3, 2
		}
		most := min(in.Leaf.beside(in.NICRate, down, in.NICRate)/neighbours, 256)
		if most < 1 {
			continue
		}
		full := across / float64(side*down) // the share that one cable each carries
		cables := min(most, max(1, int(math.Ceil(1/(in.Ratio*full)-1e-9))))
		got := min(1/in.Ratio, full*float64(cables))
		nodes := float64(side * side * side)
		link := in.linkPrice(in.NICRate, in.torusLengths(side, h).near, cables, in.Leaf, in.Leaf)
		cost := nodes*price + nodes*float64(neighbours*cables)/2*link
		built := side <= maxSide && side*side*side*down <= topo.MaxGPUs
		if built && !whole || built == whole && (got > share+1e-9 || got > share-1e-9 && cost < least) {
			n, hosts, per, least, share, whole = side, h, cables, cost, got, built
		}
	}
	if hosts == 0 {
		return refuse(d, "a node needs %s and 3 for its neighbours, %v has %d", unit.Plural(in.PerServer, "port"),
			in.Leaf, ports)
	}
	nodes, down := n*n*n, hosts*in.PerServer
	d.GPUs = nodes * down
	d.Tiers = []Tier{{"leaf", in.Leaf.String(), nodes, down, 6 * per, down, 0, 0}}
	links, cut := 3*nodes*per, 2*n*n*per
	if n == 2 {
		d.Tiers[0].Up, links, cut = 3*per, links/2, cut/2
	}
	m := in.torusLengths(n, hosts)
	d.Cables = []Part{{From: "host", To: "leaf", Count: d.GPUs, Metres: m.host, hosts: hosts, columns: 1},
		{From: "leaf", To: "leaf", Count: links, Metres: m.near, each: per}}
	d.Hops = 3*(n/2) + 1
	d.Bisection = min(1, float64(cut)/(float64(d.GPUs)/2))
	d.Ratio = max(1, 1/d.Bisection)
	d.because = fmt.Sprintf("between halves of the hosts, with %s in each direction; a switch has %s",
		unit.Plural(per, "link"), unit.Plural(ports, "port"))
	d.Note = fmt.Sprintf("%d x %d x %d switches of %s, %s in each direction; dimension-order routing (lb=minimal-adaptive takes any shortest path)",
		n, n, n, unit.Plural(hosts, "host"), unit.Plural(per, "link"))
	if n <= maxSide {
		d.build = &topo.Params{Server: in.server(), K: n, Hosts: hosts, Uplinks: per, HostCable: in.cable(),
			Fabric: in.cable()}
	}
	if d.GPUs <= topo.MaxGPUs && n <= maxSide {
		d.Scenario = in.flat("torus", fmt.Sprintf("k: %d\n  hosts: %d\n  uplinks: %d", n, hosts, per), m) +
			"lb: dimension-order\n"
	}
	return d
}

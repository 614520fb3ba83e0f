package planner

import (
	"fmt"
	"math"
	"strings"
)

// fatTree is the k-ary fat tree (HANDBOOK.md 11): k^3/4 ports of 5k^2/4 switches.
func fatTree(in FabricInput) Design {
	d := Design{Name: "fat-tree", Kind: "fat-tree", Title: "k-ary fat tree, three tiers, any NIC to any NIC"}
	k := 2
	for k*k*k/4 < in.GPUs {
		k += 2
	}
	if most := in.ports(in.Leaf) / 2 * 2; k > most {
		return refuse(d, "%d GPUs need switches of %d ports, %v has %d of %dG; at most %d GPUs", in.GPUs, k, in.Leaf, most, in.NICRate, most*most*most/4)
	}
	n := k * k * k / 4
	d.GPUs = n
	d.Tiers = []Tier{{"leaf", in.Leaf.String(), k * k / 2, k / 2, k / 2, k / 2}, {"aggregation", in.Leaf.String(), k * k / 2, k / 2, k / 2, 0}, {"core", in.Leaf.String(), k * k / 4, k, 0, 0}}
	d.Cables = []Part{{From: "server", To: "leaf", Count: n, Metres: hostMetres}, {From: "leaf", To: "aggregation", Count: n, Metres: spineMetres}, {From: "aggregation", To: "core", Count: n, Metres: superMetres}}
	d.Hops, d.Bisection = 5, 1
	d.Note = fmt.Sprintf("k = %d; the scenario has one GPU per server", k)
	if k <= 50 { // packet fidelity's limit of 32,768 GPUs
		one := in
		one.PerServer = 1
		d.Scenario = one.flat("fat-tree", fmt.Sprintf("k: %d", k))
	}
	return d
}

// flat is the scenario of a fabric without rails.
func (in FabricInput) flat(kind, fabric string) string {
	return strings.Replace(in.scenario(kind, fabric, 1), "groups: rail", "groups: all", 1)
}

// dragonfly is the balanced one, a = 2p = 2h (Kim et al. 2008; HANDBOOK.md 11):
// a(ah+1) switches of 4p-1 ports, p NICs each.
func dragonfly(in FabricInput) Design {
	d := Design{Name: "dragonfly", Kind: "dragonfly", Title: "balanced dragonfly, groups cabled directly"}
	p := 1
	size := func(p int) int { a, h := 2*p, p; return a * p * (a*h + 1) }
	for size(p) < in.GPUs {
		p++
	}
	if radix := in.ports(in.Leaf); 4*p-1 > radix {
		most := (radix + 1) / 4
		return refuse(d, "%d GPUs need switches of %d ports, %v has %d; at most %d GPUs", in.GPUs, 4*p-1, in.Leaf, radix, size(most))
	}
	a, h := 2*p, p
	groups := a*h + 1
	d.GPUs = size(p)
	d.Tiers = []Tier{{"leaf", in.Leaf.String(), a * groups, p, a - 1 + h, p}}
	local, global := groups*a*(a-1)/2, groups*(groups-1)/2
	d.Cables = []Part{{From: "server", To: "leaf", Count: d.GPUs, Metres: hostMetres}, {From: "leaf", To: "leaf in its group", Count: local, Metres: hostMetres},
		{From: "leaf", To: "leaf of another group", Count: global, Metres: superMetres}}
	d.Hops = 4
	// Half the groups to the other half, over the global links between them.
	half := float64(groups / 2)
	d.Bisection = min(1, half*(float64(groups)-half)/(float64(d.GPUs)/2))
	d.Note = fmt.Sprintf("p = h = %d, a = %d, %d groups; shortest paths only in the simulator, which is hard on it", p, a, groups)
	if p <= 9 { // packet fidelity's limit of 32,768 GPUs
		one := in
		one.PerServer = 1
		d.Scenario = one.flat("dragonfly", fmt.Sprintf("k: %d", p))
	}
	return d
}

// torus is a cube of servers, each with a switch that has six neighbours
// (HANDBOOK.md 11): the NICs' bandwidth is divided over six directions.
func torus(in FabricInput) Design {
	d := Design{Name: "torus", Kind: "torus", Title: "3D torus of servers"}
	n := max(2, int(math.Ceil(math.Cbrt(float64(in.servers()))-1e-9)))
	per := in.PerServer / 6 // cables per direction
	if per < 1 {
		per = 1
	}
	if need := in.PerServer + 6*per; need > in.ports(in.Leaf) {
		return refuse(d, "a node needs %d ports, %v has %d", need, in.Leaf, in.ports(in.Leaf))
	}
	nodes := n * n * n
	d.GPUs = nodes * in.PerServer
	d.Tiers = []Tier{{"leaf", in.Leaf.String(), nodes, in.PerServer, 6 * per, in.PerServer}}
	links := 3 * nodes * per
	if n == 2 {
		links /= 2 // a ring of two is one cable
	}
	d.Cables = []Part{{From: "server", To: "leaf", Count: d.GPUs, Metres: hostMetres}, {From: "leaf", To: "leaf", Count: links, Metres: spineMetres}}
	d.Hops = 3*(n/2) + 1
	cut := 2 * n * n * per
	if n == 2 {
		cut /= 2
	}
	d.Bisection = min(1, float64(cut)/(float64(d.GPUs)/2))
	d.Note = fmt.Sprintf("%d x %d x %d servers, %d cables in each direction", n, n, n, per)
	if d.GPUs <= 32_768 && n <= 21 {
		d.Scenario = in.flat("torus", fmt.Sprintf("k: %d\n  uplinks: %d", n, per))
	}
	return d
}

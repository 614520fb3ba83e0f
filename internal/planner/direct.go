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

// fatTree is the folded Clos that fills its switches: two tiers where they do, else as
// many pods of the k-ary fat tree as are needed, of the size that takes the fewest
// switches (HANDBOOK.md 11: whole, k^3/4 ports of 5k^2/4 switches).
func fatTree(in FabricInput) Design {
	d := Design{Name: "fat-tree", Kind: "fat-tree", Title: "fat tree, two or three tiers, any NIC to any NIC"}
	k := min(in.ports(in.Leaf), maxRadix) / 2 * 2
	leaves := ceilInt(in.GPUs, k/2)
	var best topo.FatTree
	switch {
	case in.GPUs <= k:
		return refuse(d, "%s fit one switch %v", unit.Plural(in.GPUs, "GPU"), in.Leaf)
	case leaves <= k:
		best, _ = topo.NewFatTree(k, 2, 0, leaves)
	case leaves <= k*k/2:
		best = podded(k, leaves)
	default:
		return refuse(d, "%v has %s of %dG, which make %s at most",
			in.Leaf, unit.Plural(k, "port"), in.NICRate, unit.Plural(k*k*k/4, "GPU"))
	}
	n := best.Hosts()
	low, aggs, tops := best.Switches()
	half, model := k/2, in.Leaf.String()
	d.GPUs, d.Bisection = n, 1
	d.Cables = []Part{{From: "server", To: "leaf", Count: n, Metres: hostMetres}}
	if best.Tiers == 2 {
		d.Hops = 3
		d.Tiers = []Tier{{"leaf", model, low, half, half, half},
			{"spine", model, tops, best.Leaves * best.Bundle, 0, 0}}
		d.Cables = append(d.Cables, Part{From: "leaf", To: "spine", Count: n, Metres: spineMetres})
		d.Note = fmt.Sprintf("%s, %s", unit.Plural(low, "leaf"), unit.Plural(tops, "spine"))
	} else {
		up := best.Tops * best.Bundle
		d.Hops = 5
		d.Tiers = []Tier{{"leaf", model, low, half, half, half},
			{"aggregation", model, aggs, best.Leaves, up, 0},
			{"core", model, tops, best.Pods * best.Bundle, 0, 0}}
		d.Cables = append(d.Cables, Part{From: "leaf", To: "aggregation", Count: n, Metres: spineMetres},
			Part{From: "aggregation", To: "core", Count: aggs * up, Metres: superMetres})
		d.Note = fmt.Sprintf("%s of %s", unit.Plural(best.Pods, "pod"), unit.Plural(n/best.Pods, "GPU"))
	}
	d.Note += "; the scenario has one GPU per server"
	if n <= topo.MaxGPUs {
		one := in
		one.PerServer = 1
		keys := fmt.Sprintf("k: %d\n  tiers: %d\n  leaves: %d", k, best.Tiers, best.Leaves)
		if best.Tiers == 3 {
			keys += fmt.Sprintf("\n  pods: %d", best.Pods)
		}
		d.Scenario = one.flat("fat-tree", keys)
	}
	return d
}

// podded finds the number of pods that takes the fewest switches for so many leaves.
func podded(k, leaves int) (best topo.FatTree) {
	fewest := math.MaxInt
	for pods := max(2, ceilInt(leaves, k/2)); pods <= k; pods++ {
		t, err := topo.NewFatTree(k, 3, pods, ceilInt(leaves, pods))
		if err != nil {
			continue
		}
		if a, b, c := t.Switches(); a+b+c < fewest {
			best, fewest = t, a+b+c
		}
	}
	return best
}

// flat is the scenario of a fabric without rails.
func (in FabricInput) flat(kind, fabric string) string {
	return strings.Replace(in.scenario(kind, fabric, 1), "groups: rail", "groups: all", 1)
}

// dragonfly is the one that takes the fewest switches: a = 2p = 2h as near as the
// ports allow (Kim et al. 2008; HANDBOOK.md 11), and only as many groups as are needed,
// which share the global cables. A fabric too small for three such groups has smaller
// ones, with several cables between two switches, so that a group's own bandwidth stays.
func dragonfly(in FabricInput) Design {
	d := Design{Name: "dragonfly", Kind: "dragonfly", Title: "dragonfly, groups cabled directly"}
	radix := min(in.ports(in.Leaf), maxRadix)
	x, ok := filled(radix, in.GPUs)
	if !ok {
		p := (radix + 1) / 4
		return refuse(d,
			"no dragonfly of %v, %s of %dG, has three groups or more for %s; balanced it has "+
				"%d at most",
			in.Leaf, unit.Plural(radix, "port"), in.NICRate, unit.Plural(in.GPUs, "GPU"), 2*p*p*(2*p*p+1))
	}
	a, switches, n := x.GroupSize, x.GroupSize*x.Groups, x.Hosts()
	d.GPUs = n
	d.Tiers = []Tier{{"leaf", in.Leaf.String(), switches, x.K, x.Radix() - x.K, x.K}}
	d.Cables = []Part{{From: "server", To: "leaf", Count: n, Metres: hostMetres},
		{From: "leaf", To: "leaf in its group", Count: x.Groups * x.Local * a * (a - 1) / 2,
			Metres: hostMetres},
		{From: "leaf", To: "leaf of another group",
			Count: x.Between() * x.Groups * (x.Groups - 1) / 2, Metres: superMetres}}
	d.Hops = 4
	// Half the groups to the other half, over the global cables between them.
	half := x.Groups / 2
	d.Bisection = min(1, float64(half*(x.Groups-half)*x.Between())/(float64(n)/2))
	d.Note = fmt.Sprintf("p = %d, h = %d, a = %d, %d groups, %s between two; minimal routing, in classes "+
		"that rise between groups (lb: ugal and valiant take detours)",
		x.K, x.Global, a, x.Groups, unit.Plural(x.Between(), "cable"))
	if n <= topo.MaxGPUs {
		one := in
		one.PerServer = 1
		d.Scenario = one.flat("dragonfly",
			fmt.Sprintf("k: %d\n  group_size: %d\n  local_links: %d\n  global_links: %d\n  groups: %d",
				x.K, a, x.Local, x.Global, x.Groups)) + "lb: minimal\n"
	}
	return d
}

// filled finds the dragonfly of switches with so many ports that takes the fewest of
// them: as many cables leave a switch for its group as two NICs' worth per NIC, and as
// many for other groups as it has NICs.
func filled(radix, gpus int) (best topo.Dragonfly, ok bool) {
	fewest := math.MaxInt
	for p := (radix + 1) / 4; p >= 1; p-- {
		for local := 1; local <= p; local++ {
			a := ceilInt(2*p, local)
			x := topo.Dragonfly{K: p, GroupSize: a, Local: local, Global: p,
				Groups: max(3, ceilInt(gpus, a*p))}
			if x, err := x.Balanced(); err == nil && p+local*(a-1)+p <= radix && a*x.Groups < fewest {
				best, fewest, ok = x, a*x.Groups, true
			}
		}
	}
	return best, ok
}

// torus is a cube of switches that have six neighbours, each with as many servers as
// take the fewest switches (HANDBOOK.md 11): the NICs' bandwidth is divided over six
// directions.
func torus(in FabricInput) Design {
	d := Design{Name: "torus", Kind: "torus", Title: "3D torus of switches with their servers"}
	n, hosts, per := 0, 0, 0
	for h := 1; h*in.PerServer+6*directions(h*in.PerServer) <= in.ports(in.Leaf); h++ {
		side := max(2, int(math.Ceil(math.Cbrt(float64(in.servers())/float64(h))-1e-9)))
		if hosts == 0 || side < n {
			n, hosts, per = side, h, directions(h*in.PerServer)
		}
	}
	if hosts == 0 {
		need := in.PerServer + 6*directions(in.PerServer)
		return refuse(d, "a node needs %s, %v has %d", unit.Plural(need, "port"), in.Leaf, in.ports(in.Leaf))
	}
	nodes, down := n*n*n, hosts*in.PerServer
	d.GPUs = nodes * down
	d.Tiers = []Tier{{"leaf", in.Leaf.String(), nodes, down, 6 * per, down}}
	links, cut := 3*nodes*per, 2*n*n*per
	if n == 2 { // a ring of two is one cable
		d.Tiers[0].Up, links, cut = 3*per, links/2, cut/2
	}
	d.Cables = []Part{{From: "server", To: "leaf", Count: d.GPUs, Metres: hostMetres},
		{From: "leaf", To: "leaf", Count: links, Metres: spineMetres}}
	d.Hops = 3*(n/2) + 1
	d.Bisection = min(1, float64(cut)/(float64(d.GPUs)/2))
	d.Note = fmt.Sprintf("%d x %d x %d switches of %s, %s in each direction; in dimension order, in "+
		"classes that change where a ring closes (lb: minimal-adaptive takes any shortest way)",
		n, n, n, unit.Plural(hosts, "server"), unit.Plural(per, "cable"))
	if d.GPUs <= topo.MaxGPUs && n <= 21 {
		d.Scenario = in.flat("torus", fmt.Sprintf("k: %d\n  hosts: %d\n  uplinks: %d", n, hosts, per)) +
			"lb: dimension-order\n"
	}
	return d
}

// directions is how many cables a torus switch has to each of its six neighbours for so
// many NICs.
func directions(nics int) int { return max(1, nics/6) }

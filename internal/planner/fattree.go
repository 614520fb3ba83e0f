package planner

import (
	"fmt"
	"math"

	"railyard/internal/topo"
	"railyard/unit"
)

// tree is a folded Clos whose leaves connect all NICs of their servers.
type tree struct {
	clos // groups are leaves, down servers of one; with three tiers of all pods

	// With three tiers tops are all cores, each with the cables of an aggregation switch to one core of its plane.
	pods, aggs, out, planes int // aggregation switches of a pod, cables of one to cores, groups of cores
}

// fatTree is the folded Clos of whole servers under leaves. It has two tiers if they suffice, otherwise pods that
// are non-blocking inside, with the oversubscription towards the top tier. At full size, with one GPU per server,
// k^3/4 ports need 5k^2/4 switches (docs/references.md, topologies).
func fatTree(in FabricInput, d Design) Design {
	k, per := in.ports(in.Leaf), in.PerServer
	if in.GPUs <= k {
		return refuse(d, "not needed: %s GPUs fit one switch %v", unit.ShowCount(in.GPUs), in.Leaf)
	}
	x, ok := in.twoTiers(k)
	if !ok {
		x, ok = in.threeTiers(k)
	}
	if !ok {
		half := k / 2 / per
		if half == 0 {
			return refuse(d, "half of a leaf %v, %d ports of %dG, has no room for the %s of a host", in.Leaf,
				k/2, in.NICRate, unit.Plural(per, "NIC"))
		}
		return refuse(d, "%v has %s of %dG, which make %s at most", in.Leaf, unit.Plural(k, "port"), in.NICRate,
			unit.Plural(half*per*(k/2)*k, "GPU"))
	}
	nics := x.down * per
	d.GPUs = x.groups * nics
	leaf, top := in.Leaf.String(), in.Top.String()
	m := in.treeLengths(x)
	d.Cables = []Part{{From: "host", To: "leaf", Count: d.GPUs, Metres: m.host, hosts: x.down, columns: 1}}
	if x.pods == 0 {
		d.Hops, d.Ratio = 3, float64(nics)/float64(x.up())
		d.Tiers = []Tier{{"leaf", leaf, x.groups, nics, x.up(), nics, 0, 0},
			{"spine", top, x.tops, x.groups * x.each, 0, 0, 0, 0}}
		d.Cables = append(d.Cables, Part{From: "leaf", To: "spine", Count: x.groups * x.up(), Metres: m.near,
			each: x.each})
		d.Note = fmt.Sprintf("%s, %s", unit.Plural(x.groups, "leaf"), unit.Plural(x.tops, "spine"))
		d.because = fmt.Sprintf("%s under a leaf have %s up", unit.Plural(nics, "NIC"), unit.Plural(x.up(), "link"))
		d.Bisection = crossing(x.groups*x.down, level{x.groups, float64(x.up()) / float64(per)}, level{x.down, 1})
	} else {
		leaves := x.groups / x.pods
		d.Hops, d.Ratio = 5, float64(leaves)/float64(x.out)
		d.Tiers = []Tier{{"leaf", leaf, x.groups, nics, x.aggs, nics, 0, 0},
			{"aggregation", top, x.pods * x.aggs, leaves, x.out, 0, 0, 0},
			{"core", top, x.tops, x.pods * x.aggs / x.planes * x.each, 0, 0, 0, 0}}
		d.Cables = append(d.Cables,
			Part{From: "leaf", To: "aggregation", Count: x.groups * x.aggs, Metres: m.near},
			Part{From: "aggregation", To: "core", Count: x.pods * x.aggs * x.out, Metres: m.far,
				each: x.each})
		d.Note = fmt.Sprintf("%s of %s", unit.Plural(x.pods, "pod"), unit.Plural(d.GPUs/x.pods, "GPU"))
		d.because = fmt.Sprintf("%s down from an aggregation switch have %d up", unit.Plural(leaves, "link"), x.out)
		d.Bisection = crossing(x.groups*x.down, level{x.pods, float64(x.aggs*x.out) / float64(per)},
			level{leaves, float64(x.aggs) / float64(per)}, level{x.down, 1})
	}
	d.Note += "; the hosts of a leaf have all their NICs on it"
	if d.GPUs <= topo.MaxGPUs {
		d.Scenario = in.treeScenario(x)
	}
	return d
}

// twoTiers finds the cheapest leaves and spines, if any.
func (in FabricInput) twoTiers(k int) (tree, bool) {
	down, _ := split(k, in.Ratio)
	if down/in.PerServer < 1 {
		return tree{}, false
	}
	x := in.cheapest(ceilInt(in.Hosts(), down/in.PerServer), 1, in.NICRate, func(leaves int) (int, int, int) {
		hosts := ceilInt(in.Hosts(), leaves)
		nics := hosts * in.PerServer
		return hosts, upwards(nics, in.Ratio), in.Leaf.beside(in.NICRate, nics, in.NICRate)
	}, in.ports(in.Top), 1)
	return tree{clos: x}, x.groups > 0
}

// threeTiers finds the pods with the fewest switches. Leaves have a cable to each aggregation switch of their pod
// and equally many NICs. Aggregation switches of all pods share cores plane by plane.
func (in FabricInput) threeTiers(k int) (best tree, ok bool) {
	most := k / 2 / in.PerServer // servers under a leaf
	if most < 1 {
		return best, false
	}
	ports, fewest := in.ports(in.Top), math.MaxInt
	all := ceilInt(in.Hosts(), most)
	for pods := 2; pods <= min(ports, in.Hosts()); pods++ {
		leaves := ceilInt(all, pods)
		hosts := ceilInt(in.Hosts(), pods*leaves)
		out, aggs := upwards(leaves, in.Ratio), hosts*in.PerServer
		if leaves+out > ports {
			continue
		}
		cores, each, planes, fits := plane(aggs, out, pods, ports)
		if n := pods*(leaves+aggs) + cores; fits && n < fewest {
			fewest, ok = n, true
			best = tree{clos{groups: pods * leaves, down: hosts, tops: cores, each: each}, pods, aggs, out, planes}
		}
	}
	return best, ok
}

// treeLengths returns the lengths of a tree's cables: aggregation switches are in the middle of their pod.
func (in FabricInput) treeLengths(x tree) lengths {
	r := in.Prices.Racks
	m := lengths{host: r.middle(x.down), near: r.middle(in.Hosts())}
	if x.pods > 0 {
		m.near, m.far = r.middle(x.groups/x.pods*x.down), m.near
	}
	return m
}

// treeScenario writes one by types, nodes and cables.
func (in FabricInput) treeScenario(x tree) string {
	m, leaf := in.treeLengths(x), fmt.Sprintf("leaf: %d", x.groups)
	above := fmt.Sprintf("    spine: {type: spine, count: %d}", x.tops)
	types := fmt.Sprintf("    spine: {%s, role: spine}", in.Top.yaml(in.NICRate))
	cables := fmt.Sprintf("    - {from: host, to: leaf, same: leaf, length: %dm}\n"+
		"    - {from: leaf, to: spine, count: %d, length: %dm}", m.host, x.each, m.near)
	if x.pods > 0 {
		leaf = fmt.Sprintf("pod: %d, leaf: %d", x.pods, x.groups/x.pods)
		above = fmt.Sprintf("    aggregation: {type: aggregation, per: {pod: %d, plane: %d}, count: %d}\n    core: {type: core, per: {plane: %d}, count: %d}", x.pods, x.planes, x.aggs/x.planes,
			x.planes, x.tops/x.planes)
		types = fmt.Sprintf("    aggregation: {%s, role: aggregation}\n    core: {%s, role: core}",
			in.Top.yaml(in.NICRate), in.Top.yaml(in.NICRate))
		cables = fmt.Sprintf("    - {from: host, to: leaf, same: [pod, leaf], length: %dm}\n"+
			"    - {from: leaf, to: aggregation, same: pod, length: %dm}\n"+
			"    - {from: aggregation, to: core, same: plane, count: %d, length: %dm}", m.host, m.near,
			x.each, m.far)
	}
	return fmt.Sprintf(`# Written by railyard plan fabric: %d GPUs, switches %v and %v.
name: fat-tree-%d
fabric:
  types:
    host: {gpus: %d, nics: %d, nic_rate: %dGbps}
    leaf: {%s, role: leaf}
%s
  nodes:
    host: {type: host, per: {%s}, count: %d}
    leaf: {type: leaf, per: {%s}}
%s
  cables:
%s
  fabric_link: {rate: %dGbps}
switch: {buffer: %dMB}
workload:
  traffic:
    permutation: {bytes: 1MB, groups: all}
`, in.GPUs, in.Leaf, in.Top, in.GPUs, in.PerServer, in.PerServer, in.NICRate, in.Leaf.yaml(in.NICRate), types,
		leaf, x.down, leaf, above, cables, in.NICRate, in.buffer(0))
}

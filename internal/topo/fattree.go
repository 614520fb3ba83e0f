package topo

import (
	"fmt"

	"railyard/internal/field"
)

// FatTree is a folded Clos of switches with K ports, non-blocking at every tier: the k-ary fat tree of Al-Fares et
// al. (2008), complete or with the pods that the hosts need. Half the ports of a leaf lead down.
type FatTree struct {
	K, Tiers int
	Pods     int // three tiers
	Leaves   int // per pod; with two tiers total
	Tops     int // cores above aggregation switch i of all pods; with two tiers, spines
	Bundle   int // cables from an aggregation switch to each of its cores, from a leaf to each spine
}

// NewFatTree finds the minimum number of top switches for the given pods and leaves; 0 for either means the arity's
// maximum. A complete one has k^3/4 hosts on 5k^2/4 switches, with two tiers k^2/2 on 3k/2 (docs/references.md,
// topologies).
func NewFatTree(k, tiers, pods, leaves int) (FatTree, error) {
	if k < 2 || k > 2048 || k%2 != 0 {
		return FatTree{}, field.New("k", "a fat tree needs an even k from 2 to 2048, found %d", k)
	}
	t := FatTree{K: k, Tiers: tiers, Pods: pods, Leaves: leaves}
	most := k / 2
	switch tiers {
	case 2:
		if pods > 1 {
			return t, field.New("pods", "a fat tree of two tiers has no pods")
		}
		t.Pods, most = 1, k
	case 3:
		if t.Pods == 0 {
			t.Pods = k
		}
	default:
		return t, field.New("tiers", "2 or 3 tiers, found %d", tiers)
	}
	if t.Leaves == 0 {
		t.Leaves = most
	}
	switch {
	case t.Pods < 1 || t.Pods > k:
		return t, field.New("pods", "switches of %d ports connect 2 to %d pods, found %d", k, k, t.Pods)
	case t.Leaves < 1 || t.Leaves > most:
		return t, field.New("leaves", "switches of %d ports connect 1 to %d leaves, found %d", k, most, t.Leaves)
	}
	// Below a top switch: every pod, or every leaf. An aggregation switch has equal numbers of ports below and
	// above.
	below, up := t.Pods, t.Leaves
	if tiers == 2 {
		below, up = t.Leaves, k/2
	}
	for t.Tops = 1; ; t.Tops++ {
		t.Bundle = (up + t.Tops - 1) / t.Tops
		if t.Bundle*below <= k && up+t.Bundle*t.Tops <= k {
			return t, nil
		}
	}
}

// Hosts returns the number of NICs that it has ports for.
func (t FatTree) Hosts() int { return t.Pods * t.Leaves * t.K / 2 }

func fatTree(p Params) (*Graph, error) {
	pods := p.Pods
	if pods == 1 { // a scenario's default
		pods = 0
	}
	t, err := NewFatTree(p.K, p.Tiers, pods, p.Leaves)
	switch {
	case err != nil:
		return nil, err
	case t.Hosts() > MaxGPUs:
		return nil, field.New("k", "%d hosts are more than the %d that packet fidelity takes", t.Hosts(), MaxGPUs)
	case p.HostCable.Rate <= 0:
		return nil, field.New("host_link.rate", "must be positive")
	}
	up := p.Fabric
	if up.Rate == 0 {
		up = p.HostCable
	}
	g := newGraph("fat-tree")
	if t.Tiers == 2 {
		spines := make([]int, t.Tops)
		for i := range spines {
			spines[i] = g.AddNode(fmt.Sprintf("spine-%d", i+1), Spine, 2)
		}
		for i := range t.Leaves {
			g.fatLeaf(fmt.Sprintf("leaf-%d", i+1), t, p.HostCable, spines, t.Bundle, up)
		}
		return g, nil
	}
	half := t.K / 2
	cores := make([]int, half*t.Tops)
	for i := range cores {
		cores[i] = g.AddNode(fmt.Sprintf("core-%d", i+1), Core, 3)
	}
	for pod := range t.Pods {
		aggs := make([]int, half)
		for i := range aggs {
			aggs[i] = g.AddNode(fmt.Sprintf("agg-%d-%d", pod+1, i+1), Aggregation, 2)
			g.connectAll(aggs[i], cores[i*t.Tops:(i+1)*t.Tops], t.Bundle, up)
		}
		for i := range t.Leaves {
			g.fatLeaf(fmt.Sprintf("leaf-%d-%d", pod+1, i+1), t, p.HostCable, aggs, 1, up)
		}
	}
	return g, nil
}

// fatLeaf adds a leaf with its hosts and its cables to the upper tier.
func (g *Graph) fatLeaf(name string, t FatTree, host Cable, above []int, bundle int, up Cable) {
	leaf := g.AddNode(name, Leaf, 1)
	for range t.K / 2 {
		h := g.AddNode(fmt.Sprintf("host-%d", len(g.Hosts)+1), Host, 0)
		l := g.Connect(h, leaf, host)
		g.NICs = append(g.NICs, NIC{Host: len(g.Hosts) - 1, Links: []int{l}})
		g.equip(len(g.NICs) - 1)
	}
	g.connectAll(leaf, above, bundle, up)
}

func (g *Graph) connectAll(from int, to []int, cables int, c Cable) {
	for _, x := range to {
		for range cables {
			g.Connect(from, x, c)
		}
	}
}

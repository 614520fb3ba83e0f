package topo

import (
	"fmt"
	"slices"
)

// CutOff lists the NICs that no longer reach any other, or fewer than half of those that they reached and that still
// reach others, including themselves. They belong to a failed component, or to a smaller part of a partitioned fabric.
func (g *Graph) CutOff(down map[int]bool) (nics []int) {
	before, after := g.reach(nil), g.reach(down)
	working := map[*kind]int{} // by kind before the failures: NICs that reach others
	for i := range g.NICs {
		if after[i].reached > 1 {
			working[before[i]]++
		}
	}
	for i := range g.NICs {
		others := 0
		for k := range before[i].reaches {
			others += working[k]
		}
		if n := after[i].reached; before[i].reached > 1 && (n < 2 || 2*n < others) {
			nics = append(nics, i)
		}
	}
	return nics
}

// kind is the NICs whose cables lead to the same parts of the fabric.
type kind struct {
	parts   []int
	nics    int
	reaches map[*kind]bool // including its own, unless no cable is up
	reached int            // NICs of those kinds
}

// reach returns by NIC its kind with these links down. A NIC with several ports is in several parts of the fabric,
// and connects none of them.
func (g *Graph) reach(down map[int]bool) []*kind {
	switches := g.joined(down)
	var kinds []*kind
	index := map[string]*kind{}
	of := make([]*kind, len(g.NICs))
	for i := range g.NICs {
		parts := g.partsOf(i, down, switches)
		key := fmt.Sprint(parts)
		k := index[key]
		if k == nil {
			k = &kind{parts: parts, reaches: map[*kind]bool{}}
			index[key] = k
			kinds = append(kinds, k)
		}
		k.nics++
		of[i] = k
	}
	in := map[int][]*kind{} // by part
	for _, k := range kinds {
		for _, p := range k.parts {
			in[p] = append(in[p], k)
		}
	}
	for _, k := range kinds {
		for _, p := range k.parts {
			for _, other := range in[p] {
				if !k.reaches[other] {
					k.reaches[other] = true
					k.reached += other.nics
				}
			}
		}
	}
	return of
}

// partsOf lists the parts of the fabric that a NIC's cables lead to. Rails in VLANs of their own are parts.
func (g *Graph) partsOf(nic int, down map[int]bool, switches parts) (all []int) {
	n := g.NICs[nic]
	for _, l := range n.Links {
		if down[l] {
			continue
		}
		part := switches.of(g.Links[l].A + g.Links[l].B - g.Hosts[n.Host])
		if g.Isolated {
			part += (n.Rail + 1) * len(g.Nodes)
		}
		if !slices.Contains(all, part) {
			all = append(all, part)
		}
	}
	slices.Sort(all)
	return all
}

// Apart makes each port of a NIC with several ports a separate NIC. Such ports are no bundle but have addresses in
// two subnets, as for two switches in two VLANs. A GPU uses the ports in turn, the first with the first port of its
// peer. Data in flight on a port do not move to another port when it fails.
func (g *Graph) Apart() {
	cards := make([][]int, len(g.gpuHost))
	at := make([]int, len(g.NICs)+1) // by NIC, the index of its first port
	var nics []NIC
	for i, n := range g.NICs {
		at[i] = len(nics)
		for k, l := range n.Links {
			port := n
			if port.Links = []int{l}; len(n.Links) > 1 {
				port.Port = k + 1
			}
			nics = append(nics, port)
		}
	}
	at[len(g.NICs)] = len(nics)
	for gpu := range g.gpuHost {
		for w := range g.Ways(gpu) {
			nic := g.WayOf(gpu, w)
			for i := at[nic]; i < at[nic+1]; i++ {
				cards[gpu] = append(cards[gpu], i)
			}
		}
	}
	g.NICs, g.cards, g.ways = nics, cards, nil
	for gpu := range g.gpuHost {
		g.NICOf[gpu] = cards[gpu][0]
	}
}

// Cards counts NICs as products: the ports of one card count once.
func (g *Graph) Cards() (n int) {
	for i := range g.NICs {
		if g.NICs[i].Port <= 1 {
			n++
		}
	}
	return n
}

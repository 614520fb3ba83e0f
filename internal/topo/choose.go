package topo

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/field"
)

// MostNICs is the largest number of NICs that a GPU takes in turn.
const MostNICs = 64

// AnyNIC makes GPUs use all NICs of their servers in turn, or all that UseNICs permits, instead of the nearest
// ones.
func (g *Graph) AnyNIC() {
	g.anyNIC, g.cards = true, make([][]int, len(g.gpuHost))
	by := g.inUse()
	for gpu, host := range g.gpuHost[:g.TotalGPUs()] {
		g.cards[gpu] = by[host]
	}
}

// inUse lists by server the NICs that GPUs may use.
func (g *Graph) inUse() [][]int {
	by := make([][]int, len(g.Hosts))
	for i := range g.NICs {
		if g.listed == nil || g.listed[i] {
			by[g.NICs[i].Host] = append(by[g.NICs[i].Host], i)
		}
	}
	return by
}

// UseNICs limits GPUs to NICs of some names: nic-3, or one port of it, nic-3p2. A GPU without a free NIC takes the
// NIC that the fewest GPUs of its server use, the first of several. NCCL also spreads GPUs over equally near NICs.
func (g *Graph) UseNICs(names []string) error {
	g.listed = make([]bool, len(g.NICs))
	hit := map[string]bool{}
	for i := range g.NICs {
		_, card, _ := strings.Cut(g.CardName(i), "/")
		_, port, _ := strings.Cut(g.NICName(i), "/")
		g.listed[i] = slices.Contains(names, card) || slices.Contains(names, port)
		hit[card], hit[port] = true, true
	}
	for _, name := range names {
		if !hit[name] {
			return fmt.Errorf("unknown NIC %s; accepted: %s", field.Quote(name), g.nicNames())
		}
	}
	by, cards := g.inUse(), make([][]int, len(g.gpuHost))
	for h, left := range by {
		first, last := g.GPUsOf(h)
		if len(left) == 0 && first < last {
			return fmt.Errorf("%s has none of %s", g.Nodes[g.Hosts[h]].Name, strings.Join(names, ", "))
		}
		users := make(map[int]int, len(left)) // by NIC
		for gpu := first; gpu < last; gpu++ {
			for way := range g.Ways(gpu) {
				if nic := g.WayOf(gpu, way); g.listed[nic] {
					cards[gpu] = append(cards[gpu], nic)
					users[nic]++
				}
			}
		}
		for gpu := first; gpu < last; gpu++ {
			if cards[gpu] == nil {
				nic := slices.MinFunc(left, func(a, b int) int { return users[a] - users[b] })
				cards[gpu] = []int{nic}
				users[nic]++
			}
		}
	}
	g.cards, g.ways = cards, nil
	for gpu := range cards {
		g.NICOf[gpu] = cards[gpu][0]
	}
	return nil
}

// nicNames writes the NICs of the server that has the most: "nic-1 to nic-8".
func (g *Graph) nicNames() string {
	last, ports := 0, 0
	for _, n := range g.NICs {
		last, ports = max(last, n.Index), max(ports, n.Port)
	}
	out := fmt.Sprintf("nic-1 to nic-%d", last+1)
	if last == 0 {
		out = "nic-1"
	}
	if ports > 0 {
		out += fmt.Sprintf(", and their ports as nic-1p1 to nic-1p%d", ports)
	}
	return out
}

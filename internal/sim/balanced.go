package sim

import (
	"railyard/internal/route"
	"railyard/internal/topo"
	"railyard/unit"
)

// balanced keeps inputs and outputs of a scheduled fabric's nodes balanced. Towards a locator no link carries more
// than its far node can forward, so no node receives more cells than it can send. (Meta calls this its
// input-balanced mode: a fabric node that has lost half of its links to an interface node receives half as much for
// it.)
type balanced struct {
	net    *Network
	memory []unit.Rate // by node and locator: rate that the node can forward, minus 1; 0: not yet computed
}

func (n *Network) balanced() *balanced {
	return &balanced{n, make([]unit.Rate, len(n.Graph.Nodes)*len(n.Paths.Sets))}
}

// install routes the locators of a switch.
func (b *balanced) install(t *route.Table, node int) {
	n := b.net
	for loc := range n.Paths.Sets {
		links := n.Paths.Next(node, loc)
		if len(links) == 0 {
			continue
		}
		rates, _ := b.toward(node, loc, links)
		var ports []int32
		for i, shares := range route.Shares(rates) {
			for range shares {
				ports = append(ports, n.Port(links[i], node))
			}
		}
		t.SetGroup(loc, ports)
	}
}

// toward returns the capacity of each of a node's next links, and the sum.
func (b *balanced) toward(node, loc int, links []int) (rates []unit.Rate, sum unit.Rate) {
	g := b.net.Graph
	beside := map[int]unit.Rate{} // by neighbour: total rate of its links
	for _, l := range links {
		beside[g.Links[l].A+g.Links[l].B-node] += g.Links[l].Rate
	}
	for _, l := range links {
		peer, rate := g.Links[l].A+g.Links[l].B-node, g.Links[l].Rate
		if most := b.capacity(peer, loc); most < beside[peer] {
			rate = unit.Rate(float64(most) * (float64(rate) / float64(beside[peer])))
		}
		rates = append(rates, max(rate, 1))
		sum += rate
	}
	return rates, sum
}

// capacity returns the rate that a switch can forward to a locator.
func (b *balanced) capacity(node, loc int) unit.Rate {
	n := b.net
	links := n.Paths.Next(node, loc)
	if len(links) == 0 || n.Graph.Nodes[node].Role == topo.Host {
		return 1 << 62 // the node is the destination
	}
	at := node*len(n.Paths.Sets) + loc
	if b.memory[at] == 0 {
		_, sum := b.toward(node, loc, links)
		b.memory[at] = sum + 1
	}
	return b.memory[at] - 1
}

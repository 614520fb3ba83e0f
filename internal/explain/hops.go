package explain

import (
	"slices"

	"railyard/internal/fluid"
	"railyard/internal/topo"
)

// walk lists hop by hop the links between switches over which a connection's bytes could be spread, and their ports
// with the share that each has where every switch spreads them evenly.
func (m *model) walk(c int32, routes *topo.Routes) (sets []int32, even [][]fluid.Use) {
	r := m.b.r
	if r.seen.Rules.Detours && routes == r.seen.Routes {
		for _, ports := range r.seen.Ways.Choices(c) {
			if r.peer(ports[0]).Role != topo.Host {
				var uses []fluid.Use
				for _, p := range ports {
					uses = append(uses, fluid.Use{Link: p, Share: 1 / float64(len(ports))})
				}
				sets, even = append(sets, m.set(ports)), append(even, uses)
			}
		}
		return sets, even
	}
	src, dst := r.seen.peers(c)
	starts := []int32{r.seen.Conns[c].Port}
	if r.seen.Rules.SpreadsNIC {
		starts = m.b.share.nicPorts(src, true)
	}
	m.hops(starts, dst, routes, func(hop *topo.Hop) {
		over := m.crossed[hop]
		if over == nil {
			over = m.hopOver(hop)
			m.crossed[hop] = over
		}
		sets, even = append(sets, over.set), append(even, over.even)
	})
	return sets, even
}

// hops calls f for each hop between switches from ports of a NIC to another NIC.
func (m *model) hops(starts []int32, dst int32, routes *topo.Routes, f func(hop *topo.Hop)) {
	r := m.b.r
	var nodes []int
	var shares []float64
	for _, p := range starts {
		node := int(r.seen.Ports[r.seen.Ports[p].Peer].Node)
		i := slices.Index(nodes, node)
		if i < 0 {
			i, nodes, shares = len(nodes), append(nodes, node), append(shares, 0)
		}
		shares[i] += 1 / float64(len(starts))
	}
	fronts := m.fronts[routes]
	if fronts == nil {
		fronts = routes.Fronts()
		m.fronts[routes] = fronts
	}
	at := fronts.At(nodes, shares)
	for range len(r.graph.Nodes) {
		hop := fronts.To(at, routes.Locator[dst])
		if len(hop.Links) == 0 {
			break
		}
		f(hop)
		at = hop.Next
	}
}

// hopOver is a hop between switches as links of the model.
type hopOver struct {
	set  int32
	even []fluid.Use
}

func (m *model) hopOver(hop *topo.Hop) *hopOver {
	over, ports := &hopOver{}, m.portsOver(hop)
	for i, p := range ports {
		over.even = append(over.even, fluid.Use{Link: p, Share: hop.Shares[i]})
	}
	over.set = m.set(ports)
	return over
}

// portsOver are the ports of switches that a hop takes.
func (m *model) portsOver(hop *topo.Hop) []int32 {
	ports := make([]int32, len(hop.Links))
	for i, l := range hop.Links {
		ports[i] = m.b.r.port(l, hop.From[i])
	}
	return ports
}

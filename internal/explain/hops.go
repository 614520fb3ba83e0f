package explain

import (
	"slices"

	"railyard/internal/fluid"
	"railyard/internal/topo"
	"railyard/unit"
)

// walk lists hop by hop the links between switches over which a connection's bytes could be spread, and their ports
// with the share that each has where every switch spreads them evenly or, with least, to its least loaded ports.
func (m *model) walk(c int32, over spreadOver) (sets []int32, shares [][]fluid.Use) {
	r := m.b.r
	if r.seen.Rules.Detours && over.routes == r.seen.Routes {
		for _, ports := range r.seen.Ways.Choices(c) {
			if r.peer(ports[0]).Role != topo.Host {
				var uses []fluid.Use
				for _, p := range ports {
					uses = append(uses, fluid.Use{Link: p, Share: 1 / float64(len(ports))})
				}
				sets, shares = append(sets, m.set(ports)), append(shares, uses)
			}
		}
		return sets, shares
	}
	src, dst := r.seen.peers(c)
	starts := []int32{r.seen.Conns[c].Port}
	if r.seen.Rules.SpreadsNIC {
		starts = m.b.share.nicPorts(src, true)
	}
	m.hops(starts, dst, over, func(hop *topo.Hop) {
		known := m.crossed[hop]
		if known == nil {
			known = m.hopOver(hop)
			m.crossed[hop] = known
		}
		sets, shares = append(sets, known.set), append(shares, known.shares)
	})
	return sets, shares
}

// hops calls f for each hop between switches from ports of a NIC to another NIC.
func (m *model) hops(starts []int32, dst int32, over spreadOver, f func(hop *topo.Hop)) {
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
	fronts := m.fronts[over]
	if fronts == nil {
		if fronts = over.routes.Fronts(); over.least {
			fronts = over.routes.Weighted(func(link, from int) float64 {
				return float64(max(1, m.weightOf(m.b.r.port(link, from), over)))
			})
		}
		m.fronts[over] = fronts
	}
	at := fronts.At(nodes, shares)
	for range len(r.graph.Nodes) {
		hop := fronts.To(at, over.routes.Locator[dst])
		if len(hop.Links) == 0 {
			break
		}
		f(hop)
		at = hop.Next
	}
}

// hopOver is a hop between switches as links of the model.
type hopOver struct {
	set    int32
	shares []fluid.Use
}

func (m *model) hopOver(hop *topo.Hop) *hopOver {
	over, ports := &hopOver{}, m.portsOver(hop)
	for i, p := range ports {
		over.shares = append(over.shares, fluid.Use{Link: p, Share: hop.Shares[i]})
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

// spreadOver is routes over which switches spread bytes: evenly, or each to the least loaded of its own ports in a
// state of links.
type spreadOver struct {
	routes *topo.Routes
	least  bool
	state  int
}

// usual returns the mean rate of a port during the run, with whole as if it never failed.
func (m *model) usual(port int32, whole bool) unit.Rate {
	r := m.b.r
	rate, since, sum := r.graph.Links[port/2].Rate, unit.Time(0), 0.0
	for i := range r.lives[int(port/2)] {
		e := &r.lives[int(port/2)][i]
		sum, since = sum+float64(rate)*float64(e.At-since), e.At
		if rate = sends(port, e); !e.Up && !whole {
			rate = 0
		}
	}
	sum += float64(rate) * float64(r.seen.At-since)
	return unit.Rate(sum / float64(max(1, r.seen.At)))
}

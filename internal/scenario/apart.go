package scenario

import (
	"slices"

	"railyard/internal/field"
	"railyard/internal/topo"
)

// Apart is the value of server.bond for NICs whose ports form no bundle.
const Apart = "apart"

// separate makes the ports of NICs separate NICs.
func (p *resolver) separate(s *Server) error {
	if s.Bond != Apart {
		return nil
	}
	if !slices.ContainsFunc(p.Graph.NICs, func(n topo.NIC) bool { return len(n.Links) > 1 }) {
		return field.New("server.bond", "apart is of NICs with several ports, and these have one")
	}
	if kind := p.File.Transport.Kind; kind != nil && *kind != RoCE {
		return field.New("server.bond", "apart is of queue pairs; %s takes the ports of a NIC as planes already", *kind)
	}
	p.Graph.Apart()
	return nil
}

// sharedPorts makes the ports of a card share one PCIe link if PCIe is configured as a limit.
func (p *resolver) sharedPorts() {
	g, rate := p.Graph, p.File.Server.PCIe
	for i := 0; rate > 0 && i < len(g.NICs); i++ {
		if g.NICs[i].Port != 1 {
			continue
		}
		out := Bus{Rate: rate}
		for k := i; k < len(g.NICs) && g.CardName(k) == g.CardName(i); k++ {
			out.NICs = append(out.NICs, int32(k))
		}
		p.Buses = append(p.Buses, out)
	}
}

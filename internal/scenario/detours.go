package scenario

import (
	"slices"

	"railyard/internal/field"
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/internal/topo"
)

// fitted refuses policies for other fabrics.
func (p *Plan) fitted() error {
	lb := p.LB
	switch detours := route.Is[route.Steerer](lb); {
	case detours && p.Graph.Grid != nil && !route.Is[route.Around](lb):
		return field.New("lb", "%s compares paths between groups of switches, and a torus has none; accepted: valiant, dimension-order, minimal-adaptive, or a policy without regard to deadlock",
			lb.Name)
	case detours && len(p.Graph.Stations()) < 3:
		return field.New("lb", "%s sends packets across groups of switches that are neither the sender's nor the receiver's, and this fabric has %d groups; accepted: fabric.kind dragonfly with three or more, or nodes and cables where fabric.regions, or a rule's between, names the place of its groups", lb.Name, len(p.Graph.Stations()))
	case !detours && route.Is[route.Riser](lb) && p.Graph.Grid == nil:
		return field.New("lb", "%s follows the dimensions of a torus, and this fabric is not a torus; accepted: fabric.kind torus or cubes", lb.Name)
	case !detours:
		return nil
	}
	for i, region := range p.Graph.RegionOf() {
		if n := p.Graph.Nodes[i]; region < 0 && n.Role != topo.Host {
			return field.New("lb", "%s needs every switch to be in a group, and %s is in none: it is not at the place that fabric.regions, or a rule's between, names", p.LB.Name, n.Name)
		}
	}
	return nil
}

// detours sets the classes of switches through which packets rise, if the policy requires them. All switches have
// equal classes, because the next switch must pause a packet in the class in which this one sent it.
func (p *Plan) detours() error {
	if err := p.fitted(); err != nil {
		return err
	}
	torus := p.Graph.Grid != nil
	levels := p.LB.Classes(torus)
	if levels == 1 {
		return nil
	}
	raised := map[*queue.Spec]*queue.Spec{}
	for i, node := range p.Graph.Nodes {
		if node.Role == topo.Host {
			continue
		}
		old := p.specs[i]
		if raised[old] == nil {
			spec := *old
			rise, err := spec.Rise(levels)
			if err != nil {
				return field.New("lb", "%s needs %d classes for lossless traffic, against deadlock: %s: %v",
					p.LB.Name, levels, node.Name, err)
			}
			if len(raised) > 0 && !slices.EqualFunc(rise[:], p.Rise[:], slices.Equal) {
				return field.New("lb", "%s needs equal classes at all switches, and the classes of %s differ from others: map DSCPs equally, and leave equal queues free",
					p.LB.Name, node.Name)
			}
			p.Rise, raised[old] = rise, &spec
		}
		p.specs[i] = raised[old]
	}
	for end, priorities := range p.PFC {
		p.PFC[end] = p.Rise.Protected(priorities)
	}
	leaf := func(n topo.Node) bool { return n.Role != topo.Host && n.Tier == 1 }
	p.Spec = *p.specs[slices.IndexFunc(p.Graph.Nodes, leaf)]
	for c, row := range p.Rise {
		if len(row) > 1 {
			p.note("lb %s: lossless packets of queue %d go on in queues %d %s, against deadlock; these are copies of it and share its weight unless configured", p.LB.Name, c, row[1:],
				p.LB.Make(nil, route.Site{}).(route.Riser).Rises(torus))
		}
	}
	return nil
}

// Besides returns the locators other than NICs, and the routes of packets. Regions are intermediate locators, and
// interface nodes of a scheduled fabric are destinations of cells; routes may be in dimension order.
func Besides(lb *route.Policy, s *queue.Scheduled) topo.Besides {
	switch {
	case s != nil:
		return topo.ToEdges
	case route.Is[route.Steerer](lb):
		return topo.ToRegions
	case route.Is[route.Ordered](lb):
		return topo.InOrder
	}
	return topo.Nothing
}

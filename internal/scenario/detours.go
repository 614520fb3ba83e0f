package scenario

import (
	"slices"

	"railyard/internal/field"
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/internal/topo"
)

// detours gives switches the classes that packets on detours rise through, where the policy sends
// them on any. All switches have the same, because a packet that one has put into a class must
// be paused in it by the next.
func (p *Plan) detours() error {
	if !p.LB.Detours {
		return nil
	}
	if len(p.Graph.Regions) < 3 {
		return field.New("lb", "%s sends packets by way of groups of switches that are neither the "+
			"sender's nor the receiver's, and this fabric has %d groups; accepted: fabric.kind "+
			"dragonfly with three or more, or nodes and cables where fabric.regions, or a rule's between, "+
			"names the place of its groups", p.LB.Name, len(p.Graph.Regions))
	}
	for i, region := range p.Graph.RegionOf() {
		if n := p.Graph.Nodes[i]; region < 0 && n.Role != topo.Host {
			return field.New("lb", "%s needs every switch to be in a group, and %s is in none: it does not "+
				"stand at the place that fabric.regions, or a rule's between, names", p.LB.Name, n.Name)
		}
	}
	raised := map[*queue.Spec]*queue.Spec{}
	for i, node := range p.Graph.Nodes {
		if node.Role == topo.Host {
			continue
		}
		old := p.specs[i]
		if raised[old] == nil {
			spec := *old
			rise, err := spec.Rise(route.Levels)
			if err != nil {
				return field.New("lb", "%s needs %d classes for lossless traffic, against deadlock: %s: %v",
					p.LB.Name, route.Levels, node.Name, err)
			}
			if len(raised) > 0 && !slices.EqualFunc(rise[:], p.Rise[:], slices.Equal) {
				return field.New("lb", "%s needs the same classes at all switches, and those of %s "+
					"differ from others: map DSCPs alike, and leave the same queues free",
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
			p.note("lb %s: lossless packets of queue %d go on in queues %d "+
				"after each cable between groups, against deadlock; these are copies of it and share its "+
				"weight unless configured", p.LB.Name, c, row[1:])
		}
	}
	return nil
}

// Besides is what has locators besides NICs: regions where packets go by way of them, and interface nodes of
// a scheduled fabric, where each is the end of its cells' ways.
func Besides(lb *route.Policy, s *queue.Scheduled) topo.Besides {
	switch {
	case s != nil:
		return topo.ToEdges
	case lb.Detours:
		return topo.ToRegions
	}
	return topo.Nothing
}

package scenario

import (
	"railyard/internal/field"
	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/topo"
	"railyard/unit"
)

// PortHeadroom is a port's headroom per class; 0: its switch's Spec applies.
type PortHeadroom [queue.Classes]unit.Bytes

// portHeadroom finds the ports of a switch whose configured headroom differs from most ports': that of a long link
// among short ones.
func (p *resolver) portHeadroom(node int, c *swconf.Config) {
	spec := p.specs[node]
	var least, most unit.Bytes
	for end, port := range p.portsIn(node, c) {
		if port.QoS == nil {
			continue
		}
		var own PortHeadroom
		for i := range spec.Queues {
			k, said := &spec.Queues[i], port.QoS.Queues[i].PG.V.Headroom
			if !k.Lossless || said == 0 || said == k.Headroom {
				continue
			}
			if least == 0 {
				least, most = k.Headroom, k.Headroom
			}
			own[i], least, most = said, min(least, said), max(most, said)
		}
		if own != (PortHeadroom{}) {
			p.Headroom[end] = own
		}
	}
	if least < most {
		p.note("%s: ports keep %v to %v of headroom, each as its own configuration sets it", p.Graph.Nodes[node].Name,
			least, most)
	}
}

// reserve is the headroom that a port keeps for a class.
func (p *Plan) reserve(link, node, class int) unit.Bytes {
	l := &p.Graph.Links[link]
	if p.Scheduled != nil && p.Graph.Nodes[l.A].Role != topo.Host && p.Graph.Nodes[l.B].Role != topo.Host {
		return 0 // there is no PFC inside a scheduled fabric
	}
	if own := p.Headroom[topo.LinkEnd{Link: link, Node: node}][class]; own > 0 {
		return own
	}
	response := p.Switching.Response
	if response == 0 {
		response = queue.Response(l.Rate)
	}
	return p.specs[node].Reserve(class, l.Rate, l.Propagation(), response,
		p.Graph.Nodes[node].Through(p.Switching.Pipeline))
}

// Reserved returns, by node, its ports' total headroom of all classes.
func (p *Plan) Reserved() []unit.Bytes {
	reserved := make([]unit.Bytes, len(p.Graph.Nodes))
	for i, l := range p.Graph.Links {
		for c := range queue.Classes {
			reserved[l.A] += p.reserve(i, l.A, c)
			reserved[l.B] += p.reserve(i, l.B, c)
		}
	}
	return reserved
}

// Respec changes the Spec of each node's switch. A change of one does not affect the others.
func (p *Plan) Respec(change func(node int, s *queue.Spec)) {
	for i, s := range p.specs {
		own := *s
		change(i, &own)
		p.specs[i] = &own
	}
}

// noteHeadroom notes classes whose headroom does not hold what arrives after a pause: the largest shortage of each.
func (p *resolver) noteHeadroom() {
	type shortage struct {
		node       int
		have, need unit.Bytes
	}
	var short [queue.Classes]shortage
	for i, l := range p.Graph.Links {
		response := p.Switching.Response
		if response == 0 {
			response = queue.Response(l.Rate)
		}
		for _, n := range []int{l.A, l.B} {
			if p.Graph.Nodes[n].Role == topo.Host {
				continue
			}
			need := queue.Headroom(l.Rate, l.Propagation(), response, p.Graph.Nodes[n].Through(p.Switching.Pipeline),
				min(p.specs[n].MTU, p.largestFrame()))
			for c := range queue.Classes {
				have := p.reserve(i, n, c)
				if x := &short[c]; have > 0 && need-have > x.need-x.have {
					*x = shortage{n, have, need}
				}
			}
		}
	}
	for c, x := range short {
		if x.need > 0 {
			p.note("queue %d of %s is lossless, and its headroom of %v is below the %v that its link needs: packets that arrive after a pause can be lost; headroom 0B is computed",
				c, p.Graph.Nodes[x.node].Name, x.have, x.need)
		}
	}
}

// headroom checks that each switch's buffer holds the headroom of its ports.
func (p *resolver) headroom() error {
	p.noteHeadroom()
	reserved := p.Reserved()
	for i, n := range p.Graph.Nodes {
		if n.Role != topo.Host && reserved[i] >= p.specs[i].Buffer {
			return field.New("switch.buffer",
				"the headroom of %s's %s takes %v of %v and leaves nothing to share; use a larger buffer, shorter cables or a headroom of your own",
				n.Name, unit.Plural(n.Ports, "port"), reserved[i], p.specs[i].Buffer)
		}
	}
	return nil
}

package sim

import (
	"railyard/internal/fabric"
	"railyard/internal/queue"
	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/roce"
	"railyard/unit"
)

// scheduled returns the activity of a scheduled fabric; nil for others.
func (n *Network) scheduled() *result.Scheduled {
	if n.Setup.Scheduled == nil {
		return nil
	}
	net := n.Net
	s := &result.Scheduled{Cells: net.Cells, CellsLost: net.CellsLost, Requests: net.Requests,
		Grants: net.Grants, Egress: int64(n.Setup.Scheduled.Egress)}
	n.evenness(s)
	for i, node := range n.Graph.Nodes {
		if f, ok := net.Interface(int32(i)); ok && f.VOQs > 0 {
			s.Repeats, s.GaveUp = s.Repeats+f.Repeats, s.GaveUp+f.GaveUp
			s.Nodes = append(s.Nodes, interfaceNode(node.Name, &f))
		}
	}
	return s
}

// evenness finds the interface node with the largest difference between its fabric links in one direction. Cells
// use all of them in turn, for any destination.
func (n *Network) evenness(s *result.Scheduled) {
	type side struct{ least, most int64 }
	sides := make([][2]side, len(n.Graph.Nodes)) // by node: bytes sent, and bytes received
	for i := range n.Net.Ports {
		p := &n.Net.Ports[i]
		ends := [2]int32{p.Node, n.Net.Ports[p.Peer].Node}
		if n.Graph.Nodes[ends[0]].Role == topo.Host || n.Graph.Nodes[ends[1]].Role == topo.Host {
			continue
		}
		s.Links++
		bytes := n.Net.Sent(int32(i))
		for k, node := range ends {
			x := &sides[node][k]
			if x.most == 0 || bytes < x.least {
				x.least = bytes
			}
			x.most = max(x.most, bytes)
		}
	}
	for node := range sides {
		if _, ok := n.Net.Interface(int32(node)); !ok {
			continue
		}
		for _, x := range sides[node] {
			if float64(x.most)*float64(s.LinkLeast) > float64(s.LinkMost)*float64(x.least) || s.LinkMost == 0 {
				s.LinkLeast, s.LinkMost = x.least, x.most
			}
		}
	}
}

func interfaceNode(name string, f *fabric.InterfaceStats) result.InterfaceNode {
	x := result.InterfaceNode{Name: name, VOQs: f.VOQs, HeldPeak: f.HeldPeak, VOQPeak: f.VOQPeak,
		EgressPeak: f.EgressPeak, PortPeak: f.PortPeak, Granted: f.Granted, Packets: f.Left,
		WaitMost: int64(f.WaitMost)}
	if f.Left > 0 {
		x.WaitMean = int64(f.Waited) / f.Left
	}
	return x
}

// crossings returns the hops of packets and control packets inside a scheduled fabric over a number of links: their
// bursts, and a request and a grant.
func (e *estimator) crossings(s *queue.Scheduled, data, others, cables int64, src, dst int) int64 {
	g := e.plan.Graph
	first := g.NICs[src].Links[0]
	node := g.Links[first].A + g.Links[first].B - g.Hosts[g.NICs[src].Host]
	links := int64(len(e.routes.Next(node, e.routes.Locator[dst])))
	bursts := min(links, s.Cells(unit.Bytes(roce.DataLen(roce.WriteMiddle, e.plan.RC.MTU))+e.plan.MoreIP()))
	return cables * (data*(bursts+2) + others*3)
}

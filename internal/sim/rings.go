package sim

import (
	"railyard/internal/route"
	"railyard/internal/topo"
)

// rings sets the links of a torus in the fabric.
func (n *Network) rings() {
	grid := n.Graph.Grid
	dim, wrap := make([]int8, len(n.Net.Ports)), make([]bool, len(n.Net.Ports))
	for port, link := range n.linkOf {
		dim[port], wrap[port] = grid.Dim[link], grid.Wrap[link]
	}
	lb := n.Setup.LB
	n.Net.SetRings(dim, wrap, &n.Setup.Rise, route.Is[route.Escaper](lb), route.Is[route.Steerer](lb))
}

// escapes sets the escape ports of switches: the first link in dimension order.
func (n *Network) escapes() {
	ways := n.Graph.Ordered(n.routed, n.Paths) // with the locators of these
	row := make([]int32, len(n.Paths.Sets))
	for node := range n.Graph.Nodes {
		if n.Graph.Nodes[node].Role == topo.Host {
			continue
		}
		ways.Row(node, row)
		ports := make([]int32, len(row))
		for loc, set := range row {
			ports[loc] = -1
			if set >= 0 {
				ports[loc] = n.Port(ways.Links(node, set)[0], node)
			}
		}
		n.Net.SetEscape(int32(node), ports)
	}
}

package configuration

import (
	"railyard/internal/cabling"
	"railyard/internal/swconf"
	"railyard/internal/topo"
)

// Plugged lists the cables that connect a switch's port and a server's port.
func Plugged(c *cabling.Cabling) (out []swconf.Plugged) {
	for _, k := range c.Cables {
		for _, x := range [][2]cabling.End{{k.A, k.B}, {k.B, k.A}} {
			sw, server := c.Nodes[x[0].Node], c.Nodes[x[1].Node]
			if sw.Kind == cabling.Server || server.Kind == cabling.Switch || x[0].Port == "" || x[1].Port == "" {
				continue
			}
			out = append(out, swconf.Plugged{Switch: sw.Name, Port: x[0].Port, Server: server.Name,
				Socket: x[1].Port, At: swconf.Place{File: k.At.File, Line: k.At.Line, Col: k.At.Col}})
		}
	}
	return out
}

// Sockets returns, for each link of the graph, the ports of the cabling at its ends. The graph itself numbers ports
// anew. Cables between the same two nodes are matched in order.
func Sockets(g *topo.Graph, c *cabling.Cabling) func(link, node int) string {
	type ends struct{ a, b string }
	between := map[ends][]cabling.Cable{}
	for _, k := range c.Cables {
		e := ends{c.Nodes[k.A.Node].Name, c.Nodes[k.B.Node].Name}
		if e.a > e.b {
			e, k.A, k.B = ends{e.b, e.a}, k.B, k.A
		}
		between[e] = append(between[e], k)
	}
	told := make([]map[int]string, len(g.Links))
	for i, l := range g.Links {
		a, b := l.A, l.B
		if g.Nodes[a].Name > g.Nodes[b].Name {
			a, b = b, a
		}
		e := ends{g.Nodes[a].Name, g.Nodes[b].Name}
		if list := between[e]; len(list) > 0 {
			told[i] = map[int]string{a: list[0].A.Port, b: list[0].B.Port}
			between[e] = list[1:]
		}
	}
	return func(link, node int) string { return told[link][node] }
}

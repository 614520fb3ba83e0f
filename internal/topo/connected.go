package topo

import (
	"fmt"
	"strings"
)

// Reachable reports whether there is a path from one NIC to another. Rails in separate VLANs are isolated even
// inside one switch.
func (g *Graph) Reachable(r *Routes, a, b int) bool {
	if g.Isolated && g.NICs[a].Rail != g.NICs[b].Rail {
		return false
	}
	lb := r.Locator[b]
	if lb < 0 || r.Locator[a] < 0 {
		return false
	}
	for _, sw := range r.Sets[r.Locator[a]] {
		if _, ok := r.Near(sw, b); ok || r.Next(sw, lb) != nil {
			return true
		}
	}
	return false
}

// CheckConnected returns an error if the graph is partitioned with these links down: some server's NIC cannot reach
// another that it should. The error names two parts. Rails may be isolated from each other, since NVLink connects
// them inside a server.
func (g *Graph) CheckConnected(down map[int]bool) error {
	if len(g.Hosts) < 2 {
		return nil
	}
	switches := g.joined(down)
	// Servers are connected if some pair of their NICs is. They may also be connected through common servers,
	// because NVLink carries data between a server's NICs.
	servers := newParts(len(g.Hosts))
	for h := range g.Hosts {
		servers.join(h, g.ServerIn(g.DomainOf(h)))
	}
	type vlan struct{ part, rail int } // NICs in one reach each other
	first := map[vlan]int{}
	for i, n := range g.NICs {
		up := false
		for _, l := range n.Links {
			if down[l] {
				continue
			}
			up = true
			v := vlan{part: switches.of(g.Links[l].A + g.Links[l].B - g.Hosts[n.Host])}
			if g.Isolated {
				v.rail = n.Rail
			}
			if h, ok := first[v]; ok {
				servers.join(n.Host, h)
			} else {
				first[v] = n.Host
			}
		}
		if !up {
			return fmt.Errorf("%s has no cable that is up", g.NICName(i))
		}
	}
	var apart []string
	for i := range g.Hosts {
		if servers.of(i) != servers.of(0) {
			apart = append(apart, g.Nodes[g.Hosts[i]].Name)
		}
	}
	if len(apart) > 0 {
		if len(apart) > 4 {
			apart = append(apart[:4], "...")
		}
		return fmt.Errorf("the graph is partitioned: %s cannot reach %s", g.Nodes[g.Hosts[0]].Name,
			strings.Join(apart, ", "))
	}
	return nil
}

// NICName returns a NIC's name: "host-1/nic-2", or "host-1/nic-2p1" if its ports are separate.
func (g *Graph) NICName(i int) string {
	if n := g.NICs[i]; n.Port > 0 {
		return fmt.Sprintf("%sp%d", g.CardName(i), n.Port)
	}
	return g.CardName(i)
}

// CardName names the card that a NIC is, or a port of: "host-1/nic-2".
func (g *Graph) CardName(i int) string {
	n := g.NICs[i]
	return fmt.Sprintf("%s/nic-%d", g.Nodes[g.Hosts[n.Host]].Name, n.Index+1)
}

// joined returns the components of switches connected by links.
func (g *Graph) joined(down map[int]bool) parts {
	p := newParts(len(g.Nodes))
	for i, l := range g.Links {
		if !down[i] && g.Nodes[l.A].Role != Host && g.Nodes[l.B].Role != Host {
			p.join(l.A, l.B)
		}
	}
	return p
}

// Planes numbers, by switch, the planes of a fabric, parts that no link between switches connects, from 1. Switches
// that have no such cable are in none, 0.
func (g *Graph) Planes() []int {
	p, planes := g.joined(nil), make([]int, len(g.Nodes))
	number := map[int]int{}
	for _, l := range g.Links {
		if g.Nodes[l.A].Role == Host || g.Nodes[l.B].Role == Host {
			continue
		}
		at := p.of(l.A)
		if number[at] == 0 {
			number[at] = len(number) + 1
		}
		planes[l.A], planes[l.B] = number[at], number[at]
	}
	return planes
}

// parts is a union-find structure: the connected components of a set.
type parts []int

func newParts(n int) parts {
	p := make(parts, n)
	for i := range p {
		p[i] = i
	}
	return p
}

// of returns the representative of an element's component.
func (p parts) of(i int) int {
	for p[i] != i {
		p[i] = p[p[i]]
		i = p[i]
	}
	return i
}

func (p parts) join(a, b int) { p[p.of(a)] = p.of(b) }

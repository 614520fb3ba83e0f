package topo

// Racks says of each server, those that share NVLink as one, behind which leaf its first NIC is, and which
// leaves are joined by one tier.
func (g *Graph) Racks() (rack, pod []int) {
	rack, pod = make([]int, g.Domains()), make([]int, g.Domains())
	leaf := make([]int, g.Domains())
	for d := range leaf {
		leaf[d] = -1
	}
	for i := range g.NICs {
		n := &g.NICs[i]
		if d := g.DomainOf(n.Host); leaf[d] < 0 {
			l := &g.Links[n.Links[0]]
			leaf[d] = l.A + l.B - g.Hosts[n.Host]
		}
	}
	above := map[int]int{} // by switch: the first that leaves were seen below, as union
	var root func(int) int
	root = func(n int) int {
		if up, ok := above[n]; ok && up != n {
			above[n] = root(up)
			return above[n]
		}
		return n
	}
	isLeaf := map[int]bool{}
	for _, l := range leaf {
		isLeaf[l] = true
	}
	for i := range g.Links {
		l := &g.Links[i]
		for _, end := range [][2]int{{l.A, l.B}, {l.B, l.A}} {
			if isLeaf[end[0]] && g.Nodes[end[1]].Role != Host {
				above[root(end[0])] = root(end[1])
			}
		}
	}
	number := func(of map[int]int, key int) int {
		if _, ok := of[key]; !ok {
			of[key] = len(of)
		}
		return of[key]
	}
	racks, pods := map[int]int{}, map[int]int{}
	for d, l := range leaf {
		rack[d], pod[d] = number(racks, l), number(pods, root(l))
	}
	return rack, pod
}

package topo

// Apart makes each port of a NIC that has several a NIC of its own: no bundle, but addresses in two subnets,
// as where two ports go to two switches in two VLANs. A GPU takes the ports in turn, the first with the first
// of its peer; what is in flight on a port does not move to another one when that breaks.
func (g *Graph) Apart() {
	cards := make([][]int, len(g.gpuHost))
	at := make([]int, len(g.NICs)+1) // by NIC, where its ports begin
	var nics []NIC
	for i, n := range g.NICs {
		at[i] = len(nics)
		for k, l := range n.Links {
			port := n
			if port.Links = []int{l}; len(n.Links) > 1 {
				port.Port = k + 1
			}
			nics = append(nics, port)
		}
	}
	at[len(g.NICs)] = len(nics)
	for gpu := range g.gpuHost {
		for w := range g.Ways(gpu) {
			nic := g.WayOf(gpu, w)
			for i := at[nic]; i < at[nic+1]; i++ {
				cards[gpu] = append(cards[gpu], i)
			}
		}
	}
	g.NICs, g.cards, g.ways = nics, cards, nil
	for gpu := range g.gpuHost {
		g.NICOf[gpu] = cards[gpu][0]
	}
}

// Cards counts the NICs as one buys them: the ports of one card are one.
func (g *Graph) Cards() (n int) {
	for i := range g.NICs {
		if g.NICs[i].Port <= 1 {
			n++
		}
	}
	return n
}

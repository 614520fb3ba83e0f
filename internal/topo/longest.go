package topo

// Way is a pair of NICs with the number of switches of their shortest path.
type Way struct{ Switches, From, To int }

// Longest returns the longest of the shortest paths between NICs, over working links; zero switches if there is none.
func (g *Graph) Longest() (longest Way) {
	first, next := g.exits()
	near := g.doors()
	dist := make([]int32, len(g.Nodes))
	var queue []int32
	for from := range g.Nodes {
		if len(near[from]) == 0 {
			continue
		}
		clear(dist) // switches passed, including this one; 0: not reached
		queue = append(queue[:0], int32(from))
		dist[from] = 1
		for i := 0; i < len(queue); i++ {
			n := queue[i]
			for _, p := range next[first[n]:first[n+1]] {
				if dist[p] == 0 {
					dist[p] = dist[n] + 1
					queue = append(queue, p)
				}
			}
		}
		for i := len(queue) - 1; i >= 0; i-- { // the farthest first
			to := queue[i]
			if int(dist[to]) <= longest.Switches {
				break
			}
			if a, b, ok := g.talk(near[from], near[to]); ok {
				longest = Way{int(dist[to]), a, b}
				break
			}
		}
	}
	return longest
}

// talk finds two NICs of two switches that may reach each other.
func (g *Graph) talk(from, to []int) (a, b int, ok bool) {
	for _, a := range from {
		for _, b := range to {
			if a != b && (!g.Isolated || g.NICs[a].Rail == g.NICs[b].Rail) {
				return a, b, true
			}
		}
	}
	return 0, 0, false
}

// doors lists the NICs at each switch.
func (g *Graph) doors() [][]int {
	near := make([][]int, len(g.Nodes))
	for i, nic := range g.NICs {
		for _, l := range nic.Links {
			sw := g.Links[l].A + g.Links[l].B - g.Hosts[nic.Host]
			near[sw] = append(near[sw], i)
		}
	}
	return near
}

// exits lists each switch's neighbour switches: the neighbours of n are next[first[n]:first[n+1]].
func (g *Graph) exits() (first, next []int32) {
	first = make([]int32, len(g.Nodes)+1)
	between := func(do func(a, b int)) {
		for _, l := range g.Links {
			if g.Nodes[l.A].Role != Host && g.Nodes[l.B].Role != Host {
				do(l.A, l.B)
				do(l.B, l.A)
			}
		}
	}
	between(func(a, _ int) { first[a+1]++ })
	for i := range g.Nodes {
		first[i+1] += first[i]
	}
	next = make([]int32, first[len(g.Nodes)])
	at := append([]int32(nil), first...)
	between(func(a, b int) { next[at[a]] = int32(b); at[a]++ })
	return first, next
}

// Farthest returns the number of links from the farthest switch with NICs to the nearest switch of the region that is
// farthest from it.
func (g *Graph) Farthest() (most int) {
	first, next := g.exits()
	near := g.doors()
	dist := make([]int, len(g.Nodes))
	for _, region := range g.Stations() {
		for i := range dist {
			dist[i] = -1
		}
		queue := append([]int(nil), region...)
		for _, n := range region {
			dist[n] = 0
		}
		for i := 0; i < len(queue); i++ {
			n := queue[i]
			if len(near[n]) > 0 {
				most = max(most, dist[n])
			}
			for _, p := range next[first[n]:first[n+1]] {
				if dist[p] < 0 {
					dist[p] = dist[n] + 1
					queue = append(queue, int(p))
				}
			}
		}
	}
	return most
}

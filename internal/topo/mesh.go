package topo

import "slices"

// Exit is a link out of a switch.
type Exit struct {
	Link   int
	Peer   int
	Length int32
}

// mesh holds the switches and the live links among them.
type mesh struct {
	switches []int32
	hops     bool       // whether all links are one hop long
	exits    [][]Exit   // by node, in the order of links
	peers    [][]hop    // by node: its neighbours, each once, in order
	known    []interned // by node: sets of next switches, numbered as in Routes.sets
}

// hop is a neighbour and its distance.
type hop struct{ peer, length int32 }

// mesh lists each switch's working links to other switches; with detours those between regions are longer.
func (g *Graph) mesh(down map[int]bool, detours bool) *mesh {
	m := &mesh{hops: !detours, exits: make([][]Exit, len(g.Nodes)), peers: make([][]hop, len(g.Nodes)),
		known: make([]interned, len(g.Nodes))}
	of := g.RegionOf()
	for i, l := range g.Links {
		if down[i] || g.Nodes[l.A].Role == Host || g.Nodes[l.B].Role == Host {
			continue
		}
		length := int32(1)
		if detours && of[l.A] != of[l.B] {
			length = leaving
		}
		m.exits[l.A] = append(m.exits[l.A], Exit{i, l.B, length})
		m.exits[l.B] = append(m.exits[l.B], Exit{i, l.A, length})
	}
	for n, exits := range m.exits {
		if g.Nodes[n].Role == Host {
			continue
		}
		m.switches = append(m.switches, int32(n))
		hops := make([]hop, len(exits))
		for i, x := range exits {
			hops[i] = hop{int32(x.Peer), x.Length}
		}
		slices.SortFunc(hops, func(a, b hop) int { return int(a.peer - b.peer) })
		m.peers[n] = slices.Clone(slices.Compact(hops))
	}
	return m
}

// walker finds out how far switches are from some.
type walker struct {
	*mesh
	dist []int32
	line []int32              // switches in a line, the nearest first
	ring [leaving + 1][]int32 // nodes by their distance, for the next distances
	out  []int32
}

func (m *mesh) walker() *walker { return &walker{mesh: m, dist: make([]int32, len(m.exits))} }

// ways visits all switches with those neighbours that are nearer to a given set. The neighbours are in order, and
// valid during the visit.
func (w *walker) ways(from []int32, visit func(n int32, next []int32)) {
	if !w.hops {
		w.dial(from)
		for _, n := range w.switches {
			visit(n, w.next(n))
		}
		return
	}
	for i := range w.dist {
		w.dist[i] = -1
	}
	w.line = append(w.line[:0], from...)
	for _, n := range from {
		w.dist[n] = 0
	}
	for i := 0; i < len(w.line); i++ { // nearer nodes have their distance by now
		n := w.line[i]
		d := w.dist[n]
		w.out = w.out[:0]
		for _, h := range w.peers[n] {
			switch w.dist[h.peer] {
			case -1:
				w.dist[h.peer] = d + 1
				w.line = append(w.line, h.peer)
			case d - 1:
				w.out = append(w.out, h.peer)
			}
		}
		visit(n, w.out)
	}
	if len(w.line) < len(w.switches) {
		for _, n := range w.switches {
			if w.dist[n] < 0 {
				visit(n, nil)
			}
		}
	}
}

// dial fills in how far each switch is from the nearest of some: Dial's algorithm, for links of
// 1 to leaving hops.
func (w *walker) dial(from []int32) {
	for i := range w.dist {
		w.dist[i] = -1
	}
	w.ring[0] = append(w.ring[0], from...)
	for _, n := range from {
		w.dist[n] = 0
	}
	for d, left := int32(0), len(from); left > 0; d++ {
		at := &w.ring[d%(leaving+1)]
		for i := 0; i < len(*at); i++ {
			n := (*at)[i]
			left--
			if w.dist[n] != d { // a shorter path was found since
				continue
			}
			for _, h := range w.peers[n] {
				to := d + h.length
				if w.dist[h.peer] < 0 || w.dist[h.peer] > to {
					w.dist[h.peer] = to
					next := &w.ring[to%(leaving+1)]
					*next = append(*next, h.peer)
					left++
				}
			}
		}
		*at = (*at)[:0]
	}
}

// next lists a switch's nearer neighbours, in order, until the next call.
func (w *walker) next(n int32) []int32 {
	w.out = w.out[:0]
	if d := w.dist[n]; d > 0 {
		for _, h := range w.peers[n] {
			if w.dist[h.peer] == d-h.length {
				w.out = append(w.out, h.peer)
			}
		}
	}
	return w.out
}

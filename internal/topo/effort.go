package topo

import "slices"

// Effort is the time and memory of a fabric's routes, which grows with its lack of a pattern
// and is known before: classes of twins are counted, and of a few of them it is seen in how much ways to
// one differ from ways to the next.
type Effort struct {
	Switches, Locators, Classes int
	Visits                      int64 // of switches and their neighbours
	Runs                        int64 // of classes to which a switch has one set of next links
	Sets                        int64 // different ones of these
}

// Entries returns the total number of entries of the forwarding tables.
func (e *Effort) Entries() int64 { return int64(e.Switches) * int64(e.Locators) }

// Effort looks at routes over all links.
func (g *Graph) Effort(to Besides) Effort {
	r, detours := g.locate(nil, nil, to), to == ToRegions && g.Grid == nil
	net := g.mesh(nil, detours)
	classes := r.classify(net, detours || to == InOrder || to == ToRegions)
	e := Effort{Switches: len(net.switches), Locators: len(r.Sets), Classes: len(classes)}
	neighbours, most := int64(0), int64(0)
	for _, n := range net.switches {
		degree := len(net.peers[n])
		neighbours += int64(degree)
		most += min(1<<min(degree, 30), int64(len(classes)))
	}
	e.Visits = int64(len(classes)) * (int64(len(net.switches)) + neighbours)
	e.Runs = int64(len(net.switches)) + net.changes(classes)
	e.Sets = min(e.Runs, most)
	return e
}

// changes extrapolates how often switches have other next switches to a class than to the one before it.
func (m *mesh) changes(classes [][]int32) (all int64) {
	const samples = 8
	w := m.walker()
	next := make([][]int32, len(m.exits))
	seen := 0
	step := max(1, (len(classes)-1)/samples)
	for c := 1; c < len(classes); c += step {
		for k, from := range classes[c-1 : c+1] {
			w.ways(from, func(n int32, to []int32) {
				if k == 0 {
					next[n] = append(next[n][:0], to...)
				} else if !slices.Equal(next[n], to) {
					all++
				}
			})
		}
		seen++
	}
	if seen == 0 {
		return 0
	}
	return all * int64(len(classes)-1) / int64(seen)
}

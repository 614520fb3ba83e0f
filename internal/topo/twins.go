package topo

import "slices"

// Locators whose switches have equal neighbours are twins: from all other switches their paths are equal. The last
// hop to a locator leaves one of these neighbours. A switch's distance is therefore that of the nearest of them
// plus one. Unless it is such a neighbour itself, its next switches do not depend on which of the twins is the
// destination. A class of twins is computed once, to the neighbours. Differences are stored separately: the
// neighbours have the links to each twin (depart), and a locator's own switches need no path. In a Clos all leaves
// of a pod, or of one of its planes, are twins.

// classify assigns locators to classes and returns the start nodes of each class's paths. With detours, where a
// link may be longer than a path around it, each locator is a class of its own.
func (r *Routes) classify(net *mesh, detours bool) (from [][]int32) {
	r.class = make([]int32, len(r.Sets))
	index := map[string]int32{}
	var around []int
	for loc, set := range r.Sets {
		if detours {
			r.class[loc] = int32(loc)
			from = append(from, narrow(set))
			continue
		}
		around = net.around(around[:0], set)
		key := keyOf(around)
		c, ok := index[key]
		if !ok {
			c = int32(len(from))
			index[key] = c
			from = append(from, narrow(around))
		}
		r.class[loc] = c
	}
	return from
}

// around lists the neighbours of a set of switches, in order.
func (m *mesh) around(out, set []int) []int {
	for _, n := range set {
		for _, h := range m.peers[n] {
			out = append(out, int(h.peer))
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(n int) bool { return slices.Contains(set, n) })
}

func narrow(nodes []int) []int32 {
	out := make([]int32, len(nodes))
	for i, n := range nodes {
		out[i] = int32(n)
	}
	return out
}

// depart stores the differences between a locator's paths and its class's paths.
func (r *Routes) depart(net *mesh, loc int) {
	type cable struct{ from, link int }
	var last []cable
	for i, n := range r.Sets[loc] {
		if i > 0 && n == r.Sets[loc][i-1] { // a NIC with two links to it
			continue
		}
		r.apart[n] = append(r.apart[n], special{int32(loc), -1})
		for _, x := range net.exits[n] {
			if !slices.Contains(r.Sets[loc], x.Peer) {
				last = append(last, cable{x.Peer, x.Link})
			}
		}
	}
	slices.SortFunc(last, func(a, b cable) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return a.link - b.link
	})
	for i := 0; i < len(last); {
		n, k := last[i].from, i
		for i < len(last) && last[i].from == n {
			i++
		}
		links := make([]int, 0, i-k)
		for _, c := range last[k:i] {
			links = append(links, c.link)
		}
		r.apart[n] = append(r.apart[n], special{int32(loc), int32(len(r.sets[n]))})
		r.sets[n] = append(r.sets[n], links)
	}
}

// Edge connects two vertices for Refine; From depends on the label and the colour of To.
type Edge struct {
	From, To int32
	Label    uint64
}

// Mix is a step of a hash (SplitMix64's finalizer).
func Mix(h uint64, words ...uint64) uint64 {
	for _, w := range words {
		h ^= w + 0x9e3779b97f4a7c15 + h<<6 + h>>2
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// Refine gives vertices with different neighbours different colours, until the partition is stable or for at most
// the given number of rounds. It returns the number of colours.
func Refine(colour []uint64, edges []Edge, rounds int) (kinds int) {
	next := make([]uint64, len(colour))
	kinds = distinct(colour)
	for range rounds {
		clear(next)
		for _, e := range edges {
			next[e.From] += Mix(e.Label, colour[e.To])
		}
		for v := range colour {
			colour[v] = Mix(colour[v], next[v])
		}
		now := distinct(colour)
		if now == kinds {
			break
		}
		kinds = now
	}
	return kinds
}

func distinct(colour []uint64) int {
	seen := make(map[uint64]bool, 64)
	for _, c := range colour {
		seen[c] = true
	}
	return len(seen)
}

// Effort estimates time and memory of a fabric's routes in advance; they grow with its irregularity. It counts
// classes of twins, and compares the paths to a few of them.
type Effort struct {
	Switches, Locators, Classes int
	Visits                      int64 // visited switches and neighbors
	Runs                        int64 // classes for which a switch has one set of next links
	Sets                        int64 // of these, different sets
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

// changes extrapolates how often the next switches differ between a class and the one before it.
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

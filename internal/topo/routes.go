package topo

import (
	"maps"
	"slices"
	"sort"
)

// Routes contains the shortest paths over the links that are up. NICs that are attached to the same live switches
// share a locator.
type Routes struct {
	Locator []int // by NIC, -1 if it has no working cable
	Regions []int // by station of the graph: locator of all its switches; only on request
	Edges   []int // by node with NICs: the locator of that switch alone, -1 for others; only on request
	Sets    [][]int

	graph *Graph
	down  map[int]bool
	class []int32 // by locator: its class
	// By node, the set of next links to each class, -1 for none. The exceptions are locators of the node itself
	// (-1), or of switches connected to it.
	ways  [][]run
	apart [][]special
	sets  [][][]int // by node: distinct sets of next links
}

// run is consecutive classes with one set, from the previous run's end up to end.
type run struct{ end, set int32 }

// special is a locator that a switch routes unlike its class.
type special struct{ loc, set int32 }

// Besides selects locators other than NICs, or the set of paths.
type Besides uint8

// Its values: none; a graph's stations, with paths that leave few regions (in dimension order, on a torus); each
// switch with NICs separately; or none, with paths in dimension order (Ordered).
const (
	Nothing Besides = iota
	ToRegions
	ToEdges
	InOrder
)

// Route computes shortest paths; down lists broken links.
func (g *Graph) Route(down map[int]bool) *Routes { return g.Reroute(down, nil, Nothing) }

// Reroute is Route after other routes. Their locators keep their meaning, because packets in flight contain them.
// before may be nil.
//
// With regions there are also paths to the nearest switch of each region. The shortest path is then the one that
// leaves the fewest regions. On a dragonfly it is at most local, global, local (Kim et al. 2008). It does not take
// two global links through a third group to save a hop.
func (g *Graph) Reroute(down map[int]bool, before *Routes, to Besides) *Routes {
	if to == InOrder || to == ToRegions && g.Grid != nil {
		return g.ordered(down, before, to)
	}
	down = g.Short(down)
	r, detours := g.locate(down, before, to), to == ToRegions
	net := g.mesh(down, detours)
	classes := r.classify(net, detours)
	r.ways, r.sets = make([][]run, len(g.Nodes)), make([][][]int, len(g.Nodes))
	r.apart = make([][]special, len(g.Nodes))
	w := net.walker()
	last := make([]int32, len(g.Nodes)) // set of the run that grows
	for c, from := range classes {
		w.ways(from, func(n int32, next []int32) {
			set := r.intern(net, n, last[n], next)
			if c == 0 {
				last[n] = set
			} else if set != last[n] {
				r.ways[n] = append(r.ways[n], run{int32(c), last[n]})
				last[n] = set
			}
		})
	}
	for _, n := range net.switches {
		r.ways[n] = append(r.ways[n], run{int32(len(classes)), last[n]})
	}
	if !detours {
		for loc := range r.Sets {
			r.depart(net, loc)
		}
	}
	return r
}

// locate numbers the sets of switches with NICs, and the other locators.
func (g *Graph) locate(down map[int]bool, before *Routes, to Besides) *Routes {
	r := &Routes{Locator: make([]int, len(g.NICs)), graph: g, down: maps.Clone(down)}
	index := map[string]int{}
	if before != nil {
		r.Sets = slices.Clone(before.Sets)
		for loc, set := range r.Sets {
			index[keyOf(set)] = loc
		}
	}
	number := func(set []int) int {
		key := keyOf(set)
		loc, ok := index[key]
		if !ok {
			loc = len(r.Sets)
			index[key] = loc
			r.Sets = append(r.Sets, slices.Clone(set))
		}
		return loc
	}
	var set []int
	for i, nic := range g.NICs {
		set = set[:0]
		for _, l := range nic.Links {
			if !down[l] {
				set = append(set, g.Links[l].A+g.Links[l].B-g.Hosts[nic.Host])
			}
		}
		sort.Ints(set)
		if r.Locator[i] = -1; len(set) > 0 {
			r.Locator[i] = number(set)
		}
	}
	switch to {
	case ToRegions:
		for _, region := range g.Stations() {
			r.Regions = append(r.Regions, number(slices.Sorted(slices.Values(region))))
		}
	case ToEdges:
		r.Edges = slices.Repeat([]int{-1}, len(g.Nodes))
		for _, nic := range g.NICs {
			for _, l := range nic.Links {
				n := g.Links[l].A + g.Links[l].B - g.Hosts[nic.Host]
				r.Edges[n] = number([]int{n})
			}
		}
	}
	return r
}

// keyOf is a list of nodes as a key.
func keyOf(nodes []int) string {
	b := make([]byte, 0, 4*len(nodes))
	for _, n := range nodes {
		b = append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return string(b)
}

// Next returns the links from a switch towards a locator, in order; none at the destination and without a path.
func (r *Routes) Next(node, loc int) []int {
	ways := r.ways[node]
	if loc < 0 || ways == nil {
		return nil
	}
	s := ways[runOf(ways, r.class[loc])].set
	at, other := sort.Find(len(r.apart[node]), func(i int) int { return loc - int(r.apart[node][i].loc) })
	if other {
		s = r.apart[node][at].set
	}
	if s < 0 {
		return nil
	}
	return r.sets[node][s]
}

// runOf finds the run that contains a class: the first run that ends after it.
func runOf(ways []run, class int32) int {
	return sort.Search(len(ways), func(i int) bool { return ways[i].end > class })
}

// Row fills in a switch's set of next links by locator, -1 for none; Links has them.
func (r *Routes) Row(node int, row []int32) {
	ways, k := r.ways[node], 0
	for loc, c := range r.class { // classes are numbered in the order of locators: mostly sorted
		if ways[k].end <= c || k > 0 && ways[k-1].end > c {
			k = runOf(ways, c)
		}
		row[loc] = ways[k].set
	}
	for _, x := range r.apart[node] {
		row[x.loc] = x.set
	}
}

// Kinds returns a locator of each class. Switches with equal neighbours share a class, and the paths to one equal
// those to another with the two exchanged.
func (r *Routes) Kinds() (locators []int) {
	seen := map[int32]bool{}
	for loc, c := range r.class {
		if !seen[c] {
			seen[c] = true
			locators = append(locators, loc)
		}
	}
	return locators
}

// Links returns the next links of a set of a switch, in order.
func (r *Routes) Links(node int, set int32) []int { return r.sets[node][set] }

// Near returns the live link from a switch to a NIC attached to it; the last of several.
func (r *Routes) Near(node, nic int) (link int, ok bool) {
	n := &r.graph.NICs[nic]
	for _, l := range n.Links {
		if x := &r.graph.Links[l]; !r.down[l] && x.A+x.B-r.graph.Hosts[n.Host] == node {
			link, ok = l, true
		}
	}
	return link, ok
}

// Up reports whether the routes use a link.
func (r *Routes) Up(link int) bool { return !r.down[link] }

// Down is the links that the routes do not use. The result must not be changed.
func (r *Routes) Down() map[int]bool { return r.down }

// leaving is the length of a link between two regions, in hops inside regions. It exceeds the two hops that a path
// through a third region could save.
const leaving = 3

// Stations returns the intermediate destinations that packets can be sent by: regions, and on a torus, which has
// none, each switch.
func (g *Graph) Stations() [][]int {
	if g.Grid == nil {
		return g.Regions
	}
	var all [][]int
	for n := range g.Nodes {
		if g.Nodes[n].Role != Host {
			all = append(all, []int{n})
		}
	}
	return all
}

// RegionOf returns the station of each node, -1 for none.
func (g *Graph) RegionOf() []int32 {
	of := make([]int32, len(g.Nodes))
	for i := range of {
		of[i] = -1
	}
	for i, region := range g.Stations() {
		for _, n := range region {
			of[n] = int32(i)
		}
	}
	return of
}

package topo

import (
	"maps"
	"slices"
	"sort"
)

// Routes holds the shortest paths over the links that are up. NICs that hang
// off the same live switches share a locator.
type Routes struct {
	Locator []int // by NIC, -1 when it has no live cable
	Regions []int // by region of the graph: the locator of all its switches; none unless asked for
	Sets    [][]int

	graph *Graph
	down  map[int]bool
	class []int32 // by locator: its class
	// By node and class the set of next links, -1 for none; and by node those locators that have
	// another: it is one of their switches (-1), or cabled to one.
	rows  [][]int32
	apart [][]special
	sets  [][][]int // by node: distinct sets of next links
}

// special is where a switch does not go by a locator's class.
type special struct{ loc, set int32 }

// Route computes shortest paths; down lists broken links.
func (g *Graph) Route(down map[int]bool) *Routes { return g.Reroute(down, nil, false) }

// Reroute is Route after other routes, whose locators keep their meaning: packets that carry
// them are under way. before may be nil.
//
// With detours there are ways to the nearest switch of each region too, and the shortest way is the
// one that leaves as few regions as can be: on a dragonfly local, global, local at most (Kim et
// al. 2008), and not over two global cables by way of a third group where that saves a hop.
func (g *Graph) Reroute(down map[int]bool, before *Routes, detours bool) *Routes {
	r := g.locate(down, before, detours)
	net := g.mesh(down, detours)
	classes := r.classify(net, detours)
	r.rows, r.sets = make([][]int32, len(g.Nodes)), make([][][]int, len(g.Nodes))
	r.apart = make([][]special, len(g.Nodes))
	for n := range g.Nodes {
		if g.Nodes[n].Role != Host {
			r.rows[n] = make([]int32, len(classes))
		}
	}
	w := net.walker()
	for c, from := range classes {
		w.dial(from)
		for n, row := range r.rows {
			if row != nil {
				row[c] = r.intern(net, n, w.next(n))
			}
		}
	}
	if !detours {
		for loc := range r.Sets {
			r.depart(net, loc)
		}
	}
	return r
}

// locate numbers the sets of switches that NICs hang off, and those of regions.
func (g *Graph) locate(down map[int]bool, before *Routes, detours bool) *Routes {
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
	if detours {
		for _, region := range g.Regions {
			r.Regions = append(r.Regions, number(slices.Sorted(slices.Values(region))))
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

// Next returns the links from a switch towards a locator, in order; none at
// the switches it hangs off and where there is no way.
func (r *Routes) Next(node, loc int) []int {
	if loc < 0 || r.rows[node] == nil {
		return nil
	}
	s := r.rows[node][r.class[loc]]
	at, other := sort.Find(len(r.apart[node]), func(i int) int { return loc - int(r.apart[node][i].loc) })
	if other {
		s = r.apart[node][at].set
	}
	if s < 0 {
		return nil
	}
	return r.sets[node][s]
}

// Row fills in a switch's set of next links by locator, -1 for none; Links has them.
func (r *Routes) Row(node int, row []int32) {
	ways := r.rows[node]
	for loc, c := range r.class {
		row[loc] = ways[c]
	}
	for _, x := range r.apart[node] {
		row[x.loc] = x.set
	}
}

// Links returns the next links of a set of a switch, in order.
func (r *Routes) Links(node int, set int32) []int { return r.sets[node][set] }

// Near returns the live link from a switch to a NIC that hangs off it; of several the last.
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

// intern numbers a switch's set of next switches; a switch has few different ones.
func (r *Routes) intern(net *mesh, n int, peers []int32) int32 {
	if len(peers) == 0 {
		return -1
	}
	known := net.known[n]
	for i := len(known) - 1; i >= 0; i-- {
		if slices.Equal(known[i], peers) {
			return int32(i)
		}
	}
	net.known[n] = append(known, slices.Clone(peers))
	var links []int
	for _, x := range net.exits[n] {
		if _, ok := slices.BinarySearch(peers, int32(x.Peer)); ok {
			links = append(links, x.Link)
		}
	}
	r.sets[n] = append(r.sets[n], links)
	return int32(len(r.sets[n]) - 1)
}

// leaving is how many hops inside regions a cable between two of them is as long as: more than the
// two that a way by a third region could save.
const leaving = 3

// RegionOf returns the region of each node, -1 where it is in none.
func (g *Graph) RegionOf() []int32 {
	of := make([]int32, len(g.Nodes))
	for i := range of {
		of[i] = -1
	}
	for i, region := range g.Regions {
		for _, n := range region {
			of[n] = int32(i)
		}
	}
	return of
}

package topo

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Exit is a way out of a switch: link by link.
type Exit struct {
	Link   int
	Peer   int
	Length int32
}

// Routes holds the shortest paths over the links that are up. NICs that hang
// off the same live switches share a locator.
type Routes struct {
	Locator []int // by NIC, -1 when it has no live cable
	Regions []int // by region of the graph: the locator of all its switches; none unless asked for
	Sets    [][]int
	group   [][]int32     // [node][locator] -> sets, -1 for none
	sets    [][][]int     // [node] distinct sets of next links
	Near    []map[int]int // [node] NIC -> link
}

// Route computes shortest paths; down lists broken links.
func (g *Graph) Route(down map[int]bool) *Routes { return g.Reroute(down, nil, false) }

// Reroute is Route after other routes, whose locators keep their meaning: packets that carry
// them are under way. before may be nil.
//
// With detours there are ways to the nearest switch of each region too, and the shortest way is the
// one that leaves as few regions as can be: on a dragonfly local, global, local at most (Kim et
// al. 2008), and not over two global cables by way of a third group where that saves a hop.
func (g *Graph) Reroute(down map[int]bool, before *Routes, detours bool) *Routes {
	r := &Routes{Locator: make([]int, len(g.NICs)), group: make([][]int32, len(g.Nodes)),
		sets: make([][][]int, len(g.Nodes)), Near: make([]map[int]int, len(g.Nodes))}
	index := map[string]int{}
	if before != nil {
		r.Sets = slices.Clone(before.Sets)
		for loc, set := range r.Sets {
			index[fmt.Sprint(set)] = loc
		}
	}
	for i, nic := range g.NICs {
		var set []int
		for _, l := range nic.Links {
			if down[l] {
				continue
			}
			sw := g.Links[l].B
			if sw == g.Hosts[nic.Host] {
				sw = g.Links[l].A
			}
			if r.Near[sw] == nil {
				r.Near[sw] = map[int]int{}
			}
			r.Near[sw][i] = l
			set = append(set, sw)
		}
		sort.Ints(set)
		if len(set) == 0 {
			r.Locator[i] = -1
			continue
		}
		key := fmt.Sprint(set)
		loc, ok := index[key]
		if !ok {
			loc = len(r.Sets)
			index[key] = loc
			r.Sets = append(r.Sets, set)
		}
		r.Locator[i] = loc
	}
	if detours {
		for _, region := range g.Regions {
			set := slices.Sorted(slices.Values(region))
			key := fmt.Sprint(set)
			loc, ok := index[key]
			if !ok {
				loc = len(r.Sets)
				index[key] = loc
				r.Sets = append(r.Sets, set)
			}
			r.Regions = append(r.Regions, loc)
		}
	}
	adj := g.adjacency(down, detours)
	for n := range g.Nodes {
		if g.Nodes[n].Role != Host {
			r.group[n] = make([]int32, len(r.Sets))
		}
	}
	dist := make([]int32, len(g.Nodes))
	var next []int
	for loc, set := range r.Sets {
		dial(adj, set, dist)
		for n := range g.Nodes {
			if g.Nodes[n].Role == Host {
				continue
			}
			next = next[:0]
			for _, h := range adj[n] {
				if dist[n] > 0 && dist[h.Peer] == dist[n]-h.Length {
					next = append(next, h.Link)
				}
			}
			r.group[n][loc] = r.intern(n, next)
		}
	}
	return r
}

// Next returns the links from a switch towards a locator, in order; none at
// the switches it hangs off and where there is no way.
func (r *Routes) Next(node, loc int) []int {
	if loc < 0 || r.group[node] == nil || r.group[node][loc] < 0 {
		return nil
	}
	return r.sets[node][r.group[node][loc]]
}

// intern numbers a switch's set of next links; a switch has few different ones.
func (r *Routes) intern(node int, next []int) int32 {
	if len(next) == 0 {
		return -1
	}
	for i := len(r.sets[node]) - 1; i >= 0; i-- {
		if slices.Equal(r.sets[node][i], next) {
			return int32(i)
		}
	}
	r.sets[node] = append(r.sets[node], slices.Clone(next))
	return int32(len(r.sets[node]) - 1)
}

// adjacency lists each switch's live links to other switches; with detours those between regions are
// longer.
func (g *Graph) adjacency(down map[int]bool, detours bool) [][]Exit {
	adj := make([][]Exit, len(g.Nodes))
	of := g.RegionOf()
	for i, l := range g.Links {
		if down[i] || g.Nodes[l.A].Role == Host || g.Nodes[l.B].Role == Host {
			continue
		}
		length := int32(1)
		if detours && of[l.A] != of[l.B] {
			length = leaving
		}
		adj[l.A] = append(adj[l.A], Exit{i, l.B, length})
		adj[l.B] = append(adj[l.B], Exit{i, l.A, length})
	}
	return adj
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

// dial fills in how far each switch is from the nearest of some: Dial's algorithm, for links of
// 1 to leaving hops.
func dial(adj [][]Exit, from []int, dist []int32) {
	for i := range dist {
		dist[i] = -1
	}
	var ring [leaving + 1][]int // nodes by their distance, for so many to come
	ring[0] = append(ring[0], from...)
	for _, n := range from {
		dist[n] = 0
	}
	for d, left := int32(0), len(from); left > 0; d++ {
		at := &ring[d%(leaving+1)]
		for i := 0; i < len(*at); i++ {
			n := (*at)[i]
			left--
			if dist[n] != d { // a shorter way was found since
				continue
			}
			for _, h := range adj[n] {
				to := d + h.Length
				if dist[h.Peer] < 0 || dist[h.Peer] > to {
					dist[h.Peer] = to
					next := &ring[to%(leaving+1)]
					*next = append(*next, h.Peer)
					left++
				}
			}
		}
		*at = (*at)[:0]
	}
}

// Reachable reports whether packets of one NIC find a way to another: rails in
// VLANs of their own are apart even inside one switch.
func (g *Graph) Reachable(r *Routes, a, b int) bool {
	if g.Isolated && g.NICs[a].Rail != g.NICs[b].Rail {
		return false
	}
	lb := r.Locator[b]
	if lb < 0 || r.Locator[a] < 0 {
		return false
	}
	for _, sw := range r.Sets[r.Locator[a]] {
		if _, ok := r.Near[sw][b]; ok || r.Next(sw, lb) != nil {
			return true
		}
	}
	return false
}

// CheckConnected returns an error that names two parts when some server's NIC
// cannot reach any other one that it should: the graph is partitioned. Rails
// are allowed to be apart, since NVLink joins them inside a server.
func (g *Graph) CheckConnected(r *Routes) error {
	if len(g.Hosts) < 2 {
		return nil
	}
	for a := range g.NICs {
		if r.Locator[a] < 0 {
			return fmt.Errorf("%s has no cable that is up", g.NICName(a))
		}
	}
	// Servers are connected when some pair of their NICs is; joined through
	// common servers, because NVLink carries data between a server's NICs.
	part := make([]int, len(g.Hosts))
	for i := range part {
		part[i] = i
	}
	find := func(i int) int {
		for part[i] != i {
			part[i] = part[part[i]]
			i = part[i]
		}
		return i
	}
	// NICs of one locator and rail are mutually reachable; check one of each.
	rep := map[string]int{}
	for i, n := range g.NICs {
		key := fmt.Sprint(r.Locator[i])
		if g.Isolated {
			key += fmt.Sprint("/", n.Rail)
		}
		if j, ok := rep[key]; ok {
			part[find(n.Host)] = find(g.NICs[j].Host)
		} else {
			rep[key] = i
		}
	}
	reps := make([]int, 0, len(rep))
	for _, i := range rep {
		reps = append(reps, i)
	}
	sort.Ints(reps)
	for x, a := range reps {
		for _, b := range reps[x+1:] {
			if find(g.NICs[a].Host) != find(g.NICs[b].Host) && g.Reachable(r, a, b) {
				part[find(g.NICs[a].Host)] = find(g.NICs[b].Host)
			}
		}
	}
	var apart []string
	root := find(0)
	for i := range g.Hosts {
		if find(i) != root {
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

// NICName names a NIC: "host-1/nic-2".
func (g *Graph) NICName(i int) string {
	n := g.NICs[i]
	return fmt.Sprintf("%s/nic-%d", g.Nodes[g.Hosts[n.Host]].Name, n.Index+1)
}

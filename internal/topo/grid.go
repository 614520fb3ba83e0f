package topo

import "slices"

// Grid is how the switches of a torus lie: rings of Side switches in each of three dimensions.
type Grid struct {
	Side int
	At   [][3]int16 // by node: a switch's place; nothing of a server
	Dim  []int8     // by link: the dimension along which it runs, -1 for a server's
	Wrap []bool     // by link: it closes its ring, between the last switch and the first
}

// newGrid is the grid of a torus whose cables are run: switches[x*side*side+y*side+z] lies at x, y, z.
func newGrid(g *Graph, side int, switches []int) *Grid {
	t := &Grid{Side: side, At: make([][3]int16, len(g.Nodes)), Dim: make([]int8, len(g.Links)),
		Wrap: make([]bool, len(g.Links))}
	for i, n := range switches {
		t.At[n] = [3]int16{int16(i / side / side), int16(i / side % side), int16(i % side)}
	}
	for l := range g.Links {
		a, b := g.Links[l].A, g.Links[l].B
		t.Dim[l] = -1
		if g.Nodes[a].Role == Host || g.Nodes[b].Role == Host {
			continue
		}
		for d := range 3 {
			if from, to := t.At[a][d], t.At[b][d]; from != to {
				t.Dim[l], t.Wrap[l] = int8(d), side > 2 && to != from+1 && to != from-1
			}
		}
	}
	return t
}

// Ordered computes ways in dimension order over the links that are up: along the first dimension until the
// place there is right, then the second, then the third, around each ring by the shorter side (both, where
// they are as long) or the one that is whole (Dally and Seitz 1987). Where that leaves no way packets go the
// shortest one. A fabric without a grid has the shortest everywhere. Locators are those of Reroute.
func (g *Graph) Ordered(down map[int]bool, before *Routes) *Routes {
	return g.ordered(down, before, InOrder)
}

func (g *Graph) ordered(down map[int]bool, before *Routes, to Besides) *Routes {
	if g.Grid == nil {
		return g.Reroute(down, before, Nothing)
	}
	r := g.locate(down, before, to)
	r.class = make([]int32, len(r.Sets))
	for loc := range r.class {
		r.class[loc] = int32(loc)
	}
	r.ways, r.sets = make([][]run, len(g.Nodes)), make([][][]int, len(g.Nodes))
	r.apart = make([][]special, len(g.Nodes))
	o := newOrderer(g, r)
	for n := range g.Nodes {
		if g.Nodes[n].Role != Host {
			o.ways(n)
		}
	}
	return r
}

// orderer computes them.
type orderer struct {
	*Grid
	r    *Routes
	node []int32  // by place
	to   [][6]way // by node, dimension and direction, up first: the links that way
	rest *Routes  // the shortest ways, where a cable is broken; nil
}

type way []int

func newOrderer(g *Graph, r *Routes) *orderer {
	o := &orderer{Grid: g.Grid, r: r, to: make([][6]way, len(g.Nodes))}
	o.node = make([]int32, o.Side*o.Side*o.Side)
	for n := range g.Nodes {
		if g.Nodes[n].Role != Host {
			o.node[o.place(o.At[n])] = int32(n)
		}
	}
	cut := false
	for l := range g.Links {
		d := int(o.Dim[l])
		if d < 0 {
			continue
		}
		if r.down[l] {
			cut = true
			continue
		}
		for _, ends := range [][2]int{{g.Links[l].A, g.Links[l].B}, {g.Links[l].B, g.Links[l].A}} {
			from, to := ends[0], ends[1]
			up := o.At[to][d] == o.At[from][d]+1
			if o.Wrap[l] {
				up = !up && o.At[to][d] == 0
			}
			if side := 2*d + 1; up {
				o.to[from][side-1] = append(o.to[from][side-1], l)
			} else {
				o.to[from][side] = append(o.to[from][side], l)
			}
		}
	}
	if cut {
		o.rest = g.Reroute(r.down, r, Nothing)
	}
	return o
}

func (o *orderer) place(at [3]int16) int {
	return (int(at[0])*o.Side+int(at[1]))*o.Side + int(at[2])
}

// ways fills in a switch's ways to all locators.
func (o *orderer) ways(n int) {
	r := o.r
	known := map[[2]int]int32{} // by dimension and place on the ring: the set of next links
	last := int32(-1)
	for loc, at := range r.Sets {
		set := o.set(n, loc, at[0], known)
		if loc > 0 && set != last {
			r.ways[n] = append(r.ways[n], run{int32(loc), last})
		}
		last = set
	}
	r.ways[n] = append(r.ways[n], run{int32(len(r.Sets)), last})
}

// set is a switch's next links towards a switch that a locator is at.
func (o *orderer) set(n, loc, to int, known map[[2]int]int32) int32 {
	if n == to {
		return -1
	}
	at, dim := o.At[n], 0
	for at[dim] == o.At[to][dim] {
		dim++
	}
	if o.rest != nil && !o.reaches(n, to) {
		return o.add(n, o.rest.Next(n, loc))
	}
	key := [2]int{dim, int(o.At[to][dim])}
	if set, ok := known[key]; ok {
		return set
	}
	up, down := o.around(n, dim, int(o.At[to][dim]))
	var links []int
	if up > 0 && (down == 0 || up <= down) {
		links = append(links, o.to[n][2*dim]...)
	}
	if down > 0 && (up == 0 || down <= up) {
		links = append(links, o.to[n][2*dim+1]...)
	}
	slices.Sort(links)
	known[key] = o.add(n, links)
	return known[key]
}

// add gives a switch a set of next links.
func (o *orderer) add(n int, links []int) int32 {
	if len(links) == 0 {
		return -1
	}
	o.r.sets[n] = append(o.r.sets[n], links)
	return int32(len(o.r.sets[n]) - 1)
}

// around is how many cables it takes along a ring to a place of it, up and down, 0 where one is broken.
func (o *orderer) around(n, dim, to int) (up, down int) {
	for side, far := range []*int{&up, &down} {
		at := o.At[n]
		for steps := 1; len(o.to[o.node[o.place(at)]][2*dim+side]) > 0 && steps < o.Side; steps++ {
			if at[dim] = int16((int(at[dim]) + 1 - 2*side + o.Side) % o.Side); int(at[dim]) == to {
				*far = steps
				break
			}
		}
	}
	return up, down
}

// reaches reports whether there is a way in dimension order.
func (o *orderer) reaches(n, to int) bool {
	at := o.At[n]
	for dim := range 3 {
		if at[dim] == o.At[to][dim] {
			continue
		}
		up, down := o.around(int(o.node[o.place(at)]), dim, int(o.At[to][dim]))
		if up == 0 && down == 0 {
			return false
		}
		at[dim] = o.At[to][dim]
	}
	return true
}

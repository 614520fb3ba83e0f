package topo

import "slices"

// Grid is the arrangement of the switches of a torus: the sizes of the rings in three dimensions.
type Grid struct {
	Sides [3]int
	At    [][3]int16 // by node: the place of a switch; zero for a server
	Dim   []int8     // by link: the dimension along which it runs; -1: a server's link
	Wrap  []bool     // by link: whether it closes its ring, between the last switch and the first

	// For a torus of cubes, where cubes may have one position in turn: the connected cube has it.
	Cube    []int32 // by node: its cube, -1 for a server; nil: there are no cubes
	Optical []bool  // by link: whether it is a circuit
}

// newGrid returns the grid of a torus whose links exist: switches[x*side*side+y*side+z] is at x, y, z.
func newGrid(g *Graph, side int, switches []int) *Grid {
	t := &Grid{Sides: [3]int{side, side, side}, At: make([][3]int16, len(g.Nodes))}
	for i, n := range switches {
		t.At[n] = [3]int16{int16(i / side / side), int16(i / side % side), int16(i % side)}
	}
	t.measure(g)
	return t
}

// measure finds the dimensions of cables, and which ones close rings.
func (t *Grid) measure(g *Graph) {
	t.Dim, t.Wrap = make([]int8, len(g.Links)), make([]bool, len(g.Links))
	for l := range g.Links {
		a, b := g.Links[l].A, g.Links[l].B
		t.Dim[l] = -1
		if g.Nodes[a].Role == Host || g.Nodes[b].Role == Host {
			continue
		}
		for d := range 3 {
			if from, to := t.At[a][d], t.At[b][d]; from != to {
				t.Dim[l], t.Wrap[l] = int8(d), t.Sides[d] > 2 && to != from+1 && to != from-1
			}
		}
	}
}

// joined returns, by cube, the number of its working circuits.
func (t *Grid) joined(g *Graph, down map[int]bool) map[int32]int {
	n := map[int32]int{}
	for l, is := range t.Optical {
		if is && !down[l] {
			n[t.Cube[g.Links[l].A]]++
			n[t.Cube[g.Links[l].B]]++
		}
	}
	return n
}

// Ordered computes paths in dimension order over the working links: along the first dimension to the destination's
// coordinate, then the second, then the third. Around each ring it takes the shorter side, both if equal, or the
// unbroken one (Dally and Seitz 1987). If no such path is left, packets take the shortest path. A fabric without a
// grid has the shortest everywhere. Locators are the locators of Reroute.
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
	to   [][6]way // by node, dimension and direction, up first: the links in that direction
	rest *Routes  // shortest paths, if a link is broken; nil
}

type way []int

func newOrderer(g *Graph, r *Routes) *orderer {
	o := &orderer{Grid: g.Grid, r: r, to: make([][6]way, len(g.Nodes))}
	o.node = make([]int32, o.Sides[0]*o.Sides[1]*o.Sides[2])
	var joined map[int32]int
	if o.Cube != nil {
		joined = o.joined(g, r.down)
	}
	for i := range o.node {
		o.node[i] = -1
	}
	for n := range g.Nodes {
		if g.Nodes[n].Role == Host {
			continue
		}
		has := &o.node[o.place(o.At[n])]
		if *has < 0 || joined[o.Cube[n]] > joined[o.Cube[*has]] {
			*has = int32(n)
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
				up = o.At[to][d] == 0
			}
			if side := 2*d + 1; up {
				o.to[from][side-1] = append(o.to[from][side-1], l)
			} else {
				o.to[from][side] = append(o.to[from][side], l)
			}
		}
	}
	if cut || o.Cube != nil {
		o.rest = g.Reroute(r.down, r, Nothing)
	}
	return o
}

func (o *orderer) place(at [3]int16) int {
	return (int(at[0])*o.Sides[1]+int(at[1]))*o.Sides[2] + int(at[2])
}

// ways computes a switch's paths to all locators.
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
	if o.Cube != nil && (!o.has(n) || !o.has(to)) { // another cube has the place
		return o.add(n, o.inside(n, to, loc))
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

// inside returns the next link of a switch whose cube is unconnected: in dimension order within the cube.
func (o *orderer) inside(n, to, loc int) []int {
	if o.Cube[n] == o.Cube[to] && !o.has(n) && !o.has(to) {
		for dim := range 3 {
			side := 2 * dim
			switch from, there := o.At[n][dim], o.At[to][dim]; {
			case from == there:
				continue
			case from > there:
				side++
			}
			if links := o.to[n][side]; len(links) > 0 {
				return links
			}
			break
		}
	}
	return o.rest.Next(n, loc)
}

// has reports whether a switch is at its position, which another cube's switch may also have.
func (o *orderer) has(n int) bool { return int(o.node[o.place(o.At[n])]) == n }

// add gives a switch a set of next links.
func (o *orderer) add(n int, links []int) int32 {
	if len(links) == 0 {
		return -1
	}
	o.r.sets[n] = append(o.r.sets[n], links)
	return int32(len(o.r.sets[n]) - 1)
}

// around returns the number of links along a ring to a position, up and down; 0 if that side is broken.
func (o *orderer) around(n, dim, to int) (up, down int) {
	for side, far := range []*int{&up, &down} {
		at := o.At[n]
		for steps := 1; len(o.to[o.node[o.place(at)]][2*dim+side]) > 0 && steps < o.Sides[dim]; steps++ {
			next := int(at[dim]) + 1 - 2*side + o.Sides[dim]
			if at[dim] = int16(next % o.Sides[dim]); int(at[dim]) == to {
				*far = steps
				break
			}
		}
	}
	return up, down
}

// reaches reports whether there is a path in dimension order.
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

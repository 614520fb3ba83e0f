package topo

import (
	"fmt"

	"railyard/internal/field"
)

// Cubes is a torus whose cubes of Side^3 switches are connected by optical circuit switches, like TPU v4. There is
// one circuit switch for each fiber of a face in each dimension, and both fibers of every cube end there (Jouppi et
// al. 2023: 4^3 cubes, 16 fibers a face, 48 switches). The builder leaves the circuits open.
type Cubes struct {
	Side  int
	Shape [3]int     // cubes along x, y and z
	Place [][3]int16 // by cube: its position in the torus; -1: a spare
	Of    []int32    // by node: its cube, from 0; for a server that of its switch
	Faces []Face
}

// Face is one fibre of all cubes' two faces in a dimension.
type Face struct {
	Dim, Row, Col int
	Up, Down      []int // by cube: the switches on its far and its near face
}

// Name returns the name of a cube.
func (c *Cubes) Name(cube int) string { return fmt.Sprintf("cube-%d", cube+1) }

// Spares returns the number of cubes without a place at first.
func (c *Cubes) Spares() int { return len(c.Place) - c.Shape[0]*c.Shape[1]*c.Shape[2] }

// At is the cube that has a place among some.
func (c *Cubes) At(place [3]int, of [][3]int16) int {
	for cube, p := range of {
		if int(p[0]) == place[0] && int(p[1]) == place[1] && int(p[2]) == place[2] {
			return cube
		}
	}
	return -1
}

// dims are the names of dimensions.
var dims = [3]string{"x", "y", "z"}

// Switch returns the name of the circuit switch of a face's fibre.
func (f *Face) Switch() string { return fmt.Sprintf("ocs-%s-%d-%d", dims[f.Dim], f.Row+1, f.Col+1) }

// maxFaces bounds the circuit switches, and the cubes at each.
const (
	maxFaces = 1024
	maxCubes = 2048
)

// cubes builds one.
func cubes(p Params) (*Graph, error) {
	k, n := p.K, p.Cubes[0]*p.Cubes[1]*p.Cubes[2]
	for i, along := range p.Cubes {
		if along < 1 || along > maxCubes {
			return nil, field.New(fmt.Sprintf("cubes[%d]", i), "1 to %d cubes lie along %s, found %d",
				maxCubes, dims[i], along)
		}
	}
	switch {
	case k < 2 || 3*k*k > maxFaces:
		return nil, field.New("k", "a cube has 2 to 18 switches along a side, found %d", k)
	case p.Spares < 0 || n+p.Spares > maxCubes:
		return nil, field.New("optics.spares", "%d cubes and %d spare ones are more than the %d whose fibres a circuit switch takes", n, p.Spares, maxCubes)
	}
	p.Hosts, p.Segments = max(p.Hosts, 1), (n+p.Spares)*k*k*k
	if err := p.check("cubes"); err != nil {
		return nil, err
	}
	g := newGraph("cubes")
	c := &Cubes{Side: k, Shape: p.Cubes}
	at := func(cube, x, y, z int) int { return ((cube*k+x)*k+y)*k + z }
	switches := make([]int, p.Segments)
	for cube := range n + p.Spares {
		place := [3]int16{-1, -1, -1}
		if cube < n {
			place = [3]int16{int16(cube / p.Cubes[2] / p.Cubes[1]), int16(cube / p.Cubes[2] % p.Cubes[1]),
				int16(cube % p.Cubes[2])}
		}
		c.Place = append(c.Place, place)
		for i := range k * k * k {
			name := fmt.Sprintf("leaf-%d-%d-%d-%d", cube+1, i/k/k+1, i/k%k+1, i%k+1)
			switches[cube*k*k*k+i] = g.AddNode(name, Leaf, 1)
		}
	}
	g.addHosts(p, func(seg, _ int) []int { return []int{switches[seg]} })
	c.Of = make([]int32, len(g.Nodes))
	for i, sw := range switches {
		c.Of[sw] = int32(i / k / k / k)
	}
	for _, nic := range g.NICs {
		l := &g.Links[nic.Links[0]]
		c.Of[g.Hosts[nic.Host]] = c.Of[l.A+l.B-g.Hosts[nic.Host]]
	}
	for cube := range n + p.Spares {
		for x := range k {
			for y := range k {
				for z := range k {
					for d, far := range [3][3]int{{x + 1, y, z}, {x, y + 1, z}, {x, y, z + 1}} {
						if far[d] < k {
							g.Connect(switches[at(cube, x, y, z)], switches[at(cube, far[0], far[1], far[2])],
								p.Fabric)
						}
					}
				}
			}
		}
	}
	c.faces(switches)
	g.Cubes = c
	return g, nil
}

// faces finds the switches whose fibres leave the cubes.
func (c *Cubes) faces(switches []int) {
	k := c.Side
	for d := range 3 {
		for row := range k {
			for col := range k {
				f := Face{Dim: d, Row: row, Col: col}
				for cube := range c.Place {
					end := func(v int) int {
						at := [3][3]int{{v, row, col}, {row, v, col}, {row, col, v}}[d]
						return switches[((cube*k+at[0])*k+at[1])*k+at[2]]
					}
					f.Up, f.Down = append(f.Up, end(k-1)), append(f.Down, end(0))
				}
				c.Faces = append(c.Faces, f)
			}
		}
	}
}

// Circuits are the pairs of cubes that a face's circuit switch connects in a dimension, for cubes with positions:
// from the far face of the first to the near face of the second.
func (c *Cubes) Circuits(dim int, place [][3]int16) (pairs [][2]int) {
	for cube, p := range place {
		if p[0] < 0 {
			continue
		}
		next := [3]int{int(p[0]), int(p[1]), int(p[2])}
		next[dim] = (next[dim] + 1) % c.Shape[dim]
		if far := c.At(next, place); far >= 0 {
			pairs = append(pairs, [2]int{cube, far})
		}
	}
	return pairs
}

// Lay sets the positions of the switches of a torus of cubes, once its circuits are links. places are the cubes'
// positions at some time; several cubes may have one position in turn.
func (g *Graph) Lay(place [][3]int16, circuits []int) {
	c := g.Cubes
	t := &Grid{Sides: [3]int{c.Side * c.Shape[0], c.Side * c.Shape[1], c.Side * c.Shape[2]},
		At: make([][3]int16, len(g.Nodes)), Cube: make([]int32, len(g.Nodes)),
		Optical: make([]bool, len(g.Links))}
	k := int16(c.Side)
	for n := range g.Nodes {
		if t.Cube[n] = -1; g.Nodes[n].Role == Host {
			continue
		}
		cube := int(c.Of[n])
		in := int16(n - cube*c.Side*c.Side*c.Side) // switches come first, cube by cube
		p := place[cube]
		if t.Cube[n] = int32(cube); p[0] < 0 {
			p = [3]int16{} // never connected: packets have no path from it
		}
		t.At[n] = [3]int16{p[0]*k + in/k/k, p[1]*k + in/k%k, p[2]*k + in%k}
	}
	for _, l := range circuits {
		t.Optical[l] = true
	}
	t.measure(g)
	g.Grid = t
}

package planner

import (
	"fmt"

	"railyard/internal/field"
)

// CubeInput is a torus of cubes whose faces end at optical circuit switches.
type CubeInput struct {
	Along   [3]int // cubes in each dimension
	Side    int    // switches along a side of a cube
	Spares  int
	Without int // the cube that fails, from 1, which the first spare one replaces; 0: none
}

// CubeCircuits are the circuits of the switches of each dimension, all equal.
type CubeCircuits struct {
	Switches int         `json:"circuit_switches"`
	Ports    int         `json:"ports_of_each"`
	Circuits int         `json:"circuits"`
	Moved    int         `json:"circuits_that_move"`
	Maps     [3]CubeMaps `json:"dimensions"`
	Swap     string      `json:"swap,omitempty"`
}

// CubeMaps are the maps of a dimension's switches: cube i has ports 2i-1, at its far face, and 2i.
type CubeMaps struct {
	Switches int       `json:"circuit_switches"`
	Before   []Circuit `json:"before"`
	After    []Circuit `json:"after,omitempty"`
	Dark     int       `json:"circuits_that_end"`
}

// Plan connects cubes and, when one fails, reroutes circuits to a spare one.
func (in CubeInput) Plan() (*CubeCircuits, error) {
	n := in.Along[0] * in.Along[1] * in.Along[2]
	switch {
	case min(in.Along[0], in.Along[1], in.Along[2]) < 1 || max(in.Along[0], in.Along[1], in.Along[2]) > 1024 ||
		n+in.Spares > maxFibres/2:
		return nil, field.New("cubes", "%v and %d spares: a circuit switch takes 1 to %d cubes, two fibres each", in.Along, in.Spares, maxFibres/2)
	case in.Side < 2 || in.Side > 18:
		return nil, field.New("side", "a cube has 2 to 18 switches along a side, found %d", in.Side)
	case in.Without < 0 || in.Without > n:
		return nil, field.New("without", "unknown cube %d of %d", in.Without, n)
	case in.Without > 0 && in.Spares == 0:
		return nil, field.New("spares", "no spare cube to replace cube %d",
			in.Without)
	}
	c := &CubeCircuits{Switches: 3 * in.Side * in.Side, Ports: 2 * (n + in.Spares)}
	has := upTo(n) // by position: its cube
	for d := range 3 {
		m := &c.Maps[d]
		m.Switches, m.Before = in.Side*in.Side, in.joined(d, has)
		c.Circuits += m.Switches * len(m.Before)
	}
	if in.Without == 0 {
		return c, nil
	}
	has[in.Without-1] = n
	c.Swap = fmt.Sprintf("{out: cube-%d, in: cube-%d}", in.Without, n+1)
	for d := range 3 {
		m := &c.Maps[d]
		stays := map[Circuit]bool{}
		for _, x := range m.Before {
			stays[x] = true
		}
		m.Dark = len(m.Before)
		for _, x := range in.joined(d, has) {
			if m.After = append(m.After, x); stays[x] {
				m.Dark--
			}
		}
		c.Moved += m.Switches * m.Dark
	}
	return c, nil
}

// joined returns the circuits of a switch along a dimension: far faces to the near ones of the next cubes.
func (in CubeInput) joined(dim int, has []int) (all []Circuit) {
	for place, cube := range has {
		at := [3]int{place / in.Along[2] / in.Along[1], place / in.Along[2] % in.Along[1], place % in.Along[2]}
		at[dim] = (at[dim] + 1) % in.Along[dim]
		next := has[(at[0]*in.Along[1]+at[1])*in.Along[2]+at[2]]
		a, b := 2*cube+1, 2*next+2
		all = append(all, Circuit{min(a, b), max(a, b)})
	}
	return all
}

package topo

import (
	"fmt"

	"railyard/internal/field"
	"railyard/unit"
)

// torus is a cube of k^3 switches with Hosts servers each, one by default. Uplinks links connect a switch to each
// neighbour in each of three directions; a ring of two has one neighbour (docs/references.md, topologies).
func torus(p Params) (*Graph, error) {
	k := p.K
	switch {
	case k < 2 || k > 21:
		return nil, field.New("k", "a torus has 2 to 21 switches along a side, found %d", k)
	case p.Uplinks < 1 || p.Uplinks > 256:
		return nil, field.New("uplinks", "%d is out of range 1–256 in each direction", p.Uplinks)
	}
	p.Hosts, p.Segments = max(p.Hosts, 1), k*k*k // a segment is the servers of one switch
	if err := p.check("torus"); err != nil {
		return nil, err
	}
	g := newGraph("torus")
	at := func(x, y, z int) int { return (x%k*k+y%k)*k + z%k }
	switches := make([]int, k*k*k)
	each := func(visit func(x, y, z int)) {
		for x := range k {
			for y := range k {
				for z := range k {
					visit(x, y, z)
				}
			}
		}
	}
	each(func(x, y, z int) {
		switches[at(x, y, z)] = g.AddNode(fmt.Sprintf("leaf-%d-%d-%d", x+1, y+1, z+1), Leaf, 1)
	})
	g.addHosts(p, func(seg, _ int) []int { return []int{switches[seg]} })
	each(func(x, y, z int) {
		for i, far := range []int{at(x+1, y, z), at(x, y+1, z), at(x, y, z+1)} {
			if k == 2 && []int{x, y, z}[i] == 1 {
				continue
			}
			for range p.Uplinks {
				g.Connect(switches[at(x, y, z)], switches[far], p.Fabric)
			}
		}
	})
	g.Grid = newGrid(g, k, switches)
	return g, nil
}

// Dragonfly is the dragonfly of Kim et al. (2008): groups of switches that are connected directly, and groups
// connected by direct links. Balanced it has GroupSize = 2K = 2Global. Fewer groups than GroupSize*Global+1 share
// the global cables evenly.
type Dragonfly struct {
	K         int // NICs of a switch
	GroupSize int // switches of a group
	Local     int // links between two of them
	Global    int // cables of a switch to other groups, at most
	Groups    int
}

// Balanced sets the values that are 0 and checks the rest.
func (d Dragonfly) Balanced() (Dragonfly, error) {
	set := func(v *int, def int) {
		if *v == 0 {
			*v = def
		}
	}
	set(&d.GroupSize, 2*d.K)
	set(&d.Local, 1)
	set(&d.Global, d.K)
	for _, f := range []struct {
		name string
		v    int
	}{{"k", d.K}, {"group_size", d.GroupSize}, {"local_links", d.Local}, {"global_links", d.Global}} {
		if f.v < 1 || f.v > 512 {
			return d, field.New(f.name, "%d is out of range 1–512 in a dragonfly", f.v)
		}
	}
	set(&d.Groups, d.GroupSize*d.Global+1)
	if most := d.GroupSize*d.Global + 1; d.Groups < 2 || d.Groups > most {
		return d, field.New("groups", "%d global cables of a group connect 2 to %d groups, found %d", most-1,
			most, d.Groups)
	}
	return d, nil
}

// Hosts returns the number of NICs that it has ports for.
func (d Dragonfly) Hosts() int { return d.K * d.GroupSize * d.Groups }

// Between returns the number of cables between any two groups.
func (d Dragonfly) Between() int { return d.GroupSize * d.Global / (d.Groups - 1) }

// Radix returns the largest number of ports that a switch uses.
func (d Dragonfly) Radix() int {
	global := (d.Between()*(d.Groups-1) + d.GroupSize - 1) / d.GroupSize
	return d.K + d.Local*(d.GroupSize-1) + min(global, d.Global)
}

// dragonfly builds one. The global cables of a group lead to the other groups in turn, and its switches take Global
// cables each in order. With one cable between groups, cable j leads to group j, or to j+1 from the group's own
// number on. By default servers have one GPU, and all their NICs on one switch.
func dragonfly(p Params) (*Graph, error) {
	d, err := Dragonfly{K: p.K, GroupSize: p.GroupSize, Local: p.Local, Global: p.Global,
		Groups: p.Groups}.Balanced()
	if err != nil {
		return nil, err
	}
	if d.Hosts() > MaxGPUs {
		return nil, field.New("k", "%d hosts are more than the %d that packet fidelity takes",
			d.Hosts(), MaxGPUs)
	}
	a, groups := d.GroupSize, d.Groups
	if a*groups > MaxNodes {
		return nil, field.New("groups", "%d switches are more than the %d that packet fidelity takes",
			a*groups, MaxNodes)
	}
	if p.Server == (Server{}) {
		p.Server = Server{GPUs: 1, NICs: 1, Ports: 1}
	}
	if n := p.Server.NICs; n < 1 || d.K%n != 0 {
		return nil, field.New("k", "%d NICs of a switch are not a whole number of servers with %s", d.K,
			unit.Plural(n, "NIC"))
	}
	p.Hosts, p.Segments = d.K/p.Server.NICs, groups*a
	if err := p.check("dragonfly"); err != nil {
		return nil, err
	}
	g := newGraph("dragonfly")
	switches := make([]int, groups*a)
	for x := range groups {
		for i := range a {
			switches[x*a+i] = g.AddNode(fmt.Sprintf("leaf-%d-%d", x+1, i+1), Leaf, 1)
		}
	}
	g.addHosts(p, func(seg, _ int) []int { return []int{switches[seg]} })
	for x := range groups {
		for i := range a {
			g.connectAll(switches[x*a+i], switches[x*a+i+1:(x+1)*a], d.Local, p.Fabric)
		}
	}
	for x := range groups {
		g.Regions = append(g.Regions, switches[x*a:(x+1)*a])
	}
	end := func(group, peer, round int) int { // the switch that has this cable
		return switches[group*a+(round*(groups-1)+peer)/d.Global]
	}
	for x := range groups {
		for y := x + 1; y < groups; y++ {
			for r := range d.Between() {
				g.Connect(end(x, y-1, r), end(y, x, r), p.far())
			}
		}
	}
	return g, nil
}

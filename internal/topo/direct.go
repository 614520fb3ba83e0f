package topo

import "fmt"

// torus is a cube of k^3 servers, each with a switch of its own that Uplinks cables
// join to either neighbour in each of three directions; a ring of two is one cable
// (HANDBOOK.md 11).
func torus(p Params) (*Graph, error) {
	k := p.K
	switch {
	case k < 2 || k > 21:
		return nil, paramErr("k", "a torus has 2 to 21 servers along a side, found %d", k)
	case p.Uplinks < 1 || p.Uplinks > 256:
		return nil, paramErr("uplinks", "must lie between 1 and 256 in each direction, found %d", p.Uplinks)
	}
	p.Hosts, p.Segments = 1, k*k*k // a segment is what hangs off one switch
	if err := p.check("torus"); err != nil {
		return nil, err
	}
	g := newGraph("torus")
	g.GPUs = p.Server.GPUs
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
	return g, nil
}

// dragonfly is the balanced one of Kim et al. (2008): k NICs and k global cables per
// switch, 2k switches per group, 2k^2+1 groups, each joined to every other by one
// cable. Global cable j of a group leads to group j, or j+1 from its own number on;
// a group's switches take k each in order. Hosts have one GPU.
func dragonfly(p Params) (*Graph, error) {
	k := p.K
	if k < 1 || k > 9 {
		return nil, paramErr("k", "a dragonfly has 1 to 9 NICs per switch, found %d", k)
	}
	a := 2 * k
	groups := a*k + 1
	p.Server, p.Hosts, p.Segments = Server{GPUs: 1, NICs: 1, Ports: 1}, k, groups*a
	if err := p.check("dragonfly"); err != nil {
		return nil, err
	}
	g := newGraph("dragonfly")
	g.GPUs = 1
	switches := make([]int, groups*a)
	for x := range groups {
		for i := range a {
			switches[x*a+i] = g.AddNode(fmt.Sprintf("leaf-%d-%d", x+1, i+1), Leaf, 1)
		}
	}
	g.addHosts(p, func(seg, _ int) []int { return []int{switches[seg]} })
	for x := range groups {
		for i := range a {
			for j := i + 1; j < a; j++ {
				g.Connect(switches[x*a+i], switches[x*a+j], p.Fabric)
			}
		}
	}
	for x := range groups {
		for y := x + 1; y < groups; y++ { // cable y-1 of group x, cable x of group y
			g.Connect(switches[x*a+(y-1)/k], switches[y*a+x/k], p.Fabric)
		}
	}
	return g, nil
}

package topo

import (
	"testing"

	"railyard/unit"
)

// Sizes and distances match the closed forms (docs/references.md, topologies). A torus of n^3 has 3n^3 cables
// between switches and a diameter of 3n/2. A dragonfly of p NICs per switch has p(2p)(2p^2+1) NICs and switches of
// 4p-1 ports, at most three hops apart.
func TestDirectFabrics(t *testing.T) {
	c := Cable{Rate: 400 * unit.Gbps, LengthMM: 3000}
	diameter := func(g *Graph) int32 {
		w := g.mesh(nil, false).walker()
		w.dial([]int32{int32(g.Links[g.NICs[0].Links[0]].B)})
		most := int32(0)
		for i, d := range w.dist {
			if g.Nodes[i].Role != Host {
				most = max(most, d)
			}
		}
		return most
	}
	for _, k := range []int{2, 4, 6} {
		g, err := Build("torus", Params{Server: Server{GPUs: 8, NICs: 8, Ports: 1}, K: k, Uplinks: 1,
			HostCable: c, Fabric: c})
		if err != nil {
			t.Fatal(err)
		}
		cables := 3 * k * k * k
		if k == 2 {
			cables /= 2
		}
		if n := k * k * k; g.TotalGPUs() != 8*n || len(g.Links) != 8*n+cables || diameter(g) != int32(3*k/2) {
			t.Errorf("torus %d: %d GPUs, %d cables, diameter %d", k, g.TotalGPUs(), len(g.Links), diameter(g))
		}
	}
	for _, p := range []int{1, 2, 4} {
		g, err := Build("dragonfly", Params{K: p,
			HostCable: c, Fabric: c})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range g.Nodes {
			if n.Role != Host && n.Ports != 4*p-1 {
				t.Fatalf("dragonfly %d: %s has %d ports", p, n.Name, n.Ports)
			}
		}
		if want := 2 * p * p * (2*p*p + 1); g.TotalGPUs() != want || diameter(g) > 3 {
			t.Errorf("dragonfly %d: %d GPUs, want %d, diameter %d", p, g.TotalGPUs(), want, diameter(g))
		}
	}
	for _, k := range []int{0, 22} {
		if _, err := Build("torus", Params{Server: Server{GPUs: 1, NICs: 1, Ports: 1}, K: k, Uplinks: 1,
			HostCable: c, Fabric: c}); err == nil {
			t.Errorf("a torus of side %d is built", k)
		}
	}
	if _, err := Build("dragonfly", Params{K: 14, HostCable: c, Fabric: c}); err == nil {
		t.Error("a dragonfly of 14 NICs per switch is built")
	}
}

// If there are fewer groups than the global cables could connect, the groups share the cables evenly. Every group
// has equally many cables to every other, and every switch at most its given number.
func TestDragonflyOfFewGroups(t *testing.T) {
	c := Cable{Rate: 400 * unit.Gbps, LengthMM: 3000}
	g, err := Build("dragonfly", Params{K: 8, Groups: 5, HostCable: c, Fabric: c})
	if err != nil {
		t.Fatal(err)
	}
	group := func(node int) int { // host-… are numbered switch by switch
		for i, n := range g.Nodes {
			if n.Role != Host {
				return (node - i) / 16
			}
		}
		return -1
	}
	between, global := map[[2]int]int{}, map[int]int{}
	for _, l := range g.Links {
		if g.Nodes[l.A].Role == Host || g.Nodes[l.B].Role == Host {
			continue
		}
		if x, y := group(l.A), group(l.B); x != y {
			between[[2]int{min(x, y), max(x, y)}]++
			global[l.A]++
			global[l.B]++
		}
	}
	if len(between) != 10 {
		t.Errorf("%d pairs of 5 groups are joined, want 10", len(between))
	}
	for pair, n := range between {
		if n != 16*8/4 {
			t.Errorf("groups %v: %d cables, want 32", pair, n)
		}
	}
	for sw, n := range global {
		if n != 8 {
			t.Errorf("%s has %d global cables, want 8", g.Nodes[sw].Name, n)
		}
	}
	for _, p := range []Params{{K: 2, Groups: 1}, {K: 2, Groups: 10}, {K: 600}, {K: 2, Local: -1}, {K: 100}} {
		p.HostCable, p.Fabric = c, c
		if _, err := Build("dragonfly", p); err == nil {
			t.Errorf("%+v is built", p)
		}
	}
}

// A torus switch may have several servers.
func TestTorusOfSeveralServers(t *testing.T) {
	c := Cable{Rate: 400 * unit.Gbps, LengthMM: 3000}
	g, err := Build("torus", Params{Server: Server{GPUs: 8, NICs: 8, Ports: 1}, K: 3, Hosts: 5, Uplinks: 6,
		HostCable: c, Fabric: c})
	if err != nil || g.TotalGPUs() != 27*5*8 || len(g.Links) != 27*(40+18) {
		t.Errorf("%v, %d GPUs, %d links", err, g.TotalGPUs(), len(g.Links))
	}
}

// Some pods of a fat tree are as non-blocking as the whole.
func TestFatTreePods(t *testing.T) {
	for _, c := range []struct{ k, tiers, pods, leaves, hosts, switches int }{
		{16, 3, 5, 0, 5 * 64, 5*16 + 8*4}, // 8 uplinks, two cables to each of four cores
		{16, 3, 5, 3, 5 * 24, 5*11 + 8*1}, // 3 uplinks to one core
		{16, 2, 0, 4, 32, 4 + 2},          // two spines have four cables of each leaf
	} {
		g, err := Build("fat-tree", Params{K: c.k, Tiers: c.tiers, Pods: c.pods, Leaves: c.leaves,
			HostCable: cable(100 * unit.Gbps)})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(g.Nodes) - len(g.Hosts); len(g.Hosts) != c.hosts || n != c.switches {
			t.Errorf("%+v: %d hosts, %d switches", c, len(g.Hosts), n)
		}
		for _, tier := range g.Inventory().Tiers {
			if tier.Up > 0 && tier.Oversubscription > 1 {
				t.Errorf("%+v: tier %s is oversubscribed %v", c, tier.Role, tier.Oversubscription)
			}
		}
	}
	for _, p := range []Params{
		{K: 8, Tiers: 2, Pods: 3}, {K: 8, Tiers: 3, Pods: 9}, {K: 8, Tiers: 3, Leaves: 5},
		{K: 7, Tiers: 3}, {K: 8, Tiers: 3, Pods: -1},
	} {
		p.HostCable = cable(100 * unit.Gbps)
		if _, err := Build("fat-tree", p); err == nil {
			t.Errorf("%+v is built", p)
		}
	}
}

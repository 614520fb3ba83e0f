package topo

import (
	"testing"

	"railyard/unit"
)

// Sizes and distances are the closed forms (HANDBOOK.md 11): a torus of n^3 has 3n^3
// cables between switches and a diameter of 3n/2; a dragonfly of p NICs per switch
// p(2p)(2p^2+1) NICs and switches of 4p-1 ports, at most three hops apart.
func TestDirectFabrics(t *testing.T) {
	c := Cable{Rate: 400 * unit.Gbps, LengthMM: 3000}
	diameter := func(g *Graph) int32 {
		dist := make([]int32, len(g.Nodes))
		g.bfs(g.adjacency(nil), []int{g.Links[g.NICs[0].Links[0]].B}, dist)
		most := int32(0)
		for i, d := range dist {
			if g.Nodes[i].Role != Host {
				most = max(most, d)
			}
		}
		return most
	}
	for _, k := range []int{2, 4, 6} {
		g, err := Build("torus", Params{Server: Server{GPUs: 8, NICs: 8, Ports: 1}, K: k, Uplinks: 1, HostCable: c, Fabric: c})
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
		g, err := Build("dragonfly", Params{Server: Server{GPUs: 8, NICs: 8, Ports: 1}, K: p, HostCable: c, Fabric: c})
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
		if _, err := Build("torus", Params{Server: Server{GPUs: 1, NICs: 1, Ports: 1}, K: k, Uplinks: 1, HostCable: c, Fabric: c}); err == nil {
			t.Errorf("a torus of side %d is built", k)
		}
	}
	if _, err := Build("dragonfly", Params{K: 10, HostCable: c, Fabric: c}); err == nil {
		t.Error("a dragonfly of ten NICs per switch is built")
	}
}

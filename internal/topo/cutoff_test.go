package topo

import (
	"slices"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// A rail switch isolates all NICs of its rail, and a leaf those attached to it. A spine isolates none, and neither
// does one of two switches of a pair. (The only spine parts two rails, half and half.)
func TestCutOff(t *testing.T) {
	one := Server{GPUs: 2, NICs: 2, Ports: 1}
	two := Server{GPUs: 2, NICs: 2, Ports: 2}
	for _, c := range []struct {
		kind string
		p    Params
		node string
		want int
	}{
		{"rail-only", Params{Hosts: 4, Segments: 1, Server: one}, "rail-1", 4},
		{"rail", Params{Hosts: 4, Segments: 1, Server: one, Spines: 2, Uplinks: 1}, "rail-1", 4},
		{"rail", Params{Hosts: 4, Segments: 1, Server: one, Spines: 2, Uplinks: 1}, "spine-1", 0},
		{"rail", Params{Hosts: 4, Segments: 1, Server: one, Spines: 1, Uplinks: 1}, "spine-1", 0},
		{"dual-rail", Params{Hosts: 4, Segments: 1, Server: two}, "rail-1", 0},
	} {
		c.p.HostCable, c.p.Fabric = cable(unit.Gbps), cable(unit.Gbps)
		g, err := Build(c.kind, c.p)
		if err != nil {
			t.Fatal(c.kind, err)
		}
		down := map[int]bool{}
		for i, l := range g.Links {
			if sw := g.Node(c.node); l.A == sw || l.B == sw {
				down[i] = true
			}
		}
		if len(down) == 0 {
			t.Fatalf("%s has no %s", c.kind, c.node)
		}
		if got := g.CutOff(down); len(got) != c.want {
			t.Errorf("%s without %s: %d NICs cut off, want %d", c.kind, c.node, len(got), c.want)
		}
	}
}

// The only spine of a rail partitions its halves, but isolates none of them. A leaf partitions no others: the
// remaining NICs reach one another.
func TestSplit(t *testing.T) {
	g, err := Build("rail", Params{Hosts: 4, Segments: 2, Server: Server{GPUs: 1, NICs: 1, Ports: 1}, Spines: 1,
		Uplinks: 4, HostCable: cable(unit.Gbps), Fabric: cable(unit.Gbps)})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range g.FailureDomains() {
		off, split := 4, 0
		if g.Nodes[d.Nodes[0]].Role == Spine {
			off, split = 0, 8
		}
		if d.Off != off || d.Split != split {
			t.Errorf("%s: %d isolated, %d separated, want %d, %d", d.Name, d.Off, d.Split, off, split)
		}
	}
}

// Two failures: a leaf, and a host below the other leaf. The remaining hosts reach each other, and are not isolated.
func TestCutOffByTwo(t *testing.T) {
	g, err := Build("rail", Params{Hosts: 4, Segments: 2, Server: Server{GPUs: 1, NICs: 1, Ports: 1}, Spines: 4,
		Uplinks: 1, HostCable: cable(unit.Gbps), Fabric: cable(unit.Gbps)})
	if err != nil {
		t.Fatal(err)
	}
	without := func(nodes ...string) map[int]bool {
		down := map[int]bool{}
		for i, l := range g.Links {
			if slices.Contains(nodes, g.Nodes[l.A].Name) || slices.Contains(nodes, g.Nodes[l.B].Name) {
				down[i] = true
			}
		}
		return down
	}
	for _, c := range []struct {
		nodes []string
		want  []int
	}{
		{[]string{"seg-1-rail-1", "host-7"}, []int{0, 1, 2, 3, 6}},
		{[]string{"seg-1-rail-1", "host-7", "host-8"}, []int{0, 1, 2, 3, 6, 7}},
		{[]string{"seg-1-rail-1", "spine-3"}, []int{0, 1, 2, 3}},
		{[]string{"spine-1", "spine-2", "spine-3", "spine-4", "host-7"}, []int{4, 5, 6, 7}},
		{[]string{"spine-1", "spine-2", "spine-3", "spine-4"}, nil},
	} {
		if got := g.CutOff(without(c.nodes...)); !slices.Equal(got, c.want) {
			t.Errorf("without %v: %v, want %v", c.nodes, got, c.want)
		}
	}
}

// A check of each pair gives the same result.
func TestCutOffPairByPair(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g, down := tangled(rt), map[int]bool{}
		g.Isolated = rapid.Bool().Draw(rt, "VLANs")
		for range rapid.IntRange(0, 4).Draw(rt, "broken") {
			down[rapid.IntRange(0, len(g.Links)-1).Draw(rt, "cable")] = true
		}
		whole, broken := g.Route(nil), g.Route(down)
		reaches := func(r *Routes, a, b int) bool { return a == b || g.Reachable(r, a, b) }
		reached := make([]int, len(g.NICs)) // including itself
		for a := range g.NICs {
			for b := range g.NICs {
				if reaches(broken, a, b) {
					reached[a]++
				}
			}
		}
		var want []int
		for a := range g.NICs {
			was, working := 0, 0
			for b := range g.NICs {
				if reaches(whole, a, b) {
					if was++; reached[b] > 1 {
						working++
					}
				}
			}
			if was > 1 && (reached[a] < 2 || 2*reached[a] < working) {
				want = append(want, a)
			}
		}
		if got := g.CutOff(down); !slices.Equal(got, want) {
			rt.Fatalf("without %v: %v, want %v", down, got, want)
		}
	})
}

// One more failure lets no NIC reach more others.
func TestReachShrinks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g, down := tangled(rt), map[int]bool{}
		before := g.reach(down)
		for range 4 {
			down[rapid.IntRange(0, len(g.Links)-1).Draw(rt, "cable")] = true
			after := g.reach(down)
			for nic := range g.NICs {
				if after[nic].reached > before[nic].reached {
					rt.Fatalf("without %v: NIC %d reaches %d, before %d", down, nic, after[nic].reached, before[nic].reached)
				}
			}
			before = after
		}
	})
}

package deadlock

import (
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/topo"
)

// TestDateline checks tori in dimension order. With two classes no ring of waits exists, also where broken cables
// send packets around the other side, as long as a path in dimension order exists. With one class there is a ring
// from side 4 on, where paths are two cables long. The same classes also serve as an escape for packets of the
// shortest paths, from any switch. For the shortest paths themselves they do not help.
func TestDateline(t *testing.T) {
	broke, kept := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		g := build(t, "torus", topo.Params{K: rapid.IntRange(2, 5).Draw(rt, "side"),
			Uplinks: rapid.IntRange(1, 2).Draw(rt, "uplinks"),
			Server:  topo.Server{GPUs: 1, NICs: 1, Ports: 1}})
		down := map[int]bool{}
		for range rapid.SampledFrom([]int{0, 1, 3, 12}).Draw(rt, "broken") {
			if l := rapid.IntRange(0, len(g.Links)-1).Draw(rt, "cable"); g.Grid.Dim[l] >= 0 {
				down[l] = true
			}
		}
		r := &Routing{Graph: g, Routes: g.Ordered(down, nil), Classes: &Dateline{Grid: g.Grid, Most: 2},
			Anywhere: rapid.Bool().Draw(rt, "from anywhere")}
		ring, _ := Find(r)
		switch {
		case inOrder(g, r.Routes):
			if kept += len(down); ring != nil {
				rt.Fatalf("two classes and a ring: %v", ring)
			}
		case len(down) < 2 && g.Grid.Sides[0] > 2:
			rt.Fatal("one broken cable leaves no way in dimension order")
		default:
			broke++
		}
		if len(down) > 0 || g.Grid.Sides[0] < 4 {
			return
		}
		r.Classes = &Dateline{Grid: g.Grid, Most: 1}
		if ring, _ = Find(r); ring == nil {
			rt.Fatal("one class and no ring")
		}
		r = &Routing{Graph: g, Routes: g.Route(nil), Classes: &Dateline{g.Grid, 2}}
		if ring, _ = Find(r); ring == nil {
			rt.Fatal("the shortest ways and no ring")
		}
	})
	if broke == 0 || kept == 0 {
		t.Errorf("%d tori without ways in dimension order, %d cables broken in others", broke, kept)
	}
}

// inOrder reports whether all paths of routes reach their destination and never return to an earlier dimension.
func inOrder(g *topo.Graph, r *topo.Routes) bool {
	for loc, set := range r.Sets {
		for n := range g.Nodes {
			if g.Nodes[n].Role == topo.Host {
				continue
			}
			at, dim := n, int8(0)
			for steps := 0; at != set[0]; steps++ {
				next := r.Next(at, loc)
				if len(next) == 0 || g.Grid.Dim[next[0]] < dim || steps > 3*g.Grid.Sides[0] {
					return false
				}
				dim = g.Grid.Dim[next[0]]
				at = g.Links[next[0]].A + g.Links[next[0]].B - at
			}
		}
	}
	return true
}

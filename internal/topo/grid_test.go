package topo

import (
	"slices"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// Paths in dimension order are shortest paths in a complete torus. A broken torus has a path wherever any exists,
// whichever of the next links packets take. Its locators are those of the shortest paths.
func TestOrderedWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Cable{Rate: unit.Gbps}
		g := build(t, "torus", Params{HostCable: c, Fabric: c, K: rapid.IntRange(2, 5).Draw(t, "side"),
			Hosts: 1, Uplinks: rapid.IntRange(1, 2).Draw(t, "uplinks"),
			Server: Server{GPUs: 1, NICs: 1, Ports: 1}})
		down := map[int]bool{}
		for range rapid.SampledFrom([]int{0, 1, 5, 30}).Draw(t, "broken") {
			if l := rapid.IntRange(0, len(g.Links)-1).Draw(t, "cable"); g.Grid.Dim[l] >= 0 {
				down[l] = true
			}
		}
		short, ordered := g.Route(down), g.Ordered(down, nil)
		if !slices.Equal(short.Locator, ordered.Locator) {
			t.Fatal("other locators")
		}
		d := distances(g, down)
		row := make([]int32, len(ordered.Sets))
		for n := range g.Nodes {
			if g.Nodes[n].Role == Host {
				continue
			}
			ordered.Row(n, row)
			for loc, set := range ordered.Sets {
				next := ordered.Next(n, loc)
				if row[loc] >= 0 != (len(next) > 0) || len(next) > 0 && !slices.Equal(next,
					ordered.Links(n, row[loc])) {
					t.Fatalf("a row says other links than %v", next)
				}
				if (len(short.Next(n, loc)) > 0) != (len(next) > 0) {
					t.Fatalf("from %s to %v: %v in order", g.Nodes[n].Name, set, next)
				}
				steps := 0
				for at := n; at != set[0] && len(next) > 0; steps++ {
					links := ordered.Next(at, loc)
					if steps > 4*len(g.Nodes) || len(links) == 0 {
						t.Fatalf("from %s to %v packets come to %s and no further", g.Nodes[n].Name, set,
							g.Nodes[at].Name)
					}
					l := links[rapid.IntRange(0, len(links)-1).Draw(t, "which")]
					if down[l] {
						t.Fatalf("a broken cable is on the way")
					}
					at = g.Links[l].A + g.Links[l].B - at
				}
				if len(down) == 0 && steps != d[n][set[0]] {
					t.Fatalf("from %s to %v in %d steps", g.Nodes[n].Name, set, steps)
				}
			}
		}
	})
}

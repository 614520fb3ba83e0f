package topo

import (
	"fmt"
	"slices"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// tangled draws a fabric without any order: random cables, and NICs with up to three cables to any switches,
// including two to one switch.
func tangled(t *rapid.T) *Graph {
	m := NewMaker("site")
	n := rapid.IntRange(1, 12).Draw(t, "switches")
	var switches []int
	for i := range n {
		sw, _ := m.Switch(fmt.Sprint("s", i), Leaf, 1)
		switches = append(switches, sw)
	}
	some := rapid.SampledFrom(switches)
	c := Cable{Rate: unit.Gbps}
	for range rapid.IntRange(0, 3*n).Draw(t, "cables") {
		if a, b := some.Draw(t, "a"), some.Draw(t, "b"); a != b {
			m.Cable(a, b, c)
		}
	}
	for h := range rapid.IntRange(1, 8).Draw(t, "servers") {
		_, first, _ := m.Server(fmt.Sprint("h", h), 2, 2)
		for nic := range 2 {
			for port := range rapid.IntRange(1, 3).Draw(t, "ports") {
				if err := m.CableNIC(first+nic, port, 3, some.Draw(t, "to"), -1, c); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	g, err := m.Graph()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// drawBroken draws a fabric, with or without a pattern, and up to three broken links.
func drawBroken(t *rapid.T) (g *Graph, down map[int]bool) {
	if rapid.Bool().Draw(t, "tangled") {
		g = tangled(t)
	} else {
		kind, p := somePods(t)
		g = build(t, kind, p)
	}
	down = map[int]bool{}
	for range rapid.IntRange(0, 3).Draw(t, "broken") {
		down[rapid.IntRange(0, len(g.Links)-1).Draw(t, "cable")] = true
	}
	return g, down
}

// Paths computed by classes of twins equal those of a separate search from every locator, in fabrics with and
// without a pattern, also with broken cables.
func TestTwinsHaveTheWaysOfEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, down := drawBroken(t)
		r := g.Route(down)
		d := distances(g, down)
		row := make([]int32, len(r.Sets))
		for n := range g.Nodes {
			if g.Nodes[n].Role == Host {
				continue
			}
			r.Row(n, row)
			for loc, set := range r.Sets {
				far := func(from int) int {
					least := 1 << 20
					for _, to := range set {
						least = min(least, d[from][to])
					}
					return least
				}
				var want []int
				for i, l := range g.Links {
					between := g.Nodes[l.A].Role != Host && g.Nodes[l.B].Role != Host
					if between && !down[i] && (l.A == n || l.B == n) && far(n) < 1<<20 &&
						far(l.A+l.B-n) == far(n)-1 {
						want = append(want, i)
					}
				}
				if got := r.Next(n, loc); !slices.Equal(got, want) {
					t.Fatalf("from %s to %v: cables %v, want %v", g.Nodes[n].Name, set, got, want)
				}
				var links []int
				if row[loc] >= 0 {
					links = r.Links(n, row[loc])
				}
				if !slices.Equal(links, want) {
					t.Fatalf("from %s to %v: set %d, want %v", g.Nodes[n].Name, set, row[loc], want)
				}
			}
		}
	})
}

// The leaves of a pod are twins, so a fabric has as many classes as pods.
func TestClassesOfPods(t *testing.T) {
	c := Cable{Rate: 400 * unit.Gbps, LengthMM: 3000}
	g, err := Build("rail", Params{Server: Server{GPUs: 8, NICs: 8, Ports: 1}, Hosts: 2, Segments: 4,
		Spines: 4, Uplinks: 2, Pods: 3, Supers: 2, SuperUp: 1, Planes: 2, HostCable: c, Fabric: c})
	if err != nil {
		t.Fatal(err)
	}
	r := g.Route(nil)
	if classes := slices.Max(r.class) + 1; len(r.Sets) != 96 || classes != 3 {
		t.Errorf("%d locators in %d classes", len(r.Sets), classes)
	}
}

package topo

import (
	"slices"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// Parts are connected by pairs of NICs with a path, and by their servers' NVLink.
func TestConnectedIsWhatReaches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := tangled(t)
		g.Isolated = rapid.Bool().Draw(t, "VLANs")
		down := map[int]bool{}
		for range rapid.IntRange(0, 2).Draw(t, "broken") {
			down[rapid.IntRange(0, len(g.Links)-1).Draw(t, "cable")] = true
		}
		r := g.Route(down)
		joined, dark := newParts(len(g.Hosts)), false
		for a := range g.NICs {
			dark = dark || r.Locator[a] < 0
			for b := range g.NICs {
				if g.Reachable(r, a, b) {
					joined.join(g.NICs[a].Host, g.NICs[b].Host)
				}
			}
		}
		whole := !dark
		for h := range g.Hosts {
			whole = whole && joined.of(h) == joined.of(0)
		}
		if err := g.CheckConnected(down); (err == nil) != (whole || len(g.Hosts) < 2) {
			t.Fatalf("%v, but pairs say %v", err, whole)
		}
	})
}

// Planes are connected by cables between switches; a pair without a path is in none.
func TestPlanes(t *testing.T) {
	m := NewMaker("site")
	var sw []int
	for _, name := range []string{"a1", "a2", "b1", "b2", "alone"} {
		n, err := m.Switch(name, Leaf, 1)
		if err != nil {
			t.Fatal(err)
		}
		sw = append(sw, n)
	}
	c := Cable{Rate: unit.Gbps}
	m.Cable(sw[0], sw[1], c)
	m.Cable(sw[2], sw[3], c)
	_, nic, _ := m.Server("h", 1, 1)
	for port, to := range []int{sw[0], sw[2], sw[4]} {
		m.CableNIC(nic, port, 3, to, -1, c)
	}
	g, err := m.Graph()
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Planes(); !slices.Equal(got, []int{1, 1, 2, 2, 0, 0}) {
		t.Error(got)
	}
}

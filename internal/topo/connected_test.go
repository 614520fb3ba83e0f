package topo

import (
	"testing"

	"pgregory.net/rapid"
)

// Parts are what pairs of NICs that reach each other, and their servers' NVLink, join.
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

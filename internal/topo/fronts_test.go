package topo

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Hops of fronts are found once per class of destinations. They equal each switch's own paths, in fabrics with and
// without a pattern, also with broken cables. Shares add up to the bytes that have not yet arrived.
func TestFrontsGoOnLikeTheirSwitches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, down := drawBroken(t)
		var switches []int
		for n := range g.Nodes {
			if g.Nodes[n].Role != Host {
				switches = append(switches, n)
			}
		}
		r := g.Route(down)
		weight := func(link, from int) float64 { return 1 }
		f := r.Fronts()
		if rapid.Bool().Draw(t, "weighted") {
			weight = func(link, from int) float64 { return float64(1 + (3*link+from)%5) }
			f = r.Weighted(weight)
		}
		for range 20 {
			from := rapid.SliceOfNDistinct(rapid.SampledFrom(switches), 1, min(3, len(switches)), rapid.ID).Draw(t, "from")
			shares := slices.Repeat([]float64{1 / float64(len(from))}, len(from))
			loc := rapid.IntRange(-1, len(r.Sets)-1).Draw(t, "to")
			at := f.At(from, shares)
			for range len(switches) + 1 {
				hop := f.To(at, loc)
				goesOn(t, g, r, hop, f.all[at], loc, weight)
				if len(hop.Links) == 0 {
					break
				}
				at = hop.Next
				behind(t, g, hop, f.all[at])
			}
		}
	})
}

// goesOn compares a hop with the paths of each of a front's switches.
func goesOn(t *rapid.T, g *Graph, r *Routes, hop *Hop, here front, loc int, weight func(link, from int) float64) {
	k := 0
	for i, n := range here.nodes {
		sum := 0.0
		for _, l := range r.Next(n, loc) {
			sum += weight(l, n)
		}
		for _, l := range r.Next(n, loc) {
			share := here.shares[i] * weight(l, n) / sum
			if k == len(hop.Links) || hop.Links[k] != l || hop.From[k] != n || math.Abs(hop.Shares[k]-share) > 1e-12 {
				t.Fatalf("link %d of the hop from %v to locator %d is not %d from %s with %g", k, here.nodes, loc, l,
					g.Nodes[n].Name, share)
			}
			k++
		}
	}
	if k != len(hop.Links) {
		t.Fatalf("%d links more than switches have", len(hop.Links)-k)
	}
}

// behind checks that the next front has the switches of a hop, each once, with their shares.
func behind(t *rapid.T, g *Graph, hop *Hop, next front) {
	got := map[int]float64{}
	for i, l := range hop.Links {
		got[g.Links[l].A+g.Links[l].B-hop.From[i]] += hop.Shares[i]
	}
	if len(got) != len(next.nodes) {
		t.Fatalf("links lead to %d switches, the front has %v", len(got), next.nodes)
	}
	for i, n := range next.nodes {
		if math.Abs(got[n]-next.shares[i]) > 1e-12 {
			t.Fatalf("%s gets %g, the front has %g there", g.Nodes[n].Name, got[n], next.shares[i])
		}
	}
}

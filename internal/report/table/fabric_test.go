package table

import (
	"strings"
	"testing"

	"railyard/internal/planner"
)

// TestFabricAnswer checks that the cheapest design has an oversubscription of at most the maximum, and that a lower
// one counts, too.
func TestFabricAnswer(t *testing.T) {
	for _, c := range []struct {
		ratio float64
		fits  []planner.Design // by cost
		want  string
	}{
		{2.5, []planner.Design{{Name: "rail-only", Cost: 100e3, Bisection: 1, Missed: "does not apply"},
			{Name: "fat-tree", Cost: 300e3, Ratio: 2}}, "cheapest with 2.5:1 or less: 100 k $ (rail-only)"},
		{2.5, []planner.Design{{Name: "dragonfly", Cost: 200e3, Ratio: 128. / 51},
			{Name: "fat-tree", Cost: 300e3, Ratio: 88. / 36, Missed: "2.44:1"}},
			"cheapest with 2.5:1 or less: 300 k $ (fat-tree)"},
		{4, []planner.Design{{Name: "dragonfly", Cost: 200e3, Ratio: 128. / 33, Missed: "3.88:1"},
			{Name: "torus", Cost: 300e3, Ratio: 4}},
			"cheapest with 4:1 or less: 200 k $ (dragonfly)"},
		{4, []planner.Design{{Name: "torus", Cost: 300e3, Ratio: 4.01}}, "cheapest: 300 k $ (torus)"},
		{1, []planner.Design{{Name: "torus", Cost: 200e3, Bisection: 0.996},
			{Name: "fat-tree", Cost: 300e3, Bisection: 1}},
			"cheapest with full bisection: 300 k $ (fat-tree)"},
	} {
		for i := range c.fits {
			c.fits[i].NICPorts = 1
		}
		in := &planner.FabricInput{GPUs: 512, PerServer: 8, NICRate: 400, Ratio: c.ratio,
			Prices: &planner.Prices{Currency: "$"}}
		if got := fabricAnswer(in, c.fits); !strings.Contains(got, c.want) {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestLimited checks which traffic the tier above rail switches limits, by the number of switches of a rail.
func TestLimited(t *testing.T) {
	two := []planner.Tier{{Role: "rail", Count: 16}}
	for _, c := range []struct {
		name  string
		tiers []planner.Tier
		want  string
	}{
		{"rail-spine", []planner.Tier{{Role: "rail", Count: 8}}, "between rails"},
		{"rail-spine", two, "between rails, and between the 2 switches of a rail"},
		{"rail-planes", two, "between the 2 switches of a rail; no links between rails"},
		{"rail-pods", two, "between pods"},
		{"rail-only", []planner.Tier{{Role: "rail", Count: 8}}, "none; no links between rails"},
		{"fat-tree", two, ""},
	} {
		d := planner.Design{Name: c.name, Tiers: c.tiers}
		if got := limited(&planner.FabricInput{PerServer: 8}, &d); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

package plot

import (
	"math"
	"slices"
	"testing"

	"railyard/internal/study/sweep"
)

// TestMoves checks that a parameter that changes no point is no axis, and that random points give no information on
// one.
func TestMoves(t *testing.T) {
	ranking := func(means ...float64) *sweep.Analysis {
		a := &sweep.Analysis{}
		for _, m := range means {
			a.Ranking = append(a.Ranking, sweep.Ranked{Stats: []sweep.Stat{{Mean: m}}})
		}
		return a
	}
	axes := []*axis{{of: []string{"swift", "swift", "none", "none"}}, {of: []string{"ecmp", "spray", "ecmp", "spray"}}}
	a := ranking(1, 1, 2, 2)
	if !moves(a, axes, 0) || moves(a, axes, 1) {
		t.Errorf("algorithm %v, lb %v", moves(a, axes, 0), moves(a, axes, 1))
	}
	random := []*axis{{of: []string{"1", "2"}}, {of: []string{"3", "4"}}}
	if b := ranking(1, 1); !moves(b, random, 0) || !moves(b, random, 1) {
		t.Error("points that differ in everything show a parameter without effect")
	}
}

// TestSide checks that lines of a value are next to each other without crossing before the next axis.
func TestSide(t *testing.T) {
	x := &axis{values: []string{"10KB", "20KB"}, of: []string{"20KB", "10KB", "20KB", "", "20KB"}}
	next := []float64{0.2, 0.9, 1, 0.5, 0.2}
	got := x.side([]int{0, 1, 2, 3, 4}, next)
	if !math.IsNaN(got[3]) || got[1] != 0.25 || got[2] <= got[0] || got[0] <= got[4] || got[4] <= 0.5 || got[2] >= 1 {
		t.Errorf("places %v", got)
	}
	low, high := slices.Min([]float64{got[0], got[2], got[4]}), max(got[0], got[2], got[4])
	if math.Abs((low+high)/2-0.75) > 1e-9 {
		t.Errorf("around %g", (low+high)/2)
	}
}

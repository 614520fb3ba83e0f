package table

import (
	"strings"
	"testing"

	"railyard/internal/study/sweep"
)

// TestSweepAnswerCounts checks that the answer of a study names the points without a result: refused, failed or
// with a lost rank. Points that a rung eliminated are not counted there, and an unfinished study counts completed
// ones.
func TestSweepAnswerCounts(t *testing.T) {
	for _, c := range []struct {
		points, open, rung int
		want               string
	}{
		{2, 0, 0, "Fastest of 2 points: x=1: 1 µs"},
		{12, 0, 0, "Fastest of 12 points, 10 without a result: x=1: 1 µs"},
		{12, 0, 1, "Fastest of 12 points: x=1: 1 µs"},
		{12, 3, 0, "Fastest so far (2 of 12 points ended): x=1: 1 µs"},
	} {
		by, err := sweep.ParseObjective("step_time")
		if err != nil {
			t.Fatal(err)
		}
		a := &sweep.Analysis{Objectives: []sweep.Objective{by}, Points: c.points, Rung: c.rung, Front: 1}
		a.Counts.Open = c.open
		for i := range 2 {
			a.Ranking = append(a.Ranking, sweep.Ranked{Point: i, Set: []string{"x=1"},
				Stats: []sweep.Stat{{Mean: 1e6 * float64(i+1)}}, Seeds: []float64{1e6 * float64(i+1)}})
		}
		if got := sweepAnswer(&sweep.Study{}, a); !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}

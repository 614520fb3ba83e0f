package table

import (
	"testing"

	"railyard/internal/study/sweep"
)

// The scenario counts among the points within the noise of the best.
func TestNoiseOfScenario(t *testing.T) {
	ranked := func(mean float64, seeds ...float64) sweep.Ranked {
		return sweep.Ranked{Stats: []sweep.Stat{{Mean: mean}}, Seeds: seeds}
	}
	near, far := ranked(27, 14, 18, 36, 40), ranked(35, 20, 30, 40, 50)
	for _, c := range []struct {
		other, scenario sweep.Ranked
		want            string
	}{
		{far, near, "; within the noise of 4 seeds: the scenario"},
		{near, near, "; within the noise of 4 seeds: 1 other point, the scenario"},
		{near, far, "; within the noise of 4 seeds: 1 other point"},
		{far, far, "; beyond the noise of 4 seeds"},
	} {
		a := &sweep.Analysis{Ranking: []sweep.Ranked{ranked(25, 10, 20, 30, 40), c.other}, Baseline: &c.scenario}
		if got := asGood(a); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

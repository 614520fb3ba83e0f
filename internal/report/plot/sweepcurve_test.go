package plot

import (
	"strings"
	"testing"

	"railyard/internal/study/sweep"

	"gonum.org/v1/plot"
)

// A curve places quantities at their size and words side by side, and labels the first and the last.
func TestSweepCurve(t *testing.T) {
	labels := func(ticks []plot.Tick) string {
		var all []string
		for _, x := range ticks {
			all = append(all, x.Label)
		}
		return strings.Join(all, ", ")
	}
	sizes := &axis{values: []string{"20KB", "40KB", "80KB", "160KB", "320KB"}}
	if got := labels(sizes.marks(3)); got != "20 KB, 80 KB, 320 KB" || sizes.at("40KB") != 2*sizes.at("20KB") {
		t.Errorf("sizes: %s, %g", got, sizes.at("40KB"))
	}
	words := &axis{values: []string{"ecmp", "spray"}}
	if got := labels(words.marks(8)); got != "ecmp, spray" || words.at("spray") != 1 || words.numeric() {
		t.Errorf("words: %s, %g", got, words.at("spray"))
	}
	if got := labels(fourDigits(1.41, 1.52)); strings.Contains(got, "1.5, 1.5") || !strings.Contains(got, "1.5") {
		t.Errorf("marks: %s", got)
	}
	if p, err := parallel(&sweep.Analysis{}, []*axis{sizes}); p != nil || err != nil {
		t.Errorf("parallel coordinates of one parameter: %v, %v", p, err)
	}
	if p, err := curve(&sweep.Analysis{}, []*axis{sizes, words}); p != nil || err != nil {
		t.Errorf("a curve over two parameters: %v, %v", p, err)
	}
}

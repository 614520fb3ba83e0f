package result_test

import (
	"math"
	"testing"

	"railyard/internal/result"
)

// Figures are compared by seed. A variation common to all seeds hides no difference, and without pairs there is no
// interval.
func TestDiffer(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want bool
	}{
		{[]float64{10, 20, 30, 40}, []float64{11, 21.1, 30.9, 41}, true},
		{[]float64{10, 20, 30, 40}, []float64{14, 18, 36, 37}, false},
		{[]float64{10, 20}, []float64{10, 20}, false},
		{[]float64{10}, []float64{10}, true},
		{[]float64{10, 20}, []float64{10, 20, 30}, true},
		{[]float64{847, 535, 634, 700, 650}, []float64{899, 910, 68100, 950, 990}, true}, // a time-out
		{[]float64{847, 535, 634, 700}, []float64{899, 910, 68100, 950}, true},           // p = 2/70
		{[]float64{847, 535, 634}, []float64{899, 910, 68100}, false},                    // p = 2/20
		{[]float64{847, 535, 634, 990, 650}, []float64{899, 910, 68100, 950, 600}, false},
	} {
		if got := result.Differ(c.a, c.b); got != c.want {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// TestDifference checks the mean and the interval of a difference: d = 1, 2, 3 has s = 1 and t(2) = 4.303.
func TestDifference(t *testing.T) {
	mean, half, ok := result.Difference([]float64{11, 22, 33}, []float64{10, 20, 30})
	if !ok || mean != 2 || math.Abs(half-4.3027/math.Sqrt(3)) > 1e-3 {
		t.Errorf("%v ± %v, %v", mean, half, ok)
	}
	if _, _, ok := result.Difference([]float64{1}, []float64{2}); ok {
		t.Error("one seed has an interval")
	}
}

package result_test

import (
	"testing"

	"railyard/internal/result"
)

// Figures are compared by seed: what all seeds share hides no difference, and without pairs there is no interval.
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
	} {
		if got := result.Differ(c.a, c.b); got != c.want {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

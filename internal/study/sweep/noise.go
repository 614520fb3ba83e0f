package sweep

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// confidence is the level at which two points differ.
const confidence = 0.95

// Noise counts the other points whose mean of the first objective equals the best point's, and those whose difference
// is not significant: zero is in the 95 % confidence interval of the mean difference, paired by seed (Student's t).
// With one seed there is no interval.
func (a *Analysis) Noise() (equal, near int) {
	best := a.Ranking[0]
	for _, r := range a.Ranking[1:] {
		switch {
		case r.Stats[0].Mean == best.Stats[0].Mean:
			equal++
		case !differ(best.Seeds, r.Seeds):
			near++
		}
	}
	return equal, near
}

// differ reports whether the mean of paired differences is beyond its confidence interval.
func differ(a, b []float64) bool {
	if len(a) < 2 || len(a) != len(b) {
		return true
	}
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	mean, sd := stat.MeanStdDev(d, nil)
	n := float64(len(d))
	t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1 + confidence) / 2)
	return math.Abs(mean) > t*sd/math.Sqrt(n)
}

package result

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// confidence is the level at which two points differ.
const confidence = 0.95

// Differ reports whether the difference of figures by seed is significant: zero is beyond the 95 % confidence
// interval of the mean difference. With one seed, or with different numbers of seeds, there is no interval, and the
// results count as different.
func Differ(a, b []float64) bool {
	mean, half, ok := Difference(a, b)
	return !ok || math.Abs(mean) > half
}

// Difference returns the mean of a − b, paired by seed, and half of its 95 % confidence interval (Student's t). It has
// none with one seed, or not the same number of seeds.
func Difference(a, b []float64) (mean, half float64, ok bool) {
	if len(a) < 2 || len(a) != len(b) {
		return 0, 0, false
	}
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	mean, sd := stat.MeanStdDev(d, nil)
	n := float64(len(d))
	t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1 + confidence) / 2)
	return mean, t * sd / math.Sqrt(n), true
}

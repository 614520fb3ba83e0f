package result

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// confidence is the level at which two points differ.
const confidence = 0.95

// Differ reports whether the difference of figures by seed is significant: zero is beyond the 95 % confidence interval
// of the mean difference, paired by seed (Student's t). With one seed, or not the same number of seeds, there is no
// interval, and they differ.
func Differ(a, b []float64) bool {
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

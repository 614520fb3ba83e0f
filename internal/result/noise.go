package result

import (
	"math"

	"github.com/aclements/go-moremath/stats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// confidence is the level at which two points differ.
const confidence = 0.95

// Differ reports whether the difference of figures by seed is significant: zero is beyond the 95 % confidence
// interval of the mean difference, or the exact rank-sum test of Mann and Whitney (1947) rejects equality at that
// level, which one seed with a time-out does not disturb. Both together call 5 to 7 % of equal normal figures
// different. With one seed, or with different numbers of seeds, there is no interval, and the results count as
// different.
func Differ(a, b []float64) bool {
	mean, half, ok := Difference(a, b)
	if !ok || math.Abs(mean) > half {
		return true
	}
	ranks, err := stats.MannWhitneyUTest(a, b, stats.LocationDiffers)
	return err == nil && ranks.P <= 1-confidence // an error: all values are equal
}

// Noisy reports whether figures by seed have a difference that is not significant.
func Noisy(a, b []float64) bool {
	mean, half, ok := Difference(a, b)
	return ok && (mean != 0 || half != 0) && !Differ(a, b)
}

// Above reports whether all figures of a are above those of b of the same seeds.
func Above(a, b []float64) bool {
	for i := range a {
		if i >= len(b) || a[i] <= b[i] {
			return false
		}
	}
	return len(a) > 0
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

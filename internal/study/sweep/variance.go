package sweep

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"railyard/internal/study/space"
)

// bins is the number of equal-sized groups of a continuous parameter's values.
const bins = 8

// share returns the share of the variance of the first objective, over all trials, that a parameter's values
// explain. It is epsilon squared, which unlike eta squared does not grow with the number of values (Kelley, An
// unbiased correlation ratio measure, PNAS 21, 1935). It is NaN if there are no more trials than values.
func (s *Study) share(t *tally, key string) float64 {
	groups := map[string][]float64{}
	for n := 1; n < len(s.rows); n++ {
		if v := s.Value(n, key); v != "" && len(t.points[n].trials) > 0 {
			groups[v] = append(groups[v], t.points[n].trials...)
		}
	}
	return epsilonSquared(binned(groups))
}

// mostPaired is the number of parameters up to which pairs are examined, leastPaired the least share of a listed pair.
const (
	mostPaired  = 12
	leastPaired = 0.02
)

// pairs returns the pairs of parameters with an effect together, largest first.
func (s *Study) pairs(t *tally, of []Influence) (all []Pair) {
	for i := range of[:min(len(of), mostPaired)] {
		for j := range i {
			if math.IsNaN(of[i].Share + of[j].Share) {
				continue
			}
			groups := map[[2]string][]float64{}
			for n := 1; n < len(s.rows); n++ {
				v := [2]string{s.Value(n, of[j].Key), s.Value(n, of[i].Key)}
				if v[0] != "" && v[1] != "" {
					groups[v] = append(groups[v], t.points[n].trials...)
				}
			}
			if x := together(groups) - of[i].Share - of[j].Share; x >= leastPaired {
				all = append(all, Pair{of[j].Key, of[i].Key, x})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y Pair) int { return cmp.Compare(y.Share, x.Share) })
	return all
}

// together returns the share of the variance that two values explain together; NaN without several trials of a pair.
func together(groups map[[2]string][]float64) float64 {
	var all [][]float64
	keys := slices.SortedFunc(maps.Keys(groups), func(x, y [2]string) int { return slices.Compare(x[:], y[:]) })
	for _, v := range keys {
		if len(groups[v]) > 0 {
			all = append(all, groups[v])
		}
	}
	return epsilonSquared(all)
}

// Share returns the share of the variance of y that the values at the same indices explain, as epsilon squared. It
// is NaN if there are no more indices than values. A place without a value, "", does not count.
func Share(values []string, y []float64) float64 {
	groups := map[string][]float64{}
	for i, v := range values {
		if v != "" {
			groups[v] = append(groups[v], y[i])
		}
	}
	return epsilonSquared(binned(groups))
}

// MainEffects returns the shares of the variance between points that each setting explains alone, and that settings
// explain together only. values are those of each setting by point; y has each point's trials, of the same seeds. It
// returns false unless the points are all combinations of the values, each once.
func MainEffects(values [][]string, y [][]float64) (shares []float64, together float64, ok bool) {
	points, cells := len(y), 1
	seen := map[string]bool{}
	for k := range values {
		distinct := map[string]bool{}
		for _, v := range values[k] {
			distinct[v] = true
		}
		if cells *= len(distinct); cells > points {
			return nil, 0, false
		}
	}
	for i := range y {
		var at []string
		for k := range values {
			at = append(at, values[k][i])
		}
		seen[strings.Join(at, "\x00")] = true
	}
	if cells != points || len(seen) != points || points < 2 {
		return nil, 0, false
	}
	means, mean, noise := noiseOf(y)
	squares := func(of []float64) (sum float64) {
		for _, v := range of {
			sum += (v - mean) * (v - mean)
		}
		return sum
	}
	total := squares(means)
	if total == 0 {
		return make([]float64, len(values)), 0, true
	}
	left, free := total, float64(points-1)
	for k := range values {
		groups := map[string][]float64{}
		for i, v := range values[k] {
			groups[v] = append(groups[v], means[i])
		}
		own := make([]float64, 0, points)
		for _, i := range values[k] {
			own = append(own, average(groups[i]))
		}
		between, degrees := squares(own), float64(len(groups)-1)
		shares = append(shares, max(0, (between-degrees*noise)/total))
		left, free = left-between, free-degrees
	}
	return shares, max(0, (left-free*noise)/total), true
}

// noiseOf returns the means of points, their mean, and the variance of a point's mean over seeds, without what seeds
// have in common.
func noiseOf(y [][]float64) (means []float64, mean, noise float64) {
	n := len(y[0])
	seeds := make([]float64, n)
	for i := range y {
		means = append(means, average(y[i]))
		for s, v := range y[i] {
			seeds[s] += v / float64(len(y))
		}
	}
	mean = average(means)
	for i := range y {
		for s, v := range y[i] {
			d := v - means[i] - seeds[s] + mean
			noise += d * d
		}
	}
	if free := (len(y) - 1) * (n - 1); free > 0 {
		noise /= float64(free) * float64(n)
	}
	return means, mean, noise
}

func average(of []float64) (mean float64) {
	for _, v := range of {
		mean += v / float64(len(of))
	}
	return mean
}

// binned groups values of quantities that are nearly all different into bins.
func binned(groups map[string][]float64) (out [][]float64) {
	n := 0
	var values []string
	numeric := true
	for v, list := range groups {
		n += len(list)
		values = append(values, v)
		if _, k := space.Quantity(v); k == space.Word {
			numeric = false
		}
	}
	slices.SortFunc(values, func(a, b string) int {
		x, _ := space.Quantity(a)
		y, _ := space.Quantity(b)
		switch {
		case numeric && x < y:
			return -1
		case numeric && x > y:
			return 1
		case a < b:
			return -1
		}
		return 1
	})
	if !numeric || len(values) <= bins || n >= 4*len(values) {
		for _, v := range values {
			out = append(out, groups[v])
		}
		return out
	}
	out = make([][]float64, bins)
	for i, v := range values {
		k := i * bins / len(values)
		out[k] = append(out[k], groups[v]...)
	}
	return out
}

// epsilonSquared returns the adjusted share of the variance between groups.
func epsilonSquared(groups [][]float64) float64 {
	n, sum := 0, 0.0
	for _, g := range groups {
		for _, x := range g {
			n++
			sum += x
		}
	}
	if len(groups) < 2 || n <= len(groups) {
		return math.NaN()
	}
	mean := sum / float64(n)
	within, total := 0.0, 0.0
	for _, g := range groups {
		own := 0.0
		for _, x := range g {
			own += x / float64(len(g))
		}
		for _, x := range g {
			within += (x - own) * (x - own)
			total += (x - mean) * (x - mean)
		}
	}
	if total == 0 {
		return 0
	}
	free := float64(n-1) / float64(n-len(groups))
	return max(0, 1-within/total*free)
}

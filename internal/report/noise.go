package report

import (
	"fmt"
	"strings"

	"railyard/internal/result"
)

// seeds returns how many the variants were run with, at most.
func seeds(variants []result.Variant) (n int) {
	for _, v := range variants {
		n = max(n, len(v.Runs))
	}
	return n
}

// values returns the figures of all seeds, in the order of the seeds.
func values(m metric, v result.Variant) []float64 {
	x := make([]float64, len(v.Runs))
	for i, r := range v.Runs {
		x[i] = m.value(r)
	}
	return x
}

func mean(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum / float64(max(1, len(x)))
}

// mostNear is the maximum number of variants that noise names.
const mostNear = 4

// noise names the variants whose difference from the best is not significant over seeds, or with one seed not shown.
func noise(by metric, best *result.Variant, variants []result.Variant) string {
	if best.Failed != "" {
		return ""
	}
	var near []string
	if len(best.Runs) < 2 {
		figure := func(v *result.Variant) string { return by.show(mean(values(by, *v))) }
		for i := range variants {
			if v := &variants[i]; v != best && v.Failed == "" && figure(v) == figure(best) {
				near = append(near, v.Label)
			}
		}
		if len(near) == 0 {
			return ""
		}
		return "; equal: " + fewest(near)
	}
	for i := range variants {
		v := &variants[i]
		if v != best && v.Failed == "" && !result.Differ(values(by, *best), values(by, *v)) {
			label := v.Label
			if result.Above(values(by, *v), values(by, *best)) {
				label += " (slower with every seed)"
			}
			near = append(near, label)
		}
	}
	if len(near) == 0 {
		return fmt.Sprintf("; beyond the noise of %d seeds", len(best.Runs))
	}
	return fmt.Sprintf("; within the noise of %d seeds: %s", len(best.Runs), fewest(near))
}

// fewest lists names, the first ones of many.
func fewest(names []string) string {
	if more := len(names) - mostNear; more > 1 {
		names = append(names[:mostNear], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

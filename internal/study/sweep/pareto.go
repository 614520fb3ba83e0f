package sweep

import (
	"cmp"
	"slices"
)

// Front returns the numbers of the points that no other point dominates: no other is at least as good by every
// objective and better by one. Points are ordered by the objectives. Of points with equal figures the first stays.
func Front(points [][]float64, by []Objective) (front []int) {
	better := func(a, b int) int {
		for k, o := range by {
			switch x, y := points[a][k], points[b][k]; {
			case o.Better(x, y):
				return -1
			case o.Better(y, x):
				return 1
			}
		}
		return cmp.Compare(a, b)
	}
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, better)
	for _, i := range order { // dominating points precede it
		if !slices.ContainsFunc(front, func(f int) bool { return atLeast(points[f], points[i], by) }) {
			front = append(front, i)
		}
	}
	return front
}

// atLeast reports whether a is at least as good as b by every objective.
func atLeast(a, b []float64, by []Objective) bool {
	for k, o := range by {
		if o.Better(b[k], a[k]) {
			return false
		}
	}
	return true
}

// layers orders points by fronts: the front, then the front of the others, and so on, until there are n.
func layers(points [][]float64, by []Objective, n int) (order []int) {
	left := make([]int, len(points))
	if len(by) == 1 {
		for i := range left {
			left[i] = i
		}
		slices.SortStableFunc(left, func(a, b int) int {
			switch x, y := points[a][0], points[b][0]; {
			case by[0].Better(x, y):
				return -1
			case by[0].Better(y, x):
				return 1
			}
			return 0
		})
		return left[:min(n, len(left))]
	}
	for i := range left {
		left[i] = i
	}
	for len(order) < n && len(left) > 0 {
		of := make([][]float64, len(left))
		for i, p := range left {
			of[i] = points[p]
		}
		taken := map[int]bool{}
		for _, i := range Front(of, by) {
			order = append(order, left[i])
			taken[left[i]] = true
		}
		left = slices.DeleteFunc(left, func(p int) bool { return taken[p] })
	}
	return order[:min(n, len(order))]
}

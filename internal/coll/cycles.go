package coll

import "slices"

// maxCycles is the largest mesh whose cycles are searched for. Larger ones get the cycles of constant steps, which
// are fewer.
const maxCycles = 10

// Cycles returns orders of n pairwise connected GPUs, no two of which use one link in the same direction. All these
// rings can run in parallel at a link's full rate. Any two of n GPUs are neighbours in n-1 cycles, except among 4
// and 6 (Tillson 1980), and where n is large and no prime. The first is 0, 1, 2 and so on.
func Cycles(n int) [][]int {
	all := strides(n)
	if len(all) == n-1 || n > maxCycles {
		return all
	}
	used := make([]bool, n*n)
	take := func(c []int, on bool) {
		for i, a := range c {
			used[a*n+c[(i+1)%n]] = on
		}
	}
	take(all[0], true)
	found := [][]int{all[0]}
	for want, tries := n-1, 0; len(found) < want; {
		tries = 200_000
		if more := search(n, used, want-len(found), take, &tries); more != nil {
			return append(found, more...)
		}
		want-- // as among 4 and 6 ranks
	}
	return found
}

// strides are the cycles that always advance by the same step.
func strides(n int) (all [][]int) {
	for step := 1; step < max(n, 2); step++ {
		a, b := n, step
		for b != 0 {
			a, b = b, a%b
		}
		if a != 1 {
			continue
		}
		c := make([]int, n)
		for i := range c {
			c[i] = i * step % n
		}
		all = append(all, c)
	}
	return all
}

// search finds n cycles among the unused pairs. It returns nil if it finds none in the given number of tries.
func search(n int, used []bool, want int, take func([]int, bool), tries *int) [][]int {
	if want == 0 {
		return [][]int{}
	}
	path, in := []int{0}, make([]bool, n)
	in[0] = true
	var walk func() [][]int
	walk = func() [][]int {
		if *tries--; *tries < 0 {
			return nil
		}
		at := path[len(path)-1]
		if len(path) == n {
			if used[at*n] {
				return nil
			}
			c := slices.Clone(path)
			take(c, true)
			if rest := search(n, used, want-1, take, tries); rest != nil {
				return append([][]int{c}, rest...)
			}
			take(c, false)
			return nil
		}
		for to := range n {
			if in[to] || used[at*n+to] {
				continue
			}
			path, in[to] = append(path, to), true
			if got := walk(); got != nil {
				return got
			}
			path, in[to] = path[:len(path)-1], false
		}
		return nil
	}
	return walk()
}

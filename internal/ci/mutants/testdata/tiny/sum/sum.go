// Package sum is the package that the tests of mutants mutate.
package sum

import "fmt"

const limit = 8

// Sum adds the numbers above 2, up to limit of them.
func Sum(xs []int) (total int) {
	n := 0
	for _, x := range xs {
		if x > 2 && n < limit {
			total += x
			n++
		}
	}
	return total
}

// Far reports whether x is 4,096 or more; no test of this package calls it.
func Far(x int) bool {
	if x < 4*1024 {
		return false
	}
	return true
}

// Unused has no caller.
func Unused(m map[int]bool) { m[1] = true }

// String documents; nothing in it is mutated.
func String(x int) string {
	if x == 1 {
		return "one"
	}
	return fmt.Sprint(x + 1)
}

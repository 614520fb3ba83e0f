// Package long separates the tests of every run from those that take long: thousands of random scenarios, whole
// corpora, fabrics of 131,072 GPUs. RAILYARD_LONG=1 turns the long ones on, as .ci/soak does.
//
//	for range long.N(24, 200) { … } // 200 under RAILYARD_LONG=1
package long

import (
	"flag"
	"os"
	"strconv"
)

// On reports whether long tests run.
func On() bool { return os.Getenv("RAILYARD_LONG") != "" }

// Seed is that of long tests' own draws: RAPID_SEED, which .ci/soak sets to another number with each commit; 0 unset,
// and in short runs.
func Seed() uint64 {
	seed, err := strconv.ParseUint(os.Getenv("RAPID_SEED"), 10, 64)
	if err != nil || !On() {
		return 0
	}
	return seed
}

// N returns how often a test repeats: short usually, full when long tests run.
func N(short, full int) int {
	if On() {
		return full
	}
	return short
}

// Draws sets how often a test binary draws for each property of pgregory.net/rapid, whose own default is 100: short
// usually, full when long tests run. RAPID_CHECKS and -rapid.checks take precedence. It returns the number:
//
//	var _ = long.Draws(40, 400)
func Draws(short, full int) int {
	n := N(short, full)
	f := flag.Lookup("rapid.checks")
	if f == nil || os.Getenv("RAPID_CHECKS") != "" || f.Value.Set(strconv.Itoa(n)) != nil {
		return 0
	}
	return n
}

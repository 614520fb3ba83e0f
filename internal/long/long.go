// Package long is the one switch between the tests that everybody runs and those that take long:
// thousands of random scenarios, whole corpora, fabrics of 131,072 GPUs. RAILYARD_LONG=1 turns the long
// ones on, as .ci/soak does.
//
//	for range long.N(24, 200) { … } // 200 under RAILYARD_LONG=1
package long

import "os"

// On reports whether long tests run.
func On() bool { return os.Getenv("RAILYARD_LONG") != "" }

// N returns how often a test repeats: short usually, full when long tests run.
func N(short, full int) int {
	if On() {
		return full
	}
	return short
}

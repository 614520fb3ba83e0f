// Package long is the one switch between the tests that everybody runs and those that take long:
// thousands of random scenarios, whole corpora, fabrics of 131,072 GPUs. RAILYARD_LONG=1 turns the long
// ones on, as .ci/soak does.
//
//	func TestEveryFabric(t *testing.T) {
//		long.Only(t, "2,000 random fabrics, 90 s")
//		…
//	}
//
//	for range long.N(24, 200) { … } // 200 under RAILYARD_LONG=1
package long

import "os"

// skipper is the part of testing.TB that Only uses; production packages need not import testing.
type skipper interface {
	Helper()
	Skipf(format string, args ...any)
}

// On reports whether long tests run.
func On() bool { return os.Getenv("RAILYARD_LONG") != "" }

// Only skips a test unless long tests run; what says what it does and how long it takes.
func Only(t skipper, what string) {
	t.Helper()
	if !On() {
		t.Skipf("long (RAILYARD_LONG=1 runs it): %s", what)
	}
}

// N returns how often a test repeats: short usually, full when long tests run.
func N(short, full int) int {
	if On() {
		return full
	}
	return short
}

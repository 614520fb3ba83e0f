package validate

import (
	"math"
	"testing"
)

// A reason excuses a difference, not a figure that could not be computed.
func TestNoFigureFails(t *testing.T) {
	for got, want := range map[float64]string{1: "ok", 2: "differs", math.NaN(): "FAILS"} {
		r := within("claim", "source", 1, got, 0.1, "%.1f")
		if r.Note = "known"; r.Verdict() != want {
			t.Errorf("ours %v: %s, want %s", got, r.Verdict(), want)
		}
	}
}

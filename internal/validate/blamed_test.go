package validate

import (
	"testing"

	"railyard/internal/result"
)

// TestOwnFault checks which counterfactuals are doubtful judges: those with a kind of fault that the run with the cause
// has not, however few; more of a kind that both have is the account's business.
func TestOwnFault(t *testing.T) {
	run := func(timeouts, again, trims int64) *result.Summary {
		return &result.Summary{Timeouts: timeouts, Retransmissions: again, Trims: trims}
	}
	for _, c := range []struct {
		with, without *result.Summary
		doubt         bool
	}{
		{run(0, 0, 0), run(0, 0, 0), false},
		{run(0, 5, 0), run(1, 5, 0), true},
		{run(1, 5, 0), run(90, 700, 0), false},
		{run(0, 0, 0), run(0, 1, 0), true},
		{run(0, 1, 0), run(0, 9, 0), false},
		{run(0, 20, 20), run(0, 30, 30), false},
		{run(0, 20, 20), run(0, 30, 29), true},
	} {
		if got := ownFault(c.with, c.without); (got != "") != c.doubt {
			t.Errorf("%d/%d/%d, without %d/%d/%d: %q", c.with.Timeouts, c.with.Retransmissions, c.with.Trims,
				c.without.Timeouts, c.without.Retransmissions, c.without.Trims, got)
		}
	}
}

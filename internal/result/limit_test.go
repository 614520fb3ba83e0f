package result

import (
	"testing"

	"railyard/internal/cause"
)

// TestLimitSavings checks that files and text have one saving, which the busiest NIC's payload limits.
func TestLimitSavings(t *testing.T) {
	s := &Summary{Step: Step{StepTime: 1000, Chain: &cause.Account{}}, Busiest: &BusiestNIC{Time: 700, Repaired: 400}}
	s.Chain.Saving[cause.Incast], s.Chain.Saving[cause.FailedCapacity], s.Chain.Saving[cause.Pause] = 800, 500, -20
	s.LimitSavings()
	if of := s.Chain.Saving; of[cause.Incast] != 300 || of[cause.FailedCapacity] != 500 || of[cause.Pause] != -20 {
		t.Errorf("savings of a run whose NIC needs 700 of 1000: %v", of)
	}
}

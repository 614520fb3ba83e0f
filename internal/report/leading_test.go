package report

import (
	"testing"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// TestMainCauseSaves checks that the main cause is the one whose removal saves most, and that none leads
// whose removal saves hardly anything of the time lost. Without simulations estimates decide, and without estimates
// the largest cost leads.
func TestMainCauseSaves(t *testing.T) {
	const a, b = cause.ID(cause.Collision), cause.ID(cause.PCIe)
	for name, c := range map[string]struct {
		saving    [2]int64 // of a and b, which cost 37 % and 22 %
		simulated []cause.ID
		want      string
	}{
		"nothing estimated":           {[2]int64{}, nil, a.Get().Name},
		"nothing simulated":           {[2]int64{0, 55}, nil, b.Get().Name},
		"the smaller saves":           {[2]int64{0, 55}, []cause.ID{a, b}, b.Get().Name},
		"the larger makes it longer":  {[2]int64{-20, 20}, []cause.ID{a, b}, b.Get().Name},
		"both save, the smaller more": {[2]int64{30, 55}, []cause.ID{a, b}, b.Get().Name},
		"both save, the larger more":  {[2]int64{37, 22}, []cause.ID{a, b}, a.Get().Name},
		"the other is estimated":      {[2]int64{-20, 20}, []cause.ID{a}, b.Get().Name},
		"the other hardly saves":      {[2]int64{15, 10}, []cause.ID{a}, a.Get().Name},
		"neither saves":               {[2]int64{0, -1}, []cause.ID{a, b}, ""},
		"both save alike":             {[2]int64{6, 7}, []cause.ID{a, b}, a.Get().Name},
		"one saves a fraction":        {[2]int64{-20, 3}, []cause.ID{a, b}, ""},
	} {
		s := &result.Summary{Complete: true}
		s.StepTime, s.Chain = 100, &cause.Account{}
		s.Chain.Own[a], s.Chain.Own[b] = 37, 22
		s.Chain.Saving[a], s.Chain.Saving[b] = c.saving[0], c.saving[1]
		for _, id := range c.simulated {
			s.Simulated = append(s.Simulated, id.Get().Key)
		}
		if got := MainCause(s); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestOverlappedCauseLeads checks that a collision that costs nothing next to other causes leads where a run without it
// saved most, and not where that is an estimate.
func TestOverlappedCauseLeads(t *testing.T) {
	for _, c := range []struct {
		simulated []string
		want      cause.ID
	}{{nil, cause.Recovering}, {[]string{cause.ID(cause.Collision).Get().Key}, cause.Collision}} {
		s := &result.Summary{Complete: true}
		s.StepTime, s.Chain, s.Simulated = 100, &cause.Account{}, c.simulated
		s.Chain.Own[cause.Recovering], s.Chain.Saving[cause.Recovering] = 32, 37
		s.Chain.Saving[cause.Collision] = 50
		if got := MainCause(s); got != c.want.Get().Name {
			t.Errorf("%v simulated: %q, want %q", c.simulated, got, c.want.Get().Name)
		}
	}
}

package whatif

import (
	"testing"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// TestLearn checks that no remedy of a cause is expected to save less than a simulated one did, and that the run
// without a cause, once it is simulated, replaces the estimate of its saving.
func TestLearn(t *testing.T) {
	t.Parallel()
	base := run(t, fabrics["rail"]+"workload: {traffic: {incast: {bytes: 4MB, fan_in: 5, target: host-1/gpu-1}}}\n",
		cause.Change{})
	p, s := base.Plan, base.Summary
	key := cause.ID(cause.Collision).Get().Key
	without := cause.Change{Says: "per-packet spraying", Set: []string{"lb=spray-least",
		"transport.recovery=selective", "transport.write=only"}, Also: []cause.ID{cause.Reordering}}
	saving, u := s.Chain.Saving, s.StepTime/100
	all := []Remedy{
		{Remedy: result.Remedy{Cause: key, Expected: 5 * u, Limit: "a NIC", Tried: true, Saved: 9 * u},
			change: without},
		{Remedy: result.Remedy{Cause: key, Expected: 5 * u}},
		{Remedy: result.Remedy{Cause: "incast", Expected: 7 * u, Tried: true, Saved: 6 * u}},
		{Remedy: result.Remedy{Cause: "incast", Expected: 7 * u, Tried: true, Saved: 8 * u}, Error: "interrupted"},
		{Remedy: result.Remedy{Cause: "rate_not_given_back", Expected: 7 * u, Tried: true, Saved: 8 * u}},
	}
	Learn(p, s, all)
	for i, want := range []int64{9, 9, 7, 7, 8} {
		if r := &all[i]; r.Expected != want*u || r.Limit != "" || r.Simulated != (i < 2) {
			t.Errorf("%d: %+v, want %d", i, r.Remedy, want*u)
		}
	}
	saving[cause.Collision] = 9 * u
	if s.Chain.Saving != saving || len(s.Simulated) != 1 || s.Simulated[0] != key {
		t.Errorf("%v, simulated %v", s.Chain.Saving, s.Simulated)
	}
	s.Simulated, s.DropsDown = nil, 4 // recovered in another way by the remedy
	all[0].Remedy = result.Remedy{Cause: key, Expected: 5 * u, Tried: true}
	all[0].Saved = s.Chain.Costs(cause.Collision) + u
	Learn(p, s, all)
	if s.Chain.Saving != saving || len(s.Simulated) > 0 || all[0].Cause != result.OtherSetting {
		t.Errorf("with packets lost on a link: %+v, simulated %v", all[0].Remedy, s.Simulated)
	}
}

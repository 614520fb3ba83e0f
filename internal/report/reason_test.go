package report

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// TestReason checks the sentence beside a main cause that does not cost most.
func TestReason(t *testing.T) {
	for _, c := range []struct {
		own, saving map[cause.ID]int64
		simulated   []cause.ID
		want        string
	}{
		{map[cause.ID]int64{cause.LateRank: 60e6, cause.Incast: 90e6}, map[cause.ID]int64{cause.Incast: 48e6}, nil,
			"Incast costs more, but a run without that saves 48 µs (estimate)."},
		{map[cause.ID]int64{cause.Collision: 50e6, cause.Oversubscription: 60e6},
			map[cause.ID]int64{cause.Collision: 70e6, cause.Oversubscription: 100e6}, []cause.ID{cause.Collision},
			"Without ECMP hash collision a run saves 70 µs, more than oversubscription costs."},
		{map[cause.ID]int64{cause.Collision: 50e6, cause.SharedNIC: 60e6}, map[cause.ID]int64{cause.Collision: 70e6},
			[]cause.ID{cause.Collision},
			"Without ECMP hash collision a run saves 70 µs, more than shared NIC or NVLink port costs."},
		{map[cause.ID]int64{cause.Collision: 50e6, cause.Pause: 60e6},
			map[cause.ID]int64{cause.Collision: 45e6, cause.Pause: -30e6}, []cause.ID{cause.Collision, cause.Pause},
			"PFC pauses cost more, but a run without that takes 30 µs longer."},
		// Incast is less than 0.5 % of the step: neither the main cause nor the first row.
		{map[cause.ID]int64{cause.Incast: 4e6, cause.Collision: 20e6, cause.Pause: 30e6},
			map[cause.ID]int64{cause.Incast: 30e6, cause.Collision: 20e6, cause.Pause: 8e6}, []cause.ID{cause.Incast},
			"PFC pauses cost more, but a run without that saves 8 µs (estimate)."},
	} {
		s := &result.Summary{Complete: true}
		s.Chain, s.StepTime = &cause.Account{}, 1e9
		for id, ps := range c.own {
			s.Chain.Own[id] = ps
		}
		for id, ps := range c.saving {
			s.Chain.Saving[id] = ps
		}
		for _, id := range c.simulated {
			s.Simulated = append(s.Simulated, id.Get().Key)
		}
		if got := Reason(s); got != c.want {
			t.Errorf("%v, %v: %q, not %q", c.own, c.saving, got, c.want)
		}
	}
}

// TestTitleOfBubble checks that a cause that costs more than the bubble is in the title only where it leads.
func TestTitleOfBubble(t *testing.T) {
	s := &result.Summary{Complete: true}
	s.Chain, s.StepTime, s.MFU, s.Step.Bubble = &cause.Account{}, 1e9, 0.4, 50e6
	s.Chain.Own[cause.Collision], s.Chain.Saving[cause.Collision] = 40e6, 40e6
	s.Chain.Own[cause.Pause], s.Chain.Saving[cause.Pause] = 60e6, 10e6
	if got := MainCause(s); got != "pipeline bubble (5.0 % of the step)" {
		t.Errorf("main cause %q; ECMP hash collision leads, and costs less than the bubble", got)
	}
	s.Chain.Own[cause.Collision] = 55e6
	if got := MainCause(s); got != "ECMP hash collision" {
		t.Errorf("main cause %q", got)
	}
}

// TestReasonOfAny checks random accounts: the main cause is the first row, and a cause that costs more saves less.
func TestReasonOfAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &result.Summary{Complete: true}
		s.Chain, s.StepTime = &cause.Account{}, 1e9
		ps := rapid.Int64Range(0, 1e8)
		for _, c := range cause.All() {
			if !c.Loss || !rapid.Bool().Draw(t, c.Key) {
				continue
			}
			s.Chain.Own[c.ID] = ps.Draw(t, "own")
			if !c.Lasting {
				s.Chain.Saving[c.ID] = ps.Draw(t, "saving")
			}
			if rapid.Bool().Draw(t, "simulated") && !c.Lasting {
				s.Simulated = append(s.Simulated, c.Key)
			}
		}
		rows, _ := Losses(s)
		id, is := MainID(s)
		if !is {
			return
		}
		if len(rows) > 0 && rows[0].Cause != id && s.Chain.Costs(id) >= least(s) {
			t.Fatalf("%v leads, the first row is %+v", id, rows[0])
		}
		before, _, more := strings.Cut(Reason(s), " cost")
		if !more || strings.HasPrefix(before, "Without") {
			return
		}
		for _, c := range cause.All() {
			if upper(c.Name) == before && s.Chain.Saving[c.ID] > max(s.Chain.Saving[id], s.Chain.Costs(id)) {
				t.Fatalf("%s, but without %s a run saves %d, not %d", Reason(s), id.Get().Name, s.Chain.Saving[id],
					s.Chain.Saving[c.ID])
			}
		}
	})
}

// TestExposed checks that communication at line rate has a line where it is a tenth of the step, and contention is not
// a tenth of it.
func TestExposed(t *testing.T) {
	s := &result.Summary{Complete: true}
	s.Chain, s.StepTime, s.MFU, s.ExposedTP, s.ExposedEP = &cause.Account{}, 1e9, 0.4, 100e6, 50e6
	s.Chain.Own[cause.Latency] = 10e6
	const want = "Exposed communication: 150 µs (15.0 % of the step), at line rate but for 10 µs: "
	if got := Idle(s); len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Errorf("%q, not %q", got, want)
	}
	s.Chain.Own[cause.Collision] = 20e6
	if got := Idle(s); len(got) > 0 {
		t.Errorf("%q beside a collision", got)
	}
}

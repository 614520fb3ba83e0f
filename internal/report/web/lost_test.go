package web

import (
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// The page of a collective has no row for the time that its bound includes, as the terminal has none.
func TestAnswerAtTheBound(t *testing.T) {
	s := &result.Summary{Complete: true}
	s.StepTime, s.Chain = 1e9, &cause.Account{}
	s.Chain.Own[cause.SharedNIC], s.Chain.Own[cause.Pause] = 4e8, 1e7
	for _, c := range []struct {
		bus   float64
		lost  int64
		first string
	}{{49e9, 1e7, "pause"}, {40e9, 2e8, "shared_nic"}} {
		s.Collectives = []result.Collective{{Count: 1, BusBW: c.bus, Bound: 50e9, BoundWhy: "NIC"}}
		var a Answer
		a.lost(s)
		if a.Lost != c.lost || strings.HasPrefix(a.Bound, "Bound by NIC: ") != (c.first == "pause") ||
			a.Rows[0].Key != c.first || a.Losses[0].Key != c.first || len(a.Losses)+len(a.Minor) != len(a.Rows) {
			t.Errorf("%v GB/s: %+v", c.bus/1e9, a)
		}
	}
}

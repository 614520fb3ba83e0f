package study

import (
	"testing"

	"railyard/internal/fidelity"
)

// TestForetell checks that the estimate of a long run, or of a run of a long study, is passed on before it begins, and
// again only for one that takes at least twice as long.
func TestForetell(t *testing.T) {
	var got []string
	p := &Pool{Workers: 2, Before: func(a Ahead) { got = append(got, a.Label) }}
	p.Expect(10)
	for _, c := range []struct {
		label   string
		seconds float64
	}{{"short", 1}, {"of 15 s", 3}, {"like it", 4}, {"long", 30}, {"longer", 59}} {
		p.foretell(c.label, nil, fidelity.Cost{Seconds: c.seconds})
	}
	if len(got) != 2 || got[0] != "of 15 s" || got[1] != "long" {
		t.Error(got)
	}
	got = nil
	alone := &Pool{Workers: 2, Before: p.Before}
	alone.foretell("alone", nil, fidelity.Cost{Seconds: 9, Causes: 2})
	if len(got) != 1 {
		t.Error(got)
	}
}

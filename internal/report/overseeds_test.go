package report

import (
	"strings"
	"testing"

	"railyard/internal/result"
	"railyard/unit"
)

// TestSpreadOverSeeds checks that a footer of means names exactly the variants whose seeds differ much.
func TestSpreadOverSeeds(t *testing.T) {
	of := func(label string, steps ...unit.Time) (v result.Variant) {
		v.Label = label
		for _, s := range steps {
			r := &result.Summary{}
			r.StepTime = int64(s * unit.Microsecond)
			v.Runs = append(v.Runs, r)
		}
		return v
	}
	near := of("roce", 1000, 1030, 1010)
	for want, variants := range map[string][]result.Variant{
		"":                      {of("roce", 1000)},
		"Means over 3 seeds.\n": {near},
		"Means over 3 seeds; steps from the best to the worst seed: uec 1.33 ms to 1.45 ms.\n": {near,
			of("uec", 1330, 1446, 1330)},
	} {
		var b strings.Builder
		if overSeeds(&b, variants); strings.Join(strings.Fields(b.String()), " ") != strings.TrimSpace(want) {
			t.Errorf("%q, want %q", b.String(), want)
		}
	}
}

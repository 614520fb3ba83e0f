package flows

import (
	"slices"
	"testing"

	"railyard/unit"
)

// controls.json holds measured values: a curve measured again equals the stored one. When a congestion control
// changes, go run ./internal/ci/controls writes the file anew.
func TestCurvesAreMeasured(t *testing.T) {
	for _, set := range []string{"cc.algorithm=swift", "cc.algorithm=dctcp", "transport=uec"} {
		got, err := Measure(100*unit.Gbps, 4, set)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(known, func(c Curve) bool {
			return c.Control == got.Control && c.Rate == got.Rate && c.Senders == got.Senders
		})
		if i < 0 {
			t.Errorf("%s: no curve of %s", set, got.Control)
			continue
		}
		stored := known[i]
		alone := make([]float64, len(stored.Alone)) // known has them as shares of the last value
		for w, x := range stored.Alone {
			alone[w] = float64(int64(x*stored.top*1e4+0.5)) / 1e4
		}
		if !slices.Equal(got.Shared, stored.Shared) || !slices.Equal(got.Alone, alone) {
			t.Errorf("%s: measured\n%v %v\nstored\n%v %v", set, got.Shared, got.Alone, stored.Shared, alone)
		}
	}
}

package table

import (
	"strings"
	"testing"

	"railyard/internal/calibrate/fitting"
)

// A calibration that makes the fitted points worse is not said to reduce the error.
func TestMixedCalibration(t *testing.T) {
	for want, fitted := range map[string][2]float64{
		"Calibration reduces the error: 36.6 % before, 35.1 % after (1 held-out point)":                            {0.339, 0.33},
		"Calibration is mixed, error: 36.6 % before, 35.1 % after (1 held-out point), 33.9 % before, 35.4 % after": {0.339, 0.354},
	} {
		r := &fitting.Report{Errors: map[string][2]float64{"aside": {0.366, 0.351}, "fitted": fitted},
			Points: []fitting.Point{{Aside: true, Measured: 1, After: 1}, {Measured: 1, After: 1}}}
		var b strings.Builder
		if calibrationAnswer(&b, r); !strings.HasPrefix(strings.Join(strings.Fields(b.String()), " "), want) {
			t.Errorf("%v: %s", fitted, b.String())
		}
	}
}

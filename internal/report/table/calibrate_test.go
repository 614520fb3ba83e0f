package table

import (
	"strings"
	"testing"

	"railyard/internal/calibrate"
	"railyard/internal/calibrate/fitting"
)

// A calibration that makes the fitted points worse is not reported as reducing the error.
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

// If only one of the shares of NVLink and NICs was fitted, it depends on the algorithm of the run, and the report
// says so.
func TestUndecidedShares(t *testing.T) {
	for name, refused := range map[string]string{"nvlink_share": "nic_share", "nic_share": "nvlink_share",
		"launch": "nic_share"} {
		r := &fitting.Report{Values: []fitting.Value{{Name: name, Was: 100, Is: 40}},
			Refused: []calibrate.Refusal{{Name: refused}}}
		one, other := undecided(r)
		if want := name != "launch"; (one != "") != want || want && (one != name || other != refused) {
			t.Errorf("%s fitted, %s not: %q, %q", name, refused, one, other)
		}
	}
	if one, _ := undecided(&fitting.Report{Values: []fitting.Value{{Name: "nic_share", Was: 100, Is: 40},
		{Name: "nvlink_share", Was: 100, Is: 90}}}); one != "" {
		t.Errorf("both are fitted: %q", one)
	}
}

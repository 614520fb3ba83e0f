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

// The first lines have the largest error of all points, held out or fitted.
func TestLargestError(t *testing.T) {
	r := &fitting.Report{Errors: map[string][2]float64{"aside": {0.194, 0.194}, "fitted": {0.377, 0.377}},
		Points: []fitting.Point{{Name: "32MiB", Aside: true, Measured: 566, After: 443},
			{Name: "512MiB", Measured: 7.7, After: 10.8}}}
	var b strings.Builder
	calibrationAnswer(&b, r)
	want := "Calibration does not reduce the error: 19.4 % before, 19.4 % after (1 held-out point), 37.7 % before, 37.7 % after " +
		"(1 fitted point) warning: too much for predictions; largest error +40.3 % at 512MiB"
	if got := strings.Join(strings.Fields(b.String()), " "); got != want {
		t.Error(got)
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

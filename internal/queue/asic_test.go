package queue

import (
	"testing"

	"railyard/unit"
)

// The table of docs/references.md, headroom, evaluated with SONiC's own script: port MTU 9100, lossless
// MTU 1024, small packets only.
func TestSONiCHeadroom(t *testing.T) {
	for _, c := range []struct {
		asic            string
		rate, metres    int64
		xoff, xon, size unit.Bytes
	}{
		{"spectrum", 100, 5, 72704, 19456, 92160},
		{"spectrum", 100, 40, 81920, 19456, 101376},
		{"spectrum", 100, 300, 147456, 19456, 166912},
		{"spectrum3", 200, 40, 148480, 19456, 167936},
		{"spectrum4", 400, 40, 283648, 38912, 331776},
		{"spectrum4", 800, 40, 362496, 38912, 410624},
	} {
		a, ok := ASICNamed(c.asic)
		if !ok {
			t.Fatalf("no %s among %v", c.asic, ASICs())
		}
		xoff, xon, size := a.Headroom(unit.Rate(c.rate)*unit.Gbps, c.metres*1000, 9100)
		if xoff != c.xoff || xon != c.xon || size != c.size {
			t.Errorf("%s, %dG, %d m: xoff %d, xon %d, size %d; SONiC computes %d, %d, %d", c.asic, c.rate,
				c.metres, xoff, xon, size, c.xoff, c.xon, c.size)
		}
	}
}

// SONiC's figure is at least Railyard's minimum, at every rate and length, for frames of the lossless MTU that it
// assumes.
func TestSONiCHeadroomCovers(t *testing.T) {
	for _, a := range asics {
		for _, r := range []unit.Rate{10, 25, 40, 50, 100, 200, 400, 800, 1600} {
			for _, metres := range []int64{1, 3, 30, 300, 3000, 40_000} {
				r := r * unit.Gbps
				prop := unit.Time(float64(metres) / 1.98e8 * float64(unit.Second))
				bare := Headroom(r, prop, Response(r), 0, losslessMTU)
				if xoff, _, _ := a.Headroom(r, metres*1000, 9216); xoff < bare {
					t.Errorf("%s, %v, %d m: xoff %v, whole frames need %v", a.Name, r, metres, xoff, bare)
				}
			}
		}
	}
	if a := ASICFor(800 * unit.Gbps); a.Name != "spectrum4" {
		t.Errorf("800G ports are %s's", a.Name)
	}
	if a := ASICFor(3200 * unit.Gbps); a.Name != "spectrum6" {
		t.Errorf("3.2T ports are %s's", a.Name)
	}
}

package plot

import (
	"testing"

	"gonum.org/v1/plot/plotter"
)

// A long curve keeps its peaks.
func TestThinned(t *testing.T) {
	var points plotter.XYs
	for i := range 100_000 {
		points = append(points, plotter.XY{X: float64(i)})
	}
	points[12_345].Y, points[54_321].Y = 9, -9
	short, peaks := thinned(points), 0
	for i, p := range short {
		if p.Y != 0 {
			peaks++
		}
		if i > 0 && p.X <= short[i-1].X {
			t.Fatalf("%v behind %v", p, short[i-1])
		}
	}
	if len(short) > maxCurve+2 || peaks != 2 {
		t.Errorf("%d points, %d peaks", len(short), peaks)
	}
}

// TestMeansAreNamed checks that the title of a heat map names the keys over which its cells are means.
func TestMeansAreNamed(t *testing.T) {
	for want, rest := range map[string][]*axis{"": nil, ", mean over lb": {{name: "lb"}},
		", mean over lb, seed": {{name: "lb"}, {name: "seed"}}} {
		if got := over(rest); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

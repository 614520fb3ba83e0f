package plot

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/result"
	"railyard/internal/study/sweep"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// TestLegendWraps checks that no entry of a legend of all causes leaves its width or covers another.
func TestLegendWraps(t *testing.T) {
	const most = 16 * vg.Centimeter
	places, rows := legend(cause.All(), most)
	for i, at := range places {
		wide, _, _ := plot.DefaultTextHandler.Box(cause.All()[i].Name, font.From(plot.DefaultFont, 9))
		if at.X+12+wide > most || at.Y > legendHigh*vg.Length(rows-1) ||
			i > 0 && at.Y == places[i-1].Y && at.X <= places[i-1].X {
			t.Errorf("%s at %v of %d rows", cause.All()[i].Name, at, rows)
		}
	}
	if _, rows := legend(cause.All()[:2], most); rows != 1 {
		t.Errorf("two entries in %d rows", rows)
	}
}

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

// TestLongestQueue checks that the drawn queue of a run is that of the port with the highest peak, even if another
// one is longer on average. It starts at the first sample and reaches the peak printed by comparisons.
func TestLongestQueue(t *testing.T) {
	tables := &result.Tables{
		Ports: []result.PortRow{{Name: "host", Role: "host", QueuePeak: 900_000},
			{Name: "mean", Role: "leaf", QueuePeak: 50_000}, {Name: "peak", Role: "leaf", QueuePeak: 403_000}},
		Links: []result.LinkRow{{Port: 0, Length: 1000, Queued: 900_000},
			{Port: 1, Length: 1000, Queued: 50_000, Peak: 50_000},
			{Port: 2, Length: 1000, Queued: 1000, Peak: 403_000}}}
	c := NewCurves("swift", &result.Summary{QueuePeak: 403_000}, tables)
	top := 0.0
	for _, p := range c.queue {
		top = max(top, 1e3*p.Y)
	}
	if c.queue[0].X != 0 || len(c.queue) != 2 || c.port != "peak" || c.peak != 403_000 || top != 403_000 {
		t.Errorf("%s: peak %d, drawn up to %.0f", c.port, c.peak, top)
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

// TestZippedKeysAreOneAxis checks that keys which advance together are one axis of a heat map, and not averaged.
func TestZippedKeysAreOneAxis(t *testing.T) {
	var names []string
	for _, x := range joined([]*axis{{name: "wred_min", zip: "w"}, {name: "lb"}, {name: "wred_max", zip: "w"}, {name: "mtu"}}) {
		names = append(names, x.name)
	}
	if got := strings.Join(names, ", "); got != "wred_min / wred_max, lb, mtu" {
		t.Error(got)
	}
}

// TestMarksAreWhole checks that bars and dots at the ends of an axis have room.
func TestMarksAreWhole(t *testing.T) {
	a := &sweep.Analysis{Objectives: []sweep.Objective{{Figure: sweep.Figures[0]}, {Figure: sweep.Figures[0]}},
		Effects: []sweep.Influence{{Key: "lb", Share: 0.6}, {Key: "seed", Share: 0.1}}}
	for _, x := range []float64{1e9, 2e9} {
		a.Ranking = append(a.Ranking, sweep.Ranked{Stats: []sweep.Stat{{Mean: x}, {Mean: 3e9 - x}}})
	}
	bars, err := sensitivity(a, nil)
	if err != nil || bars.X.Max <= 60 || bars.Y.Min != -0.5 || bars.Y.Max != 1.5 {
		t.Errorf("bars to 60: %v, %v", bars.X, err)
	}
	dots, err := pareto(a, nil)
	if err != nil || dots.X.Min >= 1 || dots.X.Max <= 2 || dots.Y.Min >= 1 || dots.Y.Max <= 2 {
		t.Errorf("dots from 1 to 2: %v, %v", dots.X, err)
	}
}

// TestStrips checks that a peak keeps its height, that nothing is drawn between samples, and that ticks on the time
// axis are 1, 2 or 5 units apart.
func TestStrips(t *testing.T) {
	low, mean, high := columns([]stretch{{0, 1, 4}, {1, 2, 9}, {8, 10, 3}, {8, 10, 5}}, 0, 10, 5)
	if got := fmt.Sprint(low, mean, high); got != "[4 0 0 0 3] [6.5 0 0 0 4] [9 0 0 0 5]" {
		t.Error(got)
	}
	for want, ends := range map[string][2]float64{"0, 20, 40, 60, 80 µs": {0, 89e6}, "440, 460, 480, 500, 520, 540, 560 ms": {440e9, 565e9},
		"0, 0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4 ms": {0, 1.51e9}} {
		var labels []string
		for _, x := range ticks(ends[0], ends[1]) {
			labels = append(labels, x.Label)
		}
		if got := strings.Join(labels, ", "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestScale checks that the top of a scale is the next round value, and that a legend is in the corner with the
// fewest points.
func TestScale(t *testing.T) {
	for v, want := range map[float64]float64{0: 1, 1: 1, 1.15e6: 1.2e6, 1.29e6: 1.5e6, 865e3: 1e6, 2e11: 2e11,
		0.97: 1} {
		if got := round(v); got < want*0.999999 || got > want*1.000001 {
			t.Errorf("%g to %g, want %g", v, got, want)
		}
	}
	p := plot.New()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	points := plotter.XYs{{X: 0.9, Y: 0.1}, {X: 0.9, Y: 0.1}, {X: 0.1, Y: 0.1}, {X: 0.1, Y: 0.9}}
	if left, top := emptiest(p, points); left || !top {
		t.Errorf("left %v, top %v", left, top)
	}
}

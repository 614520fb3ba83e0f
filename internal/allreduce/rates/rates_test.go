package rates

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"
)

// Steps of a log become means over equal parts of the time: 10 for a quarter of it, 30 for the remaining time.
func TestRatesOfALog(t *testing.T) {
	all, err := readRates(strings.NewReader("seconds,qp,gbps\n0.000000,0x11,10.0\n0.010000,0x12,7\n" +
		"0.025000,0x11,30.0\n0.100000,0x11,30.0\n"))
	if err != nil || len(all) != 2 || len(all[1]) != 1 {
		t.Fatal(all, err)
	}
	want := plotter.XYs{{X: 0, Y: 10}, {X: 25, Y: 10}, {X: 25, Y: 30}, {X: 100, Y: 30}, {X: 100, Y: 30}}
	if !slices.Equal(all[0], want) {
		t.Errorf("steps %v", all[0])
	}
	means, sum := averaged(all[0], 100), 0.0
	for _, p := range means {
		if sum += p.Y; p.Y < 10-1e-9 || p.Y > 30+1e-9 {
			t.Errorf("a mean of %v at %v", p.Y, p.X)
		}
	}
	if mean := sum / float64(len(means)); math.Abs(mean-25) > 1e-6 {
		t.Errorf("mean of means %v, want 25", mean)
	}
	late := averaged(plotter.XYs{{X: 90, Y: 4}, {X: 95, Y: 4}}, 100)
	if len(late) != 15 || late[0].X < 90 || late[0].Y != 4 {
		t.Errorf("from 90 on: %v", late)
	}
	for _, bad := range []string{"seconds,qp,gbps\n1,0x1\n", "a,b,c\nx,0x1,2\n", "a,b,c\n1,0x1,\n"} {
		if _, err := readRates(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

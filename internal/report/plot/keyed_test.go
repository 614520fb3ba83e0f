package plot

import "testing"

// TestHalves checks that the title of completion times compares medians, or the slowest messages where medians agree.
func TestHalves(t *testing.T) {
	a, b := Curves{Label: "a", done: []float64{10, 20, 90}}, Curves{Label: "b", done: []float64{10, 20, 30}}
	for want, all := range map[string][]Curves{
		"Slowest message 30 µs with b, 90 µs with a":        {a, b},
		"Median completion time 20 µs with a":               {a, {Label: "slower", done: []float64{30, 30, 60}}},
		"Median completion time 15 µs with c, 20 µs with a": {a, {Label: "c", done: []float64{15, 15, 95}}},
		"No message ended": {{}}} {
		if got := halves(all); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestTimes checks that ticks are at round times within their range, with units.
func TestTimes(t *testing.T) {
	for want, c := range map[string]struct {
		t         times
		low, high float64
	}{
		"50 µs 100 µs 200 µs 500 µs 1 ms ":       {times{decades: true}, 30, 1200},
		"0 s 50 µs 100 µs 150 µs 200 µs 250 µs ": {times{}, 0, 270}} {
		got := ""
		for _, x := range c.t.Ticks(c.low, c.high) {
			got += x.Label + " "
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

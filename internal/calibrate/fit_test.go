package calibrate

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// line is a model that takes launch + steps x step + bytes / (share x 50 GB/s), with ten times as many steps for
// odd points as for even ones.
func line(steps float64, bytes []float64) Model {
	return func(v []float64, want func(int) bool) ([]float64, error) {
		out := make([]float64, len(bytes))
		for i, b := range bytes {
			if want == nil || want(i) {
				out[i] = 5e-6 + v[0]*1e-6 + v[1]*1e-6*steps*math.Pow(10, float64(i%2)) + b/(v[2]/100*50e9)
			}
		}
		return out, nil
	}
}

func lineParams() []Param {
	return []Param{{"launch", "us", 0, 0, 1000, 2, false}, {"step", "us", 0, 0, 100, 0.2, false},
		{"share", "percent", 100, 10, 100, 0.05, true}}
}

func sizes(n int) (out []float64) {
	for i := range n {
		out = append(out, 1024*math.Pow(4, float64(i)))
	}
	return out
}

// Measurements of a model with known parameters give these back, and the fit agrees with held-out points, too.
func TestFindsWhatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		truth := []float64{rapid.Float64Range(0, 200).Draw(t, "launch"), rapid.Float64Range(0,
			3).Draw(t, "step"),
			rapid.Float64Range(30, 100).Draw(t, "share")}
		m := line(3, sizes(12))
		times, _ := m(truth, nil)
		var points []Point
		for i, x := range times {
			points = append(points, Point{Name: fmt.Sprint(i), Measured: x, Held: i%3 == 2})
		}
		f, err := Run(lineParams(), points, true, m, nil)
		if err != nil {
			t.Fatal(err)
		}
		if f.FittedIs > 0.02 || f.HeldIs > 0.03 || len(f.Values) != 3 {
			t.Fatalf("truth %v: %+v", truth, f)
		}
		if v := f.Values[2]; math.Abs(v.Value-truth[2]) > 0.05*truth[2] {
			t.Fatalf("share %v, expected %v", v.Value, truth[2])
		}
	})
}

// Parameters are not fitted if points do not constrain them, or if two are collinear.
func TestRefuses(t *testing.T) {
	large := line(3, []float64{1e9, 2e9, 4e9, 8e9})
	times, _ := large([]float64{10, 1, 60}, nil)
	var points []Point
	for i, x := range times {
		points = append(points, Point{Name: fmt.Sprint(i), Measured: x})
	}
	f, err := Run(lineParams(), points, false, large, nil)
	if err != nil || len(f.Values) != 1 || f.Values[0].Name != "share" || len(f.Refused) != 2 {
		t.Errorf("%v, %+v", err, f)
	}
	if _, err = Run(lineParams(), points, true, large, nil); err == nil ||
		!strings.Contains(err.Error(), "do not determine launch") {
		t.Errorf("with must: %v", err)
	}
	twice := func(v []float64, want func(int) bool) ([]float64, error) {
		return line(3, sizes(8))([]float64{v[0] + v[1], 0, 100}, want)
	}
	times, _ = twice([]float64{10, 10}, nil)
	points = nil
	for i, x := range times {
		points = append(points, Point{Name: fmt.Sprint(i), Measured: x})
	}
	f, err = Run([]Param{{"launch", "us", 0, 0, 1000, 2, false},
		{"start", "us", 0, 0, 1000, 2, false}}, points, false, twice, nil)
	if err != nil || len(f.Refused) != 1 || !strings.Contains(f.Refused[0].Why, "collinear with launch") {
		t.Errorf("%v, %+v", err, f)
	}
	if _, err := Run(lineParams(), points[:2], true, line(3, sizes(2)), nil); err == nil ||
		!strings.Contains(err.Error(), "do not determine") {
		t.Errorf("two points: %v", err)
	}
	if _, err := Run(lineParams(), []Point{{Name: "p"}}, false, twice, nil); err == nil {
		t.Error("a time of 0 is taken")
	}
	broken := errors.New("broken")
	fails := func([]float64, func(int) bool) ([]float64, error) { return nil, broken }
	if _, err := Run(lineParams(), points, false, fails, nil); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// A parameter that would have to leave its bounds stays at the bound, and the others are fitted with it.
func TestBounds(t *testing.T) {
	m := line(3, sizes(10))
	times, _ := m([]float64{0, 0, 100}, nil)
	var points []Point
	for i, x := range times {
		points = append(points, Point{Name: fmt.Sprint(i), Measured: 0.8 * x}) // faster than can be
	}
	f, err := Run(lineParams(), points, false, m, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range f.Values {
		if v.Value < v.Least || v.Value > v.Most {
			t.Errorf("%+v", v)
		}
	}
	if f.FittedIs > f.FittedWas {
		t.Errorf("worse than before: %v, %v", f.FittedIs, f.FittedWas)
	}
}

// A parameter whose error is as large as its value is dropped, and the others are fitted without it.
func TestLooseOnesAreTakenOut(t *testing.T) {
	model := func(v []float64, want func(int) bool) ([]float64, error) {
		out := make([]float64, 6)
		for i := range out {
			part := []float64{0.02, 0.25, 0.05}[i%3] // share of the first parameter, in a time of 1 s
			out[i] = part/(v[0]/100) + (1-part)/(v[1]/100)
		}
		return out, nil
	}
	params := []Param{{"inner", "%", 100, 20, 120, 0.03, true}, {"outer", "%", 100, 5, 100, 0.03, true}}
	times, _ := model([]float64{90, 50}, nil)
	var points []Point
	for i, x := range times {
		points = append(points, Point{Name: fmt.Sprint(i), Measured: x * (0.65 + 0.7*float64(i%2))})
	}
	f, err := Run(params, points, false, model, nil)
	if err != nil || len(f.Values) != 1 || f.Values[0].Name != "outer" || len(f.Refused) != 1 ||
		!strings.Contains(f.Refused[0].Why, "not constrained by the points") {
		t.Fatalf("%v, %+v", err, f)
	}
	if v := f.Values[0]; math.Abs(v.Value-50) > 10 || v.Error > 15 {
		t.Errorf("outer %v, give or take %v", v.Value, v.Error)
	}
	if _, err := Run(params, points, true, model, nil); err == nil ||
		!strings.Contains(err.Error(), "do not determine inner") {
		t.Errorf("with must: %v", err)
	}
}

// Errors are those of the exact model, whatever the approximate model predicts.
func TestErrorsAreExact(t *testing.T) {
	near, truth := line(3, sizes(8)), []float64{50, 1, 60}
	times, _ := near(truth, nil)
	var points []Point
	for i, x := range times {
		points = append(points, Point{Name: fmt.Sprint(i), Measured: x, Held: i == 3})
	}
	exact := func(v []float64, want func(int) bool) ([]float64, error) {
		return near([]float64{0, 0, 100}, want) // no fitted parameter has an effect
	}
	f, err := Run(lineParams(), points, false, near, exact)
	if err != nil || f.FittedIs != f.FittedWas || f.HeldIs != f.HeldWas || f.FittedIs < 0.2 {
		t.Errorf("%v: %+v", err, f)
	}
}

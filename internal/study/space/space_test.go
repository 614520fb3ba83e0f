package space

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// base is a scenario with two values.
func base(key string) (string, bool) {
	v, ok := map[string]string{"lb": "ecmp", "wred_max": "800KB"}[key]
	return v, ok
}

func ranged(t *testing.T, text string) *Range {
	t.Helper()
	r, err := ParseRange(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// points returns all points that a sampler chooses.
func points(t *testing.T, s *Space, by string, n int) (list []Point, u [][]float64) {
	t.Helper()
	sampler, err := Lookup(by)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Points(s, sampler, n, 1)
	if err != nil {
		t.Fatal(err)
	}
	for p, at := range all {
		list, u = append(list, p), append(u, at)
	}
	return list, u
}

// Steps keep the ends as written, whole numbers whole and powers of two exact.
func TestRanges(t *testing.T) {
	for text, want := range map[string]string{
		"50KB..800KB:5:log":    "50KB 100KB 200KB 400KB 800KB",
		"64KiB..1MiB:5:log":    "64KiB 128KiB 256KiB 512KiB 1MiB",
		"1us..2us:4":           "1us 1.333us 1.667us 2us",
		"1..4:4":               "1 2 3 4",
		"1..4:16":              "1 2 3 4",
		"0.1..0.3:3":           "0.1 0.2 0.3",
		"100Gbps..400Gbps:4":   "100Gbps 200Gbps 300Gbps 400Gbps",
		"1m..30m:3":            "1m 15.5m 30m",
		"100KB..200KB:3:lin":   "100KB 150KB 200KB",
		"1000..100000:3:log":   "1000 10000 100000",
		"10Mbps..1Gbps:log:3":  "10Mbps 100Mbps 1Gbps",
		"0.001..1000000:4:log": "0.001 1 1000 1000000",
		"12345B..98765B:3":     "12345B 55.56KB 98765B",
		"999ns..1001ns:3":      "999ns 1us 1001ns",
		"1048576B..4194304B:2": "1048576B 4194304B",
		"1.5us..1500us:2:log":  "1.5us 1500us",
		"0..3:2":               "0 3",
	} {
		if got := strings.Join(ranged(t, text).levels, " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"5":                           "is not a range",
		"5KB..1":                      "different units",
		"800KB..50KB":                 "empty range",
		"50KB..50KB":                  "empty range",
		"ecmp..spray":                 "is not a quantity",
		"0..5:3:log":                  "not above 0",
		"1..5:1":                      "out of range 2–100000",
		"1..5:1000000000":             "out of range 2–100000",
		"1..5:3:lgo":                  `unknown word "lgo"; accepted: log, lin`,
		"1KB..99999999999999999999KB": "is not a quantity",
	} {
		if _, err := ParseRange(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A grid has every combination, with zipped keys together and conditional keys where their condition holds.
func TestGrid(t *testing.T) {
	s, err := New([]Param{{Key: "lb", List: []string{"ecmp", "spray"}},
		{Key: "gap", List: []string{"1us", "2us"}, When: "lb=ecmp"},
		{Key: "a", List: []string{"1", "2"}, Zip: "z"}, {Key: "b", List: []string{"3", "4"}, Zip: "z"}},
		[]string{"2*a < b and wred_max > 500KB"}, base)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := points(t, s, "grid", 0)
	want := []Point{{"ecmp", "1us", "1", "3"}, {"ecmp", "2us", "1", "3"}, {"spray", "", "1", "3"}, {"spray", "", "1", "3"}}
	if !reflect.DeepEqual(got, want) { // 2*2 is not below 4
		t.Errorf("%v", got)
	}
	if axes := s.Axes(); !reflect.DeepEqual(axes, []string{"lb", "gap", "a+b"}) {
		t.Error(axes)
	}
}

// Sampled designs fill each axis evenly, and growing designs begin with the smaller ones.
func TestSamples(t *testing.T) {
	s, err := New([]Param{{Key: "x", Range: ranged(t, "1..1001")}, {Key: "y", Range: ranged(t, "1KB..1000KB:log")},
		{Key: "lb", List: []string{"ecmp", "spray", "flowlet", "adaptive"}}}, nil, base)
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []string{"random", "lhc", "halton"} {
		list, u := points(t, s, by, 400)
		if len(list) != 400 {
			t.Fatalf("%s: %d points", by, len(list))
		}
		for axis := range 3 {
			var tenths [10]int
			for i := range u {
				tenths[int(10*u[i][axis])]++
			}
			slack := map[string]int{"random": 20, "lhc": 0, "halton": 6}[by]
			if low, high := slices.Min(tenths[:]), slices.Max(tenths[:]); low < 40-slack || high > 40+slack {
				t.Errorf("%s: axis %d has %v in tenths", by, axis, tenths)
			}
		}
		few, _ := points(t, s, by, 100)
		sampler, _ := Lookup(by)
		if same := reflect.DeepEqual(few, list[:100]); same != sampler.Grows {
			t.Errorf("%s: the first hundred are the same: %v", by, same)
		}
	}
}

// With requirements there are as many points as requested, if any satisfy them.
func TestRequired(t *testing.T) {
	params := []Param{{Key: "wred_min", Range: ranged(t, "50KB..1000KB")}}
	for _, by := range []string{"random", "halton"} {
		s, err := New(params, []string{"wred_min < wred_max"}, base)
		if err != nil {
			t.Fatal(err)
		}
		list, _ := points(t, s, by, 50)
		for _, p := range list {
			if x, _ := Quantity(p[0]); x >= 800e3 {
				t.Errorf("%s: %v", by, p)
			}
		}
		if len(list) != 50 {
			t.Errorf("%s: %d points", by, len(list))
		}
	}
	s, _ := New(params, []string{"wred_min > 2000KB"}, base)
	if _, err := Points(s, &random, 5, 1); err == nil || !strings.Contains(err.Error(), "0 of") {
		t.Error(err)
	}
}

// Impossible values are rejected with their place and what is accepted.
func TestRefused(t *testing.T) {
	two := []string{"1", "2"}
	for want, x := range map[string]struct {
		params  []Param
		require []string
	}{
		"vary[1].key: \"a\" is varied twice":               {params: []Param{{Key: "a", List: two}, {Key: "a", List: two}}},
		"vary[0]: a has no values":                         {params: []Param{{Key: "a"}}},
		"vary[0].key: expected the key":                    {params: []Param{{List: two}}},
		"vary[1]: b has 1 value, a has 2 values":           {params: []Param{{Key: "a", List: two, Zip: "z"}, {Key: "b", List: two[:1], Zip: "z"}}},
		"require[0]: \"a\" is not a comparison":            {params: []Param{{Key: "a", List: two}}, require: []string{"a"}},
		"require[0]: neither \"x\" nor \"y\" is a key":     {params: []Param{{Key: "a", List: two}}, require: []string{"x < y"}},
		"\"b\" is neither a quantity nor a key":            {params: []Param{{Key: "a", List: two}}, require: []string{"a < b"}},
		"vary[0].when: neither \"lbb\" nor \"x\" is a key": {params: []Param{{Key: "a", List: two, When: "lbb=x"}}},
		"\"q\" is not a factor":                            {params: []Param{{Key: "a", List: two}}, require: []string{"q*a < 3"}},
	} {
		if _, err := New(x.params, x.require, base); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	s, _ := New([]Param{{Key: "a", Range: ranged(t, "1..100000:100000")}, {Key: "b", Range: ranged(t, "1..100000:100000")}},
		nil, base)
	if _, err := Points(s, &grid, 0, 1); err == nil || !strings.Contains(err.Error(), "the grid has 10000000000 points; accepted: ") {
		t.Error(err)
	}
	s, _ = New([]Param{{Key: "a", Range: ranged(t, "1..9")}}, nil, base)
	if _, err := Points(s, &grid, 0, 1); err == nil || !strings.Contains(err.Error(), "accepted: 1..9:STEPS") {
		t.Error(err)
	}
	if _, err := Points(s, &morris, 3, 1); err == nil || !strings.Contains(err.Error(), "accepted: 4 and more") {
		t.Error(err)
	}
}

// Elementary effects of Ishigami's function (a = 7, b = 0.1) on four levels. mu* matches SALib's regression test
// for 10,000 trajectories (7.767792, 7.875, 6.308785; tests/test_regression.py, test_regression_morris_vanilla),
// within the error of the sample. That of x2 is equal for every trajectory. In closed form they are 7.704, 7.875,
// 6.249.
func TestIshigami(t *testing.T) {
	const trajectories = 10_000
	s, err := New([]Param{{Key: "x1", Range: ranged(t, "0..1.0")}, {Key: "x2", Range: ranged(t, "0..1.0")},
		{Key: "x3", Range: ranged(t, "0..1.0")}}, nil, base)
	if err != nil {
		t.Fatal(err)
	}
	_, u := points(t, s, "morris", 4*trajectories+3)
	if len(u) != 4*trajectories {
		t.Fatalf("%d points", len(u))
	}
	y := make([]float64, len(u))
	for i, at := range u {
		var x [3]float64
		for k := range x {
			x[k] = math.Pi * (2*at[k] - 1)
		}
		y[i] = math.Sin(x[0]) + 7*math.Pow(math.Sin(x[1]), 2) + 0.1*math.Pow(x[2], 4)*math.Sin(x[0])
	}
	closed := []float64{1.5 * math.Sqrt(3) / 2 * (1 + 0.1*math.Pow(math.Pi, 4)*(1+1.0/81)/2), 7.875,
		0.15 * math.Sqrt(3) / 4 * math.Pow(math.Pi, 4) * 80 / 81}
	published := []float64{7.767792, 7.875, 6.308785}
	for axis, e := range Effects(u, y) {
		off := func(x float64) bool { return math.Abs(e.MeanAbs/x-1) > 0.02 }
		if e.N != trajectories || off(closed[axis]) || off(published[axis]) {
			t.Errorf("x%d: mu* %.4f of %d, closed form %.4f, SALib %.4f", axis+1, e.MeanAbs, e.N, closed[axis],
				published[axis])
		}
	}
	if e := Effects(u, y)[1]; math.Abs(e.MeanAbs-7.875) > 1e-9 || math.Abs(e.Mean) > 0.2 {
		t.Errorf("x2: %+v", e)
	}
	y[1] = math.NaN()
	if e := Effects(u, y); e[0].N+e[1].N+e[2].N != 3*trajectories-2 {
		t.Errorf("a missing figure leaves %v", e)
	}
}

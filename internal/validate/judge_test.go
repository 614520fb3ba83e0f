package validate

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A judge that cannot say no is none: figures at the tolerance pass, beyond it they do not, and one that
// is no number fails whatever is written beside it.
func TestVerdicts(t *testing.T) {
	known := &Reason{"name", "mechanism", NoSetting, "effect"}
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Float64Range(1e-6, 1e12).Draw(t, "want")
		tol := rapid.Float64Range(1e-4, 0.5).Draw(t, "tolerance")
		side := rapid.SampledFrom([]float64{-1, 1}).Draw(t, "side")
		for share, ok := range map[float64]bool{0: true, 0.99: true, 1.01: false, 10: false} {
			r := within("x", "y", want, want*(1+side*tol*share), tol, "%.6g")
			if r.OK != ok || (r.Verdict() == "ok") != ok {
				t.Fatalf("%g times the tolerance of %g from %g: %+v", share, tol, want, r)
			}
			if r = r.because(known); !ok && r.Verdict() != "differs" {
				t.Fatalf("with a reason: %s", r.Verdict())
			}
		}
	})
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if r := within("x", "y", 1, bad, 0.5, "%g"); r.OK || r.Verdict() != "FAILS" {
			t.Errorf("%g: %+v", bad, r)
		}
	}
	nan := within("x", "y", 1, math.NaN(), 0.5, "%g")
	if nan = nan.because(known); nan.Verdict() != "FAILS" {
		t.Errorf("a figure that is none %s", nan.Verdict())
	}
	if r := exact("x", "y", 7, 7); !r.OK || r.Diff != "none" {
		t.Errorf("%+v", r)
	}
	if r := exact("x", "y", 7, 8); r.OK || r.Verdict() != "FAILS" || r.Expected != "7" || r.Ours != "8" {
		t.Errorf("%+v", r)
	}
}

// A story is told in order when its lines come in that order, whatever stands between them.
func TestOrder(t *testing.T) {
	want := []string{"xoff", "pause", "resume"}
	for lines, reached := range map[string]int{
		"xoff|pause|resume": 3, "a|xoff|b|pause|c|resume|d": 3, "pause|xoff|resume": 1, "": 0,
		"xoff|xoff|pause": 2, "resume|pause|xoff": 1, "at 3 us xoff here|then pause": 2,
	} {
		if got := order(strings.Split(lines, "|"), want); got != reached {
			t.Errorf("%q reaches %d, want %d", lines, got, reached)
		}
	}
}

// The bisection behind a paper's one free parameter finds it, and hands on what went wrong.
func TestSolve(t *testing.T) {
	for _, x := range []float64{0.06, 0.37, 0.5, 0.99} {
		got, err := solve(100*x*x, func(e float64) (float64, error) { return 100 * e * e, nil })
		if err != nil || math.Abs(got-x) > 1e-6 {
			t.Errorf("%g, %v; want %g", got, err, x)
		}
	}
	broken := errors.New("no layout")
	if _, err := solve(1, func(float64) (float64, error) { return 0, broken }); err != broken {
		t.Errorf("%v", err)
	}
}

// Balls in bins: one ball in n bins is a maximum of one, as many bins as balls are at least one, and the
// mean of the maxima of two balls in two bins is 1.5 (two in one bin in half of the cases).
func TestHashMax(t *testing.T) {
	if got := hashMax(8, 1, 50); got != 1 {
		t.Errorf("one ball: %g", got)
	}
	if got := hashMax(1, 64, 3); got != 64 {
		t.Errorf("one bin: %g", got)
	}
	if got := hashMax(2, 2, 20_000); math.Abs(got-1.5) > 0.02 { // 4 standard deviations
		t.Errorf("two balls in two bins: %g", got)
	}
}

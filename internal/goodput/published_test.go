package goodput

import (
	"math"
	"strings"
	"testing"
)

// Each published set gives the failures that were observed, on as many GPUs, and in proportion on others.
func TestSets(t *testing.T) {
	for _, s := range Sets {
		r, ok := Named(s.Name)
		if !ok || r.Source == "" {
			t.Fatalf("%s: %v", s.Name, r)
		}
		for _, times := range []int{1, 2} {
			parts, err := r.parts(s.GPUs*times, 8)
			if err != nil {
				t.Fatal(err)
			}
			got := 0.0
			for _, p := range parts {
				got += p.second * 86400 * s.Days
			}
			if want := s.Events * float64(times); math.Abs(got/want-1) > 1e-9 {
				t.Errorf("%s on %d GPUs: %g failures, want %g", s.Name, s.GPUs*times, got, want)
			}
		}
	}
	if _, ok := Named("megascale"); ok {
		t.Error("megascale has no rates")
	}
}

// A component of the user's own says what there are as many of; a small job has few software failures.
func TestOwnComponents(t *testing.T) {
	r := &Rates{Rates: []Rate{{Component: "Optical switch 3", Per: PerJob, Second: 1e-6},
		{Component: "bmc", Per: PerServer, Second: 1e-6, Takes: "server"}}}
	parts, err := r.parts(16, 8)
	if err != nil || len(parts) != 2 || parts[0].second != 1e-6 || parts[1].second != 2e-6 ||
		parts[0].takes || !parts[1].takes {
		t.Error(parts, err)
	}
	for _, name := range []string{"", "two\nlines", strings.Repeat("x", 41)} {
		if _, err := (&Rates{Rates: []Rate{{Component: name, Per: PerJob, Second: 1e-6}}}).parts(16, 8); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
	parts, err = Llama3().parts(8, 8)
	day := 0.0
	for _, p := range parts {
		day += p.second * 86400
	}
	if want := 419.0 / 54 / 2048; err != nil || math.Abs(day/want-1) > 1e-9 {
		t.Errorf("8 GPUs: %g failures a day, want %g (%v)", day, want, err)
	}
}

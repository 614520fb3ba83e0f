package goodput

import (
	"math"
	"strings"
	"testing"
)

// Each published set gives the published failures per day for its number of GPUs, and proportionally for others.
func TestSets(t *testing.T) {
	published := map[string]struct {
		gpus   int
		perDay float64
	}{"llama-3": {16_384, 7.759}, "meta-rsc": {16_384, 24 / 1.8}, "opt": {992, 1.75}, "bloom": {384, 0.214}}
	for _, name := range SetNames() {
		r, ok := Named(name)
		want := published[name]
		if !ok || r.Source == "" || want.gpus == 0 {
			t.Fatalf("%s: %v", name, r)
		}
		for _, times := range []int{1, 2} {
			parts, err := r.parts(want.gpus*times, 8)
			if err != nil {
				t.Fatal(err)
			}
			got := 0.0
			for _, p := range parts {
				got += p.second * 86400
			}
			if math.Abs(got/want.perDay/float64(times)-1) > 0.005 {
				t.Errorf("%s on %d GPUs: %g failures a day, want %g", name, want.gpus*times, got, want.perDay*float64(times))
			}
		}
	}
	if _, ok := Named("megascale"); ok || len(Sets) != len(published) {
		t.Error(SetNames())
	}
}

// A component of the user's own sets the unit that it scales with. A small job has few software failures.
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

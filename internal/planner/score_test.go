package planner

import (
	"strings"
	"testing"

	"railyard/internal/partition"
)

// TestScore checks that each layout that a search finds scores as it did there, and that layouts which cannot be are
// refused by what is wrong.
func TestScore(t *testing.T) {
	in := searching(builtin(t, "llama-3.1-8b"), site(t, 16), 64, 4096, 50)
	r, err := Search(in)
	if err != nil || len(r.Candidates) < 10 {
		t.Fatalf("%v, %d layouts", err, len(r.Candidates))
	}
	for _, c := range r.Candidates[:10] {
		s, err := in.Score(c.Layout)
		if err != nil || s.Candidate != c || !s.Fits {
			t.Errorf("%v: %v, %+v, searched %+v", c.Layout, err, s, c)
		}
	}
	good := r.Candidates[0].Layout
	for want, spoil := range map[string]func(*partition.Layout){
		"do not divide 16 GPUs": func(l *partition.Layout) { l.TP, l.PP, l.CP = 3, 1, 1 },
		"of an NVLink domain":   func(l *partition.Layout) { l.TP, l.PP, l.CP = 16, 1, 1 },
		"do not divide into dp": func(l *partition.Layout) { l.Micro = 5 },
		"needs replicas":        func(l *partition.Layout) { l.TP, l.PP, l.CP, l.ZeRO = 8, 2, 1, 1 },
		"0 experts":             func(l *partition.Layout) { l.EP = 2 },
	} {
		l := good
		spoil(&l)
		if _, err := in.Score(l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", l, err, want)
		}
	}
}

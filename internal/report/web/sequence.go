package web

import (
	"cmp"
	"net/url"
	"slices"

	"railyard/internal/report/sequence"
)

// Told is a sequence of the run, or the reason why there is none.
type Told struct {
	Names    []string           `json:"names"` // of all sequences, the ring only if it can be drawn or is asked for
	Shows    []string           `json:"shows"`
	Sequence *sequence.Sequence `json:"sequence"`
	Why      string             `json:"why"`
}

// sequence makes a part of the run a sequence diagram.
func (r *Directory) sequence(q url.Values) (t Told, err error) {
	t.Names, t.Shows = sequence.Names()
	name, of := cmp.Or(q.Get("name"), t.Names[0]), r.Sequences()
	if t.Sequence, err = of.Of(name); err != nil {
		t.Why = err.Error()
	}
	if i := slices.Index(t.Names, "ring"); name != "ring" && !of.Rings() {
		t.Names, t.Shows = slices.Delete(t.Names, i, i+1), slices.Delete(t.Shows, i, i+1)
	}
	return t, nil
}

// Sequences is the run as input of sequences.
func (r *Directory) Sequences() *sequence.Run {
	return &sequence.Run{Dir: r.Dir, Manifest: &r.Manifest, Summary: &r.Summary, Topology: &r.Topology}
}

package web

import (
	"cmp"
	"net/url"

	"railyard/internal/report/sequence"
)

// Told is a sequence of the run, or the reason why there is none.
type Told struct {
	Names    []string           `json:"names"` // of all sequences
	Shows    []string           `json:"shows"`
	Sequence *sequence.Sequence `json:"sequence"`
	Why      string             `json:"why"`
}

// sequence makes a part of the run a sequence diagram.
func (r *Directory) sequence(q url.Values) (t Told, err error) {
	t.Names, t.Shows = sequence.Names()
	if t.Sequence, err = r.Sequences().Of(cmp.Or(q.Get("name"), t.Names[0])); err != nil {
		t.Why = err.Error()
	}
	return t, nil
}

// Sequences is the run as input of sequences.
func (r *Directory) Sequences() *sequence.Run {
	return &sequence.Run{Dir: r.Dir, Manifest: &r.Manifest, Summary: &r.Summary, Topology: &r.Topology}
}

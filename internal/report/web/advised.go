package web

import (
	"slices"

	"railyard/internal/result"
)

// advised lists the run's remedies without duplicates, and without those that a simulation refuted.
func (r *Directory) advised() []result.Remedy {
	all := []result.Remedy{}
	for _, x := range r.Summary.Remedies {
		again := func(o result.Remedy) bool { return o.Says == x.Says && slices.Equal(o.Set, x.Set) }
		if !x.Refuted && !slices.ContainsFunc(all, again) {
			all = append(all, x)
		}
	}
	return all
}

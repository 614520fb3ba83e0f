package web

import (
	"slices"

	"railyard/internal/result"
)

// advised lists the run's remedies without duplicates.
func (r *Directory) advised() []result.Remedy {
	all := []result.Remedy{}
	for _, x := range r.Summary.Remedies {
		again := func(o result.Remedy) bool { return o.Says == x.Says && slices.Equal(o.Set, x.Set) }
		if !slices.ContainsFunc(all, again) {
			all = append(all, x)
		}
	}
	return all
}

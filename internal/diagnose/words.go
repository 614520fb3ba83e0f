package diagnose

import (
	"cmp"
	"fmt"
	"slices"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// most sorts readings by how much they grew, most first.
func most(rs []Reading) []Reading {
	slices.SortStableFunc(rs, func(a, b Reading) int { return cmp.Compare(b.Grew, a.Grew) })
	return rs
}

// most1 keeps the finding that explains most of several of one kind.
func most1(all []Finding) []Finding {
	best := -1
	for i := range all {
		if best < 0 || all[i].harm > all[best].harm {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return all[best : best+1]
}

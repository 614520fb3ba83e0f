package report

import (
	"fmt"
	"io"

	"railyard/internal/result"
)

// Story prints a run's events in order and numbered, each at its first occurrence.
func Story(w io.Writer, all []result.Happened) {
	fmt.Fprintf(w, "Event times, first occurrence of each\n")
	for i, h := range all {
		line := h.What
		if h.Times > 1 {
			line += fmt.Sprintf(" (%s times, last at %s)", count(h.Times), at(h.Last))
		}
		Labelled(w, fmt.Sprintf("%4d %9s  ", i+1, at(h.At)), line)
	}
}

package report

import (
	"fmt"
	"io"

	"railyard/internal/result"
	"railyard/unit"
)

// Story prints what happened, in order and numbered: each thing when it happened first.
func Story(w io.Writer, all []result.Happened) {
	fmt.Fprintf(w, "What happened, in order; each step when it happened first\n")
	for i, h := range all {
		line := h.What
		if h.Times > 1 {
			line += fmt.Sprintf(" (%s times, the last at %v)", count(h.Times), unit.Time(h.Last))
		}
		Labelled(w, fmt.Sprintf("%4d %11v  ", i+1, unit.Time(h.At)), line)
	}
}

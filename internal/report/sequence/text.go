package sequence

import (
	"fmt"
	"io"

	"railyard/internal/report/screen"
)

// Text prints a sequence, a step a line.
func (s *Sequence) Text(w io.Writer) {
	fmt.Fprintln(w, s.Title)
	t := screen.Table{Indent: "  ", Columns: []screen.Column{{Head: "time", Rare: s.Timeless},
		{Head: "from", Left: true}, {Head: "to", Left: true}, {Head: "took", Rare: true}, {Head: "what", Left: true}}}
	for i := range s.Steps {
		x := &s.Steps[i]
		to, took, what := s.Lanes[x.To], "", x.Label
		if x.From == x.To {
			to = ""
		}
		if x.Until > x.At {
			took = dur(x.Until - x.At)
		}
		if x.Detail != "" {
			what += ": " + x.Detail
		}
		t.Add(x.When, s.Lanes[x.From], to, took, what)
	}
	t.Print(w)
	for _, n := range s.Notes {
		screen.Wrap(w, "", n)
	}
}

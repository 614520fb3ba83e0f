package report

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/result"
	"railyard/unit"
)

// Advice is something to change, and what that saved where it was tried.
type Advice struct {
	result.Remedy
	Tried bool
	Saved int64
	Error string
}

// Why prints the account of a run and what could be changed about it, cause by cause: what a run without the cause is
// expected to save, and what runs with the changes saved where they were made.
func Why(w io.Writer, s *result.Summary, all []Advice) {
	fmt.Fprintf(w, "%s: step %v, %.1f %% of it above line rate\n\n", s.Name, unit.Time(s.StepTime),
		100*float64(s.Chain.Lost())/float64(s.StepTime))
	lost(w, s, false)
	of := func(ps int64) string {
		return fmt.Sprintf("%v (%.1f %% of the step)", unit.Time(ps), 100*float64(ps)/float64(s.StepTime))
	}
	last := ""
	for i := range all {
		a := &all[i]
		if a.Cause != last {
			name := a.Cause
			if c, ok := cause.Find(a.Cause); ok {
				name = c.Name
			}
			fmt.Fprintln(w)
			Labelled(w, "", fmt.Sprintf("%s: a run without it is expected to save %s, by the model", name, of(a.Expected)))
			last = a.Cause
		}
		text := remedy(&a.Remedy)
		switch {
		case a.Error != "":
			text += "; tried: " + a.Error
		case a.Tried && a.Saved < 0:
			text += "; tried: takes " + of(-a.Saved) + " longer"
		case a.Tried:
			text += "; tried: saves " + of(a.Saved)
		}
		Labelled(w, "  - ", text)
	}
	if len(all) == 0 {
		fmt.Fprintln(w, "\nNothing to change is known that would save anything worth a word.")
	}
}

// remedy says what to change, in words and as settings.
func remedy(r *result.Remedy) string {
	text := r.Says
	if len(r.Set) > 0 {
		text += ": --set " + strings.Join(r.Set, " --set ")
	}
	if r.Needs != "" {
		text += "; needs " + r.Needs
	}
	return text
}

package report

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/report/screen"
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

// Why prints the causes of a run's time above line rate with remedies: by cause, the estimate of a run without it, and
// the step time of each remedy that was simulated.
func Why(w io.Writer, s *result.Summary, all []Advice) {
	head := fmt.Sprintf("%s: step %s, %s above line rate", s.Name, dur(s.StepTime)+fidelityOf(s),
		percent(float64(s.Chain.Lost())/float64(s.StepTime)))
	if why := mainCause(s); why != "" {
		head += "; main cause: " + why
	}
	screen.Painted(w, screen.Answer, "", head)
	lost(w, s, false)
	of := func(ps int64) string {
		return fmt.Sprintf("%s (%s)", dur(ps), percent(float64(ps)/float64(s.StepTime)))
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
			saves := "saves nothing alone"
			if a.Expected > 0 {
				saves = "saves " + of(a.Expected) + " alone"
			}
			Wrap(w, "", fmt.Sprintf("%s: a run without it %s (estimate)", name, saves))
			last = a.Cause
		}
		text := remedy(&a.Remedy)
		switch {
		case a.Error != "":
			text += "; simulation failed: " + a.Error
		case a.Tried:
			text += fmt.Sprintf(": simulated %s (%s)", dur(s.StepTime-a.Saved),
				unit.ShowChange(float64(s.StepTime-a.Saved), float64(s.StepTime)))
		}
		screen.Painted(w, screen.Remedy, "  Remedy: ", text)
	}
	if len(all) == 0 {
		fmt.Fprintln(w, "\nNo remedy is known that saves 0.5 % of the step.")
	}
}

// remedy formats a remedy: what to change, its settings, and the hardware that it needs.
func remedy(r *result.Remedy) string {
	text := r.Says
	if len(r.Set) > 0 {
		text += ": --set " + strings.Join(r.Set, " --set ")
	}
	if r.Needs != "" {
		text += " (needs " + r.Needs + ")"
	}
	return text
}

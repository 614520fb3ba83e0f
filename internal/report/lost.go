package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/result"
	"railyard/unit"
)

// lasting are the causes that no run is made without, and reactions, which go with their triggers.
var lasting = []cause.ID{cause.Recovering, cause.SharedNIC, cause.LateRank}

// worthALine is what a cause must cost to be listed, or a run without it save for that to be said: a share of a step.
const worthALine = 0.005

// lost prints the time above line rate on the critical path by cause, the largest saving first: a cause's own time, the
// reaction of congestion control to it, and, where advised, what to change. Small causes become one closing line.
func lost(w io.Writer, s *result.Summary, advised bool) {
	c := s.Chain
	if c == nil || s.StepTime <= 0 {
		return
	}
	var minor []string
	head := "Time above line rate on the critical path\n"
	line := func(indent, name string, ps int64, more string) bool {
		if float64(ps) < worthALine*float64(s.StepTime) {
			if ps > 0 {
				minor = append(minor, fmt.Sprintf("%s %v", strings.TrimSpace(name), unit.Time(ps)))
			}
			return false
		}
		fmt.Fprintf(w, "%s%s%-*s %10v %5.1f %%%s\n", head, indent, 42-len(indent), name, unit.Time(ps),
			100*float64(ps)/float64(s.StepTime), more)
		head = ""
		return true
	}
	for _, id := range c.Ranked() {
		alone, saving := "", c.Saving[id]
		if 2*saving < c.Costs(id) && c.Expects() && !slices.Contains(lasting, id) {
			alone = fmt.Sprintf("  alone %v: others take as long", unit.Time(saving))
			if saving <= 0 {
				alone = "  alone nothing: others take as long"
			}
		}
		listed := line("  ", id.Get().Name, c.Own[id], alone)
		switch {
		case id == cause.Recovering:
		case !listed:
			listed = line("  ", "CC recovering after "+id.Get().Name, c.Reaction[id], "")
		default:
			line("    ", "CC recovering after it", c.Reaction[id], "")
		}
		if listed && advised {
			advise(w, s, id)
		}
	}
	if len(minor) > 0 && head == "" {
		Labelled(w, "  below 0.5 %: ", strings.Join(minor, ", "))
	}
}

// advise prints the most promising thing to change for a cause, and what a run without the cause is expected to save.
func advise(w io.Writer, s *result.Summary, id cause.ID) {
	i := slices.IndexFunc(s.Remedies, func(r result.Remedy) bool { return r.Cause == id.Get().Key })
	if i < 0 {
		return
	}
	r := &s.Remedies[i]
	text := remedy(r)
	if float64(r.Expected) >= worthALine*float64(s.StepTime) {
		text += fmt.Sprintf("; without the cause %v less by the model", unit.Time(r.Expected))
	}
	Labelled(w, "    Remedy: ", text)
}

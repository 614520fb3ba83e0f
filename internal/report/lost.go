package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/report/screen"
	"railyard/internal/result"
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
	type row struct {
		id    cause.ID
		cells []string
	}
	var rows []row
	var minor []string
	line := func(id cause.ID, name string, ps int64, note string) {
		if float64(ps) >= worthALine*float64(s.StepTime) {
			rows = append(rows, row{id: id,
				cells: []string{name, dur(ps), percent(float64(ps) / float64(s.StepTime)), note}})
		} else if ps > 0 {
			minor = append(minor, strings.TrimSpace(name)+" "+dur(ps))
		}
	}
	for _, id := range c.Ranked() {
		note, n := "", len(rows)
		if slices.Contains(s.Simulated, id.Get().Key) {
			note = saves(s, id, "simulated")
		} else if c.Expects() && !slices.Contains(lasting, id) {
			note = saves(s, id, "estimate")
		}
		line(id, id.Get().Name, c.Own[id], note)
		switch {
		case id == cause.Recovering:
		case len(rows) == n:
			line(id, "CC recovering after "+id.Get().Name, c.Reaction[id], note)
		default:
			line(id, "  CC recovering after it", c.Reaction[id], "")
		}
	}
	if len(rows) == 0 {
		if c.Lost() > 0 {
			fmt.Fprintf(w, "Time above line rate on the critical path: %s\n", dur(c.Lost()))
		}
		return
	}
	fmt.Fprintf(w, "Time above line rate on the critical path: %s\n", dur(c.Lost()))
	t := screen.Table{Indent: "  ", Columns: []screen.Column{{}, {}, {}, {Left: true, Rare: true}}}
	for _, r := range rows {
		t.AddStyled(screen.Warning, r.cells...)
	}
	t.Print(w)
	if len(minor) > 0 {
		Labelled(w, "  below 0.5 %: ", strings.Join(minor, ", "))
	}
	if !advised {
		return
	}
	var told []string
	for _, r := range rows {
		if slices.Contains(s.Simulated, r.id.Get().Key) && float64(c.Saving[r.id]) < chance*float64(s.StepTime) {
			continue
		}
		if text := advice(s, r.id); text != "" && !slices.Contains(told, text) {
			screen.Painted(w, screen.Remedy, "  Remedy: ", text)
			told = append(told, text)
		}
	}
}

// chance is how far one more simulation may be from another for no reason that anybody could act on, as a share of the
// step: any change shifts when packets meet.
const chance = 0.02

// saves says what a run without a cause alone saves, and how that is known; "" for an amount not worth a word.
func saves(s *result.Summary, id cause.ID, how string) string {
	saving := s.Chain.Saving[id]
	share := float64(saving) / float64(s.StepTime)
	switch {
	case how == "simulated" && saving != 0 && max(share, -share) < chance:
		return fmt.Sprintf("saves less than %s alone (simulated)", percent(chance))
	case float64(-saving) >= worthALine*float64(s.StepTime):
		return fmt.Sprintf("%s longer without it (%s)", dur(-saving), how)
	case saving <= 0:
		return fmt.Sprintf("saves nothing alone (%s)", how)
	case float64(saving) < worthALine*float64(s.StepTime) && how == "estimate":
		return ""
	default:
		return fmt.Sprintf("saves %s alone (%s)", dur(saving), how)
	}
}

// advice returns the most promising remedy of a cause, or "".
func advice(s *result.Summary, id cause.ID) string {
	i := slices.IndexFunc(s.Remedies, func(r result.Remedy) bool { return r.Cause == id.Get().Key })
	if i < 0 {
		return ""
	}
	return remedy(&s.Remedies[i])
}

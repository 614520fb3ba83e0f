package table

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/report"
	"railyard/internal/swconf/onto"
	"railyard/unit"
)

// Interrupts prints the commands' effects on traffic with their sources, and further warnings.
func Interrupts(w io.Writer, m *onto.Merge) {
	count, order := map[string]int{}, []string{}
	where, from := map[string]string{}, map[string]string{}
	for _, s := range m.Steps {
		if s.Effect == "" {
			continue
		}
		if count[s.Effect]++; count[s.Effect] == 1 {
			order = append(order, s.Effect)
			where[s.Effect] = strings.Join(append(slices.Clone(s.Path), s.Text), " / ")
			from[s.Effect] = s.Source
		}
	}
	report.Wrap(w, "", fmt.Sprintf("%s becomes %s: %s; %d lines are there already, %d of its own stay",
		m.File, m.Switch, unit.Plural(len(m.Steps), "step"), m.Same, m.Kept))
	for _, what := range order {
		says := fmt.Sprintf("%s (%s, the first: %s)", what, unit.Plural(count[what], "step"), where[what])
		if from[what] != "" {
			says += "; " + from[what]
		}
		report.Labelled(w, "  interrupts: ", says)
	}
	for _, r := range m.Remarks {
		report.Labelled(w, "  note: ", r)
	}
	if len(m.Steps) > 0 && m.Keeps != "" {
		report.Labelled(w, "  kept: ", m.Keeps)
	}
	if m.FRR != nil {
		Interrupts(w, m.FRR)
	}
}

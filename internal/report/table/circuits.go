package table

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/planner"
	"railyard/internal/report"
	"railyard/unit"
)

// CubeCircuits prints the circuits of the OCSes of a torus of cubes.
func CubeCircuits(w io.Writer, in *planner.CubeInput, r *planner.CubeCircuits, rate unit.Rate) {
	fmt.Fprintf(w, "%s of %d ports, one for each fiber of a face; %s\n",
		fmt.Sprintf("%d OCSes", r.Switches), r.Ports, unit.Plural(r.Circuits, "circuit"))
	across := rate * unit.Rate(in.Side*in.Side)
	report.Labelled(w, "Faces   ", fmt.Sprintf("%d fibers of %s: %s per direction between neighboring cubes",
		in.Side*in.Side, rate.Show(), across.Show()))
	if r.Swap != "" {
		report.Labelled(w, "Moved   ", fmt.Sprintf("%s of %d, for fabric.optics.swaps: %s; no cable moves, bandwidths stay", unit.Plural(r.Moved, "circuit"), r.Circuits, r.Swap))
	}
	for d, m := range r.Maps {
		for _, x := range []struct {
			when string
			list []planner.Circuit
		}{{"", m.Before}, {", after", m.After}} {
			if x.list != nil {
				fmt.Fprintf(w, "\nAlong %c, %d equivalent%s\n", "xyz"[d], m.Switches, x.when)
				report.Wrap(w, "  ", circuitList(x.list))
			}
		}
	}
}

// circuitList formats circuits as scenarios accept them.
func circuitList(list []planner.Circuit) string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = x.String()
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// Circuits prints the circuits of an OCS between groups, and the circuits that a new or failed group changes.
func Circuits(w io.Writer, in *planner.CircuitInput, r *planner.Circuits, rate unit.Rate) {
	line := func(label string, list []planner.Circuit, s planner.Spread) {
		each, bandwidth := fmt.Sprint(s.Least), (rate * unit.Rate(s.Least)).Show()
		if s.Most > s.Least {
			each += fmt.Sprintf(" to %d", s.Most)
			bandwidth = "at least " + bandwidth
		}
		joined, none, dark := unit.Plural(s.Pairs, "pair"), "", ""
		if n := len(s.Apart); n > 0 {
			joined = fmt.Sprintf("%d of %s", s.Pairs, unit.Plural(s.Pairs+n, "pair"))
			none = "; none between groups " + pairs(s.Apart)
		}
		if s.Dark > 0 {
			dark = fmt.Sprintf("; %s dark", unit.Plural(s.Dark, "port"))
		}
		report.Labelled(w, fmt.Sprintf("%-8s", label), fmt.Sprintf("%s between %s of groups, %s each: %s per direction%s%s",
			unit.Plural(len(list), "circuit"), joined, each, bandwidth,
			none, dark))
	}
	now := &r.From
	if r.After != nil {
		now = &r.To
	}
	apart := ""
	if n := len(now.Apart); n > 0 {
		apart = fmt.Sprintf("; %d of %s of groups have no circuit", n, unit.Plural(now.Pairs+n, "pair"))
	}
	if now.Parts > 1 {
		apart += fmt.Sprintf(", and the groups form %d parts without a path between them", now.Parts)
	}
	report.Wrap(w, "", unit.Plural(r.Ports, "port")+" of an OCS"+apart)
	line("Before", r.Before, r.From)
	if r.After != nil {
		line("After", r.After, r.To)
		dark := unit.Plural(r.Free, "port") + " dark"
		if in.Without > 0 {
			dark += fmt.Sprintf(" (%d of failed group %d)", in.Fibres, in.Without)
		}
		report.Labelled(w, "Change  ", fmt.Sprintf("%d of %s removed, %d unchanged, %d new; %s; no cable moves",
			r.Dark, unit.Plural(len(r.Before), "circuit"), r.Stay, r.New, dark))
	}
	for _, m := range []struct {
		label string
		list  []planner.Circuit
	}{{"Circuits before", r.Before}, {"Circuits after", r.After}} {
		if m.list == nil {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", m.label)
		report.Wrap(w, "  ", circuitList(m.list))
	}
}

// pairs lists the first pairs of groups, "1-4, 2-3".
func pairs(all [][2]int) string {
	const most = 8
	var words []string
	for _, p := range all[:min(len(all), most)] {
		words = append(words, fmt.Sprintf("%d-%d", p[0], p[1]))
	}
	if n := len(all) - most; n > 0 {
		words = append(words, fmt.Sprintf("%d more", n))
	}
	return strings.Join(words, ", ")
}

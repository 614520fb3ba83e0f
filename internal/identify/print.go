package identify

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"railyard/internal/calibrate/fitting"
	"railyard/internal/report/screen"
	"railyard/unit"
)

// Print prints an account. If it has simulated points, the measured points are next to them, with an explanation of
// the difference.
func Print(w io.Writer, a *Account, points []fitting.Point, gap *fitting.Gap) {
	screen.Painted(w, screen.Answer, "", a.Path+": "+a.What)
	for _, s := range a.Shows {
		screen.Labelled(w, "  ", s)
	}
	if a.Verdict != "" {
		screen.Painted(w, screen.Answer, "", "Verdict: "+a.Verdict)
	}
	if len(points) > 0 {
		compared(w, points)
	}
	if gap != nil {
		explained(w, points, gap)
	}
	for _, s := range []string{a.Assumed, a.Skipped} {
		if s != "" {
			screen.Labelled(w, "note: ", s)
		}
	}
	for i, n := range a.Next {
		head := "      "
		if i == 0 {
			head = "Next: "
		}
		fmt.Fprintf(w, "%srailyard %s  # %s\n", head, n.Command, n.Purpose)
	}
}

// compared prints measured and simulated times of points, and the median difference.
func compared(w io.Writer, points []fitting.Point) {
	t := screen.Table{Columns: []screen.Column{{Head: "Point", Left: true}, {Head: "measured"}, {Head: "simulated"},
		{Head: "difference"}, {Head: "NCCL model"}, {Head: "expected", Left: true}}}
	var off []float64
	modelled := slices.ContainsFunc(points, func(p fitting.Point) bool { return p.Model > 0 })
	if !modelled {
		t.Columns = t.Columns[:4]
	}
	for _, p := range points {
		d := p.Before/p.Measured - 1
		off = append(off, d)
		cells := []string{p.Name, micros(p.Measured), micros(p.Before), signed(d)}
		if least, most := p.Range(); modelled {
			model := "–"
			if p.Model > 0 {
				model = micros(p.Model)
			}
			cells = append(cells, model, micros(least)+" to "+micros(most))
		}
		t.Add(cells...)
	}
	fmt.Fprintln(w)
	t.Print(w)
	slices.Sort(off)
	fmt.Fprintf(w, "Simulated against measured, median: %s\n", signed(off[len(off)/2]))
	screen.Labelled(w, "note: ", fitting.Basis(points))
}

// explained prints the hypotheses that explain a gap, the best first.
func explained(w io.Writer, points []fitting.Point, g *fitting.Gap) {
	percent := func(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }
	full, carry, alone := 0, 0, false
	for i := range g.Best {
		switch t := &g.Best[i]; {
		case g.Explains(t):
			full, alone = full+1, alone || !t.Pair
		case g.Carries(t):
			carry++
		}
	}
	best, answer, from := g.Best, "", unit.Bytes(g.From).ShowSet()
	switch {
	case full > 0 && !alone:
		best, answer = best[:full+carry], fmt.Sprintf("%s of %d hypotheses fit, none alone; the times do not decide, measure which",
			unit.Plural(full, "pair"), g.Tried)
	case full == 1:
		best, answer = best[:1+carry], fmt.Sprintf("1 of %d hypotheses explains it", g.Tried)
	case full > 1:
		best, answer = best[:full+carry], fmt.Sprintf("%d of %d hypotheses fit; the times do not decide, measure which", full, g.Tried)
	case carry > 0:
		best, answer = best[:carry], fmt.Sprintf("none of %d hypotheses explains all sizes; the bandwidth, sizes from %s on:",
			g.Tried, from)
	case len(best) > 0:
		best = best[:min(3, len(best))]
		answer = fmt.Sprintf("none of %d hypotheses explains it; part of it:", g.Tried)
	default:
		answer = fmt.Sprintf("none of the %d hypotheses explains it", g.Tried)
	}
	fmt.Fprintln(w)
	screen.Painted(w, screen.Answer, "", fmt.Sprintf("Gap: %s; error %s: %s", g.Shape, percent(g.Error), answer))
	for _, t := range best {
		if carry > 0 && !g.Explains(&t) {
			screen.Painted(w, screen.Warning, "  ", fmt.Sprintf("error %s from %s on, %s of all sizes, if %s",
				percent(t.Bandwidth), from, percent(t.Error), t.Name))
		} else {
			screen.Painted(w, screen.Warning, "  ", fmt.Sprintf("error %s if %s", percent(t.Error), t.Name))
		}
		screen.Labelled(w, "    scenario: ", t.Scenario)
		confirm, remedy := "    confirm:  ", "    remedy:   "
		if full != 1 || !alone {
			confirm, remedy = "    measure:  ", "    if so:    "
		}
		screen.Labelled(w, confirm, t.Confirm)
		if t.Remedy != "" {
			screen.Labelled(w, remedy, t.Remedy)
		}
	}
	note := "error is the root mean square of log ratios over " + unit.Plural(g.Points, "size")
	if g.Flows {
		note += ", effects on large ones simulated as flows"
	}
	if full > 0 && !g.Explains(&g.Best[0]) {
		note += "; sizes are faster than simulated, so the bandwidth decides between faults and choices of NCCL"
	}
	if n := within(points); n > 0 {
		note += fmt.Sprintf("; it contains %s that are as expected without a hypothesis", unit.Plural(n, "point"))
	}
	if g.Inapplicable > 0 {
		note += fmt.Sprintf("; %d more do not apply to the scenario", g.Inapplicable)
	}
	screen.Labelled(w, "note: ", note)
}

// within counts points that differ from the simulated time and not from the expected ones.
func within(points []fitting.Point) (n int) {
	for i := range points {
		if p := &points[i]; !p.Differs() && math.Abs(p.Before/p.Measured-1) > fitting.Expected {
			n++
		}
	}
	return n
}

// micros formats microseconds.
func micros(us float64) string { return unit.Time(us * float64(unit.Microsecond)).Show() }

// signed formats a share with its sign, in percent.
func signed(x float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f %%", 100*x), "-", "−", 1)
}

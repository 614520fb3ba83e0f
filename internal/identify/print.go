package identify

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/calibrate/fitting"
	"railyard/internal/report/screen"
	"railyard/unit"
)

// Print prints an account, with measured points next to simulated ones if there are any.
func Print(w io.Writer, a *Account, points []fitting.Point) {
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
		{Head: "difference"}}}
	var off []float64
	for _, p := range points {
		d := p.Before/p.Measured - 1
		off = append(off, d)
		t.Add(p.Name, micros(p.Measured), micros(p.Before), signed(d))
	}
	fmt.Fprintln(w)
	t.Print(w)
	slices.Sort(off)
	fmt.Fprintf(w, "Simulated against measured, median: %s\n", signed(off[len(off)/2]))
}

// micros formats microseconds.
func micros(us float64) string { return unit.Time(us * float64(unit.Microsecond)).Show() }

// signed formats a share with its sign, in percent.
func signed(x float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f %%", 100*x), "-", "−", 1)
}

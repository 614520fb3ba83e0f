package table

import (
	"fmt"
	"io"

	"railyard/internal/calibrate"
	"railyard/internal/calibrate/fitting"
	"railyard/internal/report"
	"railyard/unit"
)

// maxShown is how many points the terminal shows.
const maxShown = 60

// Calibration shows what was fitted, and to what; out is where it was written, with the overrides in set.
func Calibration(w io.Writer, r *fitting.Report, out string, set []string) {
	for _, g := range r.Read.Guessed {
		report.Labelled(w, "assumed   ", g.Words())
	}
	for _, l := range r.Read.Left {
		report.Labelled(w, "left out  ", l.Words())
	}
	if r.Capture != nil {
		captured(w, r.Capture)
	}
	if len(r.Points) > 0 {
		fit(w, r)
	}
	if out != "" {
		fmt.Fprintf(w, "\nwritten to %s\n", out)
		for _, s := range set {
			report.Labelled(w, "note      ", fmt.Sprintf("the errors are with --set %s, which %s does not say", s, out))
		}
	} else {
		fmt.Fprintln(w, "\n--out FILE writes the scenario with this calibration")
	}
}

// fit prints what was fitted to times.
func fit(w io.Writer, r *fitting.Report) {
	fmt.Fprintf(w, "%-14s %10s %10s\n", "", "was", "is")
	for _, v := range r.Values {
		spread := ""
		if v.Error != nil {
			spread = fmt.Sprintf(" ± %.2g", *v.Error)
		}
		fmt.Fprintf(w, "%-14s %10.4g %10.4g %s%s, %s\n", v.Name, v.Was, v.Is, v.Unit, spread,
			calibrate.Find(v.Name).About)
	}
	for _, x := range r.Refused {
		report.Labelled(w, fmt.Sprintf("%-14s ", x.Name), "not fitted: "+x.Why)
	}
	fmt.Fprintln(w)
	for _, s := range r.Words() {
		fmt.Fprintf(w, "error %s\n", s)
	}
	fmt.Fprintf(w, "\n%-44s %12s %12s %12s\n", "", "measured us", "before", "after")
	for i, p := range r.Points {
		if i == maxShown {
			fmt.Fprintf(w, "and %s more (--json has all)\n", unit.Plural(len(r.Points)-i, "point"))
			break
		}
		fmt.Fprintf(w, "%-44s %12.2f %11.1f%% %11.1f%%%s\n", p.Name, p.Measured, 100*(p.Before/p.Measured-1),
			100*(p.After/p.Measured-1), fitting.Aside(p.Aside))
	}
}

// captured prints how receivers answer marks.
func captured(w io.Writer, r *fitting.Capture) {
	for _, n := range r.Notes {
		report.Labelled(w, "note      ", n)
	}
	fmt.Fprintf(w, "%s in %s, %s; %d open an interval, %d of them without a CNP\n",
		unit.Plural(r.Marks, "mark"), unit.Plural(r.Packets, "packet"), unit.Plural(r.CNPs, "CNP"),
		r.Openings, r.Unanswered)
	fmt.Fprintf(w, "%-14s %10s %10s\n", "", "was", "is")
	for _, x := range r.Rows() {
		fmt.Fprintf(w, "%-14s %10.4g %10.4g us, %s\n", x.Name, x.Was, x.Median, x.Words())
	}
	for _, s := range r.Words() {
		fmt.Fprintln(w, s)
	}
}

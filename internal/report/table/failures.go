// Package table prints studies as tables for a terminal: failures, load, interference, layouts.
package table

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"railyard/internal/report"
	"railyard/internal/study/failures"
	"railyard/unit"
)

// maxFailureRows is how many rows of a table are shown.
const maxFailureRows = 24

// Failures shows what failures do, worst first, variant by variant, and the variants side by side.
func Failures(w io.Writer, all []*failures.Variant) {
	for i, v := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		report.Wrap(w, "", fmt.Sprintf("%s: step %s as it is; each failure comes at %s", v.Label,
			Seconds(v.Base), Seconds(v.At)))
		for _, n := range v.Notes {
			report.Labelled(w, "note: ", n)
		}
		fmt.Fprintln(w)
		failureTable(w, v.Rows, "worst of its kind")
		if len(v.Pairs) > 0 {
			fmt.Fprintf(w, "\n%s drawn\n", unit.Plural(len(v.Pairs), "pair"))
			failureTable(w, v.Pairs, "pair")
		}
		fmt.Fprintln(w)
		weak(w, v)
		failureErrors(w, v)
	}
	if len(all) > 1 {
		fmt.Fprintln(w)
		compareFailures(w, all)
	}
}

// failureTable prints rows.
func failureTable(w io.Writer, rows []failures.Row, name string) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "kind\ttier\talike\tstep\ttimes\tcut off\tsent again\tdropped\t  %s\n", name)
	for _, r := range rows[:min(len(rows), maxFailureRows)] {
		step, times := Seconds(r.Step), fmt.Sprintf("%.2f", r.Slower)
		switch {
		case r.Lost:
			step, times = "RANK LOST", "-"
		case r.Error != "":
			step, times = "no end", "-"
		case r.Least < r.Step:
			step = fmt.Sprintf("%s-%s", Seconds(r.Least), Seconds(r.Step))
		}
		fmt.Fprintf(tw, "%s\t%s\t%d\t%s\t%s\t%d\t%s\t%d\t  %s\n", r.Kind, r.Tier, r.Alike, step, times,
			r.Isolated, Megabytes(r.Again), r.Dropped, r.Name)
	}
	tw.Flush()
	if more := len(rows) - maxFailureRows; more > 0 {
		fmt.Fprintf(w, "  and %d more (--json)\n", more)
	}
}

// Megabytes is a size for a table.
func Megabytes(b int64) string { return fmt.Sprintf("%.1f MB", float64(b)/1e6) }

// Seconds is a time for a table, of which there may be none.
func Seconds(s float64) string {
	if s == 0 {
		return "-"
	}
	return unit.Time(s * float64(unit.Second)).String()
}

// weak names the single points of failure.
func weak(w io.Writer, v *failures.Variant) {
	if v.Sums.Weak == 0 {
		report.Wrap(w, "", fmt.Sprintf("No single point of failure among %s.",
			unit.Plural(v.Sums.Elements, "element")))
		return
	}
	var parts []string
	for _, r := range v.Rows {
		if !r.Lost {
			continue
		}
		named := strings.Join(r.Members[:min(3, len(r.Members))], ", ")
		if len(r.Members) > 3 {
			named += ", ..."
		}
		parts = append(parts, fmt.Sprintf("%d × %s %s (%s)", r.Alike, r.Tier, r.Kind, named))
	}
	report.Wrap(w, "", fmt.Sprintf("Single points of failure, %d of %s: %s.", v.Sums.Weak,
		unit.Plural(v.Sums.Elements, "element"), strings.Join(parts, "; ")))
}

// failureErrors says which simulations did not end.
func failureErrors(w io.Writer, v *failures.Variant) {
	for _, r := range append(v.Rows[:len(v.Rows):len(v.Rows)], v.Pairs...) {
		if r.Error != "" {
			report.Wrap(w, "", fmt.Sprintf("%s did not end: %s", r.Name, r.Error))
		}
	}
}

// compareFailures puts variants side by side.
func compareFailures(w io.Writer, all []*failures.Variant) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "step\tworst that ends\tmean of those\tsingle points\tcut off at most\t  variant")
	for _, v := range all {
		s := v.Sums
		fmt.Fprintf(tw, "%s\t%s\t%s\t%d of %d\t%d\t  %s\n", Seconds(v.Base), Seconds(s.Worst),
			Seconds(s.Mean), s.Weak, s.Elements, s.Isolated, v.Label)
	}
	tw.Flush()
}

// Package table prints results as tables for a terminal. It has a function for each kind of result, named after it
// (Failures, Loads, Layouts, Fabrics, Calibration …), with the writer as its first argument. Package screen
// determines widths and colours. Reports of runs are in package report.
package table

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/internal/study/failures"
	"railyard/unit"
)

// maxFailureRows is the maximum number of rows of a table.
const maxFailureRows = 24

// Failures prints variants next to each other, if there are several, and the failures of each, worst first.
func Failures(w io.Writer, all []*failures.Variant) {
	if len(all) > 1 {
		compareFailures(w, all)
		fmt.Fprintln(w)
	}
	for i, v := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		screen.Painted(w, screen.Answer, "", v.Label+report.Approximation(v.Fidelity, v.Expected)+": "+weak(v))
		at := fmt.Sprintf("Step without failure %s; failures at %s", Seconds(v.Base), Seconds(v.At))
		if v.Left != nil {
			at += fmt.Sprintf(", with %.1f %% of the traffic undelivered", 100**v.Left)
		}
		report.Wrap(w, "", at)
		failureTable(w, v.Rows, "Element (simulated)")
		if len(v.Pairs) > 0 {
			fmt.Fprintln(w)
			failureTable(w, v.Pairs, unit.Plural(len(v.Pairs), "random pair"))
		}
		for _, n := range v.Notes {
			report.Labelled(w, "note: ", n)
		}
		failureErrors(w, v)
	}
}

// failureTable prints rows: kind, tier and name of the simulated element, the number of equivalent ones, and the effect
// of its failure.
func failureTable(w io.Writer, rows []failures.Row, head string) {
	t := screen.Table{Columns: []screen.Column{{Head: head}, {Head: "represents"}, {Head: "step"},
		{Head: "slowdown", Rare: true}, {Head: "isolated", Rare: true}, {Head: "retx.", Rare: true}, {Head: "drops", Rare: true}}}
	for _, r := range rows[:min(len(rows), maxFailureRows)] {
		step, slower := Seconds(r.Step), unit.ShowFactor(r.Slower)
		switch {
		case r.Lost:
			step, slower = "failed", unit.NotApplicable
		case r.Error != "":
			step, slower = "no end", unit.NotApplicable
		case r.Least < r.Step:
			step = Seconds(r.Least) + "–" + step
		}
		t.Add(element(&r), unit.ShowCount(r.Alike), step, slower, unit.ShowCount(r.Isolated), retransmitted(r.Again),
			unit.ShowCount(r.Dropped))
	}
	t.Print(w)
	if more := len(rows) - maxFailureRows; more > 0 {
		fmt.Fprintf(w, "%d more: --json\n", more)
	}
}

// element names what fails: its kind with its tier, unless the kind has one tier, and its name.
func element(r *failures.Row) string {
	kind := r.Kind
	if kind == "switch" || kind == "card" {
		kind = strings.TrimSpace(r.Tier + " " + kind)
	}
	return strings.TrimSpace(kind + " " + r.Name)
}

// retransmitted is a size for a table.
func retransmitted(b int64) string {
	if b == 0 {
		return "0"
	}
	return unit.Bytes(b).Show()
}

// Megabytes is a size for a table.
func Megabytes(b int64) string { return fmt.Sprintf("%.1f MB", float64(b)/1e6) }

// Seconds formats a time for a table, or its absence.
func Seconds(s float64) string {
	if s == 0 {
		return unit.NotApplicable
	}
	return unit.ShowSeconds(s)
}

// weak returns how many elements are single points of failure, and names some.
func weak(v *failures.Variant) string {
	of := unit.Plural(v.Sums.Elements, "element")
	if v.Sums.Weak == 0 {
		return "no single point of failure among " + of
	}
	const few = 6
	var names []string
	for _, r := range v.Rows {
		if r.Lost {
			names = append(names, r.Members...)
		}
	}
	said := fmt.Sprintf("%d of %s are single points of failure", v.Sums.Weak, of)
	if v.Sums.Weak == 1 {
		said = fmt.Sprintf("1 of %s is a single point of failure", of)
	}
	if len(names) > few {
		return said + fmt.Sprintf(", such as %s", strings.Join(names[:few], ", "))
	}
	return said + ": " + strings.Join(names, ", ")
}

// failureErrors lists the simulations that did not end.
func failureErrors(w io.Writer, v *failures.Variant) {
	for _, r := range append(v.Rows[:len(v.Rows):len(v.Rows)], v.Pairs...) {
		if r.Error != "" {
			report.Wrap(w, "", fmt.Sprintf("%s did not end: %s", r.Name, r.Error))
		}
	}
}

// compareFailures puts variants side by side.
func compareFailures(w io.Writer, all []*failures.Variant) {
	t := screen.Table{Columns: []screen.Column{{Head: "Variant"}, {Head: "step"}, {Head: "worst step"},
		{Head: "mean step"}, {Head: "single points"}, {Head: "isolated, max"}}}
	for _, v := range all {
		s := v.Sums
		t.Add(v.Label, Seconds(v.Base), Seconds(s.Worst), Seconds(s.Mean),
			fmt.Sprintf("%d of %d", s.Weak, s.Elements), unit.ShowCount(s.Isolated))
	}
	t.Print(w)
}

package main

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/report/screen"
	"railyard/internal/validate"
	"railyard/unit"
)

// verdict returns the last line of a report, and whether rows fail.
func verdict(all []validate.Row) (said string, failed bool) {
	count := map[string]int{}
	for _, r := range all {
		count[r.Verdict()]++
	}
	state := "passed"
	if failed = count["FAILS"] > 0; failed {
		state = "failed"
	}
	return fmt.Sprintf("validation %s: %d agree, %s with a reason, %s (%s)", state, count["ok"],
		unit.Plural(count["differs"], "known difference"), unit.Plural(count["FAILS"], "failure"),
		unit.Plural(len(all), "row")), failed
}

// markdown appends a group to a report in Markdown.
func markdown(md *strings.Builder, g *grouped) {
	md.WriteString("\n## " + g.Name +
		"\n\n| | claim | expected | simulated | difference | source |\n|---|---|---|---|---|---|\n")
	for _, r := range g.rows {
		md.WriteString(r.Markdown())
	}
}

// printGroups prints the rows of each group, and once more those that fail.
func printGroups(w io.Writer, groups []grouped) {
	var failed []validate.Row
	for i, g := range groups {
		if i > 0 {
			fmt.Fprintln(w)
		}
		printRows(w, g.Name, g.rows)
		for _, r := range g.rows {
			if r.Verdict() == "FAILS" {
				failed = append(failed, r)
			}
		}
	}
	if len(failed) > 0 && len(groups) > 1 {
		fmt.Fprintln(w)
		printRows(w, "Failures", failed)
	}
}

// printRows prints rows below a title: the claim, its figures, its source, and the cause of a difference.
func printRows(w io.Writer, title string, rows []validate.Row) {
	fmt.Fprintln(w, title)
	const below = "           "
	for _, r := range rows {
		screen.Labelled(w, fmt.Sprintf("  %-9s", r.Verdict()), r.Claim)
		diff := ""
		if r.Diff != "" && r.Diff != "-" && r.Diff != "none" {
			diff = " (" + r.Diff + ")"
		}
		screen.Wrap(w, below, "expected "+r.Expected+", simulated "+r.Ours+diff)
		screen.Wrap(w, below, r.Source)
		if r.Note != "" {
			screen.Labelled(w, below+"cause: ", r.Note)
		}
	}
}

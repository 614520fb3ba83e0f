package table

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/internal/validate"
	"railyard/unit"
)

// WorstShown is the number of scenarios or runs, those with the largest errors, that a report lists.
const WorstShown = 5

// Verdict returns the last line of a report of validation, and whether rows fail.
func Verdict(all []validate.Row) (said string, failed bool) {
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

// Validation prints the rows of each group with the reasons of their differences, and once more the rows that fail.
func Validation(w io.Writer, groups []validate.Group) {
	var failed []validate.Row
	for i, g := range groups {
		if i > 0 {
			fmt.Fprintln(w)
		}
		validationRows(w, g.Name, g.Rows)
		for _, why := range g.Reasons() {
			screen.Labelled(w, "  reason   ", why.Name)
			const below = "           "
			screen.Labelled(w, below+"mechanism: ", why.Mechanism)
			screen.Labelled(w, below+"closing setting: ", why.Remedy())
		}
		for _, r := range g.Rows {
			if r.Verdict() == "FAILS" {
				failed = append(failed, r)
			}
		}
	}
	if len(failed) > 0 && len(groups) > 1 {
		fmt.Fprintln(w)
		validationRows(w, "Failures", failed)
	}
}

// validationRows prints rows below a title: the claim, its figures, its source, and the reason for a difference.
func validationRows(w io.Writer, title string, rows []validate.Row) {
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
		if r.Reason != nil {
			screen.Labelled(w, below+"reason: ", r.Reason.Name)
		}
		if r.Note != "" {
			screen.Labelled(w, below+"note: ", r.Note)
		}
	}
}

// BlameWords describes the blame of a scenario and the saving without its cause.
func BlameWords(j *validate.Judged) string {
	if j.Verdict == validate.Listed {
		return fmt.Sprintf("number %d: %s", j.Number, j.Reason)
	}
	share := func(ps int64) string {
		return fmt.Sprintf("%v (%.1f %%)", unit.Time(ps), 100*float64(ps)/float64(j.Step))
	}
	return fmt.Sprintf("number %d, %s: step %v, blamed %s, saved %s by: %s", j.Number, j.Cause, unit.Time(j.Step),
		share(j.Blamed), share(j.Saved), j.Without)
}

// Blame prints the verdicts by cause, the worst scenarios with the next command for each, and the reasons why
// others were not judged. Of a report that was made for one scenario it prints only that scenario.
func Blame(w io.Writer, r *validate.BlameReport, shown []*validate.Judged, one bool,
	next func(*validate.Judged) string) {
	if !one {
		share := 0.0
		if r.All.N > 0 {
			share = 100 * float64(r.All.Agree) / float64(r.All.N)
		}
		fmt.Fprintf(w, "%.1f %% of %d savings agree with the blame (%s, seed %d; %d with a cause of 5 %% or more)\n\n",
			share, r.All.N, unit.Plural(r.Drawn, "scenario"), r.Seed, r.Caused)
		fmt.Fprintf(w, "%-28s %5s %6s %5s %6s %11s %9s %6s\n", "cause taken away", "n", "agree", "over", "under",
			"wrong sign", "in doubt", "drawn")
		for _, t := range append(slices.Clone(r.Causes), r.All) {
			fmt.Fprintf(w, "%-28s %5d %6d %5d %6d %11d %9d %6d\n", t.Cause, t.N, t.Agree, t.Over, t.Under, t.Wrong,
				t.Doubt, t.Meant)
		}
		if r.Small > 0 {
			fmt.Fprintln(w)
			report.Wrap(w, "", fmt.Sprintf("These are estimates of the model. For %d of the %d, which are small, `railyard run` simulates the run without the cause and prints that instead.", r.Small, r.All.N))
		}
	}
	for i, j := range shown {
		if i == 0 && !one {
			fmt.Fprintln(w, "\nFarthest off:")
		}
		report.Wrap(w, "  ", j.Verdict+", "+BlameWords(j))
		if command := next(j); command != "" {
			fmt.Fprintf(w, "    %s\n", command)
		}
	}
	if one {
		return
	}
	doubts, agree, reasons := map[string]int{}, map[string]int{}, map[string]int{}
	for i := range r.Rows {
		switch j := &r.Rows[i]; {
		case j.Verdict == validate.Listed:
			reasons[j.Reason]++
		case j.Doubt != "":
			k := j.Cause + ": " + j.Doubt
			if doubts[k]++; j.Verdict == validate.Agrees {
				agree[k]++
			}
		}
	}
	list := func(title string, counts map[string]int) {
		if len(counts) == 0 {
			return
		}
		fmt.Fprintf(w, "\n%s:\n", title)
		keys := slices.Sorted(maps.Keys(counts))
		slices.SortStableFunc(keys, func(a, b string) int { return counts[b] - counts[a] })
		for _, k := range keys {
			says := k
			if n, ok := agree[k]; ok {
				says += fmt.Sprintf(" (%d agree)", n)
			}
			report.Labelled(w, fmt.Sprintf("  %4d  ", counts[k]), says)
		}
	}
	list("In doubt, counted apart", doubts)
	list("Not judged", reasons)
}

// UET prints the classes of published runs of uet-htsim and the runs with the largest errors.
func UET(w io.Writer, seed uint64, runs []validate.UETRun, classes []validate.UETSpread) {
	fmt.Fprintf(w, "%s of uet-htsim with 8,192 hosts, seed %d: last completion, simulated over its\n\n",
		unit.Plural(len(runs), "published run"), seed)
	fmt.Fprintf(w, "%-38s %5s %8s %8s %8s %8s\n", "class", "runs", "RMS", "may be", "mean", "worst")
	for _, s := range classes {
		fmt.Fprintf(w, "%-38s %5d %6.1f %% %6.1f %% %+6.1f %% %+6.1f %%\n", s.Class, s.Runs, 100*s.RMS, 100*s.Most,
			100*s.Mean, 100*s.Worst)
	}
	far := slices.Clone(runs)
	slices.SortStableFunc(far, func(a, b validate.UETRun) int { return cmp.Compare(math.Abs(b.Off), math.Abs(a.Off)) })
	fmt.Fprintln(w, "\nFarthest off:")
	for _, u := range far[:min(WorstShown, len(far))] {
		fmt.Fprintf(w, "  %+6.1f %%  %s: %.1f us there, %.1f here\n", 100*u.Off, u.Name, u.Expected, u.Ours)
	}
}

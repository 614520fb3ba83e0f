// Package table prints studies as tables for a terminal: failures, load, interference, layouts.
package table

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"railyard/internal/report"
	"railyard/internal/scenario"
	"railyard/internal/study/failures"
	"railyard/internal/study/interference"
	"railyard/internal/study/layouts"
	"railyard/internal/study/load"
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
	fmt.Fprintf(tw, "kind\ttier\talike\tstep\ttimes\tcut off\tretransmitted\tdropped\t  %s\n", name)
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

func Interference(w io.Writer, x *interference.Result, top int) {
	fmt.Fprintf(w, "%s: %s, together and each alone on the same GPUs\n\n", x.Name, unit.Plural(len(x.Jobs), "job"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "job\tGPUs\tstarts\talone\ttogether\tslowdown\tmessages: p50\tp99")
	for _, j := range x.Jobs {
		fmt.Fprintf(t, "%s\t%d\t%v\t%s\t%s\t%s\t%s\n", j.Job, j.GPUs, unit.Time(j.Start),
			interference.Took(j.Alone, j.Lost.Alone),
			interference.Took(j.Together, j.Lost.Together), j.Ratio(), j.Messages.Words())
	}
	t.Flush()
	if x.Outcome != nil {
		report.Labelled(w, "rank lost  ", x.Outcome.Why)
	}
	if len(x.Meetings) == 0 {
		fmt.Fprintln(w, "\nThey never had bytes under way at one port at a time.")
	}
	report.Meetings(w, x.Meetings, top, "which --top and --json show")
}

func Loads(w io.Writer, plan *scenario.Plan, curves []load.Curve) {
	fmt.Fprintf(w, "%s: %s, messages by chance\n\n", plan.Name, unit.Plural(plan.Graph.TotalGPUs(), "GPU"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "lb\toffered\tdelivered\tmean\tp99\tpauses\t\t")
	for _, c := range curves {
		for _, p := range c.Points {
			note := ""
			if p.Saturated {
				note = "saturated"
			}
			fmt.Fprintf(t, "%s\t%.1f %%\t%.1f %%\t%v\t%v\t%d\t%s\t\n", p.LB, 100*p.Offered, 100*p.Delivered,
				unit.Time(p.Mean), unit.Time(p.P99), p.Pauses, note)
		}
	}
	t.Flush()
	var most []string
	for _, c := range curves {
		most = append(most, fmt.Sprintf("%s %.1f %%", c.LB, 100*c.Most))
	}
	report.Labelled(w, "\nmost that was delivered: ", strings.Join(most, ", "))
}

func Simulated(w io.Writer, sims []layouts.Simulated) {
	if len(sims) > 0 {
		fmt.Fprintln(w, "\nsimulated packet by packet, best first:")
	}
	for _, s := range sims {
		if s.Skipped != "" {
			report.Labelled(w, "  not simulated: ", s.Layout+": "+s.Skipped)
			continue
		}
		report.Labelled(w, fmt.Sprintf("  %.4gs  MFU %.1f%%  ", s.Seconds, 100*s.MFU), s.Layout)
		report.Labelled(w, "           ",
			fmt.Sprintf("estimated %.4gs (%+.1f%%); bubble %.3gs, exposed communication %.3gs; %.3g packets",
				s.Estimate, 100*(s.Estimate/s.Seconds-1), s.Bubble, s.Exposed, float64(s.Packets)))
		if s.Slice != "" {
			report.Labelled(w, "           ",
				fmt.Sprintf("a slice ran, %.4gs: %s; for what is left out the cost model adds %+.3gs", s.Ran,
					s.Slice, s.Added))
		}
	}
}

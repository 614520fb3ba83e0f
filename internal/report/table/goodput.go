package table

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"railyard/internal/goodput"
	"railyard/internal/report"
	"railyard/internal/study/days"
	"railyard/unit"
)

// Goodput shows where the days of a training go.
func Goodput(w io.Writer, r days.Report) {
	line := func(label, format string, args ...any) {
		report.Labelled(w, fmt.Sprintf("%-13s", label), fmt.Sprintf(format, args...))
	}
	line("Job", "%s in %s, %g days, %s", unit.Plural(r.GPUs, "GPU"), unit.Plural(r.Servers, "server"), r.Days,
		unit.Plural(r.Seeds, "seed"))
	if r.PerDay > 0 {
		line("Failures", "%.3g a day, one in %s (%s)", r.PerDay, days.Brief(r.MTBF), r.Source)
	} else {
		line("Failures", "none")
	}
	how := "while all stand still"
	if r.Async {
		how = fmt.Sprintf("behind training, which stands still for %s", days.Brief(r.Stall))
	}
	line("Checkpoint", "%.4g GB, written in %s at %.4g GB/s %s", float64(r.Checkpoint)/1e9, days.Brief(r.Write),
		r.Storage/1e9, how)
	line("Way back", "%s until noticed, %s to start and read", days.Brief(r.Detect), days.Brief(r.Restart))
	switch {
	case r.Spares < 0:
		line("Servers", "a spare is always available")
	case r.Short:
		line("Servers", "%d stand by, repair takes %s; without one it runs short; at most %d in repair",
			r.Spares,
			days.Brief(r.Repair), r.Out)
	default:
		line("Servers", "%d stand by, repair takes %s; without one it waits; at most %d in repair", r.Spares,
			days.Brief(r.Repair), r.Out)
	}
	if r.PerDay > 0 && r.Stall > 0 {
		line("Optimum", "every %s (Daly), %s (Young); best of those simulated: %s", days.Brief(r.Daly),
			days.Brief(r.Young),
			days.Brief(r.Best))
	}
	p := r.Chosen
	line("Effective", "%.2f %% of the time with a checkpoint every %s: %.2f to %.2f over seeds, standard "+
		"deviation %.2f%s", 100*p.Effective.Mean, days.Brief(p.Interval), 100*p.Effective.Min, 100*p.Effective.Max,
		100*p.Effective.SD, closedForm(p))
	line("Steps", "%.6g of %s, %s", math.Floor(r.Steps), days.Brief(r.Step), r.StepBy)
	fmt.Fprintln(w, "\nPercent of the time:")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t,
		"every\teffective\tleast\tmost\tDaly\tcheckpoints\tlost\tunnoticed\tstarting\twaiting\tshort\t")
	for _, p := range r.Points {
		x := p.Where
		daly := "-"
		if p.Expected > 0 {
			daly = fmt.Sprintf("%.2f", 100*p.Expected)
		}
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.2f\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t\n", days.Brief(p.Interval),
			100*p.Effective.Mean, 100*p.Effective.Min, 100*p.Effective.Max, daly, 100*x.Checkpoint,
			100*x.Lost,
			100*x.Detect, 100*x.Restart, 100*x.Wait, 100*x.Short)
	}
	t.Flush()
	if len(r.Parts) == 0 {
		return
	}
	fmt.Fprintln(w)
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "component\ta day\tdrawn in all")
	for _, x := range r.Parts {
		fmt.Fprintf(t, "%s\t%.3f\t%.1f\n", x.Component, x.PerDay, x.Drawn)
	}
	t.Flush()
}

func closedForm(p goodput.Point) string {
	if p.Expected == 0 {
		return ""
	}
	return fmt.Sprintf("; Daly's formula %.2f", 100*p.Expected)
}

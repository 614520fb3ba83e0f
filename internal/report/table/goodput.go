package table

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"railyard/internal/goodput"
	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/internal/study/days"
	"railyard/unit"
)

// Goodput prints the effective training time, the assumptions, the loss over checkpoint intervals, and failures by
// component.
func Goodput(w io.Writer, r days.Report) {
	p := r.Chosen
	name, share := largestLoss(&p)
	answer := fmt.Sprintf("Effective training time %s (%s; σ %.2f) with a checkpoint every %s",
		unit.ShowShare(p.Effective.Mean), over(r.Seeds, p), 100*p.Effective.SD, days.Brief(p.Interval))
	if share >= 0.0005 {
		answer += fmt.Sprintf("; largest loss: %s (%s", name, unit.ShowShare(share))
		if (share == p.Where.Checkpoint || share == p.Where.Lost) && r.AtOptimum() {
			answer += ", at the optimum of the interval"
		}
		answer += ")"
	}
	effective := func(a, b goodput.Point) int { return cmp.Compare(a.Effective.Mean, b.Effective.Mean) }
	best := slices.MaxFunc(r.Points, effective)
	if r.PerDay > 0 && r.Stall > 0 && best.Effective.Mean > p.Effective.Mean+0.01 {
		answer += fmt.Sprintf("; every %s it is %s", days.Brief(best.Interval), unit.ShowShare(best.Effective.Mean))
	}
	screen.Painted(w, screen.Answer, "", answer)
	line := func(label, format string, args ...any) {
		report.Labelled(w, fmt.Sprintf("%-12s", label), fmt.Sprintf(format, args...))
	}
	line("Job", "%s GPUs, %s, %g days; %s steps of %s (%s)", unit.ShowCount(r.GPUs), unit.Plural(r.Servers, "host"),
		r.Days, unit.ShowCount(int64(math.Floor(r.Steps))), days.Brief(r.Step), r.StepBy)
	if r.PerDay > 0 {
		line("Failures", "%s per day, MTBF %s (%s)", unit.Digits(r.PerDay), days.Brief(r.MTBF), r.Source)
	} else {
		line("Failures", "none")
	}
	hours := r.Days * 24 * float64(r.GPUs)
	line("Lost", "%s of %s GPU-hours in %g days", unit.ShowCount(int64(math.Round((1-p.Effective.Mean)*hours))),
		unit.ShowCount(int64(math.Round(hours))), r.Days)
	how := "training stops during the write"
	if r.Async {
		how = fmt.Sprintf("asynchronous, training stops for %s", days.Brief(r.Stall))
	}
	line("Checkpoint", "%s at %s/s: %s, %s", unit.Bytes(r.Checkpoint).Show(), unit.Bytes(r.Storage).Show(),
		days.Brief(r.Write), how)
	if r.Useless() {
		line("Async", "gains nothing: a snapshot of %s (--snapshot) stops the training as long as the write, or longer",
			days.Brief(r.Stall))
	}
	if o := r.Other; o != nil {
		line("Async", "with --async %s effective (+%s), a checkpoint every %s, training stops for %s",
			unit.ShowShare(o.Effective), unit.ShowShare(o.Effective-p.Effective.Mean), days.Brief(o.Interval),
			days.Brief(o.Stall))
	}
	line("Recovery", "%s detection, %s restart and restore; %s", days.Brief(r.Detect), days.Brief(r.Restart), spares(&r))
	switch {
	case r.PerDay == 0 || r.Stall == 0:
	case r.Async && r.Daly < r.Write:
		line("Optimum", "%s (simulated). Daly's %s and Young's %s do not apply: a write takes %s",
			days.Brief(r.Best), days.Brief(r.Daly), days.Brief(r.Young), days.Brief(r.Write))
	default:
		line("Optimum", "%s (Daly), %s (Young), %s (simulated)", days.Brief(r.Daly), days.Brief(r.Young),
			days.Brief(r.Best))
	}
	fmt.Fprintln(w)
	intervals(w, &r)
	components(w, &r)
}

// spares describes the replacement of a failed host.
func spares(r *days.Report) string {
	if r.Spares < 0 {
		return "spares unlimited"
	}
	without := "waits"
	if r.Short {
		without = "runs degraded"
	}
	return fmt.Sprintf("%s, repair takes %s (max %d in repair), without a spare the job %s",
		unit.Plural(r.Spares, "spare"), days.Brief(r.Repair), r.Out, without)
}

// over is the range of the effective time over seeds.
func over(seeds int, p goodput.Point) string {
	if seeds < 2 {
		return "1 seed"
	}
	return fmt.Sprintf("%.1f–%.1f over %d seeds", 100*p.Effective.Min, 100*p.Effective.Max, seeds)
}

// losses are the parts of the time without progress, in the order of a table's columns.
func losses(p *goodput.Point) (names []string, shares []float64) {
	x := &p.Where
	return []string{"write", "lost work", "detection", "restart", "waiting", "degraded"},
		[]float64{x.Checkpoint, x.Lost, x.Detect, x.Restart, x.Wait, x.Short}
}

// largestLoss names the largest part of the time without progress.
func largestLoss(p *goodput.Point) (string, float64) {
	names, shares := losses(p)
	most := slices.Max(shares)
	return names[slices.Index(shares, most)], most
}

// intervals prints the cost of each checkpoint interval, in percent of the time; * marks the chosen one.
func intervals(w io.Writer, r *days.Report) {
	names, _ := losses(&r.Chosen)
	t := screen.Table{Columns: []screen.Column{{Head: "Interval"}, {Head: "effective, %"}, {Head: "min–max"},
		{Head: "Daly", Rare: true}}}
	for _, n := range names {
		t.Columns = append(t.Columns, screen.Column{Head: n, Rare: true})
	}
	for i := range r.Points {
		p := &r.Points[i]
		every := days.Brief(p.Interval)
		if p.Interval == r.Chosen.Interval {
			every += " *"
		}
		daly := ""
		if p.Expected > 0 {
			daly = percent(p.Expected)
		}
		cells := []string{every, percent(p.Effective.Mean), fmt.Sprintf("%.1f–%.1f", 100*p.Effective.Min,
			100*p.Effective.Max), daly}
		_, shares := losses(p)
		for _, s := range shares {
			cells = append(cells, percent(s))
		}
		t.Add(cells...)
	}
	t.Print(w)
	fmt.Fprintln(w, "* chosen. Columns from write on: loss, % of the time")
}

// percent is a share for a table whose unit is in its heading.
func percent(share float64) string {
	if share == 0 {
		return "0"
	}
	return unit.Digits(100 * share)
}

// components prints the cost of each component's failures, the largest first, then the other losses.
func components(w io.Writer, r *days.Report) {
	if len(r.Parts) == 0 {
		return
	}
	const most = 8
	parts := slices.Clone(r.Parts)
	slices.SortStableFunc(parts, func(a, b goodput.Part) int {
		return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(b.PerDay, a.PerDay))
	})
	if n := len(parts) - most; n > 1 {
		rest := goodput.Part{Component: unit.Plural(n, "other")}
		for _, x := range parts[most:] {
			rest.PerDay, rest.Drawn, rest.Lost = rest.PerDay+x.PerDay, rest.Drawn+x.Drawn, rest.Lost+x.Lost
		}
		parts = append(parts[:most], rest)
	}
	whole := r.Days * 24 * float64(r.GPUs)
	lost, where := (1-r.Chosen.Effective.Mean)*whole, r.Chosen.Where
	left := lost - (where.Checkpoint+where.Short)*whole // failures' own, and restarts to add servers
	t := screen.Table{Columns: []screen.Column{{Head: "Cause"}, {Head: "failures per day"},
		{Head: fmt.Sprintf("in %g days", r.Days)}, {Head: "GPU-hours lost"}, {Head: "of the loss"}}}
	row := func(name, perDay, drawn string, hours float64) {
		t.Add(name, perDay, drawn, unit.ShowCount(int64(math.Round(hours))), unit.ShowShare(hours/max(lost, 1)))
	}
	for _, x := range parts {
		row(x.Component, unit.Digits(x.PerDay), unit.Digits(x.Drawn), x.Lost)
		left -= x.Lost
	}
	for _, x := range []struct {
		name  string
		hours float64
	}{{"checkpoint writes", where.Checkpoint * whole}, {"running degraded", where.Short * whole},
		{"restarts to add hosts", left}} {
		if x.hours > lost*0.0005 {
			row(x.name, "", "", x.hours)
		}
	}
	fmt.Fprintln(w)
	t.Print(w)
	var job []string
	share := 0.0
	for _, x := range r.Parts {
		if x.Job && x.PerDay > 0 {
			job, share = append(job, x.Component), share+x.PerDay/r.PerDay
		}
	}
	if len(job) > 0 {
		report.Labelled(w, "note: ", fmt.Sprintf("%s failures are per job, equally frequent on any number of GPUs: %s of all here; other components fail per GPU or host. --rates FILE replaces them",
			strings.Join(job, " and "), unit.ShowShare(share)))
	}
}

package table

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/internal/scenario"
	"railyard/internal/study/interference"
	"railyard/internal/study/load"
	"railyard/unit"
)

// Interference prints how much jobs slow one another down, and at which ports.
func Interference(w io.Writer, x *interference.Result, top int) {
	screen.Painted(w, screen.Answer, "", interferenceAnswer(x))
	if len(x.Seeds) > 0 {
		t := screen.Table{Columns: []screen.Column{{Head: "Job"}, {Head: "GPUs"}, {Head: "seeds"},
			{Head: "slowdown, min"}, {Head: "median"}, {Head: "max"}}}
		for i := range x.Jobs {
			row := []string{x.Jobs[i].Job, unit.ShowCount(x.Jobs[i].GPUs), "–", "–", "–", "–"}
			if least, median, most, n := x.Range(i); n > 0 && !x.Jobs[i].Open {
				row = append(row[:2], unit.ShowCount(n), unit.ShowFactor(least), unit.ShowFactor(median),
					unit.ShowFactor(most))
			}
			t.Add(row...)
		}
		t.Print(w)
		fmt.Fprintln(w, "\nThe first seed:")
	}
	t := screen.Table{Columns: []screen.Column{{Head: "Job"}, {Head: "GPUs"}, {Head: "start", Rare: true},
		{Head: "alone"}, {Head: "together"}, {Head: "slowdown"}, {Head: "messages p50", Spare: true},
		{Head: "p99", Spare: true}}}
	for i := range x.Jobs {
		j := &x.Jobs[i]
		slower, median, p99 := "–", "–", "–"
		if !j.Lost.Any() && !j.Open { // the end of the last open-loop message has no meaning for the other jobs
			slower = unit.ShowFactor(j.Slowdown)
		}
		if j.Messages.Count > 0 {
			median, p99 = unit.ShowFactor(j.Messages.Median), unit.ShowFactor(j.Messages.P99)
		}
		t.Add(j.Job, unit.ShowCount(j.GPUs), unit.Time(j.Start).Show(), interference.Took(j.Alone, j.Lost.Alone),
			interference.Took(j.Together, j.Lost.Together), slower, median, p99)
	}
	t.Print(w)
	if x.Outcome != nil {
		report.Labelled(w, "Rank lost: ", x.Outcome.Why)
	}
	if len(x.Meetings) == 0 {
		fmt.Fprintln(w, "The jobs never share a port at the same time.")
	}
	report.Meetings(w, x.Meetings, top, "with --top and --json")
	if len(x.Seeds) == 0 {
		report.Labelled(w, "note: ", "one seed, which draws hashes and ECN marks; --seeds 5 prints median and range")
	}
}

// interferenceAnswer names the job with the largest slowdown by other jobs.
func interferenceAnswer(x *interference.Result) string {
	say := fmt.Sprintf("%s: %s, together and each alone on the same GPUs", x.Name, unit.Plural(len(x.Jobs), "job"))
	if x.Expected != nil {
		say += report.Approximation(x.Fidelity, x.Expected)
	}
	var worst *interference.Slowdown
	slowest, over := 0.0, "" // the median over seeds, if there are several, and their range
	for i := range x.Jobs {
		j := &x.Jobs[i]
		slower, of := j.Slowdown, ""
		if least, median, most, n := x.Range(i); n > 0 {
			slower, of = median, fmt.Sprintf(" in the median of %d seeds (%s to %s)", n, unit.ShowFactor(least),
				unit.ShowFactor(most))
		}
		if !j.Lost.Any() && !j.Open && slower > slowest {
			worst, slowest, over = j, slower, of
		}
	}
	switch {
	case x.Lost():
		return say + ": a job lost a rank"
	case worst == nil:
		return say
	case slowest < 1.005:
		return say + ": no job is slowed down" + over
	}
	return fmt.Sprintf("%s: %s is slowed down most, %s%s", say, worst.Job, unit.ShowFactor(slowest), over)
}

// Loads prints latency over offered load, a curve for each load balancing.
func Loads(w io.Writer, plan *scenario.Plan, curves []load.Curve) {
	var most, tied []string
	best := 0
	for i, c := range curves {
		if most = append(most, c.LB+" "+unit.ShowShare(c.Most)); c.Most > curves[best].Most {
			best = i
		}
	}
	for _, c := range curves {
		if unit.ShowShare(c.Most) == unit.ShowShare(curves[best].Most) {
			tied = append(tied, c.LB)
		}
	}
	say := plan.Name + ": nothing was delivered"
	switch {
	case len(curves) == 1:
		say = fmt.Sprintf("%s: %s delivers up to %s of the NICs' rate", plan.Name, curves[0].LB,
			unit.ShowShare(curves[0].Most))
		if n := len(curves[0].Points); n > 0 && !curves[0].Points[n-1].Saturated {
			say += ", not saturated at the highest load"
		}
	case len(tied) > 1:
		say = fmt.Sprintf("%s: %s deliver the same, %s of the NICs' rate", plan.Name, strings.Join(tied, ", "),
			unit.ShowShare(curves[best].Most))
	case len(curves) > 1:
		say = fmt.Sprintf("%s: %s delivers most, %s of the NICs' rate", plan.Name, curves[best].LB,
			unit.ShowShare(curves[best].Most))
	}
	screen.Painted(w, screen.Answer, "", say)
	t := screen.Table{Columns: []screen.Column{{Head: "Load balancing"}, {Head: "offered, %"}, {Head: "drawn, %"},
		{Head: "delivered, %"}, {Head: "mean"}, {Head: "p99"}, {Head: "PFC pauses", Rare: true}, {Head: "", Left: true, Rare: true}}}
	for _, c := range curves {
		for _, p := range c.Points {
			note := ""
			if p.Saturated {
				note = "saturated"
			}
			t.Add(p.LB, percent(p.Offered), percent(p.Drawn), percent(p.Delivered), unit.Time(p.Mean).Show(),
				unit.Time(p.P99).Show(), unit.ShowCount(p.Pauses), note)
		}
	}
	t.Print(w)
	text := fmt.Sprintf("%s, Poisson arrivals. Maximum delivered: %s", unit.Plural(plan.Graph.TotalGPUs(), "GPU"),
		strings.Join(most, ", "))
	if slices.ContainsFunc(curves, func(c load.Curve) bool {
		return slices.ContainsFunc(c.Points, func(p load.Point) bool { return p.Delivered > 1.005*p.Drawn })
	}) {
		text += ". Delivered more than drawn: messages of the warm-up ended after it"
	}
	report.Wrap(w, "", text)
	short(w, plan, curves)
}

// short notes that messages were drawn for too short a time: their load is not the offered one, by the row that differs
// most.
func short(w io.Writer, plan *scenario.Plan, curves []load.Curve) {
	const most = 1.25
	var worst load.Point
	off := 1.0
	for _, c := range curves {
		for _, p := range c.Points {
			if x := max(p.Drawn/p.Offered, p.Offered/p.Drawn); p.Offered > 0 && p.Drawn > 0 && x > off {
				worst, off = p, x
			}
		}
	}
	t := plan.Settled().Workload.Traffic
	if off <= most || t == nil || t.Background == nil {
		return
	}
	const key = "workload.traffic.background.for"
	report.Labelled(w, "note: ", fmt.Sprintf("%s draws few messages (%s %% of the rate for %s %%), so rows differ by chance, and bytes in flight at its ends count; longer: --set %s=%v", t.Background.For.Show(),
		percent(worst.Drawn), percent(worst.Offered), key, 10*t.Background.For))
}

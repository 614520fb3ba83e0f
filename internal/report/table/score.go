package table

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/internal/planner"
	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/unit"
)

// Score prints the estimated time of a layout's step, by part. The origin of the efficiency is printed.
func Score(w io.Writer, in *planner.SearchInput, s *planner.Scored, origin string) {
	screen.Painted(w, screen.Answer, "", fmt.Sprintf("%s, %s: step %s, MFU %s (estimate)", in.Training.Model.Name,
		s.Layout, took(s.Seconds), unit.ShowShare(s.MFU)))
	if s.Error != nil {
		report.Wrap(w, "", strings.TrimPrefix(fmt.Sprintf("%s; 90 %% interval %s to %s, by %s", s.Software, took(s.Low),
			took(s.High), judges(in, s.Error)), "; "))
	}
	if s.Software == "" {
		efficiency(w, in, origin)
	}
	nearest(w, in, s.Nearest)
	mixed(w, &in.Site)
	report.Wrap(w, "", fmt.Sprintf("%s %s, %s sequences of %s tokens per step in %s; %s tokens/s and %s TFLOP/s per GPU", unit.ShowCount(s.Layout.GPUs()), strings.ToUpper(in.Site.GPU.Name),
		unit.ShowCount(in.Training.GlobalBatch), unit.ShowCount(in.Training.Seq), in.Training.Precision,
		unit.Digits(s.TokensGPU), unit.Digits(s.TFLOPs)))
	t := screen.Table{Indent: "  ", Columns: []screen.Column{{Left: true}, {}, {}}}
	for _, p := range parts(&s.Candidate) {
		if p.s >= 0.0005*s.Seconds {
			t.Add(p.name, took(p.s), unit.ShowShare(p.s/s.Seconds))
		}
	}
	t.Print(w)
	memory(w, "Memory", s)
	uneven(w, in.Training.Model, &s.Layout)
	sequenceParallel(w, &s.Layout)
	if s.Layout.GPUs() > 1 {
		contention(w, s.Layout.EP > 1)
	}
}

// mixed prints what is estimated where servers differ.
func mixed(w io.Writer, s *planner.Site) {
	if s.Mixed {
		report.Labelled(w, "note: ", fmt.Sprintf("servers differ: estimated as if all had %s (%s) that share NVLink, and %s of NIC rate per GPU",
			unit.Plural(s.PerServer, "GPU"), strings.ToUpper(s.GPU.Name), s.NIC.Show()))
	}
}

// sequenceParallel prints the assumption about sequence parallelism, which scenarios disable by default.
func sequenceParallel(w io.Writer, l *partition.Layout) {
	if l.TP > 1 && l.Sequence {
		report.Wrap(w, "", "With sequence parallelism (in a scenario: workload.training.sequence_parallel: true); without: --no-sequence-parallel")
	}
}

// uneven prints that the parts of a pipeline have different numbers of layers, which scenarios refuse by default.
func uneven(w io.Writer, m *model.Config, l *partition.Layout) {
	if least := m.Layers / int64(l.Chunks()); l.Uneven {
		report.Wrap(w, "", fmt.Sprintf("%d parts do not divide the %s: they have %d or %d (in a scenario: workload.training.uneven: true)",
			l.Chunks(), unit.Plural(m.Layers, "layer"), least, least+1))
	}
}

// part is a part of a step, in seconds.
type part struct {
	name string
	s    float64
}

// parts are the parts whose sum is a step.
func parts(s *planner.Candidate) []part {
	return []part{{"compute", s.Compute}, {"bubble", s.Bubble}, {"tensor parallel exposed", s.Tensor},
		{"pipeline parallel exposed", s.Pipeline}, {"data parallel exposed", s.Data},
		{"expert parallel exposed", s.Experts}, {"context parallel exposed", s.Context}, {"optimizer", s.Optimizer},
		{"host: launches, data", s.Host}}
}

// Scores prints the parts by which the steps of two configurations differ, the largest first.
func Scores(w io.Writer, a, b *planner.Scored) {
	name := func(s *planner.Scored) string {
		text := strings.TrimSpace(s.Layout.String() + " " + s.Software)
		if a.Precision != b.Precision {
			text += " " + s.Precision
		}
		return text
	}
	screen.Painted(w, screen.Answer, "", fmt.Sprintf("%s: step %s, %s vs %s of %s (estimate)", name(b), took(b.Seconds),
		signed(b.Seconds/a.Seconds-1), took(a.Seconds), name(a)))
	t := screen.Table{Indent: "  ", Columns: []screen.Column{{Left: true}, {Head: "first"}, {Head: "second"},
		{Head: "difference"}, {Head: "of the step"}}}
	all, other := parts(&a.Candidate), parts(&b.Candidate)
	by := func(i int) float64 { return other[i].s - all[i].s }
	order := []int{0, 1, 2, 3, 4, 5, 6, 7, 8}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(math.Abs(by(j)), math.Abs(by(i))) })
	for _, i := range order {
		if d := by(i); math.Abs(d) >= 0.0005*a.Seconds {
			sign := "+"
			if d < 0 {
				sign = "−"
			}
			t.Add(all[i].name, took(all[i].s), took(other[i].s), sign+took(math.Abs(d)), signed(d/a.Seconds))
		}
	}
	if t.Rows() > 0 {
		t.Print(w)
	}
	for i, c := range []*planner.Scored{a, b} {
		memory(w, []string{"Memory, first", "Memory, second"}[i], c)
	}
	sequenceParallel(w, &a.Layout)
	if max(a.Layout.GPUs(), b.Layout.GPUs()) > 1 {
		contention(w, max(a.Layout.EP, b.Layout.EP) > 1)
	}
}

// memory prints whether a configuration fits.
func memory(w io.Writer, label string, s *planner.Scored) {
	fit := "fits"
	if !s.Fits {
		fit = "does not fit"
	}
	report.Wrap(w, "", fmt.Sprintf("%s: the fullest GPU needs %s of %s GB: %s (%d %% may be filled)", label,
		unit.Digits(float64(s.Memory)/1e9), unit.Digits(float64(s.GPU)/1e9), fit, partition.MostMemory))
}

// Measured prints the cost model's difference from measured trainings, by class, and which trainings it does not
// support.
func Measured(w io.Writer, all []planner.Measured) {
	classes := planner.Accuracies(all)
	total := classes[len(classes)-1]
	answer := fmt.Sprintf("None of %s can be estimated", unit.Plural(total.Rows, "training"))
	if total.Stated > 0 {
		answer = fmt.Sprintf("%s of %s trainings estimated: step time off by %s RMS, %s in the mean",
			unit.ShowCount(total.Stated), unit.ShowCount(total.Rows), unit.ShowShare(total.RMS), signed(total.Bias))
	}
	screen.Painted(w, screen.Answer, "", answer)
	if total.FittedRows+total.HeldRows > 0 {
		var parts []string
		if total.FittedRows > 0 {
			parts = append(parts, fmt.Sprintf("%s fitted, %s RMS", unit.ShowCount(total.FittedRows), unit.ShowShare(total.FittedRMS)))
		}
		if total.HeldRows > 0 {
			parts = append(parts, fmt.Sprintf("%s held out, %s RMS", unit.ShowCount(total.HeldRows), unit.ShowShare(total.HeldRMS)))
		}
		text := "By the figures of each software: " + strings.Join(parts, "; ")
		if share, judged := planner.HeldCoverage(all); judged > 0 {
			text += fmt.Sprintf("; 90 %% intervals of other held-out rows hold %s of %s", unit.ShowShare(share),
				unit.ShowCount(judged))
		}
		report.Wrap(w, "", text)
	}
	measuredBy(w, "Measured by", classes, total.HeldRows > 0)
	if kinds := planner.KindAccuracies(all); total.HeldRows > 0 && len(kinds) > 2 {
		measuredBy(w, "Kind", kinds, true)
	}
	notEstimated(w, all)
}

// Trainings prints how far the cost model is from published trainings, by software, and how throughput per GPU scales.
func Trainings(w io.Writer, r *planner.PublishedReport) {
	total := r.Classes[len(r.Classes)-1]
	held := unit.ShowShare(total.HeldRMS)
	screen.Painted(w, screen.Answer, "", fmt.Sprintf("%s of %s published trainings estimated: step time of those held out off by %s RMS",
		unit.ShowCount(total.Stated), unit.ShowCount(total.Rows), held))
	report.Wrap(w, "", fmt.Sprintf("%s fitted, %s RMS; %s held out, %s (every second model, GPU and precision, in an order of seed %s); 90 %% intervals of other held-out rows hold %s of %s", unit.ShowCount(total.FittedRows), unit.ShowShare(total.FittedRMS),
		unit.ShowCount(total.HeldRows), held, r.Seed, unit.ShowShare(r.Coverage), unit.ShowCount(r.Judged)))
	t := screen.Table{Columns: []screen.Column{{Head: "Software, kind", Left: true}, {Head: "fitted"}, {Head: "RMS"},
		{Head: "held out"}, {Head: "RMS"}, {Head: "mean of all"}}}
	for _, c := range r.Classes[:len(r.Classes)-1] {
		if c.Stated > 0 {
			t.Add(c.Class, unit.ShowCount(c.FittedRows), among(c.FittedRows, unit.ShowShare(c.FittedRMS)),
				unit.ShowCount(c.HeldRows), among(c.HeldRows, unit.ShowShare(c.HeldRMS)), signed(c.Bias))
		}
	}
	t.Print(w)
	fmt.Fprintln(w)
	t = screen.Table{Columns: []screen.Column{{Head: "Throughput per GPU that remains", Left: true}, {Head: "GPUs"},
		{Head: "measured"}, {Head: "estimated"}}}
	for _, s := range r.Scaling {
		t.Add(s.Name, unit.ShowCount(s.From)+" to "+unit.ShowCount(s.To), unit.ShowShare(s.Measured),
			unit.ShowShare(s.Estimate))
	}
	t.Print(w)
	notEstimated(w, r.Rows)
	fmt.Fprintln(w)
}

// notEstimated prints why trainings have no estimate.
func notEstimated(w io.Writer, all []planner.Measured) {
	why, order := map[string]int{}, []string(nil)
	for _, m := range all {
		if m.Why != "" {
			if why[m.Why]++; why[m.Why] == 1 {
				order = append(order, m.Why)
			}
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return why[b] - why[a] })
	for i, reason := range order {
		label := ""
		if i == 0 {
			label = "Not estimated: "
		}
		report.Labelled(w, fmt.Sprintf("%-15s", label), fmt.Sprintf("%s: %s", unit.ShowCount(why[reason]), reason))
	}
}

// Adjusted prints a fit's changes to a software.
func Adjusted(w io.Writer, a *planner.Adjusted, name string) {
	answer := fmt.Sprintf("%s, fitted to %s: step time off by %s RMS, before %s", name, unit.Plural(a.Rows, "training"),
		unit.ShowShare(a.After), unit.ShowShare(a.Before))
	if a.Out > 0 {
		answer += fmt.Sprintf("; each by a fit to the others: %s", unit.ShowShare(a.Out))
	}
	screen.Painted(w, screen.Answer, "", answer)
	t := screen.Table{Columns: []screen.Column{{Head: "Figure", Left: true}, {Head: "before"}, {Head: "after"}}}
	for _, c := range a.Changes {
		t.Add(c.Name, unit.Digits(c.Before), unit.Digits(c.After))
	}
	t.Print(w)
	report.Wrap(w, "", "Other figures move no estimate by 1 %, or are more than one for two trainings.")
}

// measuredBy prints classes without their sum.
func measuredBy(w io.Writer, head string, classes []planner.Accuracy, held bool) {
	t := screen.Table{Columns: []screen.Column{{Head: head, Left: true}, {Head: "rows"}, {Head: "estimated"},
		{Head: "RMS"}, {Head: "mean"}}}
	if held {
		t.Columns = append(t.Columns, screen.Column{Head: "held out"}, screen.Column{Head: "RMS"})
	}
	for _, c := range classes[:len(classes)-1] {
		row := []string{clip(c.Class), unit.ShowCount(c.Rows), unit.ShowCount(c.Stated),
			among(c.Stated, unit.ShowShare(c.RMS)), among(c.Stated, signed(c.Bias))}
		if held {
			row = append(row, among(c.HeldRows, unit.ShowCount(c.HeldRows)),
				among(c.HeldRows, unit.ShowShare(c.HeldRMS)))
		}
		t.Add(row...)
	}
	t.Print(w)
}

// among is a figure of n rows.
func among(n int, v string) string {
	if n == 0 {
		return unit.NotApplicable
	}
	return v
}

// clip shortens the name of a class.
func clip(s string) string {
	if r := []rune(s); len(r) > 30 {
		return string(r[:29]) + "…"
	}
	return s
}

// signed is a relative error with its sign.
func signed(v float64) string { return unit.ShowChange(1+v, 1) }

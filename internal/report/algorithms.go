package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/report/screen"
	"railyard/internal/result"
)

// figure is a column of the table of algorithms.
type figure struct {
	head  string
	value func(s *result.Summary) float64
	show  func(v float64) string
}

// figures compare congestion controls.
var figures = []figure{
	{"step", func(s *result.Summary) float64 { return float64(s.StepTime) }, times},
	{"exposed", func(s *result.Summary) float64 { return float64(s.ExposedComm) }, times},
	{"p99", func(s *result.Summary) float64 { return float64(s.Flows.P99) }, times},
	{"slowest", func(s *result.Summary) float64 { return float64(s.Flows.Max) }, times},
	{"queue peak", func(s *result.Summary) float64 { return float64(s.QueuePeak) }, sizes},
	{"mean", func(s *result.Summary) float64 { return float64(s.QueueMean) }, sizes},
	{"pauses", func(s *result.Summary) float64 { return float64(s.PFCPauses) }, plain},
	{"drops", func(s *result.Summary) float64 { return float64(s.Drops) }, plain},
	{"trims", func(s *result.Summary) float64 { return float64(s.Trims) }, plain},
	{"core time", func(s *result.Summary) float64 { return float64(s.CoreTime()) }, times},
	{"copies/B", (*result.Summary).Copies, func(v float64) string { return fmt.Sprintf("%.3g", v) }},
	{"overhead", (*result.Summary).Overhead, percent},
	{"fairness", func(s *result.Summary) float64 { return s.Fairness },
		func(v float64) string { return fmt.Sprintf("%.2f", v) }},
}

func sizes(v float64) string { return size(int64(v)) }

// Algorithms prints a row for each congestion control, with the mean over seeds, then the hardware that each needs,
// and why others are infeasible.
func Algorithms(w io.Writer, title string, variants []result.Variant, unfit []result.Unfit) {
	names := lines(w, title, variants)
	requirements(w, names, variants, unfit)
	notes(w, variants, grouped(variants))
}

// mostFailures is the maximum number of reasons of failed variants that Many prints.
const mostFailures = 5

// Many prints a row for each of many variants, with the mean over seeds.
func Many(w io.Writer, title string, variants []result.Variant) {
	lines(w, title, variants)
	failures(w, variants)
}

// failures prints why the first variants that failed did.
func failures(w io.Writer, variants []result.Variant) {
	failed := 0
	for _, v := range variants {
		if v.Failed == "" {
			continue
		}
		if failed++; failed <= mostFailures {
			Labelled(w, "failed: ", v.Label+": "+v.Failed)
		}
	}
	if failed > mostFailures {
		fmt.Fprintf(w, "%d more failed (all: --json).\n", failed-mostFailures)
	}
}

// lines prints the answer and a row for each variant. It returns the names of the rows.
func lines(w io.Writer, title string, variants []result.Variant) []string {
	verdict(w, title, variants)
	names := make([]string, len(variants))
	for i, v := range variants {
		if names[i] = v.Label; screen.Width(v.Label) > 16 {
			names[i] = fmt.Sprintf("(%d)", i+1)
			Labelled(w, fmt.Sprintf("%5s ", names[i]), v.Label)
		}
	}
	fmt.Fprintln(w)
	if t := rowsOf(names, variants, true); t.Fits(screen.Of(w)) {
		t.Print(w)
	} else {
		rowsOf(names, variants, false).Print(w)
		var groups []group
		for i := range variants {
			groups = append(groups, group{Variant: variants[i], head: names[i]})
		}
		mainCauses(w, groups)
	}
	overSeeds(w, variants)
	return names
}

// rowsOf is the table of variants, a row each; why: with their main causes.
func rowsOf(names []string, variants []result.Variant, why bool) *screen.Table {
	t := &screen.Table{Columns: []screen.Column{{}}}
	for _, f := range figures {
		rare := f.head == "core time" || f.head == "copies/B" || f.head == "exposed" || f.head == "pauses" || f.head == "drops" || f.head == "trims"
		spare := f.head == "slowest" || f.head == "mean" || f.head == "overhead" || f.head == "fairness"
		t.Columns = append(t.Columns, screen.Column{Head: f.head, Rare: rare, Spare: spare})
	}
	if why {
		t.Columns = append(t.Columns, screen.Column{Head: "main cause", Left: true, Rare: true})
	}
	for i, v := range variants {
		if len(v.Runs) == 0 {
			t.AddStyled(screen.Error, names[i], "failed")
			continue
		}
		cells := []string{names[i]}
		for _, f := range figures {
			cells = append(cells, f.show(mean(values(metric{value: f.value}, v))))
		}
		if why {
			cells = append(cells, mainCause(&v))
		}
		t.Add(cells...)
	}
	return t
}

// mostSpread is the range of steps over seeds, relative to the mean, from which on the footer mentions it.
const mostSpread = 0.05

// overSeeds describes the number of seeds of the means, and the variants whose steps differ far between seeds.
func overSeeds(w io.Writer, variants []result.Variant) {
	n := seeds(variants)
	if n < 2 {
		return
	}
	var wide []string
	for _, v := range variants {
		steps := values(completion, v)
		slices.Sort(steps)
		if len(steps) > 1 && steps[len(steps)-1]-steps[0] > mostSpread*mean(steps) {
			wide = append(wide, fmt.Sprintf("%s %s to %s", v.Label, completion.show(steps[0]),
				completion.show(steps[len(steps)-1])))
		}
	}
	text := fmt.Sprintf("Means over %d seeds.", n)
	if len(wide) > 0 {
		text = fmt.Sprintf("Means over %d seeds; steps from the best to the worst seed: %s.", n, strings.Join(wide, "; "))
	}
	Wrap(w, "", text)
}

// requirements prints the hardware that each congestion control needs, and why others do not fit.
func requirements(w io.Writer, names []string, variants []result.Variant, unfit []result.Unfit) {
	t := screen.Table{Columns: []screen.Column{{}, {Head: "needs of switches", Left: true}, {Head: "of NICs", Left: true}}}
	for i, v := range variants {
		if v.Switch+v.NIC != "" {
			t.Add(names[i], v.Switch, v.NIC)
		}
	}
	if t.Rows() > 0 {
		fmt.Fprintln(w)
		t.Print(w)
	}
	for i, u := range unfit {
		if i == 0 {
			fmt.Fprintln(w)
		}
		Labelled(w, "infeasible: ", u.Label+": "+u.Why)
	}
}

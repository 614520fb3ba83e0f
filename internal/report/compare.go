package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/report/screen"
	"railyard/internal/result"
	"railyard/unit"
)

// metric is one row.
type metric struct {
	name  string
	value func(s *result.Summary) float64
	show  func(v float64) string
	rare  bool   // omitted if no variant has it
	queue bool   // shown where congestion controls differ, or such a figure by a tenth
	none  string // name in the closing line of zero rows; "": its name
}

// perToken is a row and a ranking for variants that train differently: time per token.
var perToken = metric{name: "time per token", value: func(s *result.Summary) float64 {
	return float64(s.StepTime) / float64(max(s.Tokens, 1))
}, show: times}

// slower is a row and a ranking for runs whose messages all begin at random times, where the end of the last
// message has little meaning.
var slower = metric{name: "mean slowdown", value: func(s *result.Summary) float64 { return slowdownOf(s).Mean },
	show: unit.ShowFactor, rare: true}

// slowdownOf is zero for runs without one.
func slowdownOf(s *result.Summary) result.Slowdowns {
	if s.Flows.Slowdown == nil {
		return result.Slowdowns{}
	}
	return *s.Flows.Slowdown
}

// differ lists the differences between the variants' steps: workloads, models or batches; "" if they are equal.
func differ(variants []result.Variant) (what string) {
	first := -1
	for i, v := range variants {
		if len(v.Runs) == 0 {
			continue
		}
		if first < 0 {
			first = i
		}
		a, b := variants[first].Runs[0], v.Runs[0]
		switch {
		case (a.Tokens > 0) != (b.Tokens > 0):
			return "workloads"
		case a.Params != b.Params:
			what = "models"
		case a.Tokens != b.Tokens && what == "":
			what = "batches"
		}
	}
	return what
}

// times formats a time; a variant without it has none to show.
func times(v float64) string {
	if v == 0 {
		return unit.NotApplicable
	}
	return unit.Time(v).Show()
}
func plain(v float64) string { return count(int64(v + 0.5)) }

// completion is the row that variants are ranked by.
var completion = metric{name: "step", value: func(s *result.Summary) float64 { return float64(s.StepTime) }, show: times}

// timed are the rows before the causes of lost time.
var timed = []metric{
	{name: "slowest message", value: func(s *result.Summary) float64 { return float64(s.Flows.Max) }, show: times},
	slower,
	{name: "p99 slowdown", value: func(s *result.Summary) float64 { return slowdownOf(s).P99 }, show: unit.ShowFactor,
		rare: true},
	{name: "mean message", value: func(s *result.Summary) float64 { return float64(s.Flows.Mean) }, show: times},
	{name: "pipeline exposed", value: ofStorage(func(s *result.Summary) int64 { return s.ExposedPP }), show: times,
		rare: true},
	{name: "waiting for data", value: ofStorage(func(s *result.Summary) int64 { return s.ExposedLoad }), show: times,
		rare: true},
	{name: "writing checkpoints", value: ofStorage(func(s *result.Summary) int64 { return s.ExposedSave }), show: times,
		rare: true},
}

// counted are the rows after the causes.
var counted = []metric{
	{name: "uplinks: max", value: func(s *result.Summary) float64 { return s.Links.UplinkMax }, show: percent, rare: true},
	{name: "  mean", value: func(s *result.Summary) float64 { return s.Links.UplinkMean }, show: percent, rare: true},
	{name: "  min", value: func(s *result.Summary) float64 { return s.Links.UplinkMin }, show: percent, rare: true},
	{name: "  idle", value: func(s *result.Summary) float64 { return float64(s.Links.UplinkIdle) }, show: plain,
		rare: true},
	{name: "busiest link", value: func(s *result.Summary) float64 { return s.Links.Max }, show: percent},
	{name: "queue peak", value: func(s *result.Summary) float64 { return float64(s.QueuePeak) }, show: sizes, queue: true},
	{name: "  mean", value: func(s *result.Summary) float64 { return float64(s.QueueMean) }, show: sizes, queue: true},
	{name: "ECN marks", value: func(s *result.Summary) float64 { return float64(s.ECNMarks) }, show: plain},
	{name: "CNPs", value: func(s *result.Summary) float64 { return float64(s.CNPs) }, show: plain},
	{name: "rate reductions", value: cuts, show: plain},
	{name: "PFC pauses", value: func(s *result.Summary) float64 { return float64(s.PFCPauses) }, show: plain},
	{name: "  paused", value: func(s *result.Summary) float64 { return float64(s.PFCPause) }, show: times, rare: true},
	{name: "out of order", value: func(s *result.Summary) float64 { return float64(s.OutOfOrder) }, show: plain,
		none: "reordering"},
	{name: "retransmissions", value: func(s *result.Summary) float64 { return float64(s.Retransmissions) }, show: plain},
	{name: "flowlet moves", value: func(s *result.Summary) float64 { return float64(s.FlowletMoves) }, show: plain,
		rare: true},
	{name: "drops", value: func(s *result.Summary) float64 { return float64(s.Drops) }, show: plain},
	{name: "NIC reorder peak", value: ofReorder(func(m *result.ReorderMemory) int64 { return m.Peak }), show: sizes,
		rare: true},
	{name: "NIC drops", value: ofReorder(func(m *result.ReorderMemory) int64 { return m.Refused }), show: plain, rare: true},
	{name: "core time of hosts", value: func(s *result.Summary) float64 { return float64(s.CoreTime()) }, show: times,
		rare: true},
	{name: "copies per byte", value: (*result.Summary).Copies, show: func(v float64) string { return fmt.Sprintf("%.3g", v) },
		rare: true},
	{name: "idle GPUs", value: func(s *result.Summary) float64 { return float64(s.IdleGPUs) }, show: plain, rare: true},
}

// maxJobRows bounds how many jobs have a separate row.
const maxJobRows = 12

// ofJobs is a row for each job with its step time, if several run in parallel.
func ofJobs(variants []result.Variant) (rows []metric) {
	var names []string
	for _, v := range variants {
		for _, s := range v.Runs {
			for _, j := range s.Jobs {
				if !slices.Contains(names, j.Name) && len(s.Jobs) > 1 && len(names) < maxJobRows {
					names = append(names, j.Name)
				}
			}
		}
	}
	for _, name := range names {
		rows = append(rows, metric{name: "  " + clip(name, 24), value: func(s *result.Summary) float64 {
			for _, j := range s.Jobs {
				if j.Name == name {
					return float64(j.StepTime)
				}
			}
			return 0
		}, show: times})
	}
	return rows
}

// ofReorder is a figure of the NICs' reorder memory, if it was used.
func ofReorder(of func(*result.ReorderMemory) int64) func(*result.Summary) float64 {
	return func(s *result.Summary) float64 {
		if s.Reorder == nil {
			return 0
		}
		return float64(of(s.Reorder))
	}
}

// ofStorage is a part of the step, if there is storage.
func ofStorage(of func(*result.Summary) int64) func(*result.Summary) float64 {
	return func(s *result.Summary) float64 {
		if s.Storage == nil {
			return 0
		}
		return float64(of(s))
	}
}

// cuts returns how often congestion control allowed less than before.
func cuts(s *result.Summary) (n float64) {
	for i := range s.Control {
		n += float64(s.Control[i].Cuts())
	}
	return n
}

// ofCauses returns a row for each cause that costs any of the runs time on its critical path.
func ofCauses(variants []result.Variant) (rows []metric) {
	for _, c := range cause.All() {
		of := func(s *result.Summary) float64 {
			if s.Chain == nil { // a run of an earlier version
				return 0
			}
			return float64(s.Chain.Costs(c.ID))
		}
		costs := func(v result.Variant) bool {
			return slices.ContainsFunc(v.Runs, func(s *result.Summary) bool { return of(s) > 0 })
		}
		if c.Loss && slices.ContainsFunc(variants, costs) {
			rows = append(rows, metric{name: c.Name, value: of, show: times, rare: true})
		}
	}
	return rows
}

// Compare prints the answer, the variants next to each other with the mean over seeds, and notes. Variants with equal
// columns share one.
func Compare(w io.Writer, title string, all []result.Variant) {
	verdict(w, title, all)
	doubt(w, all)
	groups := grouped(all)
	const most = 27
	for i := range groups {
		g := &groups[i]
		if g.head = strings.Join(g.labels, ", "); screen.Width(g.head) > most {
			g.head = fmt.Sprintf("(%d)", i+1)
			Labelled(w, fmt.Sprintf("%5s ", g.head), strings.Join(g.labels, "; "))
		}
	}
	what := differ(all)
	rows, none := shownRows(all, what == "models" || what == "batches")
	for rest := groups; len(rest) > 0; {
		n := len(rest)
		t := columns(rest, rows, groups)
		for ; n > 1 && !t.Fits(screen.Of(w)); n-- {
			t = columns(rest[:n-1], rows, groups)
		}
		fmt.Fprintln(w)
		t.Print(w)
		rest = rest[n:]
	}
	mainCauses(w, groups)
	if len(none) > 0 {
		Wrap(w, "", "No "+joined(none, "or")+".")
	}
	if n := seeds(all); n > 1 {
		fmt.Fprintf(w, "Means over %d seeds; best and worst are of single seeds.\n", n)
	}
	var labels []string
	for _, v := range all {
		labels = append(labels, v.Label)
	}
	requirements(w, labels, all, nil)
	notes(w, all, groups)
}

// group is a column: variants with equal figures.
type group struct {
	result.Variant
	labels []string
	head   string
}

// grouped merges variants whose rows are all equal; failed ones have separate columns.
func grouped(all []result.Variant) (groups []group) {
	rows := slices.Concat([]metric{completion}, ofJobs(all), timed, ofCauses(all), counted)
	figures := func(v *result.Variant) (cells []string) {
		for _, m := range rows {
			for _, x := range values(m, *v) {
				cells = append(cells, m.show(x))
			}
		}
		return cells
	}
	for i := range all {
		v := &all[i]
		same := slices.IndexFunc(groups, func(g group) bool {
			return len(v.Runs) > 0 && len(g.Runs) == len(v.Runs) && g.Runs[0].Complete && v.Runs[0].Complete &&
				slices.Equal(figures(&g.Variant), figures(v))
		})
		if same < 0 {
			groups = append(groups, group{Variant: *v, labels: []string{v.Label}})
			continue
		}
		groups[same].labels = append(groups[same].labels, v.Label)
	}
	return groups
}

// shownRows returns the rows with a non-zero figure, and the names of the other relevant ones; per: with the time per
// token.
func shownRows(all []result.Variant, per bool) (rows []metric, none []string) {
	candidates := slices.Concat([]metric{completion}, ofJobs(all), timed, ofCauses(all), counted)
	if per {
		candidates = slices.Insert(candidates, 1, perToken)
	}
	controls := map[string]bool{}
	for _, v := range all {
		for _, r := range v.Runs {
			for _, c := range r.Control {
				controls[c.Algorithm] = true
			}
		}
	}
	apart := slices.ContainsFunc(candidates, func(m metric) bool { return m.queue && apart(m, all) })
	for _, m := range candidates {
		if m.queue && len(controls) < 2 && !apart {
			continue
		}
		if slices.ContainsFunc(all, func(v result.Variant) bool { return slices.Max(append(values(m, v), 0)) > 0 }) {
			rows = append(rows, m)
		} else if !m.rare {
			none = append(none, cmp.Or(m.none, strings.TrimSpace(m.name)))
		}
	}
	return rows, none
}

// apart reports whether a figure of a variant is a tenth above that of another that has one: flows have no queues.
func apart(m metric, all []result.Variant) bool {
	var of []float64
	for _, v := range ranked(all) {
		if x := mean(values(m, v)); x > 0 {
			of = append(of, x)
		}
	}
	return len(of) > 1 && slices.Max(of) > 1.1*slices.Min(of)
}

// stepRow names the row that variants are ranked by: "4 steps" if each has so many.
func stepRow(all []group) string {
	steps := 0
	for _, g := range all {
		for i := range g.Runs {
			if n := g.Runs[i].Steps; n < 2 || steps > 0 && n != steps {
				return completion.name
			}
			steps = g.Runs[i].Steps
		}
	}
	if steps == 0 {
		return completion.name
	}
	return unit.Plural(steps, completion.name)
}

// columns is the table of some groups, with the difference from the first one: in a column for two groups,
// otherwise in a row below the step.
func columns(some []group, rows []metric, all []group) *screen.Table {
	t := &screen.Table{Columns: []screen.Column{{}}}
	many := false
	for _, g := range some {
		t.Columns = append(t.Columns, screen.Column{Head: g.head})
		many = many || len(g.Runs) > 1
	}
	two := len(some) == 2 && len(all) == 2 && len(all[0].Runs) > 0 && len(all[1].Runs) > 0
	if two {
		t.Columns = append(t.Columns, screen.Column{Head: "difference"})
	}
	row := func(name string, cell func(v *result.Variant) string) []string {
		cells := []string{name}
		for i := range some {
			if len(some[i].Runs) == 0 {
				cells = append(cells, "failed")
				continue
			}
			cells = append(cells, cell(&some[i].Variant))
		}
		return cells
	}
	for _, m := range rows {
		middle := func(v *result.Variant) float64 { return mean(values(m, *v)) }
		name := m.name
		if name == completion.name {
			name = stepRow(all)
		}
		cells := row(name, func(v *result.Variant) string { return m.show(middle(v)) })
		if two {
			cells = append(cells, unit.ShowChange(middle(&all[1].Variant), middle(&all[0].Variant)))
		}
		t.Add(cells...)
		if m.name != completion.name {
			continue
		}
		if !two && len(all) > 1 && len(all[0].Runs) > 0 {
			base := middle(&all[0].Variant)
			t.AddStyled(screen.Baseline, row("  difference", func(v *result.Variant) string {
				return unit.ShowChange(middle(v), base)
			})...)
		}
		if many {
			t.Add(row("  best seed", func(v *result.Variant) string { return m.show(slices.Min(values(m, *v))) })...)
			t.Add(row("  worst seed", func(v *result.Variant) string { return m.show(slices.Max(values(m, *v))) })...)
		}
	}
	return t
}

// ranked returns the variants whose runs ended, because stopped runs took less time without being faster.
func ranked(all []result.Variant) (variants []result.Variant) {
	for _, v := range all {
		if len(v.Runs) > 0 && !stopped(&v) {
			variants = append(variants, v)
		}
	}
	return variants
}

func stopped(v *result.Variant) bool {
	return slices.ContainsFunc(v.Runs, func(s *result.Summary) bool { return !s.Complete })
}

// verdict prints the answer: which variant is fastest, and by how much.
func verdict(w io.Writer, title string, all []result.Variant) {
	say := func(format string, args ...any) {
		screen.Painted(w, screen.Answer, "", title+": "+fmt.Sprintf(format, args...))
	}
	variants := ranked(all)
	if len(variants) < 2 {
		say("nothing to compare, %d of %s ended", len(variants), unit.Plural(len(all), "variant"))
		return
	}
	by, per, is := completion, "", "is fastest"
	switch what := differ(variants); what {
	case "":
		if !slices.ContainsFunc(variants, func(v result.Variant) bool { return v.Runs[0].Flows.Slowdown == nil }) {
			by, per, is = slower, "", "has the lowest mean slowdown"
		}
	case "workloads":
		say("not comparable: only some of the variants train")
		return
	default:
		by, per = perToken, " per token (the "+what+" differ)"
	}
	of := func(i int) float64 { return mean(values(by, variants[i])) }
	best, worst := 0, 0
	for i := range variants {
		if of(i) < of(best) {
			best = i
		}
		if of(i) > of(worst) {
			worst = i
		}
	}
	if exact := byPackets(variants); exact >= 0 {
		var errs []string
		for i := range variants {
			if i != exact {
				change := unit.ShowChange(of(i), of(exact))
				errs = append(errs, fmt.Sprintf("%s %s, %s", variants[i].Label, by.show(of(i)), change))
			}
		}
		say("%s by packets%s; %s: the error here", by.show(of(exact)), per, strings.Join(errs, "; "))
		return
	}
	tb, tw := of(best), of(worst)
	fastest, first := isBest(&variants[best], is), variants[best].Runs[0]
	how, also := fidelityOf(first), ""
	if how != "" {
		also = "; " + how[len(" ("):len(how)-1]
	}
	switch {
	case tb <= 0: // a run that ended before any message is not ranked
		say("%s took no time: nothing to compare it with", variants[best].Label)
	case tw < tb*1.005:
		take := "all variants take " + by.show(tb)
		if by.name == slower.name {
			take = "all variants have a mean slowdown of " + by.show(tb)
		}
		say("no difference, %s ± %.1f %%%s%s", take, 100*(tw/tb-1), per, how)
	case best == 0:
		say("%s: %s%s (slowest: %s, %s%s)%s", fastest, by.show(tb), per, variants[worst].Label,
			unit.ShowChange(tw, tb), also, noise(by, &variants[best], variants))
	default:
		say("%s: %s%s (%s vs %s%s)%s", fastest, by.show(tb), per, unit.ShowChange(tb, of(0)),
			variants[0].Label, also, noise(by, &variants[best], variants))
	}
	overfull(w, all)
	receiver(w, first, variants)
}

package table

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/internal/study/space"
	"railyard/internal/study/sweep"
	"railyard/unit"
)

// Quantity formats a number of a kind for people.
func Quantity(x float64, k space.Kind) string {
	switch k {
	case space.Time:
		return unit.Time(math.Round(x)).Show()
	case space.Size:
		return unit.Bytes(math.Round(x)).Show()
	case space.Rate:
		return unit.Rate(math.Round(x)).Show()
	case space.Length:
		return unit.Digits(x/1000) + " m"
	}
	return unit.Digits(x)
}

// Setting formats a value of a parameter for people.
func Setting(v string) string {
	switch x, k := space.Quantity(v); {
	case v == "":
		return unit.NotApplicable
	case k == space.Size:
		return unit.Bytes(x).ShowSet()
	case k == space.Number && x == math.Trunc(x) && math.Abs(x) < 1e15:
		return unit.ShowCount(int64(x)) // as configured: mtu 1,024
	case k != space.Word:
		return Quantity(x, k)
	}
	return v
}

// Short returns the shortest unique ends of keys: wred_min for switch.queues.3.wred_min.
func Short(keys []string) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		parts := strings.Split(key, ".")
		for n := len(parts) - 1; n >= 0; n-- {
			out[i] = strings.Join(parts[n:], ".")
			alike := 0
			for _, other := range keys {
				if other == out[i] || strings.HasSuffix(other, "."+out[i]) {
					alike++
				}
			}
			if alike == 1 {
				break
			}
		}
	}
	return out
}

// besides are further figures in a sweep's table, if the screen has room.
var besides = []string{"flow_p99", "queue_peak", "pfc_pause", "drops", "retransmissions"}

// Sweep prints the best points of a study, and which parameters count.
func Sweep(w io.Writer, s *sweep.Study, a *sweep.Analysis, top int) {
	screen.Painted(w, screen.Answer, "", sweepAnswer(s, a))
	if len(a.Ranking) > 0 {
		ranking(w, s, a, top)
		if n := len(a.Ranking) - top; n > 0 {
			report.Wrap(w, "", fmt.Sprintf("%s more: railyard sweep show %s --top %d", unit.ShowCount(n), s.Dir, len(a.Ranking)))
		}
	}
	influences(w, a)
	c := a.Counts
	words := []string{fmt.Sprintf("%s done", unit.ShowCount(c.Done))}
	for _, x := range []struct {
		n    int
		what string
	}{{c.Lost, "lost a rank"}, {c.Failed, "failed"}, {c.Refused, "refused"}, {c.Open, "open"}} {
		if x.n > 0 {
			words = append(words, unit.ShowCount(x.n)+" "+x.what)
		}
	}
	report.Wrap(w, "", fmt.Sprintf("%s: %s.", unit.Plural(c.Trials, "trial"), strings.Join(words, ", ")))
	if c.FirstError != "" {
		report.Labelled(w, "First error: ", c.FirstError)
	}
}

// sweepAnswer names the best point and its value.
func sweepAnswer(s *sweep.Study, a *sweep.Analysis) string {
	if len(a.Ranking) == 0 {
		if a.Baseline != nil && a.Points == 0 {
			o := a.Objectives[0]
			st := a.Baseline.Stats[0]
			return fmt.Sprintf("%s: %s %s (%s to %s) over %s", s.File.Scenario, o.Words, Quantity(st.Mean, o.Kind),
				Quantity(st.Min, o.Kind), Quantity(st.Max, o.Kind), unit.Plural(s.Seeds(0), "seed"))
		}
		if a.Counts.Open == 0 {
			return fmt.Sprintf("None of %s has ended with all its seeds", unit.Plural(a.Points, "point"))
		}
		return fmt.Sprintf("None of %s has ended yet", unit.Plural(a.Points, "point"))
	}
	if len(a.Objectives) > 1 {
		if far := soFar(a); far != "" {
			return fmt.Sprintf("Pareto front%s: %s, by %s", far, unit.Plural(a.Front, "point"), objectives(a))
		}
		return fmt.Sprintf("Pareto front: %d of %s, by %s", a.Front, pointsOf(a), objectives(a))
	}
	best, o := a.Ranking[0], a.Objectives[0]
	say := fmt.Sprintf("%s%s: %s: %s", o.Adjective(), cmp.Or(soFar(a), " of "+pointsOf(a)),
		inWords(best.Set), Quantity(best.Stats[0].Mean, o.Kind))
	if a.Baseline != nil && a.Baseline.Stats[0].Mean != 0 {
		base := a.Baseline.Stats[0].Mean
		say += fmt.Sprintf(", %s vs the scenario (%s)", unit.ShowChange(best.Stats[0].Mean, base), Quantity(base, o.Kind))
		if best.Stats[0].Mean == base {
			say = strings.Replace(say, ", – vs the scenario", ", as the scenario", 1)
		}
	}
	return say + asGood(a)
}

// pointsOf counts the points of a finished study, and those without a result: rejected, failed or with a lost rank.
func pointsOf(a *sweep.Analysis) string {
	say := unit.Plural(a.Points, "point")
	if n := a.Points - len(a.Ranking); n > 0 && a.Rung == 0 { // rungs eliminate points that have results
		say += fmt.Sprintf(", %s without a result", unit.ShowCount(n))
	}
	return say
}

// soFar describes the progress of an unfinished study; "" if it is finished.
func soFar(a *sweep.Analysis) string {
	switch c := a.Counts; {
	case c.Open == 0:
		return ""
	case a.Partial:
		return fmt.Sprintf(" so far, over the seeds that ended (%s of %s)", unit.ShowCount(c.Trials-c.Open),
			unit.Plural(c.Trials, "trial"))
	}
	return fmt.Sprintf(" so far (%s of %s ended)", unit.ShowCount(len(a.Ranking)), unit.Plural(a.Points, "point"))
}

// asGood returns the number of points equal to the best, and names those whose difference is not significant.
func asGood(a *sweep.Analysis) (say string) {
	same, near := a.Noise()
	if same > 0 {
		say += "; equal: " + unit.Plural(same, "other point")
	}
	var within []string
	if near > 0 {
		within = append(within, unit.Plural(near, "other point"))
	}
	if a.Baseline != nil && a.Near(a.Baseline) {
		within = append(within, "the scenario")
	}
	switch seeds := len(a.Ranking[0].Seeds); {
	case len(within) > 0:
		say += fmt.Sprintf("; within the noise of %d seeds: %s", seeds, strings.Join(within, ", "))
	case seeds > 1 && same < len(a.Ranking)-1:
		say += fmt.Sprintf("; beyond the noise of %d seeds", seeds)
	}
	return say
}

// objectives lists the objectives.
func objectives(a *sweep.Analysis) string {
	var words []string
	for _, o := range a.Objectives {
		direction := "lowest "
		if o.Max {
			direction = "highest "
		}
		words = append(words, direction+o.Words)
	}
	return strings.Join(words, ", ")
}

// inWords lists settings by the ends of their keys.
func inWords(set []string) string {
	var keys, values []string
	for _, s := range set {
		key, v, _ := strings.Cut(s, "=")
		keys, values = append(keys, key), append(values, v)
	}
	for i, k := range Short(keys) {
		values[i] = k + "=" + values[i]
	}
	return strings.Join(values, ", ")
}

// ranking prints the best points.
func ranking(w io.Writer, s *sweep.Study, a *sweep.Analysis, top int) {
	columns := s.Columns()
	keys := make([]string, len(columns))
	for i, c := range columns {
		keys[i] = c.Key
	}
	t := screen.Table{Columns: []screen.Column{{Head: "#"}}}
	for i, k := range Short(keys) {
		t.Columns = append(t.Columns, screen.Column{Head: k, Left: columns[i].Kind == space.Word, Rare: true})
	}
	for _, o := range a.Objectives {
		t.Columns = append(t.Columns, screen.Column{Head: o.Words}, screen.Column{Head: "range", Rare: true, Spare: true},
			screen.Column{Head: "vs scenario", Rare: true})
	}
	var more []*sweep.Figure
	for _, f := range sweep.Figures {
		if contains(besides, f.Name) && !sought(a, f.Name) {
			more = append(more, f)
			t.Columns = append(t.Columns, screen.Column{Head: f.Words, Rare: true, Spare: true})
		}
	}
	t.Columns = append(t.Columns, screen.Column{Head: "vs best", Left: true, Rare: true})
	line := func(rank string, r *sweep.Ranked, style screen.Style) {
		cells := []string{rank}
		for _, c := range columns {
			v := s.Value(r.Point, c.Key)
			if r.Point == 0 {
				v = ""
			}
			cells = append(cells, Setting(v))
		}
		for k, o := range a.Objectives {
			st, spread, change := r.Stats[k], "", ""
			if st.Min != st.Max {
				spread = Quantity(st.Min, o.Kind) + " … " + Quantity(st.Max, o.Kind)
			}
			if a.Baseline != nil && r.Point != 0 {
				change = unit.ShowChange(st.Mean, a.Baseline.Stats[k].Mean)
			}
			cells = append(cells, Quantity(st.Mean, o.Kind), spread, change)
		}
		for _, f := range more {
			cells = append(cells, Quantity(r.Figures.Of(f), f.Kind))
		}
		near := ""
		if len(a.Objectives) == 1 && a.Near(r) {
			near = "in noise"
		}
		t.AddStyled(style, append(cells, near)...)
	}
	for i := range a.Ranking[:min(top, len(a.Ranking))] {
		line(fmt.Sprint(i+1), &a.Ranking[i], "")
	}
	if a.Baseline != nil {
		line("scenario", a.Baseline, screen.Baseline)
	}
	t.Print(w)
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// sought reports whether a figure is an objective.
func sought(a *sweep.Analysis, name string) bool {
	for _, o := range a.Objectives {
		if o.Name == name {
			return true
		}
	}
	return false
}

// influences prints the relevant parameters, if there are several.
func influences(w io.Writer, a *sweep.Analysis) {
	if len(a.Effects) < 2 || len(a.Ranking) == 0 {
		return
	}
	keys := make([]string, len(a.Effects))
	for i := range a.Effects {
		keys[i] = a.Effects[i].Key
	}
	o := a.Objectives[0]
	t := screen.Table{Columns: []screen.Column{{Head: "Parameter"}, {Head: "share of the variance of the " + o.Words}}}
	if a.Screening {
		t.Columns = []screen.Column{{Head: "Parameter"}, {Head: o.Words + ": mean effect (µ*)"}, {Head: "with sign (µ)"},
			{Head: "spread (σ)"}}
	}
	for i, k := range Short(keys) {
		switch e := &a.Effects[i]; {
		case e.Morris != nil && e.Morris.N > 0:
			t.Add(k, effect(e.Morris.MeanAbs, o.Kind), effect(e.Morris.Mean, o.Kind), effect(e.Morris.Spread, o.Kind))
		case e.Morris == nil && !math.IsNaN(e.Share):
			t.Add(k, unit.ShowShare(e.Share))
		}
	}
	for _, p := range a.Pairs[:min(len(a.Pairs), len(a.Effects))] {
		both := Short([]string{p.A, p.B})
		t.Add(both[0]+" and "+both[1]+", together beyond each", unit.ShowShare(p.Share))
	}
	if t.Rows() > 0 {
		t.Print(w)
	}
}

// effect formats a number that may be negative.
func effect(x float64, k space.Kind) string {
	if x < 0 {
		return "−" + Quantity(-x, k)
	}
	return Quantity(x, k)
}

package report

import (
	"fmt"
	"io"
	"slices"
	"sort"

	"railyard/internal/cause"
	"railyard/internal/result"
	"railyard/internal/route"
	"railyard/unit"
)

// metric is one row.
type metric struct {
	name  string
	value func(s *result.Summary) float64
	show  func(v float64) string
	rare  bool // only shown where some variant has it
}

// perToken is a row and a ranking where variants do not train the same: how long a token takes.
var perToken = metric{"time per token", func(s *result.Summary) float64 {
	return float64(s.StepTime) / float64(max(s.Tokens, 1))
}, times, false}

// differ says what the variants' steps do not have in common, or nothing.
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

func times(v float64) string   { return unit.Time(v).String() }
func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }
func plain(v float64) string   { return count(int64(v + 0.5)) }

// beforeCauses is how many metrics stand before the causes of lost time.
const beforeCauses = 6

var metrics = []metric{
	{"completion time", func(s *result.Summary) float64 { return float64(s.StepTime) }, times, false},
	{"slowest flow", func(s *result.Summary) float64 { return float64(s.Flows.Max) }, times, false},
	{"mean flow", func(s *result.Summary) float64 { return float64(s.Flows.Mean) }, times, false},
	{"exposed pipeline", ofStorage(func(s *result.Summary) int64 { return s.ExposedPP }), times, true},
	{"waiting for data", ofStorage(func(s *result.Summary) int64 { return s.ExposedLoad }), times, true},
	{"saving checkpoints", ofStorage(func(s *result.Summary) int64 { return s.ExposedSave }), times, true},
	{"hottest uplink", func(s *result.Summary) float64 { return s.Links.UplinkMax }, percent, false},
	{"coolest uplink", func(s *result.Summary) float64 { return s.Links.UplinkMin }, percent, false},
	{"mean uplink", func(s *result.Summary) float64 { return s.Links.UplinkMean }, percent, false},
	{"idle uplinks", func(s *result.Summary) float64 { return float64(s.Links.UplinkIdle) }, plain, false},
	{"busiest link", func(s *result.Summary) float64 { return s.Links.Max }, percent, false},
	{"ECN marks", func(s *result.Summary) float64 { return float64(s.ECNMarks) }, plain, false},
	{"CNPs", func(s *result.Summary) float64 { return float64(s.CNPs) }, plain, false},
	{"cuts", cuts, plain, false},
	{"PFC pauses", func(s *result.Summary) float64 { return float64(s.PFCPauses) }, plain, false},
	{"paused time", func(s *result.Summary) float64 { return float64(s.PFCPause) }, times, false},
	{"out of order", func(s *result.Summary) float64 { return float64(s.OutOfOrder) }, plain, false},
	{"retransmissions", func(s *result.Summary) float64 { return float64(s.Retransmissions) }, plain, false},
	{"flowlets moved", func(s *result.Summary) float64 { return float64(s.FlowletMoves) }, plain, false},
	{"drops", func(s *result.Summary) float64 { return float64(s.Drops) }, plain, false},
	{"idle GPUs", func(s *result.Summary) float64 { return float64(s.IdleGPUs) }, plain, true},
}

// maxJobRows bounds how many jobs have a row of their own.
const maxJobRows = 12

// ofJobs is a row for each job: how long its step took, where several run side by side.
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
		rows = append(rows, metric{"  " + clip(name, 17), func(s *result.Summary) float64 {
			for _, j := range s.Jobs {
				if j.Name == name {
					return float64(j.StepTime)
				}
			}
			return 0
		}, times, false})
	}
	return rows
}

// ofStorage is a part of the step where there is storage.
func ofStorage(of func(*result.Summary) int64) func(*result.Summary) float64 {
	return func(s *result.Summary) float64 {
		if s.Storage == nil {
			return 0
		}
		return float64(of(s))
	}
}

// cuts is how often congestion control allowed less than before.
func cuts(s *result.Summary) (n float64) {
	for i := range s.Control {
		n += float64(s.Control[i].Cuts())
	}
	return n
}

// ofCauses is a row for each cause that costs any of the runs something on its critical path.
func ofCauses(variants []result.Variant) (rows []metric) {
	for _, c := range cause.All() {
		of := func(s *result.Summary) float64 {
			if s.Chain == nil { // of an earlier version
				return 0
			}
			return float64(s.Chain.Of(c.ID))
		}
		costs := func(v result.Variant) bool {
			return slices.ContainsFunc(v.Runs, func(s *result.Summary) bool { return of(s) > 0 })
		}
		if c.Loss && slices.ContainsFunc(variants, costs) {
			rows = append(rows, metric{c.Name, of, times, true})
		}
	}
	return rows
}

// Compare prints the variants side by side, below each other where the line is full: the
// median over seeds, and the range below it when there are several.
func Compare(w io.Writer, title string, all []result.Variant) {
	variants := all
	Wrap(w, "", title)
	const first, least, most = 20, 14, 27
	col := least
	for _, v := range variants {
		col = max(col, len([]rune(v.Label))+2)
	}
	heads := make([]string, len(variants))
	for i, v := range variants {
		if heads[i] = v.Label; col > most {
			heads[i] = fmt.Sprintf("(%d)", i+1)
			Labelled(w, fmt.Sprintf("%5s ", heads[i]), v.Label)
		}
	}
	if col > most {
		col = least
	}
	what := differ(all)
	tokens := what == "models" || what == "batches"
	for per := (width - first) / col; len(variants) > 0; {
		n := min(per, len(variants))
		columns(w, first, col, heads[:n], variants[:n], tokens)
		heads, variants = heads[n:], variants[n:]
	}
	if n := seeds(all); n > 1 {
		fmt.Fprintf(w, "\nMedians over %d seeds; best and worst are of single seeds.\n", n)
	}
	fmt.Fprintln(w)
	verdict(w, all)
}

// seeds is how many the variants were run with, at most.
func seeds(variants []result.Variant) (n int) {
	for _, v := range variants {
		n = max(n, len(v.Runs))
	}
	return n
}

// columns prints as many variants as fit a line; per: with the time per token.
func columns(w io.Writer, first, col int, heads []string, variants []result.Variant, per bool) {
	many := false
	fmt.Fprintf(w, "\n%-*s", first, "")
	for i, v := range variants {
		fmt.Fprintf(w, "%*s", col, heads[i])
		many = many || len(v.Runs) > 1
	}
	rows := slices.Concat(metrics[:1], ofJobs(variants), metrics[1:beforeCauses], ofCauses(variants),
		metrics[beforeCauses:])
	if per {
		rows = slices.Insert(rows, 1, perToken)
	}
	row := func(name string, cell func(v result.Variant) string) {
		fmt.Fprintf(w, "\n%-*s", first, name)
		for _, v := range variants {
			if len(v.Runs) == 0 {
				fmt.Fprintf(w, "%*s", col, "failed")
				continue
			}
			fmt.Fprintf(w, "%*s", col, cell(v))
		}
	}
	for _, m := range rows {
		has := func(v result.Variant) bool { return slices.Max(append(values(m, v), 0)) > 0 }
		if m.rare && !slices.ContainsFunc(variants, has) {
			continue
		}
		row(m.name, func(v result.Variant) string { return m.show(median(values(m, v))) })
		if many && m.name == "completion time" {
			row("  best seed", func(v result.Variant) string { return m.show(values(m, v)[0]) })
			row("  worst seed", func(v result.Variant) string { return m.show(values(m, v)[len(v.Runs)-1]) })
		}
	}
	fmt.Fprintln(w)
}

func values(m metric, v result.Variant) []float64 {
	x := make([]float64, len(v.Runs))
	for i, r := range v.Runs {
		x[i] = m.value(r)
	}
	sort.Float64s(x)
	return x
}

func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	if len(x)%2 == 1 {
		return x[len(x)/2]
	}
	return (x[len(x)/2-1] + x[len(x)/2]) / 2
}

// verdict says what the table shows, from its own figures.
func verdict(w io.Writer, all []result.Variant) {
	var variants []result.Variant
	for _, v := range all {
		if v.Failed != "" {
			Wrap(w, "", fmt.Sprintf("%s failed: %s", v.Label, v.Failed))
		}
		// A run that was stopped took less time than one that ended, and was not faster.
		stopped := slices.ContainsFunc(v.Runs, func(s *result.Summary) bool { return !s.Complete })
		if stopped {
			Wrap(w, "", v.Label+" was interrupted: its figures are of what had run, and it is not ranked.")
		}
		if len(v.Runs) > 0 && !stopped {
			variants = append(variants, v)
		}
	}
	if len(variants) < 2 {
		return
	}
	completion, ends := metrics[0], "ends first, %.2fx sooner than"
	switch what := differ(variants); what {
	case "":
	case "workloads":
		Wrap(w, "", "The variants do not do the same work, some of them train: their times say nothing of each "+
			"other.")
		return
	default:
		Wrap(w, "", fmt.Sprintf("The variants train different %s: they are ranked by time per token.", what))
		completion, ends = perToken, "takes the least time per token, %.2fx less than"
	}
	best, worst := 0, 0
	for i, v := range variants {
		t := median(values(completion, v))
		if t < median(values(completion, variants[best])) {
			best = i
		}
		if t > median(values(completion, variants[worst])) {
			worst = i
		}
	}
	tb, tw := median(values(completion, variants[best])), median(values(completion, variants[worst]))
	switch {
	case tb <= 0: // a run that ended before anything was under way has no place in a ranking
		Wrap(w, "", fmt.Sprintf("%s took no time: there is nothing to compare it with.",
			variants[best].Label))
	case tw < tb*1.005:
		Wrap(w, "",
			fmt.Sprintf("All variants end within %.1f %% of each other: what differs between them is not "+
				"what limits this workload.", 100*(tw/tb-1)))
	default:
		Wrap(w, "", fmt.Sprintf("%s "+ends+" %s.", variants[best].Label, tw/tb, variants[worst].Label))
	}
	if s := variants[best].Runs[0]; len(s.Links.Hottest) > 0 && s.Links.Hottest[0].ToHost &&
		s.Links.Max > 1.2*s.Links.UplinkMax {
		Wrap(w, "",
			fmt.Sprintf("With %s the busiest link is %s, a receiver's own cable (%.1f %%; uplinks reach "+
				"%.1f %%): several senders share it whatever path they take. Load balancing repairs "+
				"uplinks; of an incast only congestion control can take the queues and pauses.",
				variants[best].Label, s.Links.Hottest[0].Name, 100*s.Links.Max, 100*s.Links.UplinkMax))
	}
	for _, v := range variants {
		s := v.Runs[len(v.Runs)/2]
		if s.IdleGPUs > 0 {
			Wrap(w, "", fmt.Sprintf("%s: %d of %d GPUs are idle: its layout has no work for them.", v.Label,
				s.IdleGPUs, s.TrainingGPUs+s.IdleGPUs))
		}
		if more := s.Retransmissions - s.Trims; more > 0 && s.Drops == 0 {
			Wrap(w, "", fmt.Sprintf("%s: %s packets were sent again although %s: %s.", v.Label, count(more),
				map[bool]string{false: "none was lost", true: "they were neither lost nor cut"}[s.Trims > 0],
				map[bool]string{false: "reordering was taken for loss",
					true: "their time-out was shorter than their wait in queues"}[2*s.Timeouts > more]))
		}
		if lb := route.Lookup(s.LB); lb != nil && lb.Unmoved != "" && s.FlowletMoves == 0 {
			Wrap(w, "", fmt.Sprintf("%s: %s", v.Label, lb.Unmoved))
		}
		if s.Slowest != nil && len(v.Runs) == 1 {
			Wrap(w, "", fmt.Sprintf("%s: slowest flow %s → %s: %s", v.Label, s.Slowest.From, s.Slowest.To,
				s.Slowest.Why))
		}
	}
}

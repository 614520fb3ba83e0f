package interference

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"railyard/internal/input"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/study"
	"railyard/internal/workload"
	"railyard/unit"
)

// Slowdown is a job's slowdown by the other jobs.
type Slowdown struct {
	Job      string  `json:"job"`
	GPUs     int     `json:"gpus"`
	Start    int64   `json:"start_ps"`
	Alone    int64   `json:"alone_ps"`    // time until its last operation ended
	Together int64   `json:"together_ps"` // likewise
	Slowdown float64 `json:"slowdown"`    // ratio to that; 0 if a rank was lost
	// whether its messages start at fixed times: their durations are compared
	Open     bool     `json:"open_loop"`
	Messages Messages `json:"messages"`
	Lost     Lost     `json:"lost_a_rank"`
}

// Lost is in which of the runs a job lost a rank.
type Lost struct {
	Alone    bool `json:"alone"`
	Together bool `json:"together"`
}

// Any reports that it did.
func (l Lost) Any() bool { return l.Alone || l.Together }

// Messages is the slowdown of a job's messages: the ratio of each to the same one of the job alone.
type Messages struct {
	Count  int     `json:"count"`
	Mean   float64 `json:"mean"`
	Median float64 `json:"p50"`
	P99    float64 `json:"p99"`
}

// Label is the one figure of a plot.
func (j *Slowdown) Label() string {
	switch {
	case j.Lost.Any():
		return "rank lost"
	case j.Open:
		return fmt.Sprintf("p99 %.2fx", j.Messages.P99)
	}
	return fmt.Sprintf("%.2fx", j.Slowdown)
}

// Took is a job's time in one of the runs.
func Took(ps int64, lost bool) string {
	if lost {
		return "rank lost"
	}
	return unit.Time(ps).Show()
}

// Simulate simulates all jobs of a plan together, and each alone on its GPUs, with its seed and the following ones.
// again resolves the plan anew, with the scenario's seed plus n.
func Simulate(ctx context.Context, pool *study.Pool, plan *scenario.Plan, seeds int,
	again func(n uint64) (*scenario.Plan, error)) (*Result, error) {
	switch n := len(plan.Jobs); {
	case n < 2:
		return nil, input.Fault(plan.Refuse("jobs", "there is one: interference is between two and more"))
	case n > maxAlone:
		return nil, input.Fault(plan.Refuse("jobs", "there are %d; at most %d are simulated alone", n, maxAlone))
	}
	var names []string
	for i := range plan.Jobs {
		names = append(names, plan.Jobs[i].Name)
	}
	runs := 1 + len(names) // runs of a seed: all jobs together, and each job alone
	all := make([]*study.Outcome, seeds*runs)
	open := make([]bool, len(names))
	for i := range plan.Jobs {
		open[i] = plan.Jobs[i].Open
	}
	pool.Flows = true
	pool.Expect(len(all))
	err := pool.Each(ctx, len(all), func(i int) (err error) {
		plan, err := again(uint64(i / runs))
		if err != nil {
			return err
		}
		label := "together"
		if n := i % runs; n > 0 {
			label = names[n-1] + " alone"
			plan.Jobs = onlyJob(plan.Jobs, names[n-1])
		}
		if seeds > 1 {
			label += fmt.Sprintf(", seed %d", plan.Seed)
		}
		o, err := pool.Simulate(ctx, label, plan, 0)
		switch {
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			err = o.Err
			if err == nil && o.Summary.Outcome == nil {
				err = o.Failed
			}
		}
		if all[i] = o; err != nil {
			return fmt.Errorf("%s: %w", label, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	together := all[0]
	out := &Result{Name: together.Summary.Name, Fidelity: together.Summary.Fidelity,
		Expected: together.Summary.Expected, Meetings: together.Summary.Meetings,
		Outcome: together.Summary.Outcome}
	out.Jobs = slowdowns(all[:runs], names, open)
	if seeds > 1 {
		for s := range slices.Chunk(all, runs) {
			out.Seeds = append(out.Seeds, slowdowns(s, names, open))
		}
	}
	return out, nil
}

// slowdowns compares the jobs of one random seed. all[0] is the outcome of all jobs together, and the others are
// the outcomes of each job alone.
func slowdowns(all []*study.Outcome, names []string, open []bool) (rows []Slowdown) {
	together := all[0]
	for i := range together.Summary.Jobs {
		j := &together.Summary.Jobs[i]
		n := slices.Index(names, j.Name)
		row := Slowdown{Job: j.Name, GPUs: j.GPUs, Start: j.Start, Open: open[n]}
		row.against(j, &all[1+n].Summary.Jobs[0], together.Tables.Flows, all[1+n].Tables.Flows)
		rows = append(rows, row)
	}
	return rows
}

// against adds the results of a job's run alone.
func (j *Slowdown) against(together, alone *result.Job, both, own []result.FlowRow) {
	j.Alone, j.Together = alone.StepTime, together.StepTime
	if j.Lost = (Lost{!alone.Complete, !together.Complete}); !j.Lost.Any() {
		j.Slowdown = float64(j.Together) / float64(max(1, j.Alone))
	}
	mine := slices.DeleteFunc(slices.Clone(both), func(f result.FlowRow) bool { return f.Job != j.Job })
	j.Messages = Compare(mine, own)
}

// Compare compares the messages of two runs of the same work, in the order in which each pair of GPUs
// sent them.
func Compare(together, alone []result.FlowRow) (m Messages) {
	order := func(a, b result.FlowRow) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Bytes, b.Bytes),
			cmp.Compare(a.Posted, b.Posted), cmp.Compare(a.Message, b.Message))
	}
	if len(together) != len(alone) { // a table was full, or a rank was lost
		return m
	}
	x, y := slices.SortedFunc(slices.Values(together), order), slices.SortedFunc(slices.Values(alone), order)
	var ratios []float64
	for i := range x {
		if x[i].Done > x[i].Posted && y[i].Done > y[i].Posted {
			r := float64(x[i].Done-x[i].Posted) / float64(y[i].Done-y[i].Posted)
			ratios = append(ratios, r)
			m.Mean += r
		}
	}
	if m.Count = len(ratios); m.Count == 0 {
		return m
	}
	slices.Sort(ratios)
	m.Mean /= float64(m.Count)
	m.Median, m.P99 = ratios[(m.Count-1)/2], ratios[result.NearestRank(m.Count, 99)]
	return m
}

// onlyJob is the job of a name, alone.
func onlyJob(jobs []workload.Job, name string) []workload.Job {
	i := slices.IndexFunc(jobs, func(j workload.Job) bool { return j.Name == name })
	return jobs[i : i+1] // the name belongs to a run of the same jobs
}

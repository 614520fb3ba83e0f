package main

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/workload"
	"railyard/unit"
)

// slowdown is what the others cost a job.
type slowdown struct {
	Job      string   `json:"job"`
	GPUs     int      `json:"gpus"`
	Start    int64    `json:"start_ps"`
	Alone    int64    `json:"alone_ps"`    // until its last operation ended
	Together int64    `json:"together_ps"` // likewise
	Slowdown float64  `json:"slowdown"`    // of that; 0 where a rank was lost
	Open     bool     `json:"open_loop"`   // its messages begin when they would alone: their times count
	Messages slowMsgs `json:"messages"`
	Lost     lostIn   `json:"lost_a_rank"`
}

// lostIn is in which of the runs a job lost a rank.
type lostIn struct {
	Alone    bool `json:"alone"`
	Together bool `json:"together"`
}

// any reports that it did.
func (l lostIn) any() bool { return l.Alone || l.Together }

// slowMsgs is how much longer a job's messages took: the ratio of each to the same one of the job alone.
type slowMsgs struct {
	Count  int     `json:"count"`
	Mean   float64 `json:"mean"`
	Median float64 `json:"p50"`
	P99    float64 `json:"p99"`
}

// words say it for a table; nothing where no message ran both times.
func (m *slowMsgs) words() string {
	if m.Count == 0 {
		return "-\t-"
	}
	return fmt.Sprintf("%.3fx\t%.3fx", m.Median, m.P99)
}

// ratio is how the job's time is told.
func (j *slowdown) ratio() string {
	if j.Lost.any() || j.Open { // when the last of such messages ends says nothing of the others
		return "-"
	}
	return fmt.Sprintf("%.3fx", j.Slowdown)
}

// label is the one figure of a plot.
func (j *slowdown) label() string {
	switch {
	case j.Lost.any():
		return "rank lost"
	case j.Open:
		return fmt.Sprintf("p99 %.2fx", j.Messages.P99)
	}
	return fmt.Sprintf("%.2fx", j.Slowdown)
}

// took is a job's time in one of the runs.
func took(ps int64, lost bool) string {
	if lost {
		return "rank lost"
	}
	return unit.Time(ps).String()
}

// ran is one run of jobs to its end, which may be the loss of a rank.
func ran(e *env, plan *scenario.Plan) (*result.Summary, []result.FlowRow, error) {
	run, err := newRun(plan)
	if err != nil {
		return nil, nil, err
	}
	if err := simulate(run, e); err != nil {
		return nil, nil, err
	}
	s, t, _ := run.Outcome(version())
	if f := run.Failed(); f != nil && s.Outcome == nil {
		return nil, nil, f
	}
	return s, t.Flows, nil
}

// against fills in what a job's run alone says beside the one together.
func (j *slowdown) against(together, alone *result.Job, both, own []result.FlowRow) {
	j.Alone, j.Together = alone.StepTime, together.StepTime
	if j.Lost = (lostIn{!alone.Complete, !together.Complete}); !j.Lost.any() {
		j.Slowdown = float64(j.Together) / float64(max(1, j.Alone))
	}
	mine := slices.DeleteFunc(slices.Clone(both), func(f result.FlowRow) bool { return f.Job != j.Job })
	j.Messages = slowerBy(mine, own)
}

// slowerBy compares the messages of two runs of the same work, in the order in which each pair of GPUs
// sent them.
func slowerBy(together, alone []result.FlowRow) (m slowMsgs) {
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
	m.Median, m.P99 = ratios[(m.Count-1)/2], ratios[(m.Count*99+99)/100-1]
	return m
}

// onlyJob is the job of a name, alone.
func onlyJob(jobs []workload.Job, name string) []workload.Job {
	i := slices.IndexFunc(jobs, func(j workload.Job) bool { return j.Name == name })
	return jobs[i : i+1] // the name comes from a run of the same jobs
}

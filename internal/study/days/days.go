// Package days prepares plan goodput. From a scenario and flags (Question) about a job, its failures and its
// checkpoints it builds the input of package goodput.
package days

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"railyard/internal/field"
	"railyard/internal/goodput"
	"railyard/internal/input"
	"railyard/internal/planner"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/study/layouts"
	"railyard/internal/workload"
	"railyard/unit"
)

// Question is the flags about a job. Zero values take the scenario's or the default.
type Question struct {
	Scenario            string // empty: none
	Set                 []string
	GPUs, PerServer     int
	Days                float64
	Rates               string // file
	Detect, Restart     *time.Duration
	Checkpoint, Storage string
	Async               bool
	Snapshot            *time.Duration // time to copy GPU state to host memory; nil: snapshot, at most the write
	Interval, Step      time.Duration
	Estimate            bool
	Spares              int
	Repair              time.Duration
	Short               bool
	Replica, Seeds      int
	Seed                uint64
}

// checkpointBytes is the bytes per parameter in a checkpoint: bf16 weights, and fp32 weights with both of Adam's
// moments.
const checkpointBytes = 14

// snapshot is the time of a copy of GPU state to pinned host memory: "several seconds" (Jiang et al., MegaScale, NSDI
// 2024, section 4.4).
const snapshot = 5 * time.Second

// snapshot returns the stall of an asynchronous checkpoint. By default it is at most the write time, for which a
// synchronous checkpoint would stall.
func (c *Question) snapshot(write goodput.Span) goodput.Span {
	if c.Snapshot != nil {
		return span(*c.Snapshot)
	}
	return min(span(snapshot), write)
}

// Report is an outcome with its input.
type Report struct {
	*goodput.Result
	Checkpoint unit.Bytes `json:"checkpoint_bytes"`
	Storage    float64    `json:"storage_bytes_per_second"`
	Async      bool       `json:"async"`
	Stall      float64    `json:"stall_seconds"`
	Write      float64    `json:"write_seconds"`
	Detect     float64    `json:"detect_seconds"`
	Restart    float64    `json:"restart_seconds"` // reading the checkpoint included
	Step       float64    `json:"step_seconds,omitempty"`
	StepBy     string     `json:"step_by,omitempty"`
	Spares     int        `json:"spares"` // -1: the number that the failures need
	Repair     float64    `json:"repair_seconds,omitempty"`
	Short      bool       `json:"-"`
	// Other is the same job with asynchronous checkpoints, if those gain at least half a percent of the time.
	Other *Asynchronous `json:"asynchronous,omitempty"`
}

// Asynchronous is the effective time with asynchronous checkpoints.
type Asynchronous struct {
	Effective float64 `json:"effective"`
	Interval  float64 `json:"interval_seconds"`
	Stall     float64 `json:"stall_seconds"`
}

// leastGain is the share of the time from which on a gain is worth a line.
const leastGain = 0.005

// Asynchronous returns the same input with asynchronous checkpoints. false: they would not gain enough to mention,
// even without any loss by writes and lost work.
func (c *Question) Asynchronous(in goodput.Input, r *Report) (goodput.Input, bool) {
	write := goodput.Seconds(r.Write)
	in.Stall, in.Write = c.snapshot(write), write
	lost := r.Chosen.Where.Checkpoint + r.Chosen.Where.Lost
	return in, !r.Async && in.Stall < write && lost >= leastGain
}

// Useless reports whether asynchronous checkpoints stop the training for the time of synchronous ones, or longer.
func (r *Report) Useless() bool { return r.Async && r.Stall >= r.Write }

// Compare stores the effective time with asynchronous checkpoints, if it is sufficiently larger.
func (r *Report) Compare(in *goodput.Input, other *goodput.Result) {
	if p := &other.Chosen; p.Effective.Mean-r.Chosen.Effective.Mean >= leastGain {
		r.Other = &Asynchronous{p.Effective.Mean, p.Interval, in.Stall.Seconds()}
	}
}

// AtOptimum reports whether no other interval leaves noticeably more of the time, because the sum of writes and
// lost work is minimal.
func (r *Report) AtOptimum() bool {
	const noticeable = 0.001
	for i := range r.Points {
		if r.Points[i].Effective.Mean > r.Chosen.Effective.Mean+noticeable {
			return false
		}
	}
	return r.PerDay > 0 && r.Stall > 0
}

// Input combines the scenario and the flags. Errors name flags. simulate returns the steps of a plan as a run.
func (c *Question) Input(simulate func(*scenario.Plan) (*result.Summary, error)) (in goodput.Input, r Report,
	err error) {
	if err := c.coarse(); err != nil {
		return in, r, err
	}
	in = goodput.Input{GPUs: c.GPUs, PerServer: 8, Days: c.Days,
		Detect: span(or(c.Detect, time.Minute)), Restart: span(or(c.Restart, 10*time.Minute)),
		Interval: span(c.Interval), Step: span(c.Step), Spares: c.Spares, Repair: span(c.Repair),
		Replica: c.Replica,
		Seed:    c.Seed, Seeds: c.Seeds}
	size := c.Checkpoint
	var plan *scenario.Plan
	if c.Scenario != "" {
		resolve := scenariofile.Checked
		if c.Step == 0 && !c.Estimate { // the step is simulated
			resolve = func(path string, sets []string) (*scenario.Plan, error) {
				return scenariofile.Plan(path, sets, nil)
			}
		}
		if plan, err = resolve(c.Scenario, c.Set); err != nil {
			return in, r, err
		}
		c.fromJob(&in, plan, &size)
	} else if c.Estimate || len(c.Set) > 0 {
		return in, r, input.Fault(errors.New("--estimate and --set need a scenario"))
	}
	if in.PerServer = min(in.PerServer, max(1, in.GPUs)); c.PerServer > 0 {
		in.PerServer = c.PerServer
	}
	switch {
	case in.GPUs == 0:
		return in, r, field.New("--gpus", "is missing: how many, or which SCENARIO?")
	case c.Short && in.Replica == 0:
		return in, r, field.New("--replica", "is missing: how many GPUs has one?")
	case !c.Short:
		in.Replica = 0
	}
	if in.Rates, err = c.rates(in); err != nil {
		return in, r, err
	}
	if err = c.storage(&in, &r, size); err != nil {
		return in, r, err
	}
	if err = in.Check(); err != nil {
		return in, r, field.Flags(err)
	}
	r.StepBy, r.Short = "as given", c.Short
	if c.Step == 0 {
		if in.Step, r.StepBy, err = c.step(simulate, plan); err != nil {
			return in, r, err
		}
	}
	r.Step, r.Spares, r.Detect, r.Restart = in.Step.Seconds(), in.Spares, in.Detect.Seconds(),
		in.Restart.Seconds()
	if in.Spares >= 0 {
		r.Repair = in.Repair.Seconds()
	}
	return in, r, nil
}

// or returns a flag's value, d if the flag is not set.
func or(flag *time.Duration, d time.Duration) time.Duration {
	if flag == nil {
		return d
	}
	return *flag
}

// fromFailure sets unset flags from the scenario's on_failure, with its defaults. Hanging collectives reveal a
// failure, after 10 minutes by default (the watchdog of NCCL in PyTorch).
func (c *Question) fromFailure(in *goodput.Input, plan *scenario.Plan) {
	for _, x := range []struct {
		given bool
		says  unit.Time
		to    *goodput.Span
	}{{c.Detect != nil, plan.Patience, &in.Detect}, {c.Restart != nil, plan.Restart, &in.Restart},
		{c.Interval > 0, plan.Checkpoint, &in.Interval}} {
		if !x.given && x.says > 0 {
			*x.to = goodput.Span(x.says / unit.Microsecond)
		}
	}
}

// fromJob fills in values without a flag.
func (c *Question) fromJob(in *goodput.Input, plan *scenario.Plan, size *string) {
	c.fromFailure(in, plan)
	gpus, hosts := plan.Graph.TotalGPUs(), 0
	for host := range plan.Graph.Hosts {
		if first, last := plan.Graph.GPUsOf(host); last > first {
			hosts++
		}
	}
	in.PerServer = (gpus + hosts - 1) / max(1, hosts) // the mean of servers that differ
	if t := plan.Jobs[0].Training; t != nil {
		gpus = t.Layout.GPUs()
		if t.Fold {
			in.PerServer *= t.TP // a server's GPUs are tensor parallel groups
		}
		if in.Replica == 0 {
			in.Replica = t.TP * t.PP * t.CP
		}
		each := int64(checkpointBytes)
		if k := t.Checkpoint; k != nil {
			each, c.Async = int64(k.Bytes), c.Async || k.Mode == workload.Async
			if k.Copy > 0 && *size == "" && c.Snapshot == nil {
				copied := time.Duration(t.CopyTime() / 1000)
				copied = copied.Round(time.Microsecond)
				c.Snapshot = &copied
			}
		}
		if *size == "" {
			*size = fmt.Sprintf("%dB", t.Model.Params()*each)
		}
	}
	if rate := plan.Takes(); rate > 0 && c.Storage == "" {
		c.Storage = fmt.Sprintf("%dbps", int64(rate))
	}
	if in.GPUs == 0 {
		in.GPUs = gpus
	}
}

// coarse refuses times below the resolution of days.
func (c *Question) coarse() error {
	for _, x := range []struct {
		flag string
		d    time.Duration
	}{{"detect", or(c.Detect, 0)}, {"restart", or(c.Restart, 0)}, {"snapshot", or(c.Snapshot, 0)},
		{"interval", c.Interval}, {"step", c.Step}, {"repair", c.Repair}} {
		if x.d%time.Microsecond != 0 {
			return field.New("--"+x.flag,
				"%v is finer than a microsecond, which is the least that is counted", x.d)
		}
	}
	if days := c.Step.Hours() / 24; days >= c.Days {
		return field.New("--step", "a step of %.4g days is not over in %g", days, c.Days)
	}
	return nil
}

// span is a time on the command line.
func span(d time.Duration) goodput.Span { return goodput.Span(d.Microseconds()) }

// rates returns the rates of the published set or of the file, by default those of Llama 3.
func (c *Question) rates(in goodput.Input) (*goodput.Rates, error) {
	r, known := goodput.Named(cmp.Or(c.Rates, goodput.Sets[0].Name))
	placed := func(err error) error { return err }
	if !known {
		text, err := input.Text(c.Rates, 1<<16)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, field.Choice("--rates", c.Rates, append(goodput.SetNames(), "a file"), "no file %s",
				field.Quote(c.Rates))
		}
		if err != nil {
			return nil, input.Fault(err)
		}
		r = &goodput.Rates{}
		if placed, err = scenario.Read(c.Rates, text, r); err != nil {
			return nil, input.Fault(err)
		}
	}
	if err := r.Check(in.GPUs, max(1, in.PerServer)); err != nil {
		return nil, input.Fault(placed(err))
	}
	return r, nil
}

// storage returns a checkpoint's stall of all ranks, and the time until it is valid.
func (c *Question) storage(in *goodput.Input, r *Report, size string) (err error) {
	if size == "" {
		return field.New("--checkpoint", "is missing: how large is a checkpoint?")
	}
	if r.Checkpoint, err = unit.ParseBytes(size); err != nil {
		return field.Under("--checkpoint", err)
	}
	if r.Checkpoint <= 0 {
		return field.New("--checkpoint", "must be more than nothing, found %v", r.Checkpoint)
	}
	if c.Storage == "" {
		c.Storage = "100GB/s"
	}
	rate, err := unit.ParseRate(c.Storage)
	if err == nil && rate <= 0 {
		err = errors.New("must be more than nothing")
	}
	if err != nil {
		return field.Under("--storage", err)
	}
	r.Storage, r.Async = float64(rate)/8, c.Async
	write := goodput.Seconds(float64(r.Checkpoint) / r.Storage)
	if write.Seconds() > c.Days*86400 {
		return field.New("--storage", "takes %s for a checkpoint of %.4g GB: more than all %g days",
			Brief(write.Seconds()), float64(r.Checkpoint)/1e9, c.Days)
	}
	in.Restart += write // the checkpoint is read at the rate of the write
	if in.Stall = write; c.Async {
		in.Stall, in.Write = c.snapshot(write), write
	}
	r.Stall, r.Write = in.Stall.Seconds(), write.Seconds()
	return nil
}

// step returns the scenario's step time, and its source.
func (c *Question) step(simulate func(*scenario.Plan) (*result.Summary, error),
	plan *scenario.Plan) (goodput.Span, string, error) {
	if plan == nil || plan.Jobs[0].Training == nil {
		return 0, "", field.New("--step", "is missing: how long does a step take, or which SCENARIO with a training?")
	}
	if c.Estimate {
		t := plan.Jobs[0].Training
		if t.Fold {
			return 0, "", field.New("--estimate", "the scenario is one rail of several (workload.training.fold), and the cost model takes all: leave out --estimate to simulate the step, or set it with --step")
		}
		in := planner.SearchInput{Training: *t, Site: layouts.SiteOf(plan, t.Layout.GPUs(), t)}
		return goodput.Seconds(in.Estimate(t.Layout).Seconds), "by the cost model", nil
	}
	s, err := simulate(plan)
	if err != nil {
		return 0, "", err
	}
	// checkpoints count by their own interval
	each := (s.StepTime - s.ExposedSave) / int64(plan.Jobs[0].Training.StepsInRow())
	return goodput.Seconds(unit.Time(each).Seconds()), "simulated", nil
}

// Brief formats seconds in the unit that people would take, with three digits.
func Brief(s float64) string {
	for _, u := range []struct {
		from, scale float64
		name        string
	}{{2 * 86400, 86400, "days"}, {2 * 3600, 3600, "h"}, {120, 60, "min"}, {0.9995, 1, "s"}} {
		if s >= u.from {
			return unit.Digits(s/u.scale) + " " + u.name
		}
	}
	return unit.Digits(s*1e3) + " ms"
}

package goodput

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"railyard/internal/field"
)

// Input is a training and its possible failures.
type Input struct {
	GPUs      int
	PerServer int
	Days      float64
	Rates     *Rates

	Detect   Span // time from a failure to its detection
	Restart  Span // time from detection to the first step, including reading the checkpoint
	Stall    Span // time for which all ranks stop for each checkpoint
	Write    Span // a checkpoint is valid this time after its stall; 0: immediately
	Interval Span // work between checkpoints; 0: Daly's interval
	Step     Span // checkpoints are made between steps; 0: at any time

	Spares  int // servers in addition to the job's; -1: unlimited
	Repair  Span
	Replica int // GPUs per replica, of which a degraded job omits some; 0: the job waits

	Seed  uint64
	Seeds int
}

// Bounds of an input, and of the simulation.
const (
	maxGPUs  = 10_000_000
	maxDays  = 3650
	maxSeeds = 1000
	maxDrawn = 20_000_000
)

func (in *Input) servers() int { return (in.GPUs + in.PerServer - 1) / in.PerServer }

func (in *Input) length() Span { return Seconds(in.Days * 86400) }

// Check refuses impossible inputs; the names are the names of the flags.
func (in *Input) Check() error {
	switch {
	case in.GPUs < 1 || in.GPUs > maxGPUs:
		return field.Outside("gpus", 1, maxGPUs, in.GPUs)
	case in.PerServer < 1 || in.PerServer > in.GPUs:
		return field.Outside("per_server", 1, in.GPUs, in.PerServer)
	case in.GPUs%in.PerServer != 0:
		return field.New("gpus", "%d are not a whole number of servers of %d", in.GPUs, in.PerServer)
	case !(in.Days > 0) || in.Days > maxDays:
		return field.New("days", "must be more than 0 and at most %d, found %g", maxDays, in.Days)
	case in.Seeds < 1 || in.Seeds > maxSeeds:
		return field.Outside("seeds", 1, maxSeeds, in.Seeds)
	case in.Spares < -1 || in.Spares > maxGPUs:
		return field.Outside("spares", 0, maxGPUs, in.Spares)
	case in.Replica < 0 || in.Replica > in.GPUs || in.Replica > 0 && in.GPUs%in.Replica != 0:
		return field.New("replica", "%d GPUs do not divide the %d of the job", in.Replica, in.GPUs)
	}
	for _, x := range []struct {
		key string
		v   Span
	}{{"detect", in.Detect}, {"restart", in.Restart}, {"stall", in.Stall}, {"write", in.Write},
		{"interval", in.Interval}, {"step", in.Step}, {"repair", in.Repair}} {
		if x.v < 0 || x.v > maxDays*Day {
			return field.New(x.key, "%g s is out of range 0–%d days", x.v.Seconds(), maxDays)
		}
	}
	return nil
}

// Share is a share of the time over seeds.
type Share struct {
	Mean float64 `json:"mean"`
	SD   float64 `json:"standard_deviation"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

// Point is one interval between checkpoints.
type Point struct {
	Interval  float64 `json:"interval_seconds"`
	Effective Share   `json:"effective"`
	Expected  float64 `json:"closed_form,omitempty"` // share by Daly's formula, if it applies
	Where     Where   `json:"where"`
}

// Where divides the time by activity, as shares, mean over seeds.
type Where struct {
	Checkpoint float64 `json:"checkpoints"`
	Lost       float64 `json:"work_lost"`
	Detect     float64 `json:"detection"`
	Restart    float64 `json:"restart"`
	Wait       float64 `json:"waiting_for_servers"`
	Short      float64 `json:"running_short"`
}

// Part counts the failures of a component.
type Part struct {
	Component string  `json:"component"`
	PerDay    float64 `json:"per_day"`    // expected
	Drawn     float64 `json:"drawn_mean"` // total over all days, mean over seeds
	// total, mean over seeds: repeated work, detection, restart, waiting
	Lost float64 `json:"lost_gpu_hours"`
	Job  bool    `json:"per_job,omitempty"` // per job, for any number of GPUs
}

// Result is the outcome of a training.
type Result struct {
	GPUs     int     `json:"gpus"`
	Servers  int     `json:"servers"`
	Days     float64 `json:"days"`
	Seeds    int     `json:"seeds"`
	Source   string  `json:"rates_source"`
	PerDay   float64 `json:"failures_per_day"`
	MTBF     float64 `json:"mtbf_seconds"` // 0: nothing fails
	Parts    []Part  `json:"components"`
	Young    float64 `json:"young_seconds"`
	Daly     float64 `json:"daly_seconds"`
	Chosen   Point   `json:"chosen"`
	Best     float64 `json:"best_simulated_seconds"` // shortest of the intervals' times below
	Points   []Point `json:"intervals"`
	Steps    float64 `json:"steps_mean,omitempty"`
	Restarts float64 `json:"restarts_mean"`
	Out      int     `json:"servers_in_repair_most"`
}

// around are the simulated intervals, relative to the best by formula.
var around = []float64{1.0 / 8, 1.0 / 4, 1.0 / 2, math.Sqrt2 / 2, 1, math.Sqrt2, 2, 4, 8}

// ErrStopped is the error of a stopped Run.
var ErrStopped = errors.New("stopped")

// Run simulates a training with every interval and seed. It calls goOn between jobs, with the completed share.
func Run(in Input, goOn func(done float64) bool) (*Result, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	parts, err := in.Rates.parts(in.GPUs, in.PerServer)
	if err != nil {
		return nil, err
	}
	r := &Result{GPUs: in.GPUs, Servers: in.servers(), Days: in.Days, Seeds: in.Seeds,
		Source: in.Rates.Source}
	for _, p := range parts {
		r.PerDay += p.second * 86400
		r.Parts = append(r.Parts, Part{Component: p.name, PerDay: p.second * 86400, Job: p.job})
	}
	mtbf := math.Inf(1)
	if r.PerDay > 0 {
		mtbf = 86400 / r.PerDay
		r.MTBF = mtbf
		r.Young, r.Daly = Young(in.Stall.Seconds(), mtbf), Daly(in.Stall.Seconds(), mtbf)
	}
	if n := r.PerDay * in.Days * float64(in.Seeds*(len(around)+1)); n > maxDrawn {
		return nil, field.New("days",
			"%.3g failures would be drawn, the limit is %.3g: use fewer days or seeds", n,
			float64(maxDrawn))
	}
	chosen := in.chosen(r.Daly, r.PerDay > 0)
	intervals := in.intervals(chosen)
	for n := 0; n < len(intervals); n++ {
		tau := intervals[n]
		p, all, err := in.point(parts, tau, mtbf, func(seed float64) bool {
			return goOn == nil || goOn((float64(n)+seed)/float64(len(intervals)))
		})
		if err != nil {
			return nil, err
		}
		if len(r.Points) == 0 || p.Effective.Mean > r.at(r.Best).Effective.Mean {
			r.Best = p.Interval
		}
		r.Points = append(r.Points, p)
		if tau == chosen {
			r.choose(in, p, all)
		}
		if more := in.beyond(r, intervals); n+1 == len(intervals) && more > 0 {
			intervals = append(intervals, more)
		}
	}
	slices.SortFunc(r.Points, func(a, b Point) int { return cmp.Compare(a.Interval, b.Interval) })
	return r, nil
}

// beyond returns half the shortest interval or twice the longest one if that is the best so far; 0: the best is between
// others, or nothing is to be found there.
func (in *Input) beyond(r *Result, all []Span) Span {
	least, most := slices.Min(all), slices.Max(all)
	half, twice := in.steps(least/2), in.steps(2*most)
	switch {
	case r.PerDay == 0 || in.Stall == 0 || len(all) < 2:
	case r.Best == least.Seconds() && half < least && half >= in.Stall:
		return half
	case r.Best == most.Seconds() && twice < in.length():
		return twice
	}
	return 0
}

func (r *Result) at(interval float64) Point {
	for _, p := range r.Points {
		if p.Interval == interval {
			return p
		}
	}
	return Point{}
}

// choose discards the details of all but the chosen interval.
func (r *Result) choose(in Input, p Point, all []Account) {
	r.Chosen = p
	n := float64(len(all))
	for _, a := range all {
		for i, k := range a.Failures {
			r.Parts[i].Drawn += float64(k) / n
			r.Parts[i].Lost += a.Cost[i].Seconds() / 3600 * float64(in.GPUs) / n
		}
		r.Restarts += float64(a.Restarts) / n
		r.Out = max(r.Out, a.Out)
		if in.Step > 0 {
			r.Steps += float64(a.Useful) / float64(in.Step) / n
		}
	}
}

// chosen is the given interval, or the best by formula, at least the time to write a checkpoint. Without failures
// it is at least an hour.
func (in *Input) chosen(daly float64, fails bool) Span {
	tau := in.Interval
	if tau == 0 {
		if tau = max(Seconds(daly), in.Write, Second); !fails {
			tau = max(tau, Hour)
		}
	}
	return in.steps(tau)
}

// steps returns an interval as a whole number of steps, at least one.
func (in *Input) steps(tau Span) Span {
	if in.Step > 0 {
		tau = max(1, (tau+in.Step/2)/in.Step) * in.Step
	}
	return max(tau, Second/1000)
}

// intervals are those around the chosen one that are shorter than the training, in order and without repetitions.
func (in *Input) intervals(chosen Span) (out []Span) {
	for _, f := range around {
		tau := in.steps(Span(math.Round(float64(chosen) * f)))
		if f == 1 {
			tau = chosen
		}
		if (tau == chosen || tau < in.length()) && (len(out) == 0 || tau > out[len(out)-1]) {
			out = append(out, tau)
		}
	}
	return out
}

// point simulates one interval with every seed.
func (in *Input) point(parts []part, tau Span, mtbf float64, goOn func(float64) bool) (Point, []Account,
	error) {
	p := Point{Interval: tau.Seconds()}
	if in.Write == 0 && in.Spares < 0 {
		p.Expected = Expected(tau.Seconds(), in.Stall.Seconds(), mtbf, in.Detect.Seconds(),
			in.Restart.Seconds())
	}
	all := make([]Account, in.Seeds)
	sum, square := 0.0, 0.0
	p.Effective.Min = 1
	n := float64(in.Seeds)
	for i := range all {
		if !goOn(float64(i) / n) {
			return p, nil, ErrStopped
		}
		all[i] = simulate(in, parts, tau, in.Seed+uint64(i))
		a, whole := &all[i], float64(in.length())
		e := float64(a.Useful) / whole
		sum += e
		p.Effective.Min, p.Effective.Max = min(p.Effective.Min, e), max(p.Effective.Max, e)
		for _, s := range []struct {
			to *float64
			v  Span
		}{{&p.Where.Checkpoint, a.Checkpoint}, {&p.Where.Lost, a.Lost}, {&p.Where.Detect, a.Detect},
			{&p.Where.Restart, a.Restart}, {&p.Where.Wait, a.Wait}, {&p.Where.Short, a.Short}} {
			*s.to += float64(s.v) / whole / n
		}
	}
	p.Effective.Mean = sum / n
	for i := range all {
		d := float64(all[i].Useful)/float64(in.length()) - p.Effective.Mean
		square += float64(d * d)
	}
	if in.Seeds > 1 {
		p.Effective.SD = math.Sqrt(square / (n - 1))
	}
	return p, all, nil
}

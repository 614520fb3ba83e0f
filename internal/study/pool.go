// Package study simulates variants of a scenario: crossed settings (Cross), each with several seeds (Comparison).
// They run on workers that share one memory budget (Pool), with a journal from which an interrupted study resumes
// (Journal). The caller, or a package below this one, defines the variation and the evaluation.
package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"railyard/internal/exec"
	"railyard/internal/fidelity"
	"railyard/internal/result"
	"railyard/internal/runner"
	"railyard/internal/scenario"
	"railyard/unit"

	"golang.org/x/sync/semaphore"
)

// Pool simulates plans on workers. Runs begin when their estimates together fit the memory. One that needs all of
// it runs alone. Results do not depend on the number of workers.
type Pool struct {
	Workers  int        // 0: one per processor
	Memory   unit.Bytes // memory of all runs together; 0: no limit
	Progress func(State)
	Before   func(Ahead) // receives estimates before runs begin, each at least twice the one before; may be nil
	Trials   Trials      // outcomes of an earlier process, and an engine; nil: every run is simulated here
	Flows    bool        // Simulate also returns the table of messages of simulations in Trials
	Labels   []string    // of a comparison's variants in their order, the baseline first; nil: no order

	rounds
	once  sync.Once
	room  *semaphore.Weighted
	mu    sync.Mutex
	total int // expected number of simulations
	done  int
	most  float64                    // seconds of the longest run that Before received
	lost  error                      // error that has ended the study
	share map[*scenario.Plan]float64 // share of the running simulations
}

// WorthSaying is the length of a run or a study, in seconds, from which its estimate is printed.
const WorthSaying = 10

// State is the progress of one run, and of the study.
type State struct {
	Label       string
	Run         exec.Progress // zero when it has ended
	Done, Total int
	Share       float64 // completed share of the study
}

// Ahead is the estimate of a run that is about to begin, and of the study.
type Ahead struct {
	Label string
	Plan  *scenario.Plan
	Cost  fidelity.Cost
	Total int // simulations of the study
}

// Outcome is the result of a run.
type Outcome struct {
	Summary *result.Summary
	Tables  *result.Tables
	Err     error // reason why the simulation did not finish; Summary has its progress
	Failed  error // reason why the job did not finish: a rank was lost
	Late    bool  // the run was abandoned at the time given to Simulate
}

// Whole is Simulate for callers that need a finished run: any other is an error.
func (p *Pool) Whole(ctx context.Context, label string, plan *scenario.Plan) (*result.Summary, *result.Tables, error) {
	o, err := p.Simulate(ctx, label, plan, 0)
	if err == nil {
		err = o.Why()
	}
	if err != nil {
		return nil, nil, err
	}
	return o.Summary, o.Tables, nil
}

// Why returns why the run did not end; nil if it did.
func (o *Outcome) Why() error { return cmp.Or(o.Err, o.Failed) }

// Expect adds to the simulations that Progress takes a share of.
func (p *Pool) Expect(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total += n
}

// Each calls do for 0 to n-1 on the workers, starting in that order, until ctx ends. After an error no later call
// starts. Each returns the error with the lowest number, which does not depend on the workers, and
// runner.ErrInterrupted when ctx ends.
func (p *Pool) Each(ctx context.Context, n int, do func(i int) error) error {
	var all sync.WaitGroup
	errs := make([]error, n)
	var failed atomic.Bool
	p.begin(p.AtOnce())
	for i := range n {
		p.take()
		if ctx.Err() != nil || failed.Load() || p.broken() != nil {
			p.give()
			break
		}
		all.Go(func() {
			defer p.give()
			if errs[i] = do(i); errs[i] != nil {
				failed.Store(true)
			}
		})
	}
	p.working(-1)
	all.Wait()
	if ctx.Err() != nil {
		return runner.ErrInterrupted
	}
	for _, err := range append([]error{p.broken()}, errs...) {
		if err != nil {
			return err
		}
	}
	return nil
}

// AtOnce returns the number of simulations that run at a time.
func (p *Pool) AtOnce() int {
	if p.Workers > 0 {
		return p.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// budget returns the memory for estimates, which exclude retransmissions and samples.
func (p *Pool) budget() unit.Bytes { return p.Memory / 4 * 3 }

// Simulate runs a plan to its end, or until a simulated time unless that is 0. The error reports that it did not run:
// the plan is refused, memory is insufficient, or ctx was cancelled.
func (p *Pool) Simulate(ctx context.Context, label string, plan *scenario.Plan, until unit.Time) (*Outcome, error) {
	if p.Trials == nil {
		return p.here(ctx, label, plan, until)
	}
	id, err := p.Trials.ID(label, plan, until, p.Flows)
	if err != nil {
		return nil, err
	}
	o, err := p.Trials.Find(id)
	switch {
	case err != nil || o != nil:
		p.Finished()
		return o, err
	case p.Trials.Remote():
		return p.elsewhere(ctx, id)
	}
	if o, err = p.here(ctx, label, plan, until); err == nil && !errors.Is(o.Err, runner.ErrOutgrown) {
		err = p.Trials.Keep(id, o)
		p.ends(err)
	}
	return o, err
}

// ends ends the study with an error, unless that is nil: Each returns it.
func (p *Pool) ends(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = cmp.Or(p.lost, err)
}

// broken returns the error of ends.
func (p *Pool) broken() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

// here is Simulate in this process.
func (p *Pool) here(ctx context.Context, label string, plan *scenario.Plan, until unit.Time) (o *Outcome, err error) {
	defer func() {
		if x := recover(); x != nil { // a panic of one trial must not end thousands
			o, err = &Outcome{Err: fmt.Errorf("internal error: %v", x), Summary: &result.Summary{},
				Tables: &result.Tables{}}, nil
		}
	}()
	return p.hold(ctx, label, plan, func(run *fidelity.Simulation) (*Outcome, error) {
		late := false
		err := runner.Guarded(run, p.watch(ctx, label, plan, func(x exec.Progress) bool {
			late = until > 0 && x.Now > until
			return !late
		}), run.Go)
		if ctx.Err() != nil && run.Interrupted() && !late {
			return nil, runner.ErrInterrupted
		}
		o := &Outcome{Late: late, Failed: run.Failed()}
		if !late {
			o.Err = err
		}
		o.Summary, o.Tables, _ = run.Outcome(runner.Version())
		return o, nil
	})
}

// Write is Simulate to the end. It writes the run into a directory and replaces an existing one.
func (p *Pool) Write(ctx context.Context, label string, plan *scenario.Plan, dir string) (*Outcome, error) {
	return p.hold(ctx, label, plan, func(run *fidelity.Simulation) (*Outcome, error) {
		r := &runner.Runner{Plan: plan, Run: run, Version: runner.Version()}
		if err := r.Reserve(dir, true); err != nil {
			return nil, err
		}
		defer r.Release()
		o := &Outcome{}
		var lost error
		o.Err = runner.Guarded(run, p.watch(ctx, label, plan, nil), func(watch exec.Observer) (err error) {
			o.Summary, err, lost = r.Go(watch)
			return err
		})
		if ctx.Err() != nil && run.Interrupted() {
			return nil, runner.ErrInterrupted
		}
		if o.Failed = run.Failed(); o.Failed != nil {
			o.Err = nil
		}
		return o, lost
	})
}

// hold builds the run of a plan once its memory is free, and keeps the memory until do ends.
func (p *Pool) hold(ctx context.Context, label string, plan *scenario.Plan,
	do func(*fidelity.Simulation) (*Outcome, error)) (*Outcome, error) {
	p.once.Do(func() {
		p.share = map[*scenario.Plan]float64{}
		p.room = semaphore.NewWeighted(max(1, int64(p.budget())))
	})
	if ctx.Err() != nil {
		return nil, runner.ErrInterrupted
	}
	cost, build, err := runner.Prepare(plan, p.Memory)
	if err != nil {
		return nil, err
	}
	p.foretell(label, plan, cost)
	if p.Memory > 0 {
		held := max(0, min(int64(cost.Memory), int64(p.budget())))
		if p.room.Acquire(ctx, held) != nil {
			return nil, runner.ErrInterrupted
		}
		defer p.room.Release(held)
	}
	run, err := build()
	if err != nil {
		return nil, err
	}
	defer p.ended(plan, label)
	return do(run)
}

// foretell calls Before.
func (p *Pool) foretell(label string, plan *scenario.Plan, cost fidelity.Cost) {
	p.mu.Lock()
	defer p.mu.Unlock()
	seconds := cost.Seconds + cost.Causes
	if p.Before == nil || seconds < 2*p.most {
		return
	}
	total := max(p.total, p.done+1)
	rest := seconds * float64(total-p.done) / float64(min(p.AtOnce(), total-p.done))
	if rest > WorthSaying {
		p.most = seconds
		p.Before(Ahead{label, plan, cost, total})
	}
}

// watch observes a run for Progress. The run continues while more, unless nil, returns true and ctx has not ended.
func (p *Pool) watch(ctx context.Context, label string, plan *scenario.Plan, more exec.Observer) exec.Observer {
	return func(x exec.Progress) bool {
		p.tell(plan, label, x)
		return (more == nil || more(x)) && ctx.Err() == nil
	}
}

// tell reports the progress of a run, one call at a time.
func (p *Pool) tell(plan *scenario.Plan, label string, x exec.Progress) {
	if p.Progress == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.share[plan] = x.Share()
	p.report(label, x)
}

// Finished reports that a run has ended elsewhere.
func (p *Pool) Finished() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done++; p.Progress != nil {
		p.report("", exec.Progress{})
	}
}

// ended reports that a run has ended.
func (p *Pool) ended(plan *scenario.Plan, label string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.share, plan)
	if p.done++; p.Progress != nil {
		p.report(label, exec.Progress{})
	}
}

// report calls Progress.
func (p *Pool) report(label string, x exec.Progress) {
	total := max(p.total, p.done+len(p.share))
	s := State{Label: label, Run: x, Done: p.done, Total: total, Share: float64(p.done)}
	for _, part := range p.share {
		s.Share += part
	}
	s.Share /= float64(max(total, 1))
	p.Progress(s)
}

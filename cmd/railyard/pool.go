package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"railyard/internal/fidelity"
	"railyard/internal/field"
	"railyard/internal/parallel"
	"railyard/internal/report"
	"railyard/internal/runner"
	"railyard/internal/scenario"
	"railyard/internal/study"
	"railyard/unit"
)

// pool simulates the variants of a study, with a bar for all of them, until Ctrl-C cancels ctx.
func (e *env) pool() (ctx context.Context, p *study.Pool, release func()) {
	ctx, stop := e.endable()
	bar, said := newMeter(e), e.ending(ctx)
	p = &study.Pool{Memory: runner.Memory(), Progress: func(s study.State) {
		said()
		if s.Total == 1 && s.Done == 1 || !bar.due() {
			return
		}
		label := bar.hops(s.Run)
		if s.Total > 1 {
			label = fmt.Sprintf("%d of %d done", s.Done, s.Total)
			if s.Done > 1 {
				label += fmt.Sprintf("  %s/s", unit.Digits(float64(s.Done)/e.clock().Sub(bar.began).Seconds()))
			}
		}
		if s.Label != "" {
			label = s.Label + "  " + label
		}
		bar.show(s.Share, label)
	}}
	return ctx, p, func() { bar.finish(); stop() }
}

// spread does n jobs that hold so much memory, several at a time, with a bar, until Ctrl-C.
func (e *env) spread(n, mb int, what string, do func(i int) error) error {
	ctx, release := e.endable()
	defer release()
	bar := newMeter(e)
	defer bar.finish()
	errs, ended := make([]error, n), make(chan bool)
	jobs := make([]parallel.Job, n)
	for i := range jobs {
		jobs[i] = parallel.Job{MB: mb, Do: func() {
			done := ctx.Err() == nil
			if done {
				errs[i] = do(i)
			}
			ended <- done
		}}
	}
	go parallel.Run(jobs, runtime.GOMAXPROCS(0), budgetMB)
	done := 0
	for range n {
		if <-ended {
			done++
		}
		bar.show(float64(done)/float64(n), fmt.Sprintf("%s %d of %d", what, done, n))
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w after %d of %d %ss; nothing was written", runner.ErrInterrupted, done, n, what)
	}
	return errors.Join(errs...)
}

// parseMemory reads --memory; empty is what the machine has left.
func parseMemory(s string) (unit.Bytes, error) {
	if s == "" {
		m := runner.Memory()
		if m > 0 && m < smallest { // not even for the scenario
			return 0, &fidelity.ErrMemory{Need: smallest, Have: m}
		}
		return m, nil
	}
	b, err := unit.ParseBytes(s)
	if err != nil || b <= 0 {
		return 0, field.New("--memory", "found %s, expected a size such as 8GB", field.Quote(s))
	}
	return b, nil
}

// smallest is what the program itself and a small scenario take.
const smallest = 40 * unit.MB

// worthTelling is how long a run takes of which we say beforehand what it will cost.
const worthTelling = 10 // seconds

// newRun builds the run of a plan within a limit of memory, and says what a long one will take.
func (e *env) newRun(p *scenario.Plan, limit unit.Bytes) (*fidelity.Simulation, error) {
	e.foretell(p)
	r, err := runner.New(p, limit)
	if err == nil {
		e.estimate(r.Cost)
	}
	return r, err
}

// foretell says what it takes to begin a run where that is long: a fabric without a pattern.
func (e *env) foretell(p *scenario.Plan) {
	if c, err := fidelity.Before(p.Fidelity, p); err == nil {
		e.estimate(c)
	}
}

func (e *env) estimate(c fidelity.Cost) {
	if c.Seconds > worthTelling {
		report.Labelled(e.stderr, "estimate: ", c.Words)
	}
}

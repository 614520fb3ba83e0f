package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

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
	}, Before: func(a study.Ahead) { e.estimate(a.Plan, a.Cost, a.Label, a.Total, p.AtOnce()) }}
	return ctx, p, func() { bar.finish(); stop() }
}

// task is a part of some work, with its duration and memory if known.
type task struct {
	seconds float64
	mb      int
	do      func() error
}

// budgetMB is the total resident memory of concurrent tasks: with the program itself, below 2 GB. programMB of it is
// outside the collector: pages of the program's file.
const budgetMB, programMB = 1900, 100

// collect keeps garbage within a number of MB, unless the user has set a limit; release ends that.
func collect(mb int) (release func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	was := debug.SetMemoryLimit(int64(mb) * 1_000_000)
	return func() { debug.SetMemoryLimit(was) }
}

// spread runs tasks with a progress bar, until Ctrl-C. It runs as many at a time as there are processors and as fit
// the memory.
func (e *env) spread(what string, tasks []task) error {
	ctx, release := e.endable()
	defer release()
	defer collect(budgetMB - programMB)() // garbage of several tasks counts, too
	bar := newMeter(e)
	defer bar.finish()
	errs, ended := make([]error, len(tasks)), make(chan int)
	jobs := make([]parallel.Job, len(tasks))
	total, passed, done := 0.0, 0.0, 0
	for i, t := range tasks {
		total += max(t.seconds, 1)
		jobs[i] = parallel.Job{Seconds: t.seconds, MB: t.mb, Do: func() {
			if errs[i] = runner.ErrInterrupted; ctx.Err() == nil {
				errs[i] = t.do()
			}
			ended <- i
		}}
	}
	go parallel.Run(jobs, runtime.GOMAXPROCS(0), budgetMB)
	for range tasks {
		i := <-ended
		if passed += max(tasks[i].seconds, 1); !errors.Is(errs[i], runner.ErrInterrupted) {
			done++
		}
		bar.show(passed/total, fmt.Sprintf("%s %d of %d", what, done, len(tasks)))
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w after %d of %d %ss; nothing was written", runner.ErrInterrupted, done, len(tasks), what)
	}
	return errors.Join(errs...)
}

// parseMemory parses --memory; the default is the available memory.
func parseMemory(s string) (unit.Bytes, error) {
	if s == "" {
		m := runner.Memory()
		if m > 0 && m < smallest { // too small even for the scenario
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

// smallest is the memory of the program itself with a small scenario.
const smallest = 40 * unit.MB

// newRun builds the run of a plan within a memory limit, and announces the cost of a long one.
func (e *env) newRun(p *scenario.Plan, limit unit.Bytes) (*fidelity.Simulation, error) {
	e.foretell(p)
	r, err := runner.New(p, limit)
	if err == nil && r.Cost.Seconds > study.WorthSaying {
		e.estimate(p, r.Cost, "", 1, 1)
	}
	return r, err
}

// foretell prints the start-up cost of a run if it is long: a fabric without a pattern.
func (e *env) foretell(p *scenario.Plan) {
	if c, err := fidelity.Before(p.Fidelity, p); err == nil && c.Seconds > study.WorthSaying {
		report.Labelled(e.stderr, "estimate: ", c.Words)
	}
}

// estimate prints what a run that is about to begin takes, and of how many it is one; for packets, what takes less.
func (e *env) estimate(p *scenario.Plan, c fidelity.Cost, label string, total, atOnce int) {
	text := c.Words
	if label != "" {
		text = label + ": " + text
	}
	if total > 1 {
		text += fmt.Sprintf("; one of %d simulations, %d at a time", total, min(atOnce, total))
	}
	for _, f := range fidelity.All {
		if p.Fidelity == fidelity.Default && f.Offer != "" && f.Refuse(p) == nil {
			text += fmt.Sprintf("; --set fidelity=%s is %s", f.Name, f.Offer)
		}
	}
	report.Labelled(e.stderr, "estimate: ", text)
}

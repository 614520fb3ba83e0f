package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"railyard/internal/parallel"
	"railyard/internal/runner"
	"railyard/internal/study"
)

// pool simulates the variants of a study, with a bar for all of them, until Ctrl-C cancels ctx.
func (e *env) pool() (ctx context.Context, p *study.Pool, release func()) {
	ctx, stop := endable()
	bar, said := newMeter(e), e.ending(ctx)
	p = &study.Pool{Memory: runner.Memory(), Progress: func(s study.State) {
		said()
		if !bar.due() {
			return
		}
		label := bar.hops(s.Run)
		if s.Total > 1 {
			label = fmt.Sprintf("%d of %d done  %v", s.Done, s.Total, s.Run.Now)
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
	ctx, release := endable()
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

package main

import (
	"context"
	"fmt"

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

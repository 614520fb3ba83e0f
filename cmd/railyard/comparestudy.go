package main

import (
	"context"
	"errors"
	"fmt"

	"railyard/internal/field"
	"railyard/internal/runner"
	"railyard/internal/study"
	"railyard/internal/study/sweep"
)

// resumable simulates the variants as a study in a directory, on the engine that flags choose.
func (c *compareCmd) resumable(ctx context.Context, e *env, of *study.Comparison, pool *study.Pool) error {
	var list []sweep.Listed
	for _, v := range of.Trials() {
		list = append(list, sweep.Listed{Path: v.Path, Set: v.Sets})
	}
	if len(list) == 0 {
		return field.New("--study", "has no effect on runs, which are not simulated again")
	}
	s, err := sweep.NewListed("compare", c.Dir, list, c.Seeds)
	if err != nil {
		return err
	}
	defer s.Close()
	s.Pool = pool
	if err := s.Open(); err != nil {
		return err
	}
	finish, err := c.distribute(ctx, e, s, 0)
	if err != nil {
		return err
	}
	runs, failed, stopped := s.Simulate(ctx)
	finish()
	if stopped != nil && !errors.Is(stopped, runner.ErrInterrupted) {
		return stopped
	}
	variants, _ := of.Tabulate(runs, failed, stopped)
	if err := c.print(e, variants, of); err != nil {
		return err
	}
	if stopped != nil {
		return fmt.Errorf("%w; the same command resumes the comparison", runner.ErrInterrupted)
	}
	return study.AnyFailed(variants)
}

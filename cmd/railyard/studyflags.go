package main

import (
	"context"

	"railyard/internal/study"
	"railyard/internal/study/sweep"
)

// studyFlags say where the simulations of a command are kept and made.
type studyFlags struct {
	Dir string `help:"Directory of the simulations; the same command resumes an interrupted study" name:"study" placeholder:"DIR"`

	workerFlags
}

// keep has a pool keep its simulations in the directory, and leave them to the engine that flags choose. finish ends
// that.
func (c *studyFlags) keep(ctx context.Context, e *env, pool *study.Pool, command string, scenarios []string,
	force bool) (finish func(), err error) {
	if c.Dir == "" {
		return func() {}, c.stored()
	}
	return c.kept(ctx, e, pool, command, c.Dir, scenarios, force)
}

// kept is keep in a directory.
func (c *workerFlags) kept(ctx context.Context, e *env, pool *study.Pool, command, dir string, scenarios []string,
	force bool) (finish func(), err error) {
	s, err := sweep.NewSimulations(command, dir, scenarios, force)
	if err != nil {
		return nil, err
	}
	s.Pool, pool.Trials = pool, s
	end, err := c.distribute(ctx, e, s.Study, pool.Workers)
	if err != nil {
		s.Close()
		return nil, err
	}
	return func() { end(); s.Close() }, nil
}

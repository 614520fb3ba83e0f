package main

import (
	"context"

	"railyard/internal/study"
	"railyard/internal/study/workers"
)

// studyFlags are the directory and the engine of a command's simulations.
type studyFlags struct {
	Dir string `help:"Directory of the simulations; the same command resumes an interrupted study" name:"study" placeholder:"DIR"`

	workers.Placement
}

// keep makes a pool store its simulations in the directory, and pass them to the engine that flags select. finish
// ends that.
func (c *studyFlags) keep(ctx context.Context, e *env, pool *study.Pool, command string, scenarios []string,
	force bool) (finish func(), err error) {
	if c.Dir == "" {
		return func() {}, c.Stored()
	}
	return c.Keep(ctx, e.say, pool, command, c.Dir, scenarios, force)
}

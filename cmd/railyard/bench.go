package main

import (
	"errors"
	"runtime"

	"railyard/internal/report/table"
	"railyard/internal/runner"
	"railyard/internal/speed"
)

type benchCmd struct {
	Large  bool   `help:"Measure runs of 8,192 to 16,000 hosts and whole training steps too (5 minutes)"`
	Rounds int    `help:"Runs of each case, of which the fastest counts" default:"1" range:"1,20"`
	Only   string `help:"Measure only runs whose name contains TEXT" placeholder:"TEXT"`
	JSON   bool   `help:"Print as JSON"`
}

func (c *benchCmd) Help() string {
	return `Runs shipped scenarios as processes of their own and prints wall time, memory and packet-hops per
second, next to reference figures of other simulators with their sources. A packet-hop is one packet
crossing one link. Other load on the computer counts: measure on idle cores, with several --rounds.

Examples:
  railyard bench
  railyard bench --large --rounds 3
  railyard bench --only UEC --rounds 5
  railyard bench --json | jq '.rows[] | {name, wall_seconds, memory_bytes}'`
}

// Run is the bench command.
func (c *benchCmd) Run(e *env) error {
	ctx, release := e.endable()
	defer release()
	bar := newMeter(e)
	b := &speed.Bench{Rounds: c.Rounds, Large: c.Large, Only: c.Only, Run: speed.Process, Tell: bar.show}
	rows, err := b.Go(ctx)
	bar.finish()
	if ctx.Err() != nil {
		err = runner.ErrInterrupted
	}
	if err != nil && len(rows) == 0 {
		return err
	}
	return errors.Join(e.show(c.JSON, benchResult{runtime.NumCPU(), runtime.Version(), rows, runner.Version()}, func() {
		table.Speed(e.stdout, rows)
	}), err)
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"railyard/internal/counters"
	"railyard/internal/diagnose/readings"
	"railyard/internal/fidelity"
	"railyard/internal/field"
)

// countedRun is the counters of a run to be written to files; nil: not requested.
type countedRun struct {
	census *fidelity.Census
	system string
	dir    string // empty: next to the run
	force  bool
}

// census starts to count, if requested.
func (c *runCmd) census(run *fidelity.Simulation) (*countedRun, error) {
	if c.Counters == "" {
		return nil, nil
	}
	switches := counters.Systems[:len(counters.Systems)-1]
	if !slices.Contains(switches, c.Counters) {
		return nil, field.Choice("--counters", c.Counters, switches,
			"%s is not a system whose counters are written",
			field.Quote(c.Counters))
	}
	if c.CountTo != "" && !c.Force {
		if all, err := os.ReadDir(c.CountTo); err == nil && len(all) > 0 {
			return nil, field.New("--counters-dir", "%s holds files already; take another, or --force",
				field.Quote(c.CountTo))
		}
	}
	counted, ok := run.Run.(fidelity.Counter)
	if !ok {
		return nil, field.New("--counters", "only a simulation of packets has devices that count")
	}
	return &countedRun{counted.Census(), c.Counters, c.CountTo, c.Force}, nil
}

// write writes a session on every device, before the run and after it.
func (c *countedRun) write(e *env, run string) error {
	if c == nil {
		return nil
	}
	dir := c.dir
	if dir == "" {
		dir = filepath.Clean(run) + "-counters"
	}
	before, after := c.census.Snapshots(c.system)
	if err := readings.Write(dir, c.system, before, after); err != nil {
		return fmt.Errorf("--counters-dir: %w", err)
	}
	fmt.Fprintf(e.stderr, "note: counters of %d devices are in %s, before and after\n", len(after), dir)
	return nil
}

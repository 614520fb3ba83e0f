package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"railyard/internal/exec"
	"railyard/internal/input"
	"railyard/internal/report"
	"railyard/internal/result"
	"railyard/internal/runner"
	"railyard/internal/scenariofile"
	"railyard/internal/whatif"
	"railyard/unit"
)

type whyCmd struct {
	Dir      string `arg:"" help:"Run directory." placeholder:"RUN"`
	Try      int    `help:"Run the scenario with the first so many remedies and say what each saves." placeholder:"N" range:"0,64"`
	Scenario string `help:"The scenario of the run, where it names files beside it: run.json has its text alone." placeholder:"FILE"`
	Memory   string `help:"What each run may use of memory; the default is what the machine has left." placeholder:"SIZE" with:"try"`
	JSON     bool   `help:"Print the account and the remedies as JSON."`
}

func (c *whyCmd) Help() string {
	return `The account of a run's lost time, and what to change about it.

Each cause says what a run without it is expected to save, from a model of the run; --try simulates.

Examples:
  railyard why runs/three-flows-001
  railyard why runs/three-flows-001 --try 3`
}

// Run is the why command.
func (c *whyCmd) Run(e *env) error {
	s, err := result.ReadSummary(c.Dir)
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%s has no summary.json: it is no run directory", c.Dir)
	}
	if err != nil {
		return input.Fault(err)
	}
	if s.Chain == nil || !s.Complete {
		return input.Fault(fmt.Errorf("%s has no account of lost time: the run did not end with a step; run its scenario to the end",
			c.Dir))
	}
	of, err := c.scenario()
	if err != nil {
		return err
	}
	base, err := of.Plan(&whatif.Unchanged)
	if err == nil {
		err = whatif.Same(base, s)
	}
	if err != nil {
		return input.Fault(err)
	}
	all := whatif.Remedies(base, s)
	if c.Try > 0 {
		if err := c.try(e, of, s, all); err != nil {
			return err
		}
	}
	if c.JSON {
		return printJSON(e.stdout, map[string]any{"name": s.Name, "step_ps": s.StepTime, "chain": s.Chain, "remedies": all})
	}
	var told []report.Advice
	for _, r := range all {
		told = append(told, report.Advice{Remedy: r.Remedy, Tried: r.Tried, Saved: r.Saved, Error: r.Error})
	}
	report.Why(e.stdout, s, told)
	return nil
}

// scenario is what the run was made of, as run.json has it.
func (c *whyCmd) scenario() (*whatif.Scenario, error) {
	m, err := result.ReadManifest(c.Dir)
	if err != nil {
		return nil, input.Fault(fmt.Errorf("%s is no run: %w", c.Dir, err))
	}
	of := &whatif.Scenario{Name: filepath.Join(c.Dir, "scenario"), Text: []byte(m.Scenario), Sets: m.Set, Seed: &m.Seed}
	beside := scenariofile.Beside(c.Scenario)
	of.Read = func(name string) ([]byte, error) {
		if text, has := m.Configs[name]; has {
			return []byte(text), nil
		}
		b, err := beside(name)
		if errors.Is(err, os.ErrNotExist) && c.Scenario == "" {
			err = fmt.Errorf("%w; say where the scenario lies: --scenario FILE", err)
		}
		return b, err
	}
	return of, nil
}

// try simulates the first remedies.
func (c *whyCmd) try(e *env, of *whatif.Scenario, s *result.Summary, all []whatif.Remedy) error {
	limit, err := parseMemory(c.Memory)
	if err != nil {
		return err
	}
	ctx, release := endable()
	defer release()
	bar := newMeter(e)
	defer bar.finish()
	var some []*whatif.Remedy
	for i := range all {
		if all[i].CanTry() && len(some) < c.Try {
			some = append(some, &all[i])
		}
	}
	n := len(some)
	for i, r := range some {
		watch := func(p exec.Progress) bool {
			part := float64(p.Delivered) / float64(max(p.Total, 1))
			bar.show((float64(i)+part)/float64(n), fmt.Sprintf("remedy %d of %d", i+1, n))
			return ctx.Err() == nil
		}
		r.Try(of, s.StepTime, whatif.Limits{Memory: limit, Time: unit.Time(100 * s.StepTime), Watch: watch})
		if ctx.Err() != nil {
			return fmt.Errorf("%w after %d of %d remedies; nothing was written", runner.ErrInterrupted, i, n)
		}
	}
	return nil
}

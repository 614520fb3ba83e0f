package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

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
	Dir      string `arg:"" help:"Run directory" placeholder:"RUN"`
	Try      int    `help:"Simulate N remedies, the first of each cause first" placeholder:"N" range:"0,64"`
	Scenario string `help:"Scenario of the run, if it refers to files above 4 MiB" placeholder:"FILE"`
	Memory   string `help:"Memory limit per run (available memory)" placeholder:"SIZE" with:"try"`
	JSON     bool   `help:"Print causes and remedies as JSON"`
}

func (c *whyCmd) Help() string {
	return `Prints the causes of a run's time above line rate, each with its remedy and the estimated gain;
--try simulates the remedies.

Examples:
  railyard why runs/three-flows-001
  railyard why runs/three-flows-001 --try 3`
}

// Run is the why command.
func (c *whyCmd) Run(e *env) error {
	s, err := result.ReadAccount(c.Dir)
	if err != nil {
		return input.Fault(err)
	}
	m, err := result.ReadManifest(c.Dir)
	if err != nil {
		return input.Fault(fmt.Errorf("%s is not a run: %w", c.Dir, err))
	}
	if err := result.CheckSizes(m, c.Dir); err != nil { // the account is in summary.json alone
		report.Labelled(e.stderr, "note: ", err.Error())
	}
	of := c.scenario(m)
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
		whatif.Learn(base, s, all)
	}
	if c.JSON {
		return printJSON(e.stdout, whyResult{s.Chain, report.MainCause(s), s.Name, s.Places, all, s.StepTime})
	}
	var told []report.Advice
	for _, r := range all {
		told = append(told, report.Advice{Remedy: r.Remedy, Error: r.Error})
	}
	report.Why(e.stdout, s, told)
	return nil
}

// scenario returns the run's scenario from run.json.
func (c *whyCmd) scenario(m *result.Manifest) *whatif.Scenario {
	beside := scenariofile.Beside(c.Scenario)
	return whatif.OfRun(c.Dir, m, func(name string) ([]byte, error) {
		b, err := beside(name)
		if errors.Is(err, os.ErrNotExist) && c.Scenario == "" {
			err = fmt.Errorf("%w, and the run does not keep it: name its scenario with --scenario FILE", err)
		}
		return b, err
	})
}

// try simulates the first remedies.
func (c *whyCmd) try(e *env, of *whatif.Scenario, s *result.Summary, all []whatif.Remedy) error {
	limit, err := parseMemory(c.Memory)
	if err != nil {
		return err
	}
	ctx, release := e.endable()
	defer release()
	bar := newMeter(e)
	defer bar.finish()
	some := whatif.First(all, c.Try)
	if len(some) == 0 && !slices.ContainsFunc(all, func(r whatif.Remedy) bool { return r.Tried }) {
		fmt.Fprintln(e.stderr, "note: no remedy of this run can be simulated: none is a setting of its scenario")
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
	if n > 0 && !slices.ContainsFunc(all, func(r whatif.Remedy) bool { return r.Tried && r.Error == "" }) {
		return input.Fault(fmt.Errorf("no remedy was simulated: %s", some[0].Error))
	}
	return nil
}

// Package simulate is Railyard as a library: it turns a scenario into a result.
//
//	s, err := simulate.File("pod.yaml", "lb=spray")
//	fmt.Println(s.StepTime, s.Drops)
//
// Results equal those of railyard run for the same scenario, seed and version. Nothing is written to disk unless
// Options.Dir is set. Extensions of package extend work if the program imports them.
package simulate

import (
	"context"
	"errors"

	"railyard/internal/exec"
	"railyard/internal/result"
	"railyard/internal/runner"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

// Summary is the content of summary.json: times in picoseconds, rates in bit/s, sizes in bytes.
type Summary = result.Summary

// Options are the settings of a run besides its scenario.
type Options struct {
	Set    []string   // values of the scenario to override: "lb=spray"
	Dir    string     // run directory to write; "": none
	Force  bool       // replace an existing run in Dir
	Memory unit.Bytes // limit; 0: none
}

// File simulates a scenario file with values overridden.
func File(path string, set ...string) (*Summary, error) {
	return Run(context.Background(), path, nil, Options{Set: set})
}

// Text simulates a scenario given as YAML text. Files that it names are relative to the current directory.
func Text(yaml []byte, set ...string) (*Summary, error) {
	return Run(context.Background(), "scenario", yaml, Options{Set: set})
}

// Run simulates a scenario, from its text or, if that is nil, from a file, until it ends or ctx is canceled.
func Run(ctx context.Context, name string, text []byte, o Options) (*Summary, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	plan, err := plan(name, text, o.Set)
	if err != nil {
		return nil, err
	}
	run, err := runner.New(plan, o.Memory)
	if err != nil {
		return nil, err
	}
	job := &runner.Runner{Plan: plan, Run: run, Version: runner.Version()}
	if o.Dir != "" {
		if err := job.Reserve(o.Dir, o.Force); err != nil {
			return nil, err
		}
		defer job.Release()
	}
	var s *Summary
	err = runner.Guarded(run, func(exec.Progress) bool { return ctx.Err() == nil }, func(watch exec.Observer) error {
		if o.Dir == "" {
			if err := run.Go(watch); err != nil {
				return err
			}
			s, _, _ = run.Outcome(job.Version)
			return nil
		}
		var goErr, lost error
		s, goErr, lost = job.Go(watch)
		return errors.Join(goErr, lost)
	})
	return s, err
}

// plan resolves a scenario.
func plan(name string, text []byte, set []string) (*scenario.Plan, error) {
	if text == nil {
		return scenariofile.Plan(name, set, nil)
	}
	doc, err := scenario.Parse(name, text, set)
	if err != nil {
		return nil, err
	}
	return scenariofile.Resolve(name, doc)
}

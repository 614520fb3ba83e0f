package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"railyard/internal/field"
	"railyard/internal/parallel"
	"railyard/internal/runner"
	"railyard/internal/validate"
	"railyard/unit"
)

var errUET = errors.New("a class of uet-htsim's published runs is farther off than it may be")

// published holds ours to runs of uet-htsim that are drawn among those published.
func (c *validateCmd) published(e *env) error {
	if c.Number != nil || c.Out != "" {
		return field.New(cmp.Or(map[bool]string{true: "--out"}[c.Out != ""], "--number"), "is of the group blame alone")
	}
	runs, err := validate.DrawUET(c.Seed, c.Random)
	if err != nil {
		return err
	}
	if err := simulateAll(e, runs); err != nil {
		return err
	}
	classes := validate.SpreadUET(runs)
	if c.JSON {
		err := printJSON(e.stdout, struct {
			Seed    uint64               `json:"seed"`
			Classes []validate.UETSpread `json:"classes"`
			Runs    []validate.UETRun    `json:"runs"`
		}{c.Seed, classes, runs})
		if err != nil {
			return err
		}
	} else {
		c.printUET(e, runs, classes)
	}
	for _, s := range classes {
		if !s.OK {
			return errUET
		}
	}
	return nil
}

// simulateAll runs them several at a time.
func simulateAll(e *env, runs []validate.UETRun) error {
	ctx, release := endable()
	defer release()
	bar := newMeter(e)
	defer bar.finish()
	ended := make(chan error)
	jobs := make([]parallel.Job, len(runs))
	for i := range runs {
		jobs[i] = parallel.Job{MB: validate.UETMemory, Do: func() {
			var err error
			if ctx.Err() == nil {
				err = runs[i].Simulate()
			}
			ended <- err
		}}
	}
	go parallel.Run(jobs, runtime.GOMAXPROCS(0), budgetMB)
	var errs []error
	for n := 1; n <= len(runs); n++ {
		errs = append(errs, <-ended)
		bar.show(float64(n)/float64(len(runs)), fmt.Sprintf("run %d of %d", n, len(runs)))
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w; nothing was written", runner.ErrInterrupted)
	}
	return errors.Join(errs...)
}

// printUET prints the classes and the runs that are farthest off.
func (c *validateCmd) printUET(e *env, runs []validate.UETRun, classes []validate.UETSpread) {
	w := e.stdout
	fmt.Fprintf(w, "%s of uet-htsim with 8,192 hosts, seed %d: last completion, ours over its\n\n",
		unit.Plural(len(runs), "published run"), c.Seed)
	fmt.Fprintf(w, "%-38s %5s %8s %8s %8s %8s\n", "class", "runs", "RMS", "may be", "mean", "worst")
	for _, s := range classes {
		fmt.Fprintf(w, "%-38s %5d %6.1f %% %6.1f %% %+6.1f %% %+6.1f %%\n", s.Class, s.Runs, 100*s.RMS, 100*s.Most,
			100*s.Mean, 100*s.Worst)
	}
	far := slices.Clone(runs)
	slices.SortStableFunc(far, func(a, b validate.UETRun) int { return cmp.Compare(math.Abs(b.Off), math.Abs(a.Off)) })
	fmt.Fprintln(w, "\nFarthest off:")
	for _, u := range far[:min(worstShown, len(far))] {
		fmt.Fprintf(w, "  %+6.1f %%  %s: %.1f us there, %.1f here\n", 100*u.Off, u.Name, u.Expected, u.Ours)
	}
}

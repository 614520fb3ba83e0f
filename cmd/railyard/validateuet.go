package main

import (
	"cmp"
	"errors"

	"railyard/internal/field"
	"railyard/internal/report/table"
	"railyard/internal/validate"
)

var errUET = errors.New("a class of uet-htsim's published runs is farther off than it may be")

// published compares Railyard with a random selection of published runs of uet-htsim.
func (c *validateCmd) published(e *env) error {
	if c.Number != nil || c.Out != "" {
		return field.New(cmp.Or(map[bool]string{true: "--out"}[c.Out != ""], "--number"), "is of the group blame alone")
	}
	runs, err := validate.DrawUET(c.Seed, c.Random)
	if err != nil {
		return err
	}
	tasks := make([]task, len(runs))
	for i := range runs {
		tasks[i] = task{mb: validate.UETMemory, do: runs[i].Simulate}
	}
	if err := e.spread("run", tasks); err != nil {
		return err
	}
	classes := validate.SpreadUET(runs)
	r := uetResult{c.Seed, classes, runs}
	if err := e.show(c.JSON, r, func() { table.UET(e.stdout, c.Seed, runs, classes) }); err != nil {
		return err
	}
	for _, s := range classes {
		if !s.OK {
			return errUET
		}
	}
	return nil
}

package main

import (
	"cmp"
	"errors"

	"railyard/internal/field"
	"railyard/internal/report/table"
	"railyard/internal/validate"
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
	err = e.spread(len(runs), validate.UETMemory, "run", func(i int) error { return runs[i].Simulate() })
	if err != nil {
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
		table.UET(e.stdout, c.Seed, runs, classes)
	}
	for _, s := range classes {
		if !s.OK {
			return errUET
		}
	}
	return nil
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/planner"
	"railyard/internal/planner/named"
	"railyard/internal/report/table"
)

type planFitCmd struct {
	Measured string `help:"Table of measured trainings (CSV), as plan score takes it" required:"" placeholder:"FILE"`
	Software string `help:"Framework to begin from, NAME or NAME@VERSION" default:"custom" placeholder:"NAME"`
	Out      string `help:"Write the fitted framework, for plan score --software" placeholder:"FILE"`
	Force    bool   `help:"Replace existing files"`
	JSON     bool   `help:"Print as JSON"`
}

func (c *planFitCmd) Help() string {
	return `Fits those figures of a framework that measured trainings determine: shares of the peak, passes through
memory, launches, hidden transfers. Others stay as they are. With three trainings or more, each is also
estimated by a fit to the others, which gives the interval of plan score.

Examples:
  railyard plan fit --measured training_runs.csv --software nemo --out my-cluster.json
  railyard plan score llama-3.1-8b --fabric scenarios/pod64-llama2-7b.yaml --software my-cluster.json`
}

// Run is the plan fit command.
func (c *planFitCmd) Run(e *env) error {
	by, err := named.Software(c.Software)
	if err != nil {
		return err
	}
	all, err := named.Measured(c.Measured, planner.Assumed{Software: by})
	if err != nil {
		return err
	}
	a, err := planner.Adjust(all, by)
	if err != nil {
		return input.Fault(fmt.Errorf("%s: %w", c.Measured, err))
	}
	var lost error
	if c.Out != "" {
		text, err := json.MarshalIndent(a.Software, "", "  ")
		if err != nil {
			return err
		}
		lost = output.WriteBytes(c.Out, c.Force, append(text, '\n'))
	}
	return errors.Join(e.show(c.JSON, a, func() { table.Adjusted(e.stdout, a, by.String()) }), lost)
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/model"
	"railyard/internal/output"
	"railyard/internal/planner"
	"railyard/internal/report/table"
	"railyard/internal/workload"
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
	by, err := findSoftware(c.Software)
	if err != nil {
		return err
	}
	all, err := readMeasured(c.Measured, planner.Assumed{Software: by})
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
	if c.JSON {
		return errors.Join(printJSON(e.stdout, a), lost)
	}
	table.Adjusted(e.stdout, a, by.String())
	return lost
}

// findSoftware returns a framework by name, or of a file that plan fit wrote.
func findSoftware(name string) (*workload.Software, error) {
	if !model.IsFile(name) {
		s, err := workload.FindSoftware(name)
		return s, field.Flags(err)
	}
	b, err := input.Text(name, 1<<20)
	if err != nil {
		return nil, input.Fault(err)
	}
	s, err := workload.ReadSoftware(b)
	if err != nil {
		return nil, input.Fault(fmt.Errorf("%s: %w", name, err))
	}
	return s, nil
}

// readMeasured estimates a table of measured trainings. Models that do not ship are config.json files beside the table,
// or in its folder models.
func readMeasured(path string, by planner.Assumed) ([]planner.Measured, error) {
	text, err := input.Text(path, 1<<24)
	if err != nil {
		return nil, input.Fault(err)
	}
	find := func(name string) (*model.Config, error) {
		for _, dir := range []string{"", "models"} {
			file := filepath.Join(filepath.Dir(path), dir, name+".json")
			if b, err := input.Text(file, 1<<20); err == nil {
				return model.Parse(name, b)
			}
		}
		return model.Builtin(name)
	}
	all, err := planner.ReadMeasured(bytes.NewReader(text), find, by)
	if err != nil {
		return nil, input.Fault(fmt.Errorf("%s: %w", path, err))
	}
	return all, nil
}

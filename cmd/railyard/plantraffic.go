package main

import (
	"errors"

	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/planner"
	"railyard/internal/report/plot"
	"railyard/internal/report/table"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
)

type planTrafficCmd struct {
	Scenario string   `arg:"" help:"Scenario file (YAML); not simulated" placeholder:"SCENARIO"`
	Set      []string `help:"Override a value (lb=spray); repeatable" placeholder:"KEY=VALUE" sep:"none"`
	Plot     string   `help:"Write a heat map per kind of parallelism: .png or .svg" placeholder:"FILE"`
	Parquet  string   `help:"Write the pairs with traffic as Parquet" placeholder:"FILE"`
	Force    bool     `help:"Replace existing files" with:"plot,parquet"`
	JSON     bool     `help:"Print as JSON"`
}

func (c *planTrafficCmd) Help() string {
	return `Prints bytes between GPUs in one step, by kind of parallelism and by distance.

Examples:
  railyard plan traffic scenarios/gpt13b-128.yaml --plot traffic.png
  railyard plan traffic scenarios/pod64-llama2-7b.yaml --parquet traffic.parquet --json`
}

// Run is the plan traffic command.
func (c *planTrafficCmd) Run(e *env) error {
	if err := plot.Check(c.Plot); err != nil {
		return err
	}
	plan, t, err := c.matrix()
	if err != nil {
		return err
	}
	var lost error
	if c.Parquet != "" {
		lost = output.Write(c.Parquet, c.Force, t.WriteParquet)
	}
	if c.Plot != "" && early(lost) == nil {
		lost = errors.Join(lost, plot.Traffic(t, plan.Name, c.Plot, c.Force))
	}
	if early(lost) != nil {
		return lost
	}
	return errors.Join(e.show(c.JSON, t.JSON(), func() { table.Traffic(e.stdout, plan.Name, t) }), lost)
}

// matrix adds up a scenario's traffic.
func (c *planTrafficCmd) matrix() (*scenario.Plan, *planner.Traffic, error) {
	plan, err := scenariofile.Sums(c.Scenario, c.Set)
	if err != nil {
		return nil, nil, err
	}
	jobs, err := plan.Mix()
	if err != nil {
		return nil, nil, err
	}
	t, err := planner.Matrix(jobs.DAG, plan.Graph)
	if err != nil {
		return nil, nil, input.Fault(err)
	}
	return plan, t, nil
}

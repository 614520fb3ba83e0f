package main

import (
	"railyard/internal/report/plot"
	"railyard/internal/report/table"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/study/interference"
)

type planInterferenceCmd struct {
	Scenario string   `arg:"" help:"Scenario file with jobs; - reads stdin" placeholder:"SCENARIO"`
	Set      []string `help:"Override a value (jobs.left.placement=spread); repeatable" placeholder:"KEY=VALUE" sep:"none"`
	Seeds    int      `help:"Seeds, starting at the scenario's: median and range of the slowdown" default:"1" range:"1,100"`
	Top      int      `help:"Number of shared ports to list" default:"10" range:"0,100"`
	Plot     string   `help:"Plot job times, alone and together, of the first seed: .png or .svg" placeholder:"FILE"`
	Force    bool     `help:"Replace an existing plot, or begin anew in --study" with:"plot,study"`
	JSON     bool     `help:"Print as JSON"`

	studyFlags
}

func (c *planInterferenceCmd) Help() string {
	return `Simulates all jobs together, and each alone on the same GPUs: the slowdown of each job, and the
ports and times of contention. Message slowdown compares the same message of both runs; background
traffic is not compared. Exit code 3: a job lost a rank.

Examples:
  railyard plan interference scenarios/two-jobs.yaml
  railyard plan interference scenarios/two-jobs.yaml --seeds 5
  railyard plan interference scenarios/two-jobs.yaml --set placement=spread --plot jobs.png
  railyard compare scenarios/two-jobs.yaml --set placement=packed,rack,spread,random`
}

// Run is the plan interference command.
func (c *planInterferenceCmd) Run(e *env) error {
	plan, err := scenariofile.Plan(c.Scenario, c.Set, nil)
	if err != nil {
		return err
	}
	if err := plot.Check(c.Plot); err != nil {
		return err
	}
	ctx, pool, release := e.pool()
	defer release()
	finish, err := c.keep(ctx, e, pool, "plan interference", []string{c.Scenario}, c.Force)
	if err != nil {
		return err
	}
	defer finish()
	again := func(n uint64) (*scenario.Plan, error) {
		seed := plan.Seed + n
		return scenariofile.Plan(c.Scenario, c.Set, &seed)
	}
	out, err := interference.Simulate(ctx, pool, plan, c.Seeds, again)
	if err != nil {
		return err
	}
	if c.Plot != "" {
		p, err := plot.Interference(out)
		if err == nil {
			err = plot.Write(p, c.Plot, c.Force, 24, 4+1.5*float64(len(out.Jobs)))
		}
		if err != nil {
			return err
		}
	}
	if err := e.show(c.JSON, out, func() { table.Interference(e.stdout, out, c.Top) }); err != nil {
		return err
	}
	if out.Lost() {
		return &exitError{exitLost} // the table shows the reason
	}
	return nil
}

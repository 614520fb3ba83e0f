package main

import (
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/report/plot"
	"railyard/internal/report/table"
	"railyard/internal/scenariofile"
	"railyard/internal/study/load"
)

type planLoadCmd struct {
	Scenario string   `arg:"" help:"Scenario file with background traffic; - reads stdin" placeholder:"SCENARIO"`
	Set      []string `help:"Override a value (workload.traffic.background.to=next-group); repeatable" placeholder:"KEY=VALUE" sep:"none"`
	Loads    string   `help:"Offered loads, percent of the NICs' rate, increasing" default:"5,10,20,30,40,50,60,70,80,90" placeholder:"P,P"`
	LB       string   `help:"Load balancing policies to compare (the scenario's)" name:"lb" placeholder:"NAME,NAME"`
	Plot     string   `help:"Plot latency over offered load: .png or .svg" placeholder:"FILE"`
	Force    bool     `help:"Replace an existing plot, or begin anew in --study" with:"plot,study"`
	JSON     bool     `help:"Print as JSON"`

	studyFlags
}

func (c *planLoadCmd) Help() string {
	return `Simulates Poisson arrivals at each GPU at increasing load. The first third of the messages is
warm-up and left out. The load that is drawn at random differs from the offered one. A network is
saturated when it delivers less than 95 % of the drawn load and messages under way do not explain the
difference (95 % confidence), or when latency exceeds ten times that of the lowest load. Higher loads
of that policy are skipped.

Examples:
  railyard plan load scenarios/dragonfly-load.yaml --lb minimal,valiant,ugal --plot uniform.png
  railyard plan load scenarios/dragonfly-load.yaml --lb minimal,valiant,ugal,ugal-g \
      --set workload.traffic.background.to=next-group --plot worst.png`
}

// Run is the plan load command.
func (c *planLoadCmd) Run(e *env) error {
	loads, err := load.Parse(c.Loads)
	if err != nil {
		return err
	}
	if err := plot.Check(c.Plot); err != nil {
		return err
	}
	plan, err := scenariofile.Plan(c.Scenario, c.Set, nil)
	if err != nil {
		return err
	}
	if len(plan.Jobs) != 1 || !plan.Jobs[0].Open {
		return input.Fault(plan.Refuse("workload", "load is offered by traffic.background: messages arrive independently of earlier ones"))
	}
	names := []string{plan.LB.Name}
	if c.LB != "" {
		names = strings.Split(c.LB, ",")
	}
	if len(names) > load.MaxLoads {
		return field.New("--lb", "names %d, at most %d are taken", len(names), load.MaxLoads)
	}
	ctx, pool, release := e.pool()
	defer release()
	finish, err := c.keep(ctx, e, pool, "plan load", []string{c.Scenario}, c.Force)
	if err != nil {
		return err
	}
	defer finish()
	curves, err := load.Curves(ctx, pool, c.Scenario, c.Set, names, loads)
	if err != nil {
		return err
	}
	if c.Plot != "" {
		p, err := plot.Load(plan.Name, curves)
		if err == nil {
			err = plot.Write(p, c.Plot, c.Force, 18, 12)
		}
		if err != nil {
			return err
		}
	}
	return e.show(c.JSON, curves, func() { table.Loads(e.stdout, plan, curves) })
}

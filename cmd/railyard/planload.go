package main

import (
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/report/plot"
	"railyard/internal/report/table"
	"railyard/internal/scenariofile"
	"railyard/internal/study/load"
)

type planLoadCmd struct {
	Scenario string   `arg:"" help:"Scenario file whose workload is background traffic, - for stdin." placeholder:"SCENARIO"`
	Set      []string `help:"Change a value: workload.traffic.background.to=next-group." placeholder:"KEY=VALUE" sep:"none"`
	Loads    string   `help:"Offered loads in percent of NICs' rate, in rising order." default:"5,10,20,30,40,50,60,70,80,90" placeholder:"P,P"`
	LB       string   `help:"Ways of load balancing to compare; the scenario's unless given." name:"lb" placeholder:"NAME,NAME"`
	Plot     string   `help:"Plot latency over offered load: .png or .svg." placeholder:"FILE"`
	Force    bool     `help:"Replace a plot that exists." with:"plot"`
	JSON     bool     `help:"Print as JSON."`
}

func (c *planLoadCmd) Help() string {
	return `Latency over offered load, as papers on networks draw it: messages come at each GPU by chance (a
Poisson process, whatever became of those before), the load rises, and at some load the network takes no
more. Messages of the first third are left out, as it fills. A network is called saturated where it delivers
less than 95 % of what is offered meanwhile, or takes more than ten times as long as at the least load; a way
of load balancing is not tried at loads behind that.

Examples:
  railyard plan load scenarios/dragonfly-load.yaml --lb minimal,valiant,ugal --plot uniform.png
  railyard plan load scenarios/dragonfly-load.yaml --lb minimal,valiant,ugal,ugal-g \
      --set workload.traffic.background.to=next-group --loads 5,10,20,30,40,50 --plot worst.png`
}

// Run is the plan load command.
func (c *planLoadCmd) Run(e *env) error {
	loads, err := parseLoads(c.Loads)
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
		return input.Fault(plan.Refuse("workload", "load is offered by traffic.background: messages that "+
			"come whatever became of those before"))
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
	if c.JSON {
		return printJSON(e.stdout, curves)
	}
	table.Loads(e.stdout, plan, curves)
	return nil
}

// parseLoads reads percents.
func parseLoads(text string) (loads []float64, err error) {
	for _, word := range strings.Split(text, ",") {
		p, err := strconv.ParseFloat(word, 64)
		if err != nil || !(p >= 0.1 && p <= 200) || len(loads) > 0 && p <= loads[len(loads)-1] {
			return nil, field.New("--loads", "found %s, expected rising percents between 0.1 and 200, as "+
				"10,20,30", field.Quote(word))
		}
		loads = append(loads, p)
	}
	if len(loads) > load.MaxLoads {
		return nil, field.New("--loads", "are %d, at most %d are taken", len(loads), load.MaxLoads)
	}
	return loads, nil
}

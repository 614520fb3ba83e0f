package main

import (
	"context"
	"errors"
	"io"
	"slices"

	"railyard/internal/field"
	"railyard/internal/output"
	"railyard/internal/report/plot"
	"railyard/internal/report/table"
	"railyard/internal/study"
	"railyard/internal/study/failures"
)

type planFailuresCmd struct {
	Scenarios []string `arg:"" help:"Scenario files (YAML); several are compared" placeholder:"SCENARIO"`
	Set       []string `help:"Values to compare (fabric.kind=rail-only,rail). Repeated: all combinations" placeholder:"KEY=A,B" sep:"none"`
	Kinds     []string `help:"What fails: link, switch, card, nic, server, nvswitch, pcie" default:"link,switch,nic,server" enum:"link,switch,card,nic,server,nvswitch,pcie" placeholder:"KIND,KIND"`
	Card      int      `help:"Cabled ports per line card, for kind card" placeholder:"N" range:"1,1024" name:"card-ports"`
	At        string   `help:"Time of the failure (half of the step or, if earlier, of the traffic)" placeholder:"TIME"`
	PerClass  int      `help:"Elements to simulate per class of equivalent ones; 0: all" default:"1" range:"0,100000" name:"per-class"`
	Pairs     int      `help:"Random pairs of failures to simulate as well" default:"0" range:"0,10000"`
	Runs      int      `help:"Maximum simulations per variant" default:"400" range:"1,100000"`
	Jobs      int      `help:"Simulations in parallel; 0: one per processor" default:"0" range:"0,1024"`
	Plot      string   `help:"Write a heat map: .png or .svg" placeholder:"FILE"`
	Force     bool     `help:"Replace an existing file, or begin anew in --study" with:"plot,study"`
	JSON      bool     `help:"Print as JSON"`

	studyFlags
}

func (c *planFailuresCmd) Help() string {
	return `Simulates every single failure of a kind, and pairs with --pairs: step time, isolated GPUs and
retransmissions. Equivalent elements, by cabling and traffic, are simulated once. Their ECMP hashes
differ; --per-class shows the spread. fabric.routing models the convergence of routes.

Examples:
  railyard plan failures scenarios/pod64-alltoall.yaml --plot failures.png
  railyard plan failures rail-only.yaml dual-rail.yaml planes.yaml --kinds switch,nic
  railyard plan failures scenarios/lab-2x2.yaml --kinds link,switch --pairs 10 --json
  railyard plan failures scenarios/pod64-alltoall.yaml --pairs 50 --study failures
  railyard plan failures scenarios/pod64-alltoall.yaml --set fabric.routing.converge=0s,100us,1ms`
}

// Run is the plan failures command.
func (c *planFailuresCmd) Run(e *env) error {
	if err := plot.Check(c.Plot); err != nil {
		return err
	}
	if slices.Contains(c.Kinds, "card") && c.Card == 0 {
		return field.New("--kinds", "card needs --card-ports: how many ports a line card has")
	}
	of := failures.Study{Kinds: c.Kinds, Card: c.Card, At: c.At, PerClass: c.PerClass, Pairs: c.Pairs, Runs: c.Runs}
	m := study.Matrix{Scenarios: c.Scenarios, Set: c.Set}
	variants, err := of.Variants(m)
	if err != nil {
		return err
	}
	ctx, pool, release := e.pool()
	defer release()
	pool.Workers, of.Pool = c.Jobs, pool
	finish, err := c.keep(ctx, e, pool, "plan failures", c.Scenarios, c.Force)
	if err != nil {
		return err
	}
	defer finish()
	var all []*failures.Variant
	for _, v := range variants {
		if err = of.Simulate(ctx, v); err != nil {
			break
		}
		all = append(all, v)
	}
	if err != nil && (!errors.Is(err, context.Canceled) || len(all) == 0) {
		return err
	}
	var lost error
	if c.Plot != "" {
		lost = output.Write(c.Plot, c.Force, func(f io.Writer) error { return plot.Failures(f, c.Plot, all) })
	}
	if early(lost) != nil {
		return lost
	}
	return errors.Join(e.show(c.JSON, all, func() { table.Failures(e.stdout, all) }), lost, err)
}

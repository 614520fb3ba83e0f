package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"railyard/internal/input"
	"railyard/internal/report"
	"railyard/internal/report/plot"
	"railyard/internal/report/table"
	"railyard/internal/study/tuning"
	"railyard/internal/tune"
)

type configTuneCmd struct {
	deviceFlags
	Scenario string   `arg:"" help:"Scenario file (YAML); - reads stdin" placeholder:"SCENARIO"`
	Out      string   `help:"Directory of the results (tune-NAME); it keeps the simulations without --study" placeholder:"DIR"`
	Trials   int      `help:"Simulations, including the unchanged scenario" default:"64" range:"2,100000"`
	Jobs     int      `help:"Simulations in parallel; 0: one per processor" default:"0" range:"0,1024"`
	OS       string   `help:"Language of the best configuration: nxos, sonic, eos, nvue" enum:"nxos,sonic,eos,nvue" default:"nxos" name:"os"`
	NIC      string   `help:"NIC driver of the host scripts: mlx5, bnxt, ionic" enum:"mlx5,bnxt,ionic" default:"mlx5" name:"nic"`
	Set      []string `help:"Override a value of the scenario; repeatable" placeholder:"KEY=VALUE" sep:"none"`
	Seed     *uint64  `help:"Random seed (from the scenario)"`
	Force    bool     `help:"Restart in an existing directory"`
	JSON     bool     `help:"Print the Pareto front as JSON"`

	studyFlags
}

func (c *configTuneCmd) Help() string {
	return `Searches ECN minimum, maximum and probability, xOFF and xON of the RoCE queue with xON < ECN minimum
< ECN maximum < xOFF, and the parameters of the scenario's congestion control. Every candidate is
simulated. Reports the Pareto front of completion time, pause time and longest queue. Writes the
candidate with the least pause time within 1 % of the fastest as switch configurations and host
scripts. Three more simulations separate the host side, the switch side, and the rounding of device
registers. Ctrl-C keeps the results; the same command resumes.

Examples:
  railyard config tune scenarios/three-flows.yaml --trials 64 --out tune
  railyard config tune scenarios/fattree128-incast32.yaml --os sonic --hwsku ACS-SN5600
  railyard config tune scenarios/cc-zoo.yaml --set cc.algorithm=swift --trials 64`
}

// Run is the config tune command.
func (c *configTuneCmd) Run(e *env) error {
	t := &tuning.Tuning{Scenario: c.Scenario, Set: c.Set, Seed: c.Seed, Dir: c.Out, Trials: c.Trials,
		OS: c.OS, NIC: c.NIC, Devices: c.chosen()}
	if err := t.Open(); err != nil {
		return err
	}
	if err := os.MkdirAll(t.Dir, 0o755); err != nil {
		return input.Fault(err)
	}
	ctx, pool, release := e.pool()
	defer release()
	pool.Workers, t.Pool = c.Jobs, pool
	finish, err := c.Keep(ctx, e.say, pool, "config tune", cmp.Or(c.studyFlags.Dir, filepath.Join(t.Dir, "simulations")),
		[]string{c.Scenario}, c.Force)
	if err != nil {
		return err
	}
	defer finish()
	searchErr := t.Run(ctx)
	front := tune.Front(t.Search.Trials)
	best, ok := tune.Best(front)
	var lost error
	var parts *tuning.Halves
	if ok {
		lost = cmp.Or(t.Write(front, best), drawTrials(t, front, best))
		if searchErr == nil && !best.Baseline {
			parts, searchErr = t.Split(ctx, best)
		}
	}
	if c.JSON {
		err = printJSON(e.stdout, tuneResult{t.First(), best, front, parts, len(t.Search.Trials)})
	} else {
		words := table.Tuned(t, best, ok)
		if lost != nil {
			words = words[:len(words)-1] // its position
		}
		report.Tuning(e.stdout, t.Base.Name, &t.Search.Space, t.Search.Trials, front, best, words)
		if parts != nil {
			table.Halves(e.stdout, t, parts, best)
		}
	}
	switch {
	case err != nil:
		return err
	case errors.Is(searchErr, context.Canceled):
		if lost != nil {
			fmt.Fprintf(e.stderr, "error: %v\n", lost)
		}
		fmt.Fprintf(e.stderr, "interrupted after %d of %d trials; the same command resumes the search\n",
			len(t.Search.Trials), c.Trials)
		return &exitError{exitInterupt}
	}
	return cmp.Or(searchErr, lost)
}

// drawTrials plots the front next to the other results.
func drawTrials(t *tuning.Tuning, front []tune.Trial, best tune.Trial) error {
	p, err := plot.Trials(t.Base.Name, t.Search.Trials, front, best)
	if err != nil {
		return err
	}
	return plot.Write(p, filepath.Join(t.Dir, "pareto.png"), true, 18, 12)
}

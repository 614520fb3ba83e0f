package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"railyard/internal/report"
	"railyard/internal/report/plot"
	"railyard/internal/report/table"
	"railyard/internal/study/tuning"
	"railyard/internal/tune"
	"railyard/unit"
)

type configTuneCmd struct {
	deviceFlags
	Scenario string   `arg:"" help:"Scenario file (YAML); - reads standard input." placeholder:"SCENARIO"`
	Out      string   `help:"Directory of the search; an unfinished one there is resumed. tune-NAME unless given." placeholder:"DIR"`
	Trials   int      `help:"Simulations in all, the scenario as it is among them." default:"64" range:"2,100000"`
	Jobs     int      `help:"Simulations at a time; 0: one per processor. The result does not depend on it." default:"0" range:"0,1024"`
	OS       string   `help:"Language in which the best configuration is written." enum:"nxos,sonic,eos,nvue" default:"nxos" name:"os"`
	NIC      string   `help:"NICs for which the servers' half of the best is written." enum:"mlx5,bnxt,ionic" default:"mlx5" name:"nic"`
	Set      []string `help:"Override a value of the scenario." placeholder:"KEY=VALUE" sep:"none"`
	Seed     *uint64  `help:"Seed of the simulations and of the search, instead of the scenario's."`
	Force    bool     `help:"Begin anew in an existing directory."`
	JSON     bool     `help:"Print the front as JSON."`
}

func (c *configTuneCmd) Help() string {
	return `Searches ECN minimum, maximum and probability, xOFF and xON of the RoCE queue, always with
xON < WRED minimum < WRED maximum < xOFF, and DCQCN's steps and timers or the parameters of whatever
congestion control the scenario has, and simulates every candidate. Reports the Pareto front of completion
time, pause time and longest queue, and writes the best (of those within 1 % of the fastest the one that
pauses least) as configuration of every switch and as a script for every server's NICs. Three more simulations
say which half brings what: the switches' alone, the servers' alone, and both as registers hold them.
Ctrl-C keeps what there is; the same command goes on.

Examples:
  railyard config tune scenarios/three-flows.yaml --trials 64 --out tune
  railyard config tune scenarios/fattree128-incast32.yaml --os sonic --hwsku ACS-SN5600
  railyard config tune scenarios/cc-zoo.yaml --set cc.algorithm=swift --trials 64`
}

// Run is the config tune command.
func (c *configTuneCmd) Run(e *env) error {
	t := &tuning.Tuning{Scenario: c.Scenario, Set: c.Set, Seed: c.Seed, Dir: c.Out, Trials: c.Trials, Force: c.Force,
		OS: c.OS, NIC: c.NIC, Devices: c.chosen()}
	if err := t.Open(); err != nil {
		return err
	}
	defer t.Close()
	ctx, pool, release := e.pool()
	defer release()
	pool.Workers, t.Pool = c.Jobs, pool
	if had := len(t.Search.Trials); had > 0 {
		fmt.Fprintf(e.stderr, "note: %s of an earlier search in %s kept\n", unit.Plural(had, "trial"), t.Dir)
	}
	searchErr := t.Run(ctx)
	front := tune.Front(t.Search.Trials)
	best, ok := tune.Best(front)
	var lost, err error
	var parts *tuning.Halves
	if ok {
		lost = cmp.Or(t.Write(front, best), drawTrials(t, front, best))
		if searchErr == nil && !best.Baseline {
			parts, searchErr = t.Split(ctx, best)
		}
	}
	if c.JSON {
		said := map[string]any{
			"baseline": t.First(),
			"front":    append([]tune.Trial{}, front...),
			"best":     best,
			"trials":   len(t.Search.Trials),
		}
		if parts != nil {
			said["halves"] = parts
		}
		err = printJSON(e.stdout, said)
	} else {
		words := table.Tuned(t, best, ok)
		if lost != nil {
			words = words[:len(words)-1] // where it is
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
			fmt.Fprintf(e.stderr, "railyard: %v\n", lost)
		}
		fmt.Fprintf(e.stderr, "railyard: interrupted after %d of %d trials; the same command goes on\n",
			len(t.Search.Trials), c.Trials)
		return &exitError{exitInterupt}
	}
	return errors.Join(searchErr, lost)
}

// drawTrials plots the front next to the other results.
func drawTrials(t *tuning.Tuning, front []tune.Trial, best tune.Trial) error {
	p, err := plot.Trials(t.Base.Name, t.Search.Trials, front, best)
	if err != nil {
		return err
	}
	return plot.Write(p, filepath.Join(t.Dir, "pareto.png"), true, 18, 12)
}

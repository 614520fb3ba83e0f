package main

import (
	"slices"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/planner"
	"railyard/internal/planner/named"
	"railyard/internal/report/table"
	"railyard/internal/scenariofile"
	"railyard/internal/workload"
)

type planScoreCmd struct {
	Model    string   `arg:"" optional:"" help:"Shipped model, or a Hugging Face config.json" placeholder:"MODEL" without:"measured"`
	Measured string   `help:"Table of measured trainings (CSV): estimate each and print the errors" placeholder:"FILE"`
	Fabric   string   `help:"Scenario with the fabric" placeholder:"SCENARIO" without:"measured"`
	Set      []string `help:"Override a value of the scenario; repeatable" placeholder:"KEY=VALUE" sep:"none" without:"measured"`
	layoutFlags
	trainingFlags
	Software string `help:"Framework, NAME, NAME@VERSION or FILE of plan fit, whose kernels and overheads replace --efficiency and --kernels (--measured: that of each row)" placeholder:"NAME"`
	JSON     bool   `help:"Print as JSON"`
}

func (c *planScoreCmd) Help() string {
	return `Estimates computation, bubble, exposed communication and GPU memory of one parallel configuration by the
cost model of plan search. The data parallel size is the number of GPUs divided by the other sizes. Exit
code 1: it does not fit the GPU memory.
With --software the estimate has an interval, which holds 90 % of published trainings that were not fitted.
--measured takes columns model, gpu, gpus, tp, pp, cp, ep, vpp, micro, global_batch, sequence, zero,
recompute, step_seconds, source (precision, software), or those of Megatron-Bridge's performance summary.
It prints the errors of trainings that a software's figures were fitted to, and of those held out.

Examples:
  railyard plan score llama-3.1-70b --fabric scenarios/pod64-llama2-7b.yaml --tp 4 --pp 4 --vpp 5 \
    --global-batch 128 --sequence 8192
  railyard plan score qwen3-30b-a3b --fabric scenarios/pod64-llama2-7b.yaml --ep 8 --sequence 4096 \
    --global-batch 512 --precision fp8 --json
  railyard plan score llama-3.1-70b --fabric scenarios/pod64-llama2-7b.yaml --tp 4 --pp 4 --vpp 5 \
    --zero 1 --global-batch 256 --sequence 8192 --software nemo
  railyard plan score --measured training_runs.csv`
}

// Run is the plan score command.
func (c *planScoreCmd) Run(e *env) error {
	switch {
	case c.Measured != "":
		return c.measured(e)
	case c.Model == "":
		return field.New("MODEL", "is missing: name a model, or --measured FILE")
	case c.Fabric == "":
		return field.New("--fabric", "is missing: the scenario with the fabric")
	}
	m, err := named.Model(c.Model)
	if err != nil {
		return err
	}
	plan, err := scenariofile.Fabric(c.Fabric, c.Set)
	if err != nil {
		return err
	}
	in, err := c.input(c.Model, m, plan, c.Fabric, c.Seq)
	if err != nil {
		return err
	}
	if c.Software != "" {
		if err = c.framework(c.Software, &in.Training); err != nil {
			return err
		}
	}
	s, err := in.Score(c.layout(c.TP > 1, in.Training.Software, in.Site.GPUs/(c.TP*c.PP*c.CP)))
	if err != nil {
		return input.Fault(field.Flags(err))
	}
	err = e.show(c.JSON, s, func() { table.Score(e.stdout, &in, s) })
	if err == nil && !s.Fits {
		return &exitError{exitFailed}
	}
	return err
}

// measured estimates a table of measured trainings.
func (c *planScoreCmd) measured(e *env) (err error) {
	by := planner.Assumed{Efficiency: c.efficiency(0)}
	if c.Software != "" {
		var t workload.Training
		if err = c.framework(c.Software, &t); err != nil {
			return err
		}
		by.Software = t.Software
	}
	all, err := named.Measured(c.Measured, by)
	if err != nil {
		return err
	}
	err = e.show(c.JSON, measuredScores{planner.Accuracies(all), all}, func() {
		table.Measured(e.stdout, all)
	})
	if err == nil && !slices.ContainsFunc(all, func(m planner.Measured) bool { return m.Why == "" }) {
		return &exitError{exitFailed}
	}
	return err
}

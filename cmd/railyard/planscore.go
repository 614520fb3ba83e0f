package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	Software string   `help:"Framework, NAME, NAME@VERSION or FILE of plan fit, whose kernels and overheads replace --efficiency and --kernels (--measured: that of each row)" placeholder:"NAME"`
	Against  []string `help:"Values of a second configuration, to compare with the first part by part: tp=4,pp=2" placeholder:"KEY=VALUE,…" without:"measured"`
	JSON     bool     `help:"Print as JSON"`
}

func (c *planScoreCmd) Help() string {
	return `Estimates computation, bubble, exposed communication and GPU memory of one parallel configuration by the
cost model of plan search. The data parallel size is the number of GPUs divided by the other sizes. --against
prints the parts by which the step of a second configuration differs. Exit code 1: one does not fit the GPU memory.
The estimate has an interval, which holds 90 % of published trainings that were not fitted.
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
  railyard plan score llama-3.1-70b --fabric scenarios/pod64-llama2-7b.yaml --tp 4 --pp 4 --vpp 5 \
    --global-batch 128 --sequence 8192 --against tp=8,pp=2
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
	score := func(c *planScoreCmd) (*planner.SearchInput, *planner.Scored, error) {
		in, err := c.input(c.Model, m, plan, c.Fabric, c.Seq)
		if err == nil && c.Software != "" {
			err = c.framework(c.Software, &in.Training)
		}
		if err != nil {
			return nil, nil, err
		}
		s, err := in.Score(c.layout(in.Training.Software, in.Site.GPUs/(c.TP*c.PP*c.CP)))
		return &in, s, input.Fault(field.Flags(err))
	}
	in, s, err := score(c)
	if err != nil {
		return err
	}
	if len(c.Against) > 0 {
		other, err := c.against()
		if err != nil {
			return err
		}
		_, b, err := score(&other)
		if err != nil {
			return fmt.Errorf("--against %s: %w", strings.Join(c.Against, ","), err)
		}
		err = e.show(c.JSON, comparedScores{s, b}, func() { table.Scores(e.stdout, s, b) })
		if err == nil && !(s.Fits && b.Fits) {
			return &exitError{exitFailed}
		}
		return err
	}
	_, origin := c.efficiency(plan, c.Fabric)
	err = e.show(c.JSON, s, func() { table.Score(e.stdout, in, s, origin) })
	if err == nil && !s.Fits {
		return &exitError{exitFailed}
	}
	return err
}

// against is the second configuration: the first with other values.
func (c *planScoreCmd) against() (planScoreCmd, error) {
	b := *c
	sizes := map[string]*int{"tp": &b.TP, "pp": &b.PP, "cp": &b.CP, "ep": &b.EP, "vpp": &b.VPP}
	for _, pair := range c.Against {
		key, value, _ := strings.Cut(pair, "=")
		n, err := strconv.Atoi(value)
		size := err == nil && n >= 1 && n <= 1<<20
		switch p := sizes[key]; {
		case p != nil && size:
			*p = n
		case key == "micro-batch" && size:
			b.Micro = int64(n)
		case key == "zero" && err == nil && n >= 0 && n <= 3:
			b.ZeRO = &n
		case key == "recompute" && slices.Contains([]string{"none", "selective", "full"}, value):
			b.Recompute = value
		case key == "precision" && slices.Contains([]string{"bf16", "fp8", "fp8-block", "mxfp8", "nvfp4"}, value):
			b.Precision = value
		case key == "software" && value != "":
			b.Software = value
		default:
			return b, field.New("--against", "unknown value %q; accepted: tp=N, pp=N, cp=N, ep=N, vpp=N, micro-batch=N, zero=0 to 3, recompute=none, selective or full, precision=bf16, fp8, fp8-block, mxfp8 or nvfp4, software=NAME", pair)
		}
	}
	return b, nil
}

// measured estimates a table of measured trainings.
func (c *planScoreCmd) measured(e *env) (err error) {
	var by planner.Assumed
	if c.Efficiency != nil {
		by.Efficiency = *c.Efficiency
	}
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

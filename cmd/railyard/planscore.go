package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/internal/planner"
	"railyard/internal/report/table"
	"railyard/internal/scenariofile"
	"railyard/internal/workload"
)

type planScoreCmd struct {
	Model      string   `arg:"" optional:"" help:"Shipped model, or a Hugging Face config.json" placeholder:"MODEL" without:"measured"`
	Measured   string   `help:"Table of measured trainings (CSV): estimate each and print the errors" placeholder:"FILE"`
	Fabric     string   `help:"Scenario with the fabric" placeholder:"SCENARIO" without:"measured"`
	Set        []string `help:"Override a value of the scenario; repeatable" placeholder:"KEY=VALUE" sep:"none" without:"measured"`
	GPUs       int      `help:"Number of GPUs (all of the fabric)" name:"gpus" placeholder:"N" range:"1,1048576" without:"measured"`
	TP         int      `help:"Tensor parallel size" default:"1" name:"tp" range:"1,1048576" without:"measured"`
	PP         int      `help:"Pipeline parallel size (stages)" default:"1" name:"pp" range:"1,1048576" without:"measured"`
	CP         int      `help:"Context parallel size" default:"1" name:"cp" range:"1,1048576" without:"measured"`
	EP         int      `help:"Expert parallel size, within data parallel" default:"1" name:"ep" range:"1,1048576" without:"measured"`
	VPP        int      `help:"Virtual stages per rank, for the interleaved schedule" default:"1" name:"vpp" range:"1,1048576" without:"measured"`
	ZeRO       int      `help:"ZeRO stage, 0 to 3" default:"0" name:"zero" range:"0,3" without:"measured"`
	Recompute  string   `help:"Activation recomputation: none, selective or full" enum:"none,selective,full" default:"selective" without:"measured"`
	Schedule   string   `help:"Schedule: gpipe, 1f1b, interleaved, zero-bubble, 2bw (1f1b; with --vpp interleaved)" enum:",gpipe,1f1b,interleaved,zero-bubble,2bw" default:"" placeholder:"NAME" without:"measured"`
	Micro      int64    `help:"Sequences per microbatch" default:"1" name:"micro-batch" range:"1,1048576" without:"measured"`
	Global     int64    `help:"Sequences per step" default:"1024" name:"global-batch" range:"1,1073741824" without:"measured"`
	Seq        int64    `help:"Tokens per sequence" default:"2048" name:"sequence" range:"1,16777216" without:"measured"`
	Efficiency float64  `help:"Percentage of the dense peak that matrix products reach" default:"60" range:"0.1,100"`
	Precision  string   `help:"Matrix products of layers: bf16, fp8, fp8-block, mxfp8, nvfp4" enum:"bf16,fp8,fp8-block,mxfp8,nvfp4" default:"bf16" placeholder:"NAME" without:"measured"`
	Kernels    string   `help:"Memory-bound kernels: flat, fused or unfused" enum:"flat,fused,unfused" default:"flat" placeholder:"NAME" without:"measured"`
	JSON       bool     `help:"Print as JSON"`
}

func (c *planScoreCmd) Help() string {
	return `Estimates computation, bubble, exposed communication and GPU memory of one parallel configuration by the
cost model of plan search. The data parallel size is the number of GPUs divided by the other sizes. Exit
code 1: it does not fit the GPU memory.
--measured takes columns model, gpu, gpus, tp, pp, cp, ep, vpp, micro, global_batch, sequence, zero,
recompute, step_seconds, source (precision), or those of Megatron-Bridge's performance summary.

Examples:
  railyard plan score llama-3.1-70b --fabric scenarios/pod64-llama2-7b.yaml --tp 4 --pp 4 --vpp 5 \
    --global-batch 128 --sequence 8192
  railyard plan score qwen3-30b-a3b --fabric scenarios/pod64-llama2-7b.yaml --ep 8 --sequence 4096 \
    --global-batch 512 --precision fp8 --json
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
	m, err := findModel(c.Model)
	if err != nil {
		return err
	}
	plan, err := scenariofile.Fabric(c.Fabric, c.Set)
	if err != nil {
		return err
	}
	site, err := siteOf(plan, c.Fabric, c.GPUs)
	if err != nil {
		return err
	}
	l := partition.Layout{TP: c.TP, PP: c.PP, CP: c.CP, EP: c.EP, VPP: c.VPP, ZeRO: c.ZeRO, Sequence: c.TP > 1,
		Recompute: c.Recompute, Schedule: c.Schedule, Micro: c.Micro, Seq: c.Seq}
	t := workload.NewTraining()
	t.Name, t.Model, t.GlobalBatch, t.Seq, t.Channels = c.Model, m, c.Global, c.Seq, 0
	t.Efficiency, t.Kernels, t.Precision = c.Efficiency, c.Kernels, c.Precision
	in := planner.SearchInput{Training: t, Site: site}
	s, err := in.Score(l)
	if err != nil {
		return input.Fault(field.Flags(err))
	}
	if c.JSON {
		err = printJSON(e.stdout, s)
	} else {
		table.Score(e.stdout, &in, s)
	}
	if err == nil && !s.Fits {
		return &exitError{exitFailed}
	}
	return err
}

// measured estimates a table of measured trainings. Models that do not ship are config.json files beside the table, or
// in its folder models.
func (c *planScoreCmd) measured(e *env) error {
	text, err := input.Text(c.Measured, 1<<24)
	if err != nil {
		return input.Fault(err)
	}
	find := func(name string) (*model.Config, error) {
		for _, dir := range []string{"", "models"} {
			path := filepath.Join(filepath.Dir(c.Measured), dir, name+".json")
			if b, err := input.Text(path, 1<<20); err == nil {
				return model.Parse(name, b)
			}
		}
		return model.Builtin(name)
	}
	all, err := planner.ReadMeasured(bytes.NewReader(text), find, c.Efficiency)
	if err != nil {
		return input.Fault(fmt.Errorf("%s: %w", c.Measured, err))
	}
	if c.JSON {
		err = printJSON(e.stdout, map[string]any{"classes": planner.Accuracies(all), "rows": all})
	} else {
		table.Measured(e.stdout, all)
	}
	if err == nil && !slices.ContainsFunc(all, func(m planner.Measured) bool { return m.Why == "" }) {
		return &exitError{exitFailed}
	}
	return err
}

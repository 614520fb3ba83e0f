package main

import (
	"cmp"
	"fmt"

	"railyard/internal/fidelity"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/model"
	"railyard/internal/output"
	"railyard/internal/partition"
	"railyard/internal/planner"
	"railyard/internal/planner/named"
	"railyard/internal/report"
	"railyard/internal/report/table"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/study/layouts"
	"railyard/internal/workload"
)

type planSearchCmd struct {
	Model  string   `arg:"" help:"Shipped model, or a Hugging Face config.json" placeholder:"MODEL"`
	Fabric string   `help:"Scenario with the fabric" required:"" placeholder:"SCENARIO"`
	Set    []string `help:"Override a value of the scenario; repeatable" placeholder:"KEY=VALUE" sep:"none"`
	Seq    int64    `help:"Tokens per sequence" default:"2048" name:"sequence" range:"1,16777216"`
	trainingFlags
	onlyFlags
	Software string  `help:"Framework, NAME, NAME@VERSION or FILE of plan fit: its kernels and overheads, and what it can run" placeholder:"NAME"`
	Ahead    bool    `help:"Overlap ZeRO 1 and 2 parameter gathering with the next step's forward pass" name:"gather-ahead"`
	Top      int     `help:"Configurations to print" default:"10" range:"1,10000"`
	Simulate *int    `help:"Configurations to simulate and rank again (3)" placeholder:"N" range:"0,100"`
	Packets  float64 `help:"Maximum packets of a simulated step; larger steps are simulated in part" default:"1e8" placeholder:"N" range:"1,1e11"`
	CC       string  `help:"Congestion control (the scenario's); the cost model uses its measured efficiency" name:"cc" placeholder:"NAME"`
	Out      string  `help:"Write the scenario with the best configuration as its workload" placeholder:"FILE"`
	Force    bool    `help:"Replace an existing file; begin anew in --study"`
	JSON     bool    `help:"Print as JSON"`

	studyFlags
}

func (c *planSearchCmd) Help() string {
	return `Enumerates TP, PP, VPP, DP, CP, EP, schedule, rank order, microbatch, ZeRO and recomputation on all
GPUs, drops infeasible ones, ranks the rest by a cost model, simulates the best and ranks them
again. Steps above 1,024 GPUs or --packets are simulated in part: one rail where rails are isolated,
or fewer replicas. The output names the part and the correction.
Lists limit the search: --tp 4,8 --zero 1.

Examples:
  railyard plan search gpt3-13b --fabric scenarios/gpt13b-128.yaml --global-batch 128
  railyard plan search llama-3.1-70b --fabric scenarios/pod64-llama2-7b.yaml --global-batch 256 \
    --sequence 8192 --simulate 0
  railyard plan search gpt3-13b --fabric scenarios/gpt13b-128.yaml --global-batch 128 --cc hpcc
  railyard plan search llama-3.1-70b --fabric scenarios/pod64-llama2-7b.yaml --global-batch 128 \
    --sequence 8192 --software nemo --tp 4,8 --zero 1 --simulate 0`
}

// Run is the plan search command.
func (c *planSearchCmd) Run(e *env) error {
	if c.Force && c.Out+c.Dir == "" {
		return field.New("--force", "has no effect without --out or --study")
	}
	if err := output.Fits(c.Force, c.Out); err != nil {
		return err
	}
	m, err := named.Model(c.Model)
	if err != nil {
		return err
	}
	if c.CC != "" {
		c.Set = append(c.Set, "cc.algorithm="+c.CC)
	}
	plan, err := scenariofile.Fabric(c.Fabric, c.Set)
	if err != nil {
		return err
	}
	in, err := c.input(c.Model, m, plan, c.Fabric, c.Seq)
	if err != nil {
		return err
	}
	in.Training.GatherAhead, in.Only = c.Ahead, c.only()
	simulate := 3
	if c.Simulate != nil {
		simulate = *c.Simulate
	}
	if c.Software != "" {
		if err = c.framework(c.Software, &in.Training); err != nil {
			return err
		}
	}
	if c.CC != "" {
		if in.Site.Waste, err = fidelity.Waste(plan, c.CC); err != nil {
			return input.Fault(err)
		}
	}
	r, err := planner.Search(in)
	if err != nil {
		return field.Flags(err)
	}
	var sims []layouts.Simulated
	var stopped error
	of := layouts.Study{Fabric: c.Fabric, Set: c.Set, Model: c.Model, Packets: c.Packets, Software: c.Software}
	if c.Out != "" && len(r.Candidates) > 0 { // a configuration that cannot be written is refused before simulations
		if _, err = of.Scenario(r.Candidates[0].Layout, in, c.Out); err != nil {
			return err
		}
	}
	if simulate > 0 && len(r.Candidates) > 0 {
		ctx, pool, release := e.pool()
		defer release()
		finish, err := c.keep(ctx, e, pool, "plan search", []string{c.Fabric}, c.Force)
		if err != nil {
			return err
		}
		defer finish()
		of.Pool = pool
		sims, stopped = of.Simulate(ctx, simulate, r, in, plan)
	}
	compared := in.Compare()
	if c.JSON {
		top := r.Candidates[:min(c.Top, len(r.Candidates))]
		err = printJSON(e.stdout, searchResult{Model: m.Name, GPUs: in.Site.GPUs, Precision: in.Training.Precision,
			Tried: r.Tried, Feasible: len(r.Candidates), Candidates: top, Rejected: r.Rejected, Simulated: sims,
			Waste: in.Site.Waste, Comparison: compared})
	} else {
		_, origin := c.efficiency(plan, c.Fabric)
		table.Layouts(e.stdout, &in, r, compared, sims, c.Top, c.CC, origin)
	}
	switch {
	case err != nil:
		return err
	case stopped != nil:
		return fmt.Errorf("%w; what had been simulated is above", stopped)
	case len(r.Candidates) == 0:
		return &exitError{exitFailed}
	case c.Out != "":
		return c.write(e, &of, layouts.Best(r, sims), in)
	case !c.JSON:
		fmt.Fprintln(e.stdout, "--out FILE writes the best configuration as a scenario.")
	}
	return nil
}

// write writes the scenario of a layout.
func (c *planSearchCmd) write(e *env, of *layouts.Study, best partition.Layout, in planner.SearchInput) error {
	w, err := of.Scenario(best, in, c.Out)
	if err == nil {
		err = output.WriteBytes(c.Out, c.Force, []byte(w.Text))
	}
	if err != nil || c.JSON {
		return err
	}
	if w.Unfit != "" {
		report.Labelled(e.stdout, "note: ", w.Unfit)
	}
	if w.Next != "" {
		fmt.Fprintln(e.stdout, "Next: "+w.Next)
	}
	return nil
}

// onlyFlags limit a search.
type onlyFlags struct {
	TP        []int    `help:"Tensor parallel sizes to try (all)" name:"tp" placeholder:"N,…" range:"1,1048576"`
	PP        []int    `help:"Pipeline parallel sizes to try" name:"pp" placeholder:"N,…" range:"1,1048576"`
	CP        []int    `help:"Context parallel sizes to try (powers of two, at least 1,024 tokens per rank)" name:"cp" placeholder:"N,…" range:"1,1048576"`
	EP        []int    `help:"Expert parallel sizes to try" name:"ep" placeholder:"N,…" range:"1,1048576"`
	VPP       []int    `help:"Virtual stages per rank to try" name:"vpp" placeholder:"N,…" range:"1,1048576"`
	Micro     []int64  `help:"Sequences per microbatch to try (1,2,4,8)" name:"micro-batch" placeholder:"N,…" range:"1,1048576"`
	ZeRO      []int    `help:"ZeRO stages to try" name:"zero" placeholder:"N,…" range:"0,3"`
	Recompute []string `help:"Activation recomputation to try: none, selective, full" placeholder:"NAME,…"`
	Schedule  []string `help:"Schedules to try: 1f1b, interleaved, zero-bubble" placeholder:"NAME,…"`
	Order     []string `help:"Orders of ranks to try: tp-cp-dp-pp, tp-cp-pp-dp" placeholder:"NAME,…"`
}

func (c *onlyFlags) only() planner.Only {
	return planner.Only{TP: c.TP, PP: c.PP, CP: c.CP, EP: c.EP, VPP: c.VPP, ZeRO: c.ZeRO, Micro: c.Micro,
		Recompute: c.Recompute, Schedule: c.Schedule, Order: c.Order}
}

// framework sets a training's framework, whose rates contradict flags of kernels.
func (c *trainingFlags) framework(name string, t *workload.Training) (err error) {
	switch {
	case c.Efficiency != nil:
		return field.New("--efficiency", "contradicts --software %s, which has rates of its own; accepted: one of both", name)
	case c.Kernels != "":
		return field.New("--kernels", "contradicts --software %s, which has kernels of its own; accepted: one of both", name)
	}
	t.Software, err = named.Software(name)
	return err
}

// trainingFlags are the flags of a training that the cost model estimates.
type trainingFlags struct {
	GPUs       int      `help:"Number of GPUs (all of the fabric)" name:"gpus" placeholder:"N" range:"1,1048576" without:"measured"`
	Global     int64    `help:"Sequences per step" default:"1024" name:"global-batch" range:"1,1073741824" without:"measured"`
	Efficiency *float64 `help:"Percentage of the dense peak that matrix products reach (the scenario's)" placeholder:"PERCENT" range:"1,100"`
	Precision  string   `help:"Matrix products of layers: bf16, fp8, fp8-block, mxfp8, nvfp4" enum:"bf16,fp8,fp8-block,mxfp8,nvfp4" default:"bf16" placeholder:"NAME" without:"measured"`
	Kernels    string   `help:"Memory-bound kernels: flat, fused or unfused (flat)" enum:",flat,fused,unfused" default:"" placeholder:"NAME" without:"measured"`
}

// efficiency returns the percentage of the peak that matrix products reach, and its source: the flag, the scenario with
// the fabric, or neither.
func (c *trainingFlags) efficiency(plan *scenario.Plan, fabric string) (percent float64, from string) {
	switch {
	case c.Efficiency != nil:
		return *c.Efficiency, "--efficiency"
	case plan.Efficiency > 0:
		return plan.Efficiency, "of " + fabric + "; --efficiency changes it"
	}
	return workload.NewTraining().Efficiency, "as in scenarios by default; --efficiency changes it"
}

// input returns the training on the GPUs of a fabric.
func (c *trainingFlags) input(name string, m *model.Config, plan *scenario.Plan, fabric string,
	sequence int64) (planner.SearchInput, error) {
	t := workload.NewTraining()
	t.Name, t.Model, t.GlobalBatch, t.Seq = name, m, c.Global, sequence
	t.Efficiency, _ = c.efficiency(plan, fabric)
	t.Kernels, t.Precision = cmp.Or(c.Kernels, workload.Flat), c.Precision
	return layouts.Asked(t, plan, fabric, c.GPUs)
}

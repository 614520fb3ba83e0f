package main

import (
	"errors"
	"fmt"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/internal/planner/named"
	"railyard/internal/report"
	"railyard/internal/report/table"
	"railyard/internal/workload"
	"railyard/unit"
)

// layoutFlags are the flags of one parallel configuration. Layouts without a memory estimate are refused.
type layoutFlags struct {
	TP        int    `help:"Tensor parallel size" default:"1" name:"tp" range:"1,1048576" without:"states,weights,measured"`
	PP        int    `help:"Pipeline parallel size, in stages" default:"1" name:"pp" range:"1,1048576" without:"states,weights,measured"`
	CP        int    `help:"Context parallel size" default:"1" name:"cp" range:"1,1048576" without:"states,weights,measured"`
	EP        int    `help:"Expert parallel size, within data parallel" default:"1" name:"ep" range:"1,1048576" without:"states,weights,measured"`
	VPP       int    `help:"Virtual stages per rank, for the interleaved schedule" default:"1" name:"vpp" range:"1,1048576" without:"states,weights,measured"`
	ZeRO      *int   `help:"ZeRO stage, 0 to 3 (lowest of --software, or 0)" placeholder:"N" name:"zero" range:"0,3" without:"states,weights,measured"`
	Recompute string `help:"Activation recomputation: none, selective or full" enum:"none,selective,full" default:"selective" without:"states,weights,measured"`
	Schedule  string `help:"Schedule: gpipe, 1f1b, interleaved, zero-bubble, 2bw (1f1b; with --vpp interleaved)" enum:",gpipe,1f1b,interleaved,zero-bubble,2bw" default:"" placeholder:"NAME" without:"states,weights,measured"`
	Micro     int64  `help:"Sequences per microbatch" default:"1" name:"micro-batch" range:"1,1048576" without:"states,weights,measured"`
	Seq       int64  `help:"Tokens per sequence" default:"2048" name:"sequence" range:"1,16777216" without:"states,weights,measured"`
	NoSeqPar  bool   `help:"Disable sequence parallelism, as scenarios do by default" name:"no-sequence-parallel" without:"states,weights,measured"`
}

// layout returns the configuration that the flags describe, of a framework (nil: none) on dp replicas. The default ZeRO
// stage is the framework's lowest.
func (c *layoutFlags) layout(by *workload.Software, dp int) partition.Layout {
	stage := by.LowestZeRO(dp * c.CP)
	if c.ZeRO != nil {
		stage = *c.ZeRO
	}
	return partition.Layout{TP: c.TP, PP: c.PP, CP: c.CP, EP: c.EP, VPP: c.VPP, ZeRO: stage,
		Sequence: c.TP > 1 && !c.NoSeqPar, Recompute: c.Recompute, Schedule: c.Schedule, Micro: c.Micro, Seq: c.Seq}
}

type planMemoryCmd struct {
	Model string `arg:"" optional:"" help:"Shipped model, or a Hugging Face config.json" placeholder:"MODEL" without:"states,weights"`
	GPU   string `help:"Accelerator" default:"h100" name:"gpu"`
	layoutFlags
	DP           int     `help:"Data parallel size, in replicas" default:"1" name:"dp" range:"1,1048576" without:"states,weights"`
	Software     string  `help:"Framework, NAME or NAME@VERSION: how it spends memory (as Megatron-LM)" placeholder:"NAME" without:"states,weights"`
	Kernels      string  `help:"Attention kernels: fused (FlashAttention), or unfused, which store their scores unless recomputed" enum:"fused,unfused" default:"fused" without:"states,weights"`
	Microbatches int     `help:"Microbatches per replica and step" default:"8" range:"1,1048576" without:"states,weights"`
	States       string  `help:"Print only the GPUs that hold the training state of N parameters (175B)" placeholder:"N"`
	Weights      string  `help:"Print only the GPUs that hold the bf16 weights of N parameters (405B)" placeholder:"N" without:"states"`
	Efficiency   float64 `help:"Usable percentage of GPU memory, with --states or --weights" default:"100" range:"0.1,100" with:"states,weights"`
	JSON         bool    `help:"Print as JSON"`
}

func (c *planMemoryCmd) Help() string {
	return `Training state is 16 bytes per parameter (Adam, mixed precision), 18 by Megatron-LM, whose
gradients have 32 bits, sharded by ZeRO. Activations follow Korthikanti et al., with sequence
parallelism; a layer of a hybrid keeps what its own part needs. Schedule 2bw keeps two versions
of the weights. Exit code 1: a stage fills more than 90 % of the GPU memory. The rest is for
fragmentation, the communication library and the framework, as in plan score and plan search.

Examples:
  railyard plan memory gpt3-175b --tp 8 --pp 8 --dp 16 --zero 1
  railyard plan memory llama-3.1-405b --tp 8 --pp 16 --dp 128 --zero 2 --sequence 8192
  railyard plan memory gpt3-175b --tp 8 --pp 8 --dp 16 --schedule 2bw
  railyard plan memory --states 1.5T --gpu h100 --efficiency 75
  railyard plan memory --weights 405B`
}

// Run is the plan memory command.
func (c *planMemoryCmd) Run(e *env) error {
	g, err := model.FindGPU(c.GPU)
	if err != nil {
		return field.Under("--gpu", err)
	}
	switch {
	case c.States != "":
		return c.copies(e, g, "states", c.States, partition.StateBytes)
	case c.Weights != "":
		return c.copies(e, g, "weights", c.Weights, partition.WeightBytes)
	}
	if c.Model == "" {
		return input.Fault(errors.New("name a model, a config.json, --states N or --weights N"))
	}
	m, err := named.Model(c.Model)
	if err != nil {
		return err
	}
	var by *workload.Software
	if c.Software != "" {
		if by, err = named.Software(c.Software); err != nil {
			return err
		}
	}
	l := c.layout(by, c.DP)
	l.DP, l.Microbatches, l.Unfused = c.DP, c.Microbatches, c.Kernels == workload.Unfused
	l = l.Settled(m)
	if err = l.Shards(); err != nil {
		return input.Fault(field.Flags(err))
	}
	if by != nil {
		if err = by.Permits(l); err != nil {
			return input.Fault(field.Flags(err))
		}
		by.Spends(&l)
	}
	ranks, err := l.Memory(m)
	if err != nil {
		return input.Fault(field.Flags(err))
	}
	worst, err := l.Worst(m)
	if err != nil {
		return input.Fault(field.Flags(err))
	}
	fits := worst.Total() <= partition.Fillable(g.Usable)
	err = e.show(c.JSON, memoryResult{Model: m.Name, Parameters: m.Params(), GPU: g.Name, GPUMemory: g.Usable,
		Limit: partition.Fillable(g.Usable), GPUs: l.GPUs(), Stages: ranks, WorstStage: worst.Stage,
		WorstMemory: worst.Total(), Fits: fits}, func() {
		table.Memory(e.stdout, m, &g, &l, ranks, worst)
	})
	if err == nil && !fits {
		return &exitError{exitFailed}
	}
	return err
}

// copies prints the number of GPUs that hold one copy of the states, or of the weights.
func (c *planMemoryCmd) copies(e *env, g model.GPU, what, count string, each float64) error {
	p, err := amount(what, count)
	if err != nil {
		return err
	}
	n := partition.Fits(p, each, g.Usable, c.Efficiency/100)
	if c.JSON {
		return printJSON(e.stdout, copyResult{Each: each, GPU: g.Name, GPUMemory: g.Usable, GPUs: n, Parameters: p})
	}
	size, in := p*each/1e9, "GB"
	if size >= 1000 {
		size, in = size/1000, "TB"
	}
	report.Wrap(e.stdout, "",
		fmt.Sprintf("%s %s hold one copy: %s parameters × %g bytes = %s %s of %s, at %g %% of the %s GB that each one's driver reports",
			unit.ShowCount(n), strings.ToUpper(g.Name), unit.ShowAmount(p), each, unit.Digits(size), in, what,
			c.Efficiency, unit.Digits(float64(g.Usable)/1e9)))
	return nil
}

package main

import (
	"fmt"
	"strconv"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/model"
	"railyard/internal/planner"
	"railyard/internal/planner/named"
	"railyard/internal/report/table"
)

type planCmd struct {
	Size         planSizeCmd         `cmd:"" help:"Estimate GPUs, time, energy and cost of a training"`
	Memory       planMemoryCmd       `cmd:"" help:"Estimate GPU memory per pipeline stage"`
	Search       planSearchCmd       `cmd:"" help:"Find the fastest parallel configuration"`
	Fit          planFitCmd          `cmd:"" help:"Fit a framework's figures to measured trainings"`
	Score        planScoreCmd        `cmd:"" help:"Estimate the step of one parallel configuration"`
	Fabric       planFabricCmd       `cmd:"" help:"Compare fabric designs: switches, power, cost"`
	Collective   planCollectiveCmd   `cmd:"" help:"Estimate a collective by size and algorithm"`
	Goodput      planGoodputCmd      `cmd:"" help:"Estimate effective time with failures and checkpoints"`
	Interference planInterferenceCmd `cmd:"" help:"Measure the slowdown of jobs that share links"`
	Failures     planFailuresCmd     `cmd:"" help:"Rank single failures by slowdown"`
	Circuits     planCircuitsCmd     `cmd:"" help:"Plan optical circuits and their reconfiguration"`
	Load         planLoadCmd         `cmd:"" help:"Measure latency over offered load"`
	Traffic      planTrafficCmd      `cmd:"" help:"Show traffic between GPUs by parallelism"`
}

func (c *planCmd) Help() string {
	return `Estimates and simulations for sizing, parallelism, fabric design, failures and goodput.

Examples:
  railyard plan size llama-3.1-405b --tokens 15.6T --gpu h100 --utilisation 40 --days 54
  railyard plan size --params 175B --tokens 300B --gpus 1024 --gpu a100
  railyard plan size --table 1
  railyard plan failures scenarios/pod64-alltoall.yaml --plot failures.png
  railyard plan memory gpt3-175b --tp 8 --pp 8 --dp 16 --zero 1 --recompute selective
  railyard plan interference scenarios/two-jobs.yaml
  railyard plan goodput --gpus 16384 --days 54 --checkpoint 5.67TB --storage 2TB/s --step 6s`
}

// amount reads a flag's count.
func amount(flag, s string) (float64, error) {
	n, err := planner.ParseAmount(s)
	if err == nil && n < few {
		err = field.New("", "%s is too few for a model; accepted: a count such as 70B", field.Quote(s))
	}
	return n, field.Under("--"+flag, err)
}

// few is a number of parameters and of tokens below those of any language model: a suffix is missing.
const few = 1e5

type planSizeCmd struct {
	Model       string  `arg:"" optional:"" help:"Shipped model, or a Hugging Face config.json" placeholder:"MODEL" without:"table"`
	Params      string  `help:"Parameters, without a model: 175B" placeholder:"N" without:"table"`
	Active      string  `help:"Active parameters per token, of a mixture of experts (all)" placeholder:"N" without:"table"`
	Tokens      string  `help:"Training tokens: 300B, 15.6T" placeholder:"N" without:"table"`
	ZFLOPs      float64 `help:"Published training compute, in 10^21 operations" name:"zflops" placeholder:"N" range:"1e-9,1e15" without:"table"`
	Recompute   bool    `help:"Full recomputation: 8 operations per parameter and token, not 6" without:"zflops,table"`
	GPU         string  `help:"Accelerator: a100, h100, h200, b200, mi300x" default:"h100" name:"gpu" without:"table"`
	Precision   string  `help:"Matrix products: bf16, fp8, fp8-block, mxfp8, nvfp4, tf32, or a mix: bf16:7,tf32:3" default:"bf16" without:"tflops,table"`
	TFLOPs      float64 `help:"Peak TFLOP/s per GPU (dense peak of the precision)" name:"tflops" placeholder:"N" range:"0.001,1e9" without:"table"`
	Utilisation float64 `help:"Model FLOPs utilization, percent" default:"40" range:"0.1,100" without:"table"`
	Days        float64 `help:"Training time in days" placeholder:"N" range:"0.001,1000000" without:"weeks,gpus,table"`
	Weeks       float64 `help:"Training time in weeks" placeholder:"N" range:"0.001,1000000" without:"gpus,table"`
	GPUs        int64   `help:"GPUs: estimates the time" name:"gpus" placeholder:"N" range:"1,1000000000" without:"table"`
	Watts       float64 `help:"Watts per GPU with host and cooling (the GPU's)" placeholder:"W" range:"0.1,1000000" without:"table"`
	PerKWh      float64 `help:"Price per kWh" name:"price-kwh" placeholder:"P" range:"0,1000000" without:"table"`
	PerGPUHour  float64 `help:"Price per GPU hour" name:"price-gpu-hour" placeholder:"P" range:"0,1000000" without:"table"`
	Table       string  `help:"Compute published table 1, 2 or 3 (docs/references.md), or all" enum:",1,2,3,all" default:"" placeholder:"N"`
	JSON        bool    `help:"Print as JSON"`
}

func (c *planSizeCmd) Help() string {
	return `The work is 6 operations per parameter and token (forward 2, backward 4), or 8 with recomputation.
For a mixture of experts, the active parameters count.

Examples:
  railyard plan size llama-3.1-405b --tokens 15.6T --days 54
  railyard plan size --params 1.5T --tokens 2.6T --recompute --precision fp8 --weeks 4
  railyard plan size gpt3-175b --tokens 300B --recompute --gpu a100 --utilisation 45 --gpus 1024
  railyard plan size mixtral-8x7b --tokens 1T --gpus 64  # 12.9B of 46.7B active
  railyard plan size --params 671B --active 37B --tokens 14.8T --gpus 2048 --gpu h100
  railyard plan size --table all`
}

// Run is the plan size command.
func (c *planSizeCmd) Run(e *env) error {
	if c.Table != "" {
		return c.tables(e)
	}
	in, err := c.input()
	if err != nil {
		return err
	}
	s, err := in.Solve()
	if err != nil {
		return input.Fault(field.Flags(err))
	}
	return e.show(c.JSON, s, func() { table.Size(e.stdout, s, &in.GPU) })
}

// input turns the flags into a question.
func (c *planSizeCmd) input() (in planner.SizeInput, err error) {
	in = planner.SizeInput{FLOPs: c.ZFLOPs * 1e21, PerToken: planner.RuleStored, Peak: c.TFLOPs * 1e12,
		Utilisation: c.Utilisation / 100,
		Seconds:     c.Days*86400 + c.Weeks*planner.Week, GPUs: c.GPUs, Watts: c.Watts, PerKWh: c.PerKWh,
		PerGPUHour: c.PerGPUHour}
	if c.Recompute {
		in.PerToken = planner.RuleRecomputed
	}
	if in.GPU, err = model.FindGPU(c.GPU); err != nil {
		return in, field.Under("--gpu", err)
	}
	if in.Mix, err = planner.ParseMix(c.Precision); err != nil {
		return in, field.Flags(err)
	}
	if c.TFLOPs > 0 {
		in.Mix = nil
	}
	switch {
	case c.Model != "" && c.Params != "":
		return in, field.New("--params", "has no effect with a model, which has its own")
	case c.Model != "":
		m, err := named.Model(c.Model)
		if err != nil {
			return in, err
		}
		in.Params, in.Active = float64(m.Params()), float64(m.ActiveParams())
		in.Embedding = float64(m.InputEmbedding())
	case c.Params != "":
		if in.Params, err = amount("params", c.Params); err != nil {
			return in, err
		}
	}
	if c.Active != "" {
		if c.Model != "" || c.Params == "" {
			return in, field.New("--active", "needs --params; a model contains its number of experts per token")
		}
		if in.Active, err = amount("active", c.Active); err != nil {
			return in, err
		}
	}
	if c.Tokens != "" {
		if in.Tokens, err = amount("tokens", c.Tokens); err != nil {
			return in, err
		}
	}
	if in.FLOPs == 0 && (in.Params == 0 || in.Tokens == 0) {
		return in, input.Fault(fmt.Errorf("a sizing needs a model or --params, and --tokens; or --zflops"))
	}
	if in.Seconds == 0 && in.GPUs == 0 {
		return in, input.Fault(
			fmt.Errorf("give --days or --weeks for the number of GPUs, or --gpus for the time"))
	}
	return in, nil
}

// tables prints the source's tables, computed.
func (c *planSizeCmd) tables(e *env) error {
	numbers := []int{1, 2, 3}
	if c.Table != "all" {
		n, _ := strconv.Atoi(c.Table) // the flag's choices are numbers
		numbers = []int{n}
	}
	all := map[string][]planner.TableRow{}
	for _, n := range numbers {
		rows, note, err := planner.SeedTable(n)
		if err != nil {
			return err
		}
		all[strconv.Itoa(n)] = rows
		if c.JSON {
			continue
		}
		table.Published(e.stdout, n, rows, note)
	}
	if c.JSON {
		return printJSON(e.stdout, all)
	}
	return nil
}

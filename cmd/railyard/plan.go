package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/model"
	"railyard/internal/planner"
	"railyard/internal/report"
)

type planCmd struct {
	Size         planSizeCmd         `cmd:"" help:"How many GPUs a training takes, or how long on given ones."`
	Memory       planMemoryCmd       `cmd:"" help:"What each rank holds: parameters, gradients, optimizer states, activations."`
	Search       planSearchCmd       `cmd:"" help:"The best partitioning of a model on a fabric."`
	Fabric       planFabricCmd       `cmd:"" help:"Fabrics that can be built for so many GPUs: switches, cables, power, cost."`
	Collective   planCollectiveCmd   `cmd:"" help:"How long a collective takes by every algorithm: NCCL's model and the simulator."`
	Goodput      planGoodputCmd      `cmd:"" help:"Days of training with failures: what is left, and how often to write checkpoints."`
	Interference planInterferenceCmd `cmd:"" help:"What jobs that run side by side cost each other, and where they met."`
	Failures     planFailuresCmd     `cmd:"" help:"What each single failure does to a step, ranked by harm; single points of failure."`
	Circuits     planCircuitsCmd     `cmd:"" help:"What an optical circuit switch joins between groups, and what moves when one comes or fails."`
	Load         planLoadCmd         `cmd:"" help:"Latency over offered load, and where a network is saturated, by way of load balancing."`
	Traffic      planTrafficCmd      `cmd:"" help:"Who sends how much to whom in a step, by kind of parallelism; heat maps."`
}

func (c *planCmd) Help() string {
	return `From a model and a deadline to GPUs and memory, each answer with the rule it follows.

Examples:
  railyard plan size llama-3.1-405b --tokens 15.6T --gpu h100 --utilisation 40 --days 54
  railyard plan size --params 175B --tokens 300B --gpus 1024 --gpu a100
  railyard plan size --table 1
  railyard plan failures scenarios/pod64-alltoall.yaml --plot failures.png
  railyard plan memory gpt3-175b --tp 8 --pp 8 --dp 16 --zero 1 --recompute selective
  railyard plan interference scenarios/two-jobs.yaml
  railyard plan goodput --gpus 16384 --days 54 --checkpoint 5.67TB --storage 2TB/s --step 6s`
}

// amount reads a count with K, M, B, T: 175B, 15.6T.
func amount(flag, s string) (float64, error) {
	scale := 1.0
	digits := s
	if s != "" {
		if i := strings.IndexByte("KMBT", strings.ToUpper(s)[len(s)-1]); i >= 0 {
			scale = [...]float64{1e3, 1e6, 1e9, 1e12}[i]
			digits = s[:len(s)-1]
		}
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(v*scale >= 1) || v*scale > 1e18 {
		return 0, field.New("--"+flag, "%q: write a count from 1 to 1e18 such as 175B or 15.6T", s)
	}
	return v * scale, nil
}

// findModel reads a shipped model or a config.json.
func findModel(name string) (*model.Config, error) {
	var m *model.Config
	var err error
	if model.IsFile(name) {
		text, e := input.Text(name, 1<<20)
		if e != nil {
			return nil, input.Fault(e)
		}
		m, err = model.Parse(name, text)
	} else if m, err = model.Builtin(name); err != nil {
		return nil, field.Under("MODEL", err)
	}
	if err != nil {
		return nil, input.Fault(err)
	}
	return m, nil
}

type planSizeCmd struct {
	Model       string  `arg:"" optional:"" help:"A shipped model, or the path of a config.json; its parameters are counted." placeholder:"MODEL" without:"table"`
	Params      string  `help:"Parameters, instead of a model: 175B." placeholder:"N" without:"table"`
	Active      string  `help:"Of these, parameters that a token meets, in a model of experts; all unless given." placeholder:"N" without:"table"`
	Tokens      string  `help:"Tokens of the training: 300B, 15.6T." placeholder:"N" without:"table"`
	ZFLOPs      float64 `help:"Work of the training in 10^21 operations, when it is published." name:"zflops" placeholder:"N" range:"1e-9,1e15" without:"table"`
	Recompute   bool    `help:"Count 8 operations per parameter and token instead of 6: the forward pass is made twice." without:"zflops,table"`
	GPU         string  `help:"Accelerator: a100, h100, h200, b200, mi300x." default:"h100" name:"gpu" without:"table"`
	Precision   string  `help:"Arithmetic: bf16, fp8, tf32, or a mix by operations: bf16:7,tf32:3." default:"bf16" without:"tflops,table"`
	TFLOPs      float64 `help:"Rate per GPU, instead of the precision's dense peak." name:"tflops" placeholder:"N" range:"0.001,1e9" without:"table"`
	Utilisation float64 `help:"Percent of the peak that training reaches." default:"40" range:"0.1,100" without:"table"`
	Days        float64 `help:"Time for the training." placeholder:"N" range:"0.001,1000000" without:"weeks,gpus,table"`
	Weeks       float64 `help:"Time for the training." placeholder:"N" range:"0.001,1000000" without:"gpus,table"`
	GPUs        int64   `help:"The reverse: how long on so many GPUs." name:"gpus" placeholder:"N" range:"1,1000000000" without:"table"`
	Watts       float64 `help:"Power per GPU with its share of server and cooling; the device's own unless given." placeholder:"W" range:"0.1,1000000" without:"table"`
	PerKWh      float64 `help:"Price of a kWh." name:"price-kwh" placeholder:"P" range:"0,1000000" without:"table"`
	PerGPUHour  float64 `help:"Price of a GPU hour." name:"price-gpu-hour" placeholder:"P" range:"0,1000000" without:"table"`
	Table       string  `help:"Compute the seed's table 1, 2 or 3, or all." enum:",1,2,3,all" default:"" placeholder:"N"`
	JSON        bool    `help:"Print as JSON."`
}

func (c *planSizeCmd) Help() string {
	return `Work is 6 operations per parameter and token (forward 2, backward 4), 8 with recomputation,
unless it is given. Of a model of experts the parameters count that a token meets.

Examples:
  railyard plan size llama-3.1-405b --tokens 15.6T --days 54
  railyard plan size --params 1.5T --tokens 2.6T --recompute --precision fp8 --weeks 4
  railyard plan size gpt3-175b --tokens 300B --recompute --gpu a100 --utilisation 45 --gpus 1024
  railyard plan size mixtral-8x7b --tokens 1T --gpus 64   (12.9B of 46.7B active)
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
	if c.JSON {
		return printJSON(e.stdout, s)
	}
	printSize(e.stdout, s, in.GPU)
	return nil
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
		return in, field.New("--params", "means nothing beside a model, which has its own")
	case c.Model != "":
		m, err := findModel(c.Model)
		if err != nil {
			return in, err
		}
		in.Params, in.Active = float64(m.Params()), float64(m.ActiveParams())
	case c.Params != "":
		if in.Params, err = amount("params", c.Params); err != nil {
			return in, err
		}
	}
	if c.Active != "" {
		if c.Model != "" || c.Params == "" {
			return in, field.New("--active", "stands beside --params; a model says itself how many experts a "+
				"token meets")
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

func printSize(w io.Writer, s *planner.Size, g model.GPU) {
	if s.Params > 0 {
		active := ""
		if s.Active < s.Params {
			active = fmt.Sprintf(" (%s active)", short(s.Active))
		}
		fmt.Fprintf(w, "Model        %s parameters%s, %s tokens\n", short(s.Params), active, short(s.Tokens))
	}
	fmt.Fprintf(w, "Work         %.4g ZFLOPs (%s)\n", s.FLOPs/1e21, s.Rule)
	precision := s.Precision
	if precision == "" {
		precision = "rate given"
	}
	fmt.Fprintf(w, "Per GPU      %s: %.4g TFLOP/s (%s), %.3g %% of it used\n", s.GPU, s.Peak/1e12, precision,
		100*s.Utilisation)
	fmt.Fprintf(w, "GPUs         %d\n", s.GPUs)
	fmt.Fprintf(w, "Time         %.4g days (%.3g weeks)\n", s.Seconds/86400, s.Seconds/planner.Week)
	fmt.Fprintf(w, "Energy       %s kWh\n", short(s.EnergyKWh))
	if s.Cost > 0 {
		fmt.Fprintf(w, "Cost         %s for %s\n", short(s.Cost), s.CostOf)
	}
	report.Labelled(w, "Source       ", g.Source)
}

// short prints a count with K, M, B, T.
func short(v float64) string {
	for _, u := range []struct {
		scale float64
		name  string
	}{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "K"}} {
		if v >= u.scale {
			return strconv.FormatFloat(v/u.scale, 'g', 4, 64) + u.name
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// tables prints the seed's tables, computed.
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
		fmt.Fprintf(e.stdout, "Table %d: %s, %g TFLOPS, %.0f %% used, one week\n", n,
			strings.ToUpper(rows[0].GPU), rows[0].TFLOPs, 100*rows[0].Utilisation)
		t := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "model\tparams (B)\ttokens (B)\tZFLOPs\tper parameter and token\tGPUs\tseed\t")
		for _, r := range rows {
			fmt.Fprintf(t, "%s\t%g\t%g\t%.0f\t%s\t%d\t%d\t\n", r.Model, r.Params, r.Tokens, r.ZFLOPs, r.Rule,
				r.GPUs, r.Published)
		}
		t.Flush()
		report.Labelled(e.stdout, "note: ", note)
		fmt.Fprintln(e.stdout)
	}
	if c.JSON {
		return printJSON(e.stdout, all)
	}
	return nil
}

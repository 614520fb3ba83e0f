package main

import (
	"fmt"
	"slices"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/report/table"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/study/collectives"
	"railyard/internal/workload"
	"railyard/unit"
)

type planCollectiveCmd struct {
	Fabric     string   `arg:"" help:"Scenario with the fabric" placeholder:"SCENARIO"`
	Set        []string `help:"Override a value of the scenario; repeatable" placeholder:"KEY=VALUE" sep:"none"`
	Kind       string   `help:"all-reduce, all-gather, reduce-scatter, all-to-all or broadcast (the scenario's, else all-reduce)" placeholder:"NAME"`
	Sizes      []string `help:"Buffer sizes per rank" default:"64KiB,1MiB,16MiB" placeholder:"SIZE,..."`
	Algorithms []string `help:"Algorithms to simulate (all)" placeholder:"NAME,..." without:"no-simulate"`
	Groups     string   `help:"One group of all GPUs, or one per rail" enum:"all,rail" default:"all" placeholder:"all|rail"`
	NoSimulate bool     `help:"Print NCCL's tuning model only" name:"no-simulate"`
	JSON       bool     `help:"Print as JSON"`
}

func (c *planCollectiveCmd) Help() string {
	return `Prints the choice of NCCL's tuning model for every size, and the simulated time of each algorithm
with the model's protocol. busbw is the bus bandwidth of nccl-tests. nvls needs GPUs on one
NVSwitch; nvls-tree needs several such hosts.

Examples:
  railyard plan collective scenarios/gpt13b-128.yaml --sizes 64KiB,1MiB,64MiB
  railyard plan collective scenarios/gpt13b-128.yaml --kind all-to-all --sizes 1MiB
  railyard plan collective scenarios/gpt13b-128.yaml --set fabric.hosts=1 --algorithms ring,nvls
  railyard plan collective scenarios/gpt13b-128.yaml --groups rail --algorithms ring,tree`
}

// Run is the plan collective command.
func (c *planCollectiveCmd) Run(e *env) error {
	kind, err := c.kind()
	if err != nil {
		return err
	}
	sizes, err := c.sizes()
	if err != nil {
		return err
	}
	algorithms := workload.Algorithms(kind)
	for _, a := range c.Algorithms {
		if !slices.Contains(algorithms, a) {
			return field.Choice("--algorithms", a, algorithms, "%q runs no %v", a, kind)
		}
	}
	if len(c.Algorithms) > 0 {
		algorithms = c.Algorithms
	}
	plan, err := scenariofile.Fabric(c.Fabric, c.Set)
	if err != nil {
		return err
	}
	if len(c.Algorithms) == 0 && (c.Groups == "rail" || plan.Graph.Domains() > 1) {
		algorithms = slices.DeleteFunc(algorithms, func(a string) bool { return a == coll.ByNVLS })
	}
	if len(c.Algorithms) == 0 && (c.Groups == "rail" || plan.Graph.Domains() == 1) {
		algorithms = slices.DeleteFunc(algorithms, func(a string) bool { return a == coll.ByNVLSTree })
	}
	ctx, pool, release := e.pool()
	defer release()
	of := collectives.Study{Fabric: c.Fabric, Set: c.Set, Groups: c.Groups, Pool: pool}
	_, untuned := of.Tuned(plan, kind, sizes[0])
	if untuned != nil && c.NoSimulate {
		return input.Fault(field.New("--no-simulate", "leaves nothing to print: %v", untuned))
	}
	rows, stopped := of.Rows(ctx, plan, kind, sizes, algorithms, !c.NoSimulate)
	if err := e.show(c.JSON, rows, func() {
		table.Collectives(e.stdout, kind.String(), c.Groups, plan, rows, untuned)
	}); err != nil {
		return err
	}
	if stopped != nil {
		return fmt.Errorf("%w; what had been simulated is above", stopped)
	}
	return nil
}

// kind returns the requested kind, or that of the scenario's workload; all-reduce if it is no collective.
func (c *planCollectiveCmd) kind() (coll.Kind, error) {
	if c.Kind != "" {
		kind, err := scenario.ParseKind(c.Kind)
		return kind, field.Under("--kind", err)
	}
	doc, err := scenariofile.Read(c.Fabric, c.Set)
	if err != nil {
		return 0, err
	}
	switch t := doc.File.Workload.Traffic; {
	case t != nil && t.AllToAll != nil:
		return coll.ToAll, nil
	case t != nil && t.Collective != nil && t.Collective.Kind != "":
		return scenario.ParseKind(t.Collective.Kind)
	}
	return coll.AllReduce, nil
}

func (c *planCollectiveCmd) sizes() (out []unit.Bytes, err error) {
	for _, s := range c.Sizes {
		b, err := unit.ParseBytes(s)
		if err != nil || b <= 0 || b > 64*unit.GB {
			return nil, field.New("--sizes", "%q: write sizes between 1B and 64GB with B, KB, MB, GB, KiB, MiB or GiB, such as 64KiB,1MiB (nccl-tests' 256M is 256MiB)", s)
		}
		out = append(out, b)
	}
	return out, nil
}

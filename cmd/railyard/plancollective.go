package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/study"
	"railyard/internal/workload"
	"railyard/unit"
)

type planCollectiveCmd struct {
	Fabric     string   `arg:"" help:"Scenario with the fabric." placeholder:"SCENARIO"`
	Set        []string `help:"Override a value of the scenario." placeholder:"KEY=VALUE" sep:"none"`
	Kind       string   `help:"all-reduce, all-gather, reduce-scatter, all-to-all or broadcast." default:"all-reduce" placeholder:"NAME"`
	Sizes      []string `help:"Bytes of a rank's buffer." default:"64KiB,1MiB,16MiB" placeholder:"SIZE,..."`
	Algorithms []string `help:"To simulate; all that the kind has unless given." placeholder:"NAME,..." without:"no-simulate"`
	Groups     string   `help:"All GPUs together, or one group per rail." enum:"all,rail" default:"all" placeholder:"all|rail"`
	NoSimulate bool     `help:"Ask NCCL's tuning model only." name:"no-simulate"`
	JSON       bool     `help:"Print as JSON."`
}

func (c *planCollectiveCmd) Help() string {
	return `For every size what NCCL's tuning model would choose, and how long each algorithm takes in the
simulator, with the protocol that the model chooses for it where it knows one. busbw is nccl-tests' bus
bandwidth. nvls takes GPUs that share an NVSwitch; nvls-tree several servers of such.

Examples:
  railyard plan collective scenarios/gpt13b-128.yaml --sizes 64KiB,1MiB,64MiB
  railyard plan collective scenarios/gpt13b-128.yaml --kind all-to-all --sizes 1MiB
  railyard plan collective scenarios/gpt13b-128.yaml --set fabric.hosts=1 --algorithms ring,nvls
  railyard plan collective scenarios/gpt13b-128.yaml --groups rail --algorithms ring,tree`
}

// collectiveRow is one size.
type collectiveRow struct {
	Bytes int64           `json:"bytes"`
	Model []coll.Choice   `json:"nccl_model,omitempty"`
	Runs  []collectiveRun `json:"simulated,omitempty"`
}

// collectiveRun is one simulated algorithm.
type collectiveRun struct {
	Algorithm string  `json:"algorithm"`
	Protocol  string  `json:"protocol"`
	Micros    float64 `json:"microseconds"`
	BusBW     float64 `json:"busbw_gbytes_s"`
	Marks     int64   `json:"ecn_marks"`
	QueuePeak int64   `json:"queue_peak_bytes"`
	Skipped   string  `json:"skipped,omitempty"`
}

// Run is the plan collective command.
func (c *planCollectiveCmd) Run(e *env) error {
	kind, err := scenario.ParseKind(c.Kind)
	if err != nil {
		return field.Under("--kind", err)
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
	of := collectives{Fabric: c.Fabric, Set: c.Set, Groups: c.Groups, Pool: pool}
	rows, stopped := of.rows(ctx, plan, kind, sizes, algorithms, !c.NoSimulate)
	if c.JSON {
		if err := printJSON(e.stdout, rows); err != nil {
			return err
		}
	} else {
		c.print(e.stdout, plan, rows)
	}
	if stopped != nil {
		return fmt.Errorf("%w; what had been simulated is above", stopped)
	}
	return nil
}

// collectives simulates collectives over a scenario's fabric.
type collectives struct {
	Fabric string // scenario file
	Set    []string
	Groups string // all, or rail: one per rail
	Pool   *study.Pool
}

// rows asks NCCL's model for every size, and simulates every algorithm with it; the only error is that it was stopped,
// with the rows whose simulations have all ended, and what has ended of the next.
func (c *collectives) rows(ctx context.Context, plan *scenario.Plan, kind coll.Kind, sizes []unit.Bytes,
	algorithms []string, simulate bool) (rows []collectiveRow, stopped error) {
	if !simulate {
		algorithms = nil
	}
	rows = make([]collectiveRow, len(sizes))
	for i, b := range sizes {
		rows[i].Bytes = int64(b)
		if m, err := plan.Machine(c.Groups == "rail"); err == nil {
			rows[i].Model, _ = m.Tune(kind, float64(b)) // kinds that the model does not know have no choices
		}
	}
	n := len(algorithms)
	runs := make([]*collectiveRun, len(sizes)*n)
	c.Pool.Expect(len(runs))
	stopped = c.Pool.Each(ctx, len(runs), func(i int) error {
		row := &rows[i/n]
		run, err := c.simulated(ctx, kind, algorithms[i%n], unit.Bytes(row.Bytes), row.Model)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			run.Skipped = err.Error()
		}
		runs[i] = &run
		return nil
	})
	for i, run := range runs {
		if run == nil {
			return rows[:i/n+1], stopped
		}
		rows[i/n].Runs = append(rows[i/n].Runs, *run)
	}
	return rows, stopped
}

func (c *planCollectiveCmd) sizes() (out []unit.Bytes, err error) {
	for _, s := range c.Sizes {
		b, err := unit.ParseBytes(s)
		if err != nil || b <= 0 || b > 64*unit.GB {
			return nil, field.New("--sizes", "%q: write sizes between 1B and 64GB, such as 64KiB,1MiB", s)
		}
		out = append(out, b)
	}
	return out, nil
}

// simulated runs one algorithm.
func (c *collectives) simulated(ctx context.Context, kind coll.Kind, algorithm string, b unit.Bytes,
	choices []coll.Choice) (collectiveRun, error) {
	run := collectiveRun{Algorithm: algorithm, Protocol: "none"}
	for _, x := range choices {
		if x.Algorithm == algorithm {
			run.Protocol = x.Protocol
			break
		}
	}
	doc, err := scenariofile.Read(c.Fabric, c.Set)
	if err != nil {
		return run, err
	}
	spec := &scenario.CollSpec{Kind: kind.String(), Bytes: b, Groups: c.Groups, Algorithm: algorithm,
		Protocol: run.Protocol}
	if algorithm == coll.ByRing && c.Groups == "all" {
		spec.Channels = max(1, doc.File.Server.GPUs)
	}
	doc.File.Workload = scenario.Workload{Traffic: &scenario.Traffic{Collective: spec}}
	plan, err := scenariofile.Resolve(c.Fabric, doc)
	if err != nil {
		return run, err
	}
	s, _, err := c.Pool.Whole(ctx, fmt.Sprintf("%v %s", b, algorithm), plan)
	if err != nil {
		return run, err
	}
	t := unit.Time(s.StepTime).Seconds()
	n := plan.Graph.TotalGPUs()
	if c.Groups == "rail" {
		n /= plan.Graph.PerDomain()
	}
	run.Micros, run.BusBW, run.Marks, run.QueuePeak = t*1e6, float64(b)/t*kind.BusFactor(n)/1e9,
		s.ECNMarks, s.QueuePeak
	return run, nil
}

func (c *planCollectiveCmd) print(w io.Writer, plan *scenario.Plan, rows []collectiveRow) {
	fmt.Fprintf(w, "%s over %s in %s, groups: %s\n\n", c.Kind, unit.Plural(plan.Graph.TotalGPUs(), "GPU"),
		unit.Plural(len(plan.Graph.Hosts), "server"), c.Groups)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "bytes\tby\talgorithm\tprotocol\ttime us\tbusbw GB/s\tECN marks\tlongest queue")
	for _, r := range rows {
		b := unit.Bytes(r.Bytes).String()
		if len(r.Model) > 0 {
			x := r.Model[0]
			fmt.Fprintf(t, "%s\tNCCL's model\t%s\t%s\t%.1f\t%.2f\t\t\n", b, x.Algorithm, x.Protocol,
				x.Micros, x.BusBW)
			b = ""
		}
		for _, x := range r.Runs {
			if x.Skipped != "" {
				fmt.Fprintf(t, "%s\tsimulator\t%s\tnot run: %s\n", b, x.Algorithm, x.Skipped)
			} else {
				fmt.Fprintf(t, "%s\tsimulator\t%s\t%s\t%.1f\t%.2f\t%d\t%v\n", b, x.Algorithm, x.Protocol,
					x.Micros, x.BusBW, x.Marks, unit.Bytes(x.QueuePeak))
			}
			b = ""
		}
	}
	t.Flush()
}

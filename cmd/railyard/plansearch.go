package main

import (
	"fmt"
	"io"
	"sort"
	"text/tabwriter"

	"railyard/internal/model"
	"railyard/internal/planner"
	"railyard/internal/report"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/unit"
)

type planSearchCmd struct {
	Model      string   `arg:"" help:"A shipped model, or the path of a config.json." placeholder:"MODEL"`
	Fabric     string   `help:"Scenario with the fabric." required:"" placeholder:"SCENARIO"`
	Set        []string `help:"Override a value of the scenario." placeholder:"KEY=VALUE" sep:"none"`
	GPUs       int      `help:"How many GPUs; all of the fabric unless given." name:"gpus" placeholder:"N"`
	Global     int64    `help:"Sequences per step." default:"1024" name:"global-batch"`
	Seq        int64    `help:"Tokens per sequence." default:"2048" name:"sequence"`
	Efficiency float64  `help:"Percent of the GPU's dense peak that kernels reach." default:"60"`
	Top        int      `help:"Candidates to print." default:"10"`
	Simulate   int      `help:"Candidates to simulate packet by packet and rank again." default:"3"`
	JSON       bool     `help:"Print as JSON."`
}

func (c *planSearchCmd) Help() string {
	return `Tries every TP x PP x VPP x DP x CP x EP x microbatch x ZeRO x recomputation on all GPUs, drops what does not divide or
fit, ranks the rest by a cost model, and simulates the best that the workload builder can express (1F1B without
interleaving, context or expert parallelism, ZeRO 0 and 1).

Examples:
  railyard plan search gpt3-13b --fabric scenarios/gpt13b-128.yaml --global-batch 128
  railyard plan search llama-3.1-70b --fabric scenarios/pod64-llama2-7b.yaml --global-batch 256 --sequence 8192 --simulate 0`
}

// maxSimulated bounds the fabrics whose candidates are simulated, in GPUs.
const maxSimulated = 1024

// simulated is what the simulator says of a candidate.
type simulated struct {
	Layout  string  `json:"layout"`
	Seconds float64 `json:"step_seconds"`
	MFU     float64 `json:"mfu"`
	Model   float64 `json:"estimated_seconds"`
	Skipped string  `json:"skipped,omitempty"`
}

// Run is the plan search command.
func (c *planSearchCmd) Run(e *env) error {
	if c.Top < 1 || c.Top > 10_000 || c.Simulate < 0 || c.Simulate > 100 {
		return &inputError{fmt.Errorf("--top must lie between 1 and 10000, --simulate between 0 and 100")}
	}
	m, err := findModel(c.Model)
	if err != nil {
		return err
	}
	plan, err := loadPlan(c.Fabric, c.Set, nil)
	if err != nil {
		return err
	}
	in, err := c.input(m, plan)
	if err != nil {
		return err
	}
	r, err := planner.Search(in)
	if err != nil {
		return &inputError{err}
	}
	var sims []simulated
	if c.Simulate > 0 && len(r.Candidates) > 0 {
		if sims, err = c.simulate(e, r, in); err != nil {
			return err
		}
	}
	if c.JSON {
		top := r.Candidates[:min(c.Top, len(r.Candidates))]
		err = printJSON(e.stdout, map[string]any{"model": m.Name, "gpus": in.Site.GPUs, "tried": r.Tried, "feasible": len(r.Candidates), "candidates": top, "rejected": r.Rejected, "simulated": sims})
	} else {
		c.print(e.stdout, m, in, r, sims)
	}
	if err == nil && len(r.Candidates) == 0 {
		return &exitError{exitFailed}
	}
	return err
}

// input takes the site from the fabric.
func (c *planSearchCmd) input(m *model.Config, plan *scenario.Plan) (planner.SearchInput, error) {
	f, g := &plan.File, plan.Graph
	n := c.GPUs
	if n == 0 {
		n = g.TotalGPUs()
	}
	if n < 1 || n > g.TotalGPUs() {
		return planner.SearchInput{}, &inputError{fmt.Errorf("--gpus %d: the fabric of %s has %d", n, c.Fabric, g.TotalGPUs())}
	}
	site := planner.Site{GPU: plan.GPU, GPUs: n, PerServer: g.GPUs, NVLink: plan.NVLink, NVLatency: f.Server.NVLatency, Latency: 2*f.Server.NICLatency + 2*unit.Microsecond, Ratio: 1, Segment: f.Fabric.Hosts}
	nics := len(g.NICs)
	site.NIC = f.Fabric.HostLink.Rate * unit.Rate(len(g.NICs[0].Links)) * unit.Rate(nics) / unit.Rate(g.TotalGPUs())
	for _, t := range g.Inventory().Tiers {
		site.Ratio = max(site.Ratio, t.Oversubscription)
	}
	if site.Segment < 1 {
		site.Segment = len(g.Hosts)
	}
	return planner.SearchInput{Model: m, Site: site, Global: c.Global, Seq: c.Seq, Efficiency: c.Efficiency / 100}, nil
}

// simulate runs the best candidates that the workload builder can express.
func (c *planSearchCmd) simulate(e *env, r *planner.Result, in planner.SearchInput) ([]simulated, error) {
	if in.Site.GPUs > maxSimulated {
		return []simulated{{Skipped: fmt.Sprintf("more than %d GPUs are not simulated packet by packet here", maxSimulated)}}, nil
	}
	var out []simulated
	type shape struct {
		tp, pp, dp int
		micro      int64
	}
	seen := map[shape]bool{} // the simulator knows no ZeRO 1 and no recomputation: alike there
	for _, x := range r.Candidates {
		l := x.Layout
		if l.VPP > 1 || l.CP > 1 || l.EP > 1 || l.ZeRO > 1 || l.Recompute == planner.RecomputeFull {
			continue
		}
		k := shape{l.TP, l.PP, l.DP, l.Micro}
		if seen[k] {
			continue
		}
		if seen[k] = true; len(out) == c.Simulate {
			break
		}
		s := simulated{Layout: l.String(), Model: x.Seconds}
		sum, err := c.step(e, l, in)
		if err != nil {
			s.Skipped = err.Error()
		} else {
			s.Seconds, s.MFU = float64(sum.StepTime)/1e12, sum.MFU
		}
		out = append(out, s)
		if err == errInterrupted {
			return out, err
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		return out[i].Skipped == "" && (out[j].Skipped != "" || out[i].Seconds < out[j].Seconds)
	})
	return out, nil
}

// step simulates one training step of a layout on the scenario's fabric.
func (c *planSearchCmd) step(e *env, l planner.Layout, in planner.SearchInput) (*result.Summary, error) {
	doc, err := loadDocument(c.Fabric, c.Set)
	if err != nil {
		return nil, err
	}
	doc.File.Workload = scenario.Workload{Training: &scenario.Training{Model: c.Model, TP: l.TP, PP: l.PP, DP: l.DP, MicroBatch: int(l.Micro), GlobalBatch: int(in.Global), Sequence: int(in.Seq),
		GradBytes: 2, Bucket: 100 * unit.MB, Overlap: true, Efficiency: c.Efficiency, Channels: 1}}
	plan, err := resolve(c.Fabric, doc)
	if err != nil {
		return nil, err
	}
	run, err := newRun(plan)
	if err != nil {
		return nil, err
	}
	if err := simulate(run, e.stderr); err != nil {
		return nil, err
	}
	if f := run.Failed(); f != nil {
		return nil, fmt.Errorf("queue pair %d failed: %v", f.Conn, f.Status)
	}
	s, _, _ := run.Outcome(version())
	return s, nil
}

func (c *planSearchCmd) print(w io.Writer, m *model.Config, in planner.SearchInput, r *planner.Result, sims []simulated) {
	fmt.Fprintf(w, "%s on %d %s, %d sequences of %d tokens a step: %d layouts tried, %d feasible\n\n", m.Name, in.Site.GPUs, in.Site.GPU.Name, in.Global, in.Seq, r.Tried, len(r.Candidates))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(r.Candidates) > 0 {
		fmt.Fprintln(t, "step\tMFU\ttok/s/GPU\tGB\tbubble\tTP\tPP\tDP\tlayout")
	}
	for i, x := range r.Candidates {
		if i == c.Top {
			break
		}
		pc := func(v float64) string { return fmt.Sprintf("%.1f%%", 100*v/x.Seconds) }
		fmt.Fprintf(t, "%.3gs\t%.1f%%\t%.0f\t%.1f\t%s\t%s\t%s\t%s\t%s\n", x.Seconds, 100*x.MFU, x.TokensGPU, float64(x.Memory)/1e9, pc(x.Bubble), pc(x.Tensor), pc(x.Pipeline), pc(x.Data), x.Layout)
	}
	t.Flush()
	if len(sims) > 0 {
		fmt.Fprintln(w, "\nsimulated packet by packet:")
		for _, s := range sims {
			if s.Skipped != "" {
				report.Labelled(w, "  not simulated: ", s.Layout+" "+s.Skipped)
				continue
			}
			fmt.Fprintf(w, "  %.4gs  MFU %.1f%%  %s (estimated %.4gs, %+.1f%%)\n", s.Seconds, 100*s.MFU, s.Layout, s.Model, 100*(s.Model/s.Seconds-1))
		}
	}
	fmt.Fprintln(w, "\nrejected:")
	for _, x := range r.Rejected {
		fmt.Fprintf(w, "  %7d  %s (%s)\n", x.Count, x.Reason, x.Example)
	}
}

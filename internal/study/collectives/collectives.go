// Package collectives measures collectives on a scenario's fabric: every algorithm with every size, next to NCCL's
// tuning model.
package collectives

import (
	"context"
	"fmt"

	"railyard/internal/coll"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/study"
	"railyard/unit"
)

// Row is the result of one message size.
type Row struct {
	Bytes int64         `json:"bytes"`
	Model []coll.Choice `json:"nccl_model,omitempty"`
	Runs  []Run         `json:"simulated,omitempty"`
}

// Run is one simulated algorithm.
type Run struct {
	Algorithm string  `json:"algorithm"`
	Protocol  string  `json:"protocol"`
	Micros    float64 `json:"microseconds"`
	BusBW     float64 `json:"busbw_gbytes_s"`
	Marks     int64   `json:"ecn_marks"`
	QueuePeak int64   `json:"queue_peak_bytes"`
	Channels  int     `json:"channels,omitempty"` // of rings
	Skipped   string  `json:"skipped,omitempty"`
	// Expected is the error to expect of another fidelity than packets.
	Expected *result.Expected `json:"expected_error,omitempty"`
}

// Study simulates collectives over a scenario's fabric.
type Study struct {
	Fabric string // scenario file
	Set    []string
	Groups string // all, or rail: one per rail
	Pool   *study.Pool
}

// Rows evaluates NCCL's model for every size, and simulates every algorithm with it. Its only error is an interruption,
// with the completed rows and the completed part of the next.
func (c *Study) Rows(ctx context.Context, plan *scenario.Plan, kind coll.Kind, sizes []unit.Bytes,
	algorithms []string, simulate bool) (rows []Row, stopped error) {
	if !simulate {
		algorithms = nil
	}
	rows = make([]Row, len(sizes))
	for i, b := range sizes {
		rows[i].Bytes = int64(b)
		rows[i].Model, _ = c.Tuned(plan, kind, b)
	}
	n := len(algorithms)
	runs := make([]*Run, len(sizes)*n)
	c.Pool.Expect(len(runs))
	stopped = c.Pool.Each(ctx, len(runs), func(i int) error {
		row := &rows[i/n]
		run, err := c.simulated(ctx, plan.Rings(), kind, algorithms[i%n], unit.Bytes(row.Bytes), row.Model)
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

// Tuned returns the choices of NCCL's tuning model, or why it has none: for the GPUs, or for the collective.
func (c *Study) Tuned(plan *scenario.Plan, kind coll.Kind, b unit.Bytes) ([]coll.Choice, error) {
	if by := plan.HostLimited(); by != "" {
		return nil, fmt.Errorf("NCCL's tuning model has RDMA's rates, and hosts limit transport %s", by)
	}
	m, err := plan.Machine(c.Groups == "rail")
	if err != nil {
		return nil, err
	}
	return m.Tune(kind, float64(b))
}

// simulated runs one algorithm; ring-based ones use the given number of rings. One that NCCL does not have takes the
// protocol of its choice.
func (c *Study) simulated(ctx context.Context, rings int, kind coll.Kind, algorithm string, b unit.Bytes,
	choices []coll.Choice) (Run, error) {
	run := Run{Algorithm: algorithm, Protocol: "none"}
	if len(choices) > 0 { // bare transfers would be faster than what NCCL's kernels copy
		run.Protocol = choices[0].Protocol
	}
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
	if (algorithm == coll.ByRing || kind == coll.Bcast && algorithm == coll.ByChain) && c.Groups == "all" {
		spec.Channels, run.Channels = rings, rings
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
	run.Micros, run.BusBW, run.Marks, run.QueuePeak, run.Expected = t*1e6, float64(b)/t*kind.BusFactor(n)/1e9,
		s.ECNMarks, s.QueuePeak, s.Expected
	return run, nil
}

// Package layouts simulates the best layouts of a planner.Search on a scenario's fabric, or slices of them, and
// ranks them again. SiteOf describes the fabric for the cost model.
package layouts

import (
	"context"
	"fmt"
	"sort"

	"railyard/internal/fidelity"
	"railyard/internal/flows"
	"railyard/internal/planner"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/study"
	"railyard/unit"
)

// Simulated is the simulation result of a candidate.
type Simulated struct {
	Layout   string  `json:"layout"`
	Seconds  float64 `json:"step_seconds"` // time of the whole step
	MFU      float64 `json:"mfu"`
	Estimate float64 `json:"estimated_seconds"`
	Slice    string  `json:"slice,omitempty"`      // omitted part
	Ran      float64 `json:"simulated_seconds"`    // time of the slice, or of the whole step
	Added    float64 `json:"added_for_left_out"`   // time that the cost model adds for omitted parts
	Bubble   float64 `json:"bubble_seconds"`       // pipeline bubble of the simulated part, for the last rank
	Exposed  float64 `json:"exposed_comm_seconds"` // likewise
	Packets  int64   `json:"packets"`
	Skipped  string  `json:"skipped,omitempty"`
	// approximate fidelity: its name, and the error to expect
	Fidelity string           `json:"fidelity,omitempty"`
	Expected *result.Expected `json:"expected_error,omitempty"`
}

// Study simulates layouts of a model on a scenario's fabric.
type Study struct {
	Fabric  string // scenario file
	Set     []string
	Model   string
	Packets float64 // maximum packets of a layout; above it a slice is simulated
	Pool    *study.Pool

	Software string // name of the framework; empty: none
}

// Simulate runs the best n candidates, or slices of them, and ranks them again. Other layouts replace layouts that
// cannot be simulated. The only error is that it was stopped; what had ended is returned.
func (c *Study) Simulate(ctx context.Context, n int, r *planner.Result, in planner.SearchInput,
	plan *scenario.Plan) ([]Simulated, error) {
	var out []Simulated
	var stopped error
	rails := RailsOf(plan)
	c.Pool.Expect(min(n, len(r.Candidates)))
	for next, ran := 0, 0; stopped == nil && ran < n; {
		batch := r.Candidates[next:min(next+n-ran, 4*n, len(r.Candidates))]
		if len(batch) == 0 {
			break
		}
		next += len(batch)
		sims := make([]Simulated, len(batch))
		ended := make([]bool, len(batch))
		stopped = c.Pool.Each(ctx, len(batch), func(i int) error {
			x, s := batch[i], &sims[i]
			s.Layout, s.Estimate = x.Layout.String(), x.Seconds
			cut, err := in.Slice(x, rails, plan.RC.MTU, c.Packets)
			if err == nil {
				err = c.step(ctx, s, x, cut, in, plan)
			}
			if err != nil {
				s.Skipped = err.Error()
			}
			ended[i] = ctx.Err() == nil || err == nil
			return nil
		})
		for i, s := range sims {
			if ended[i] {
				out = append(out, s)
			}
			if ended[i] && s.Skipped == "" {
				ran++
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		return out[i].Skipped == "" && (out[j].Skipped != "" || out[i].Seconds < out[j].Seconds)
	})
	return out, stopped
}

// step simulates one training step of a layout on the scenario's fabric, or its slice.
func (c *Study) step(ctx context.Context, s *Simulated, x planner.Candidate, cut planner.Slice,
	in planner.SearchInput, whole *scenario.Plan) error {
	doc, err := scenariofile.Read(c.Fabric, c.Set)
	if err != nil {
		return err
	}
	f, l := &doc.File, cut.Layout
	t := in.Step(l)
	t.Fold = cut.Fold
	f.Workload = scenario.Workload{Training: t}
	f.Output.Sample = unit.Second // link samples are not needed
	if cut.Hosts > 0 {
		if err := cutFabric(f, whole, cut); err != nil {
			return err
		}
	}
	if cut.Flows && !doc.Prefer(flows.Name) && f.Fidelity == fidelity.Default {
		return fmt.Errorf("even this part needs %.3g packets: --packets %.3g and more take them, or fidelity: flow",
			cut.Packets, cut.Packets/4)
	}
	if cut.Fold {
		f.Server.GPUs, f.Server.NICs = 1, 1
	}
	plan, err := scenariofile.ResolveModel(c.Fabric, c.Model, doc)
	if err != nil {
		return err
	}
	sum, _, err := c.Pool.Whole(ctx, s.Layout, plan)
	if err != nil {
		return err
	}
	seconds := func(t int64) float64 { return unit.Time(t).Seconds() }
	s.Slice, s.Ran, s.Packets = cut.About, seconds(sum.StepTime), sum.Packets
	if sum.Expected != nil {
		s.Fidelity, s.Expected = sum.Fidelity, sum.Expected
	}
	s.Bubble, s.Exposed = seconds(sum.Bubble), seconds(sum.ExposedComm)
	if cut.About != "" {
		part := in
		part.Site = SiteOf(plan, cut.Layout.GPUs(), &in.Training)
		part.Site.PerServer = in.Site.PerServer
		s.Added = x.Seconds - part.Estimate(l).Seconds
	}
	s.Seconds = s.Ran + s.Added
	s.MFU = x.MFU * x.Seconds / s.Seconds
	return nil
}

// cutSpines spreads uplinks over at most the previous number of spines.
func cutSpines(spines, uplinks int) (int, int) {
	for n := min(spines, uplinks); n > 1; n-- {
		if uplinks%n == 0 {
			return n, uplinks / n
		}
	}
	return min(spines, 1), uplinks
}

package main

import (
	"errors"
	"fmt"
	"io"
	"sort"

	"railyard/internal/planner"
	"railyard/internal/report"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

// simulated is what the simulator says of a candidate.
type simulated struct {
	Layout   string  `json:"layout"`
	Seconds  float64 `json:"step_seconds"` // of the whole step
	MFU      float64 `json:"mfu"`
	Estimate float64 `json:"estimated_seconds"`
	Slice    string  `json:"slice,omitempty"`      // what was left out
	Ran      float64 `json:"simulated_seconds"`    // of the slice, or the whole
	Added    float64 `json:"added_for_left_out"`   // by the cost model
	Bubble   float64 `json:"bubble_seconds"`       // of what ran, as the last rank saw it
	Exposed  float64 `json:"exposed_comm_seconds"` // likewise
	Packets  int64   `json:"packets"`
	Skipped  string  `json:"skipped,omitempty"`
}

// simulate runs the best candidates, or slices of them, and ranks them again. The only
// error is that it was stopped; what had ended is returned.
func (c *planSearchCmd) simulate(e *env, r *planner.Result, in planner.SearchInput,
	plan *scenario.Plan) ([]simulated, error) {
	var out []simulated
	var stopped error
	rails := railsOf(plan)
	for i, ran := 0, 0; i < min(4*c.Simulate, len(r.Candidates)) && ran < c.Simulate; i++ {
		x := r.Candidates[i]
		s := simulated{Layout: x.Layout.String(), Estimate: x.Seconds}
		cut, err := in.Slice(x, rails, plan.RC.MTU, c.Packets)
		e.doing = s.Layout
		if err == nil {
			err = c.step(e, &s, x, cut, in, plan)
		}
		if errors.Is(err, errStopped) {
			stopped = err
			break
		}
		if ran++; err != nil {
			ran--
			s.Skipped = err.Error()
		}
		out = append(out, s)
	}
	sort.SliceStable(out, func(i, j int) bool {
		return out[i].Skipped == "" && (out[j].Skipped != "" || out[i].Seconds < out[j].Seconds)
	})
	return out, stopped
}

// step simulates one training step of a layout on the scenario's fabric, or its slice.
func (c *planSearchCmd) step(e *env, s *simulated, x planner.Candidate, cut planner.Slice,
	in planner.SearchInput, whole *scenario.Plan) error {
	doc, err := scenariofile.Read(c.Fabric, c.Set)
	if err != nil {
		return err
	}
	f, l := &doc.File, cut.Layout
	t := in.Step(l)
	t.Fold = cut.Fold
	f.Workload = scenario.Workload{Training: t}
	f.Output.Sample = unit.Second // nobody looks at the links
	if cut.Hosts > 0 {
		if err := cutFabric(f, whole, cut); err != nil {
			return err
		}
	}
	if cut.Fold {
		f.Server.GPUs, f.Server.NICs = 1, 1
	}
	plan, err := scenariofile.ResolveModel(c.Fabric, c.Model, doc)
	if err != nil {
		return err
	}
	sum, err := outcome(e, plan)
	if err != nil {
		return err
	}
	seconds := func(t int64) float64 { return unit.Time(t).Seconds() }
	s.Slice, s.Ran, s.Packets = cut.About, seconds(sum.StepTime), sum.Packets
	s.Bubble, s.Exposed = seconds(sum.Bubble), seconds(sum.ExposedComm)
	if cut.About != "" {
		part := in
		part.Site = siteOf(plan, cut.Layout.GPUs())
		part.Site.PerServer = in.Site.PerServer
		s.Added = x.Seconds - part.Estimate(l).Seconds
	}
	s.Seconds = s.Ran + s.Added
	s.MFU = x.MFU * x.Seconds / s.Seconds
	return nil
}

// cutSpines spreads uplinks over as many spines as there were, at most.
func cutSpines(spines, uplinks int) (int, int) {
	for n := min(spines, uplinks); n > 1; n-- {
		if uplinks%n == 0 {
			return n, uplinks / n
		}
	}
	return min(spines, 1), uplinks
}

// outcome runs a plan to its end; a run that does not get there is an error.
func outcome(e *env, plan *scenario.Plan) (*result.Summary, error) {
	s, _, err := outcomeTables(e, plan)
	return s, err
}

// outcomeTables is outcome with what the run recorded.
func outcomeTables(e *env, plan *scenario.Plan) (*result.Summary, *result.Tables, error) {
	run, err := newRun(plan)
	if err != nil {
		return nil, nil, err
	}
	if err := simulate(run, e); err != nil {
		return nil, nil, err
	}
	if f := run.Failed(); f != nil {
		return nil, nil, f
	}
	s, t, _ := run.Outcome(version())
	return s, t, nil
}

func printSimulated(w io.Writer, sims []simulated) {
	if len(sims) > 0 {
		fmt.Fprintln(w, "\nsimulated packet by packet, best first:")
	}
	for _, s := range sims {
		if s.Skipped != "" {
			report.Labelled(w, "  not simulated: ", s.Layout+": "+s.Skipped)
			continue
		}
		report.Labelled(w, fmt.Sprintf("  %.4gs  MFU %.1f%%  ", s.Seconds, 100*s.MFU), s.Layout)
		report.Labelled(w, "           ",
			fmt.Sprintf("estimated %.4gs (%+.1f%%); bubble %.3gs, exposed communication %.3gs; %.3g packets",
				s.Estimate, 100*(s.Estimate/s.Seconds-1), s.Bubble, s.Exposed, float64(s.Packets)))
		if s.Slice != "" {
			report.Labelled(w, "           ",
				fmt.Sprintf("a slice ran, %.4gs: %s; for what is left out the cost model adds %+.3gs", s.Ran,
					s.Slice, s.Added))
		}
	}
}

package whatif

import (
	"fmt"
	"slices"

	"railyard/internal/cause"
	"railyard/internal/facts"
	"railyard/internal/partition"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/workload"
)

// Remedy is a change of a run's scenario, and the time of a run with the change if one was made.
type Remedy struct {
	result.Remedy
	Costs int64  `json:"costs_ps"`          // of the cause
	Step  int64  `json:"step_ps,omitempty"` // with the change
	Error string `json:"error,omitempty"`   // why the run with the change did not end

	change cause.Change
}

// Remedies lists possible changes of a run, those of the leading cause first, without duplicates.
func Remedies(p *scenario.Plan, s *result.Summary) (all []Remedy) {
	if s.Chain == nil || s.StepTime <= 0 {
		return nil
	}
	known := facts.Of(p)
	facts.Count(known, s)
	for _, x := range candidates(known, s) {
		i := slices.IndexFunc(s.Remedies, func(of result.Remedy) bool {
			return of.Tried && of.Says == x.Says && slices.Equal(of.Set, x.Set)
		})
		if i >= 0 { // by Confirm
			x.Remedy, x.Step = s.Remedies[i], s.StepTime-s.Remedies[i].Saved
		}
		all = append(all, x)
	}
	bubble := bubbleRemedies(p, s)
	if len(all) > 0 && all[0].Costs > s.Bubble {
		return append(all, bubble...)
	}
	return append(bubble, all...)
}

// candidates lists changes against causes of a run, those of the leading cause first, each once.
func candidates(known *cause.Facts, s *result.Summary) (all []Remedy) {
	for _, r := range facts.Remedies(known, s) {
		if slices.ContainsFunc(all, func(other Remedy) bool { return same(&other.change, &r.Change) }) {
			continue
		}
		x := Remedy{Remedy: r.Result(s), Costs: s.Chain.Costs(r.Of), change: r.Change}
		if x.Cause == result.OtherSetting {
			x.Costs = 0
		}
		all = append(all, x)
	}
	return all
}

// bubbleRemedies lists schedules and microbatches with a smaller pipeline bubble, which the model, the framework and
// the GPUs' memory take. Of interleaved schedules these are the one with the fewest parts and the one with the most.
func bubbleRemedies(p *scenario.Plan, s *result.Summary) (all []Remedy) {
	if float64(s.Bubble) < result.LeastIdle*float64(s.StepTime) || len(p.Jobs) != 1 ||
		p.Settled().Workload.Training == nil {
		return nil
	}
	step := p.Jobs[0].Training
	if step == nil || step.PP < 2 || step.StepsInRow() > 1 {
		return nil
	}
	const key = "workload.training."
	remedy := func(says string, change func(*workload.Training), set ...string) (r Remedy, ok bool) {
		t := *step
		change(&t)
		for i := range set {
			set[i] = key + set[i]
		}
		r = Remedy{Remedy: result.Remedy{Cause: result.Bubble, Says: says, Set: set}, Costs: s.Bubble,
			change: cause.Change{Says: says, Set: set}}
		return r, t.Fits() && t.TooBig() == nil
	}
	var interleaved []Remedy
	for vpp := 2; step.Schedule != partition.Interleaved && step.PP*vpp <= int(step.Model.Layers)+2; vpp++ {
		if r, ok := remedy("interleaved schedule", func(t *workload.Training) {
			t.Schedule, t.VPP = partition.Interleaved, vpp
		}, "schedule="+partition.Interleaved, fmt.Sprintf("vpp=%d", vpp)); ok {
			interleaved = append(interleaved[:min(1, len(interleaved))], r)
		}
	}
	all = append(all, interleaved...)
	set := []string{"schedule=" + partition.ZeroBubble}
	if step.VPP > 1 {
		set = append(set, "vpp=1")
	}
	if r, ok := remedy("zero-bubble schedule", func(t *workload.Training) {
		t.Schedule, t.VPP = partition.ZeroBubble, 1
	}, set...); ok && step.Schedule != partition.ZeroBubble {
		all = append(all, r)
	}
	if r, ok := remedy("smaller microbatches", func(t *workload.Training) {
		t.Micro, t.Microbatches = t.Micro/2, 2*t.Microbatches
	}, fmt.Sprintf("micro_batch=%d", step.Micro/2)); ok && step.Micro%2 == 0 {
		all = append(all, r)
	}
	return all
}

// same reports whether two remedies change the same.
func same(a, b *cause.Change) bool {
	return a.Says == b.Says && slices.Equal(a.Set, b.Set) && slices.Equal(a.Edits, b.Edits)
}

// First returns the n remedies to simulate first: one for each cause, then a second one, and so on.
func First(all []Remedy, n int) (some []*Remedy) {
	for round := 0; ; round++ {
		more, seen := false, map[string]int{}
		for i := range all {
			if !all[i].CanTry() {
				continue
			}
			seen[all[i].Cause]++
			if seen[all[i].Cause] == round+1 && len(some) < n {
				some, more = append(some, &all[i]), true
			}
		}
		if !more {
			return some
		}
	}
}

// CanTry reports whether a scenario is still to be run with a remedy: some are advice in words.
func (r *Remedy) CanTry() bool { return !r.Tried && (len(r.change.Set) > 0 || r.change.Edited()) }

// Try runs the scenario with a remedy and notes what that saves of a step.
func (r *Remedy) Try(s *Scenario, step int64, l Limits) {
	r.Tried = true
	o, err := s.Run(&r.change, l)
	if err != nil {
		r.Error = err.Error()
		return
	}
	r.Step, r.Saved = o.Summary.StepTime, step-o.Summary.StepTime
	if r.Refuted = float64(r.Saved) < facts.LeastCost*float64(step); r.Cause == result.OtherSetting {
		r.Expected, r.Limit, r.Simulated = max(0, r.Saved), "", true
	} else if r.Saved > r.Expected {
		r.Expected, r.Limit = r.Saved, ""
	}
}

// Learn corrects the estimates of a run by its simulated remedies. A remedy that is the run without its cause replaces
// what that is estimated to save, and no remedy of a cause is expected to save less than another one saved. One of a
// cause that saves nothing is another setting, which is expected to save what it saved itself. So is one that saves
// more than its cause costs and changes something else too (Change.Doubt).
func Learn(p *scenario.Plan, s *result.Summary, all []Remedy) {
	known := facts.Of(p)
	facts.Count(known, s)
	most := map[string]int64{}
	for i := range all {
		r := &all[i]
		if !r.Tried || r.Error != "" {
			continue
		}
		if c, ok := cause.Find(r.Cause); ok && !slices.Contains(s.Simulated, r.Cause) {
			switch without := c.Without(known); {
			case !same(&without, &r.change):
			case without.Doubt == "":
				s.Chain.Saving[c.ID], s.Chain.Beyond[c.ID] = r.Saved, 0
				s.Simulated = append(s.Simulated, r.Cause)
			case r.Saved > s.Chain.Costs(c.ID):
				r.Cause, r.Costs = result.OtherSetting, 0
			}
		}
		most[r.Cause] = max(most[r.Cause], r.Saved)
	}
	for i := range all {
		r := &all[i]
		if c, ok := cause.Find(r.Cause); ok && facts.SavesNothing(s, c.ID) {
			r.Cause, r.Costs, r.Expected, r.Limit = result.OtherSetting, 0, 0, ""
		}
		if r.Cause == result.OtherSetting {
			if r.Tried && r.Error == "" {
				r.Expected, r.Limit, r.Simulated = max(0, r.Saved), "", true
			}
			continue
		}
		if best := most[r.Cause]; best > r.Expected {
			r.Expected, r.Limit = best, ""
		}
		r.Simulated = slices.Contains(s.Simulated, r.Cause)
	}
}

// Same returns an error where a scenario is not the one that a run was made of: it has another name or seed.
func Same(p *scenario.Plan, s *result.Summary) error {
	if p.Name != s.Name || p.Seed != s.Seed {
		return fmt.Errorf("run.json and summary.json are of different runs: %s with seed %d, %s with seed %d", p.Name,
			p.Seed, s.Name, s.Seed)
	}
	return nil
}

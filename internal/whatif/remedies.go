package whatif

import (
	"fmt"
	"slices"

	"railyard/internal/cause"
	"railyard/internal/facts"
	"railyard/internal/result"
	"railyard/internal/scenario"
)

// leastCost is the share of a step that a cause must cost for its remedies to be worth a word.
const leastCost = 0.005

// Remedy is something to change, for a cause of a run.
type Remedy struct {
	Cause    string   `json:"cause"` // its key
	Costs    int64    `json:"costs_ps"`
	Expected int64    `json:"expected_ps"` // what a run without the cause is expected to save, by the model
	Says     string   `json:"says"`
	Set      []string `json:"set,omitempty"`
	Needs    string   `json:"needs,omitempty"` // hardware that the fabric may lack

	Tried bool   `json:"tried,omitempty"` // the scenario was run with the change:
	Step  int64  `json:"step_ps,omitempty"`
	Saved int64  `json:"saved_ps,omitempty"` // of the step; negative: it takes longer
	Error string `json:"error,omitempty"`

	change cause.Change
}

// Remedies lists what could be changed about a run, for the cause that saves most first. Those that need settings which
// the scenario has are left out, and none stands twice.
func Remedies(p *scenario.Plan, s *result.Summary) (all []Remedy) {
	if s.Chain == nil || s.StepTime <= 0 {
		return nil
	}
	known := facts.Of(p)
	facts.Count(known, s)
	for _, id := range s.Chain.Ranked() {
		if float64(max(s.Chain.Costs(id), s.Chain.Saving[id])) < leastCost*float64(s.StepTime) {
			continue
		}
		for _, c := range id.Get().Remedies(known) {
			again := slices.ContainsFunc(all, func(r Remedy) bool {
				return slices.Equal(r.Set, c.Set) && slices.Equal(r.change.Edits, c.Edits)
			})
			if !again && c.IsPossible() {
				all = append(all, Remedy{Cause: id.Get().Key, Costs: s.Chain.Costs(id), Expected: s.Chain.Saving[id],
					Says: c.Says, Set: c.Set, Needs: c.Needs, change: c})
			}
		}
	}
	return all
}

// Try runs the scenario with a remedy and notes what that saves of a step.
func (r *Remedy) Try(s *Scenario, step int64, l Limits) {
	r.Tried = true
	o, err := s.Run(&r.change, l)
	if err != nil {
		r.Error = err.Error()
		return
	}
	r.Step, r.Saved = o.Summary.StepTime, step-o.Summary.StepTime
}

// Same reports whether a scenario is the one that a run was made of: it takes as long.
func Same(p *scenario.Plan, s *result.Summary) error {
	if p.Name != s.Name || p.Seed != s.Seed {
		return fmt.Errorf("the scenario is %s with seed %d, the run is of %s with seed %d", p.Name, p.Seed, s.Name, s.Seed)
	}
	return nil
}

package sweep

import (
	"railyard/internal/fidelity"
	"railyard/internal/runner"
	"railyard/internal/workload"
	"railyard/unit"
)

// Estimate is the need of a study before it runs.
type Estimate struct {
	Trials  int        `json:"trials"` // trials without a record
	Kept    int        `json:"trials_kept"`
	AtOnce  int        `json:"at_once"`
	Memory  unit.Bytes `json:"memory_bytes"`        // memory of all that run in parallel
	Seconds float64    `json:"core_seconds"`        // of all trials
	Causes  float64    `json:"core_seconds_causes"` // division of Seconds among causes
	Disk    unit.Bytes `json:"disk_bytes"`          // disk of journal and results
}

// Cost of a trial besides its simulation: bytes in the journal and the results, seconds to resolve and build the
// scenario and to store the record (measured on one message between two hosts).
const (
	lineSize  = 1200
	trialTime = 1e-3
)

// Estimate estimates the missing trials, with the given number in parallel, as the larger of the unchanged scenario and
// the last point.
func (s *Study) Estimate(atOnce int) Estimate {
	e := Estimate{AtOnce: atOnce}
	for t := range s.planned() {
		if s.options.Shard.Has(t.Number) && s.store.Has(t.ID) {
			e.Kept++
		}
	}
	e.Trials = s.options.Shard.size(s.Planned()) - e.Kept
	var each fidelity.Cost
	var step *workload.DAG
	for _, p := range []int{0, len(s.rows) - 1} {
		r := s.rows[p]
		plan, err := s.plan(&Trial{Point: p, Rung: s.Rungs() - 1, design: r.design, local: r.local})
		if err != nil {
			continue
		}
		if cost, _, err := runner.Prepare(plan, 0); err == nil {
			if step != nil && step != plan.Jobs[0].DAG { // the points have different steps
				cost.Ahead, each.Ahead = 0, 0
			}
			step, each.Ahead = plan.Jobs[0].DAG, cost.Ahead
			each.Memory = max(each.Memory, cost.Memory)
			if cost.Seconds+cost.Causes > each.Seconds {
				each.Seconds, each.Causes = cost.Seconds+cost.Causes, cost.Causes
			}
		}
	}
	e.Memory = each.Memory * unit.Bytes(min(e.AtOnce, max(e.Trials, 1)))
	e.Seconds = (each.Seconds+trialTime)*float64(e.Trials) - each.Ahead*float64(max(e.Trials-1, 0))
	e.Causes = each.Causes * float64(e.Trials)
	e.Disk = lineSize * unit.Bytes(e.Trials)
	return e
}

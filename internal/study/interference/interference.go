// Package interference simulates the jobs of a scenario together and each alone on its GPUs. It reports each job's
// slowdown by the others (Slowdown), and the shared links.
package interference

import (
	"slices"

	"railyard/internal/result"
)

// Result is the command's output.
type Result struct {
	Name     string           `json:"-"` // of the scenario
	Jobs     []Slowdown       `json:"jobs"`
	Meetings []result.Meeting `json:"meetings"`
	Outcome  *result.Outcome  `json:"outcome,omitempty"` // together, if a rank was lost
	Fidelity string           `json:"fidelity"`
	Expected *result.Expected `json:"expected_error,omitempty"` // expected error of another fidelity than packets
	// seeds, if several: the jobs with each; the other fields are of the first
	Seeds [][]Slowdown `json:"seeds,omitempty"`
}

// Range returns the smallest, the median and the largest slowdown of a job over the seeds with which it lost no rank,
// and their number.
func (x *Result) Range(job int) (least, median, most float64, n int) {
	var all []float64
	for _, jobs := range x.Seeds {
		if !jobs[job].Lost.Any() {
			all = append(all, jobs[job].Slowdown)
		}
	}
	if n = len(all); n == 0 {
		return 0, 0, 0, 0
	}
	slices.Sort(all)
	return all[0], (all[(n-1)/2] + all[n/2]) / 2, all[n-1], n
}

// maxAlone bounds how many jobs are simulated alone.
const maxAlone = 64

// Lost reports that a job lost a rank, together or alone, with any seed.
func (x *Result) Lost() bool {
	lost := func(jobs []Slowdown) bool {
		return slices.ContainsFunc(jobs, func(j Slowdown) bool { return j.Lost.Any() })
	}
	return lost(x.Jobs) || slices.ContainsFunc(x.Seeds, lost)
}

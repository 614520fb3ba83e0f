// Package interference simulates the jobs of a scenario together and each alone on its GPUs: how much the others
// slow each down (Slowdown), and where they met.
package interference

import (
	"slices"

	"railyard/internal/result"
)

// Result is what the command says.
type Result struct {
	Name     string           `json:"-"` // of the scenario
	Jobs     []Slowdown       `json:"jobs"`
	Meetings []result.Meeting `json:"meetings"`
	Outcome  *result.Outcome  `json:"outcome,omitempty"` // together, where a rank was lost
}

// maxAlone bounds how many jobs are simulated alone.
const maxAlone = 64

// Lost reports that a job lost a rank, together or alone.
func (x *Result) Lost() bool {
	return slices.ContainsFunc(x.Jobs, func(j Slowdown) bool { return j.Lost.Any() })
}

package submission

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/scenario"
)

// offer returns the error of a job with more operations than a simulation accepts. It names what can be simulated
// instead: fewer microbatches of the job, or its script on fewer nodes. job is the plan with its sums.
func (c *Request) offer(tooLarge error, job *scenario.Plan, nodes int) error {
	var offers []string
	if t := job.Jobs[0].Training; t == nil {
		offers = append(offers, "railyard plan collective --no-simulate estimates a collective")
	} else {
		if some := t.FewerMicrobatches(); some > 0 {
			offers = append(offers, fmt.Sprintf("--set jobs[0].training.global_batch=%d simulates %d of %d microbatches on all nodes",
				t.GlobalBatch/int64(t.Microbatches)*int64(some), some, t.Microbatches))
		}
		if fewer := c.fewerNodes(nodes); fewer > 0 {
			offers = append(offers, fmt.Sprintf("--option=--nodes=%d simulates the script on %[1]d of %d nodes", fewer, nodes))
		}
	}
	offers = append(offers, "--dry-run prints the placement")
	for _, e := range field.All(tooLarge) {
		msg, _, _ := strings.Cut(e.Msg, "; ") // changes that an author of a scenario would make
		e.Msg = msg + "; " + strings.Join(offers, "; ")
	}
	return tooLarge
}

// fewerNodes returns the largest half, quarter and so on of a job's nodes on which its script can be simulated.
func (c *Request) fewerNodes(nodes int) int {
	part := *c
	part.DryRun = true
	for n := nodes / 2; n > 0; n /= 2 {
		part.Option = append(slices.Clone(c.Option), fmt.Sprintf("--nodes=%d", n))
		if s, err := Follow(&part); err == nil && s.Nothing == nil && s.Plan.Unfit == "" {
			return n
		}
	}
	return 0
}

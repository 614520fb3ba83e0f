package fidelity

import (
	"fmt"

	"railyard/internal/reuse"
	"railyard/internal/scenario"
	"railyard/internal/sim"
	"railyard/unit"
)

// Auditor is a run that reuses simulated parts, and can measure the error of the reuse.
type Auditor interface {
	// Audit simulates a share of the reused parts as well. Call it before Go.
	Audit(share float64)
}

// reusedMessage is the memory of a message in the histories of episodes, measured on gpt13b-128.
const reusedMessage = 1500

// again simulates packets, and what repeats once.
var again = Fidelity{Name: reuse.Name, Words: "packets, where what was simulated before is not simulated again",
	Offer:  "as exact, and faster where collectives do not overlap",
	Before: packet.Before, Refuse: reuse.Refuse,
	Prepare: func(p *scenario.Plan) (Cost, func() (Run, error)) {
		c := sim.Estimate(p)
		c.Memory += reusedMessage * unit.Bytes(c.Messages)
		words := fmt.Sprintf("at most %s packet-hops, about %s of memory", round(float64(c.PacketHops)),
			memory(c.Memory))
		return Cost{Memory: c.Memory, Seconds: c.Seconds, Causes: c.Causes, Words: words}, func() (Run, error) {
			r, err := reuse.Build(p, c.Routes())
			if err != nil {
				return nil, err
			}
			return r, nil
		}
	}}

// Comparable returns the fidelity for a run that is compared with others of a plan: its own, or packets if reuse
// does not support a feature of the plan. Steps of the two may be compared.
func Comparable(p *scenario.Plan) string {
	if p.Fidelity == reuse.Name && reuse.Refuse(p) != nil {
		return Default
	}
	return p.Fidelity
}

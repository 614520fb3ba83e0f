package fidelity

import (
	"fmt"

	"railyard/internal/flows"
	"railyard/internal/scenario"
)

// flow simulates messages as flows that share links.
var flow = Fidelity{Name: flows.Name, Words: "messages as flows that share links fairly", Before: packet.Before,
	Prepare: func(p *scenario.Plan) (Cost, func() (Run, error)) {
		c := flows.Estimate(p)
		words := fmt.Sprintf("%s messages as flows, %s of memory, about %s", round(float64(c.Messages)),
			memory(c.Memory), duration(c.Seconds))
		return Cost{Memory: c.Memory, Seconds: c.Seconds, Words: words}, func() (Run, error) {
			r, err := flows.Build(p, c)
			if err != nil {
				return nil, err
			}
			return r, nil
		}
	}}

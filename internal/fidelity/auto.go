package fidelity

import (
	"fmt"

	"railyard/internal/flows"
	"railyard/internal/scenario"
	"railyard/internal/sim"
	"railyard/unit"
)

// The size up to which auto simulates by packets. Both estimates depend only on the scenario, so a scenario has one
// fidelity on every computer.
const (
	mostHops   = 1_000_000_000 // three to seven minutes of one core
	mostMemory = 16 * unit.GB
)

// Auto is the name of the fidelity that chooses.
const Auto = "auto"

// auto simulates with packets if the cost is affordable, and else with flows.
var auto = Fidelity{Name: Auto,
	Words: "packets up to a billion estimated packet-hops, flows beyond", Before: packet.Before,
	Prepare: func(p *scenario.Plan) (Cost, func() (Run, error)) {
		c := sim.Estimate(p)
		if c.PacketHops <= mostHops && c.Memory <= mostMemory {
			return byPackets(p, c)
		}
		if err := flows.Refuse(p); err != nil {
			return Cost{}, func() (Run, error) { return nil, beyond(c.PacketHops, err) }
		}
		cost, build := asFlows(p, c.PacketHops)
		cost.Words = fmt.Sprintf("%s; auto chooses flows: %s packet-hops and %s by packets", cost.Words,
			round(float64(c.PacketHops)), memory(c.Memory))
		return cost, build
	}}

// beyond reports that neither packets nor flows can simulate a plan.
func beyond(hops int64, err error) error {
	return fmt.Errorf("%w (auto: %s packet-hops are more than the %s that it simulates by packets)", err,
		round(float64(hops)), round(mostHops))
}

package fidelity

import (
	"fmt"

	"railyard/internal/scenario"
	"railyard/internal/sim"
)

// packet simulates every packet on every link.
var packet = Fidelity{Name: "packet", Words: "every packet on every link",
	Before: func(p *scenario.Plan) Cost {
		c, e := sim.Tables(p)
		words := fmt.Sprintf("the paths among %d switches, %s entries in their tables, %s of memory, about %s before the simulation", e.Switches, round(float64(e.Entries())), memory(c.Memory),
			duration(c.Seconds))
		return Cost{Memory: c.Memory, Seconds: c.Seconds, Words: words}
	},
	Prepare: func(p *scenario.Plan) (Cost, func() (Run, error)) { return byPackets(p, sim.Estimate(p)) }}

// byPackets prepares a run of packets.
func byPackets(p *scenario.Plan, c sim.Cost) (Cost, func() (Run, error)) {
	words := fmt.Sprintf("%s packets, %s packet-hops, %s of memory, about %s", round(float64(c.Packets)),
		round(float64(c.PacketHops)), memory(c.Memory), duration(c.Seconds+c.Causes))
	return Cost{Memory: c.Memory, Seconds: c.Seconds, Causes: c.Causes, Words: words}, func() (Run, error) {
		r, err := sim.Build(p, c)
		if err != nil {
			return nil, err
		}
		return r, nil
	}
}

// Check rejects a plan that a run of packets would reject when it is built, for callers without memory for the run.
func Check(p *scenario.Plan) error { return sim.Check(p) }

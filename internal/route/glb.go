package route

import (
	"railyard/param"
	"railyard/unit"
)

// GLB is DLB that also uses its neighbours' ports. Switches exchange changes of port grades in small frames once
// per interval, and a path has the worse of its two grades. It follows global load balancing of Broadcom and
// Juniper, and adaptive routing with remote congestion of NVIDIA's Spectrum-X, whose receivers reorder packets
// (recovery: selective). It has no information beyond the next switch.
var GLB = Policy{
	Name: "glb", Title: "global load balancing",
	Params:   []param.Param{interval},
	Defaults: DLB.Defaults,
	Sprays:   always,
	New:      func(v param.Values, s Site) Chooser { return &glb{dlb: *newDLB(v, s)} },
}

// Informed is a Chooser that receives the grades of its neighbours' ports.
type Informed interface {
	Chooser
	// Band returns the grade of a port of the switch, for its neighbours.
	Band(now unit.Time, port int32, ports []Port) uint8
	// Every returns the interval at which neighbours receive it.
	Every() unit.Time
	// PickBeyond is Pick, with the best grade of the next switch's ports for each port of the group.
	PickBeyond(now unit.Time, group []int32, beyond []uint8, ports []Port) int32
}

type glb struct{ dlb }

// Band returns the grade that neighbours receive: a port is good unless its queue exceeds two intervals. A shorter
// queue may be full again when the report arrives, and all receivers of the report would turn to the same ports.
func (c *glb) Band(now unit.Time, port int32, ports []Port) uint8 {
	if ports[port].wait(now) < 2*c.interval {
		return 0
	}
	return c.dlb.Band(now, port, ports)
}

func (c *glb) Every() unit.Time { return c.interval }

func (c *glb) PickBeyond(now unit.Time, group []int32, beyond []uint8, ports []Port) int32 {
	return c.best(now, group, beyond, ports)
}

package route

import (
	"railyard/param"
	"railyard/unit"
)

// GLB is DLB that knows its neighbours' ports too: switches tell one another when the grade of a port
// changes, in small frames once an interval, and a way is as good as the worse of its two ports (global load
// balancing, as Broadcom and Juniper have it, and adaptive routing with remote congestion of NVIDIA's
// Spectrum-X; their receivers put packets that overtook one another where they belong, as recovery:
// selective does). Beyond the next switch it sees nothing.
var GLB = Policy{
	Name: "glb", Title: "global load balancing",
	Params:   []param.Param{interval},
	Defaults: DLB.Defaults,
	Sprays:   always,
	New:      func(v param.Values, s Site) Chooser { return &glb{dlb: *newDLB(v, s)} },
}

// Informed is a Chooser that hears how its neighbours grade their ports.
type Informed interface {
	Chooser
	// Band grades a port of the switch, for others to hear.
	Band(now unit.Time, port int32, ports []Port) uint8
	// Every returns the interval at which neighbours receive it.
	Every() unit.Time
	// PickBeyond is Pick, with the best grade of the ports that lead on behind each of the group's.
	PickBeyond(now unit.Time, group []int32, beyond []uint8, ports []Port) int32
}

type glb struct{ dlb }

// Band returns the grade that neighbours receive: that a port is good unless more waits there than two intervals
// take. What is less may be gone when it is heard, and all who hear it turn to the same other ports.
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

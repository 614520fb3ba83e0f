package route

import (
	"railyard/internal/rng"
	"railyard/param"
	"railyard/unit"
)

// SprayRandom sends each packet to a port at random.
var SprayRandom = Policy{
	Name: "spray-random", Title: "spraying at random",
	Sprays: always,
	DLB:    "at random",
	New:    func(_ param.Values, s Site) Chooser { return &random{stream: s.Stream} },
}

type random struct {
	memoryless
	stream rng.Stream
}

func (c *random) Pick(_ unit.Time, group []int32, _ int, _ uint32, _ []Port) int32 {
	return group[c.stream.Intn(len(group))]
}

package route

import (
	"railyard/param"
	"railyard/unit"
)

// Spray sends the packets to a group's ports in turn. Each group begins at its own position.
var Spray = Policy{
	Name: "spray", Title: "spraying in turn",
	Sprays: always,
	DLB:    "in turn",
	New:    func(_ param.Values, s Site) Chooser { return &turns{seed: s.Seed} },
}

type turns struct {
	memoryless
	seed uint32
	turn []uint32 // by group
}

func (c *turns) Renew(t *Table) {
	for i := len(c.turn); i < t.Groups(); i++ {
		c.turn = append(c.turn, Hash(uint32(i), c.seed))
	}
}

func (c *turns) Pick(_ unit.Time, group []int32, id int, _ uint32, _ []Port) int32 {
	c.turn[id]++
	return group[uint64(c.turn[id])%uint64(len(group))]
}

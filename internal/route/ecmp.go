package route

import (
	"railyard/param"
	"railyard/unit"
)

// ECMP hashes the 5-tuple with a seed per switch (RFC 2992, hash-threshold with equal regions). Links of unequal rate
// occur in the group in proportion to their rates (WCMP, Shares).
var ECMP = Policy{
	Name: "ecmp", Title: "ECMP",
	New: func(_ param.Values, s Site) Chooser { return &ecmp{seed: s.Seed} },
}

type ecmp struct {
	memoryless
	seed uint32
}

func (c *ecmp) HashSeed() uint32 { return c.seed }

func (c *ecmp) Pick(_ unit.Time, group []int32, _ int, flow uint32, _ []Port) int32 {
	return group[Hashed(flow, c.seed, len(group))]
}

// Package twochoices adds a path choice to Railyard: the first packet of a flow takes the shorter queue of two
// hashed ports, and the flow stays there (Mitzenmacher, The Power of Two Choices in Randomized Load Balancing, IEEE
// Transactions on Parallel and Distributed Systems 12(10), 2001).
package twochoices

import (
	"slices"

	"railyard/extend"
	"railyard/param"
	"railyard/unit"
)

func init() {
	extend.PathChoice(&extend.Policy{Name: "two-choices", Title: "the shorter of two queues",
		New: func(_ param.Values, s extend.Site) extend.Chooser { return &chooser{seed: s.Seed} }})
}

// entries is the size of the table of flows, as hardware has one.
const entries = 4096

// chooser is the table of flows of one switch.
type chooser struct {
	seed  uint32
	flows [entries]struct {
		key  uint32
		port int32
		used bool
	}
}

// Pick returns the port of a known flow, or of two hashed ports that with fewer bytes waiting.
func (c *chooser) Pick(_ unit.Time, group []int32, _ int, flow uint32, ports []extend.Port) int32 {
	e := &c.flows[extend.Hash(flow, c.seed)%entries]
	if e.used && e.key == flow && slices.Contains(group, e.port) {
		return e.port
	}
	a := group[extend.Hashed(flow, c.seed, len(group))]
	b := group[extend.Hashed(flow, ^c.seed, len(group))]
	if ports[b].Queued < ports[a].Queued {
		a = b
	}
	e.key, e.port, e.used = flow, a, true
	return a
}

// Renew keeps the table of flows: a port that has left a group is no longer found in it.
func (c *chooser) Renew(*extend.Table) {}

// Moved returns 0: flows stay.
func (c *chooser) Moved() int64 { return 0 }

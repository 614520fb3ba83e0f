// Package route is path choice: shortest-path tables with equal-cost groups,
// and how one of a group is picked for a packet: ECMP, flowlet, spraying.
package route

import (
	"fmt"

	"railyard/internal/rng"
	"railyard/unit"
)

// Policy says how a switch picks among equal-cost ports.
type Policy uint8

// Policies.
const (
	ECMP        Policy = iota // hash of the 5-tuple with a seed per switch
	Flowlet                   // a new flowlet goes to the best port if the old one is loaded
	SprayRR                   // packets in turn
	SprayRandom               // packets at random
	SprayLeast                // packets to the least loaded port
	nPolicies
)

var policyNames = [nPolicies]string{"ecmp", "flowlet", "spray", "spray-random", "spray-least"}

// ParsePolicy reads a policy's name.
func ParsePolicy(s string) (Policy, error) {
	for i, n := range policyNames {
		if s == n {
			return Policy(i), nil
		}
	}
	return 0, fmt.Errorf("%q is not a load balancing policy; accepted: %v", s, policyNames)
}

// Sprays reports whether packets of one flow may take different ports at once.
func (p Policy) Sprays() bool { return p >= SprayRR }

// Port is the transmitting side of a port: the 64 bytes that every packet
// touches. Path choice reads the load from it, the fabric keeps it.
type Port struct {
	BusyUntil unit.Time // the last accepted frame, gap included, is out then
	Hop       unit.Time // propagation plus the peer's pipeline
	TxBytes   int64     // wire bytes sent, preamble and gap included
	TxFrames  int64
	Rate      unit.Rate
	PsPerByte int32 // picoseconds per byte, 0 when not a whole number: then Rate counts
	Peer      int32 // port at the other end
	Node      int32 // owner
	Queued    int32 // bytes waiting
	NonEmpty  uint8 // classes with packets waiting
	Paused    uint8 // classes the peer has paused
	Armed     bool  // a service event is under way
	Down      bool
	Arrive    uint8 // event kind of an arrival at the peer
	Service   uint8 // event kind that serves this port
	Flags     uint8
	Strict    uint8 // classes with strict priority
}

// Hash mixes a flow's 5-tuple digest with a switch's seed.
func Hash(flow, seed uint32) uint32 {
	h := flow ^ seed
	h ^= h >> 16
	h *= 0x7feb352d
	h ^= h >> 15
	h *= 0x846ca68b
	return h ^ h>>16
}

// Params tunes the adaptive policies.
type Params struct {
	FlowletGap  unit.Time // idle time that ends a flowlet
	Utilization float64   // a flowlet may move when its port's load is above this share
	Interval    unit.Time // over which utilisation is measured
}

type flowletEntry struct {
	last unit.Time
	port int32
	key  uint32
}

type meter struct {
	at    unit.Time
	seen  int64   // TxBytes at that time
	bytes float64 // discounted
}

// Chooser picks ports for one switch.
type Chooser struct {
	policy Policy
	seed   uint32
	params Params
	stream rng.Stream
	turn   []uint32 // SprayRR: per group
	table  []flowletEntry
	meters map[int32]*meter
	Moved  int64 // flowlets that changed port
}

// FlowletEntries is the size of the hardware-like flowlet table.
const FlowletEntries = 4096

// NewChooser returns a chooser; groups is the number of equal-cost groups.
func NewChooser(p Policy, par Params, seed uint32, stream rng.Stream, groups int) *Chooser {
	c := &Chooser{policy: p, seed: seed, params: par, stream: stream}
	c.Regroup(groups)
	if p == Flowlet {
		c.table = make([]flowletEntry, FlowletEntries)
		for i := range c.table {
			c.table[i].port = -1
		}
		c.meters = map[int32]*meter{}
	}
	return c
}

// Regroup fits a chooser to a new table of so many groups. What it knows of flows and of
// the load of ports stays: a link that breaks elsewhere is no reason to forget it.
func (c *Chooser) Regroup(groups int) {
	for i := len(c.turn); i < groups; i++ {
		c.turn = append(c.turn, Hash(uint32(i), c.seed))
	}
}

// Policy returns the chooser's policy.
func (c *Chooser) Policy() Policy { return c.policy }

// Seed returns the hash seed.
func (c *Chooser) Seed() uint32 { return c.seed }

// Pick returns one of the group's ports for a packet with the given flow hash.
func (c *Chooser) Pick(now unit.Time, group []int32, id int, flow uint32, ports []Port) int32 {
	n := uint64(len(group))
	switch c.policy {
	case SprayRR:
		c.turn[id]++
		return group[uint64(c.turn[id])%n]
	case SprayRandom:
		return group[c.stream.Intn(len(group))]
	case SprayLeast:
		c.turn[id]++
		return leastLoaded(now, group, int(uint64(c.turn[id])%n), ports)
	case Flowlet:
		return c.flowlet(now, group, flow, ports)
	}
	return group[uint64(Hash(flow, c.seed))*n>>32]
}

// leastLoaded returns the port that would send first, ties to the one that
// comes first from start.
func leastLoaded(now unit.Time, group []int32, start int, ports []Port) int32 {
	best, bestAt := group[start], unit.Never
	for k := range group {
		g := group[(start+k)%len(group)]
		p := &ports[g]
		at := max(p.BusyUntil, now) + unit.Serialize(unit.Bytes(p.Queued), p.Rate)
		if p.Paused != 0 {
			at += unit.Millisecond
		}
		if at < bestAt {
			best, bestAt = g, at
		}
	}
	return best
}

// flowlet implements the dynamic load balancing of the seeds: the hash decides
// at first; after an idle gap a flow whose port is loaded above the threshold
// moves to the least loaded one.
func (c *Chooser) flowlet(now unit.Time, group []int32, flow uint32, ports []Port) int32 {
	h := Hash(flow, c.seed)
	e := &c.table[h%FlowletEntries]
	member := false
	if e.port >= 0 && e.key == flow {
		for _, g := range group {
			member = member || g == e.port
		}
	}
	if !member {
		*e = flowletEntry{last: now, port: group[uint64(h)*uint64(len(group))>>32], key: flow}
		return e.port
	}
	if load := c.load(now, e.port, ports); now-e.last > c.params.FlowletGap && load > c.params.Utilization {
		if to := c.leastUsed(now, group, ports); to != e.port {
			e.port = to
			c.Moved++
		}
	}
	e.last = now
	return e.port
}

// load is a port's share of line rate, a discounting rate estimator over
// Interval (CONGA's DRE with a continuous decay), plus one when packets wait. What
// was sent since the last look is discounted like the rest, so that it does not
// matter how often one looks: at a steady rate R the sum stays at R times Interval.
func (c *Chooser) load(now unit.Time, port int32, ports []Port) float64 {
	m := c.meters[port]
	if m == nil {
		m = &meter{}
		c.meters[port] = m
	}
	p := &ports[port]
	tau := float64(c.params.Interval)
	m.bytes = (m.bytes + float64(p.TxBytes-m.seen)) * (tau / (tau + float64(now-m.at)))
	m.at, m.seen = now, p.TxBytes
	util := m.bytes * 8 * float64(unit.Second) / (float64(p.Rate) * tau)
	if p.Queued > 0 {
		util++
	}
	return util
}

func (c *Chooser) leastUsed(now unit.Time, group []int32, ports []Port) int32 {
	best, least := group[0], 1e18
	for _, g := range group {
		p := &ports[g]
		drain := float64(p.Queued) * 8 * float64(unit.Second) / float64(p.Rate)
		if l := c.load(now, g, ports) + drain/float64(c.params.Interval); l < least {
			best, least = g, l
		}
	}
	return best
}

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
	SprayLeast                // packets to one of the least loaded ports
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
		return c.leastLoaded(now, group, ports)
	case Flowlet:
		return c.flowlet(now, group, flow, ports)
	}
	return group[uint64(Hash(flow, c.seed))*n>>32]
}

// Load is compared in bands, as adaptive routing in hardware does (SAI's ARS
// profile: up to eight quantisation bands of the queued bytes): the first is 64 KB,
// each next one ends at twice as much, and a paused port is in the last.
const (
	bands    = 8
	bandSize = 64 * unit.KiB
)

// leastLoaded chooses two ports of the lowest band at random and returns the one
// that would send first. The best port of all is a trap: the switches' choices fall
// into step, and queues build up where they meet, at switches that have no choice.
// The better of two keeps the randomness and most of the gain (Mitzenmacher 2001;
// Ghorbani et al., DRILL, SIGCOMM 2017, section 3).
func (c *Chooser) leastLoaded(now unit.Time, group []int32, ports []Port) int32 {
	first := ports[group[0]].drain(int32(bandSize)) // cables of several rates are compared in time
	best, count := bands, 0
	for _, g := range group {
		switch b := ports[g].band(now, first); {
		case b < best:
			best, count = b, 1
		case b == best:
			count++
		}
	}
	x, y := c.stream.Intn(count), c.stream.Intn(count)
	px, py := group[0], group[0]
	for _, g := range group {
		if count < len(group) && ports[g].band(now, first) != best {
			continue
		}
		if x == 0 {
			px = g
		}
		if y == 0 {
			py = g
		}
		x, y = x-1, y-1
	}
	if ports[py].wait(now) < ports[px].wait(now) {
		return py
	}
	return px
}

// drain returns how long a port takes to send bytes.
func (p *Port) drain(bytes int32) unit.Time {
	if p.PsPerByte != 0 {
		return unit.Time(bytes) * unit.Time(p.PsPerByte)
	}
	return unit.Serialize(unit.Bytes(bytes), p.Rate)
}

// wait is how long a packet that comes now waits for what is there already.
func (p *Port) wait(now unit.Time) unit.Time { return max(p.BusyUntil-now, 0) + p.drain(p.Queued) }

// band is a port's band of load; the first one ends at a wait of first.
func (p *Port) band(now, first unit.Time) int {
	if p.Paused != 0 {
		return bands - 1
	}
	w, b := p.wait(now), 0
	for b < bands-1 && w >= first<<b {
		b++
	}
	return b
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

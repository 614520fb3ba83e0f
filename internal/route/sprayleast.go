package route

import (
	"railyard/internal/rng"
	"railyard/param"
	"railyard/unit"
)

// SprayLeast sends each packet to one of the least loaded ports.
//
// Load is compared in bands, as adaptive routing in hardware does (SAI's ARS
// profile: up to eight quantisation bands of the queued bytes): the first is 64 KB,
// each next one ends at twice as much, and a paused port is in the last.
var SprayLeast = Policy{
	Name: "spray-least", Title: "spraying to the least loaded",
	Sprays: always,
	DLB:    "per-packet",
	New:    func(_ param.Values, s Site) Chooser { return &least{stream: s.Stream} },
}

type least struct {
	memoryless
	stream rng.Stream
}

const (
	bands    = 8
	bandSize = 64 * unit.KiB
)

// Pick chooses two ports of the lowest band at random and returns the one
// that would send first. The best port of all is a trap: the switches' choices fall
// into step, and queues build up where they meet, at switches that have no choice.
// The better of two keeps the randomness and most of the gain (Mitzenmacher 2001;
// Ghorbani et al., DRILL, SIGCOMM 2017, section 3).
func (c *least) Pick(now unit.Time, group []int32, _ int, _ uint32, ports []Port) int32 {
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

package route

import (
	"math"

	"railyard/internal/rng"
	"railyard/param"
	"railyard/unit"
)

// SprayLeast sends each packet to one of the least loaded ports.
//
// Load is compared in bands, as adaptive routing in hardware does (SAI's ARS profile: up to eight quantisation
// bands of the queued bytes). The first is 64 KB, each next one ends at the double, and a paused port is in the
// last.
var SprayLeast = Policy{
	Name: "spray-least", Title: "spraying to the least loaded",
	Sprays: always,
	DLB:    "per-packet",
	New:    func(_ param.Values, s Site) Chooser { return &least{stream: s.Stream} },
}

type least struct {
	memoryless
	stream rng.Stream
	graded []uint8 // room to work in
}

const (
	bands    = 8
	bandSize = 64 * unit.KiB
)

func (c *least) Pick(now unit.Time, group []int32, _ int, _ uint32, ports []Port) int32 {
	first := ports[group[0]].drain(int32(bandSize)) // cables of several rates are compared in time
	c.graded = c.graded[:0]
	for _, g := range group {
		c.graded = append(c.graded, uint8(ports[g].band(now, first)))
	}
	return ofBest(now, group, c.graded, &c.stream, ports)
}

// ofBest draws two random ports of the best grade and returns the one that would send first (see sooner).
func ofBest(now unit.Time, group []int32, grades []uint8, stream *rng.Stream, ports []Port) int32 {
	best, count := uint8(math.MaxUint8), 0
	for _, b := range grades {
		if b < best {
			best, count = b, 0
		}
		if b == best {
			count++
		}
	}
	x, y := stream.Intn(count), stream.Intn(count)
	return sooner(now, group, grades, best, x, y, ports)
}

// sooner returns, of two ports x and y of the best grade, the one that would send first. Always choosing the best
// port would synchronize the switches' choices. Queues would then build up where the paths join, at switches that
// have no choice. The better of two at random keeps the randomness and most of the gain (Mitzenmacher 2001;
// Ghorbani et al., DRILL, SIGCOMM 2017, section 3).
func sooner(now unit.Time, group []int32, grades []uint8, best uint8, x, y int, ports []Port) int32 {
	px, py := group[0], group[0]
	for i, g := range group {
		if grades[i] != best {
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

// band returns a port's band of load; the first band ends at a queueing time of first.
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

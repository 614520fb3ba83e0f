package route

import (
	"railyard/internal/rng"
	"railyard/param"
	"railyard/unit"
)

// DLB sends each packet through a port of the best quality. Switches grade ports by their recent bytes and by their
// queue (Broadcom's dynamic load balancing; SAI's ARS profile). It uses only the state of the switch's own ports.
var DLB = Policy{
	Name: "dlb", Title: "dynamic load balancing",
	Params:   []param.Param{interval},
	Defaults: param.Values{"interval": 10 * unit.Microsecond},
	Sprays:   always,
	DLB:      "per-packet",
	New:      func(v param.Values, s Site) Chooser { return newDLB(v, s) },
}

// Bands is the number of grades of ports, from 0, the best. The first four grades are quarters of line rate while the
// queue is below the first band of spray-least. The others are twice as long each; a paused port has the last grade.
const Bands = 8

const loadBands = 4

type dlb struct {
	memoryless
	meters
	stream rng.Stream
	graded []uint8 // room to work in
}

func newDLB(v param.Values, s Site) *dlb {
	return &dlb{stream: s.Stream, meters: newMeters(param.Value[unit.Time](v, "interval"))}
}

// Band grades a port.
func (c *dlb) Band(now unit.Time, port int32, ports []Port) uint8 {
	p := &ports[port]
	load := c.load(now, port, ports)
	if waits := p.band(now, p.drain(int32(bandSize))); waits > 0 {
		return uint8(min(loadBands-1+waits, Bands-1))
	}
	return uint8(min(int(load*loadBands), loadBands-1))
}

func (c *dlb) Pick(now unit.Time, group []int32, _ int, _ uint32, ports []Port) int32 {
	return c.best(now, group, nil, ports)
}

// best returns a port of the best grade. A port's grade is at least the known grade of the next switch (see
// ofBest).
func (c *dlb) best(now unit.Time, group []int32, beyond []uint8, ports []Port) int32 {
	c.graded = c.graded[:0]
	for i, g := range group {
		b := c.Band(now, g, ports)
		if beyond != nil {
			b = max(b, beyond[i])
		}
		c.graded = append(c.graded, b)
	}
	return ofBest(now, group, c.graded, &c.stream, ports)
}

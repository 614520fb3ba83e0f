package route

import (
	"railyard/internal/rng"
	"railyard/param"
	"railyard/unit"
)

// MinimalAdaptive sends each packet of a torus on any of its shortest paths, through the port that would send it
// first. Against deadlock a packet escapes to dimension order, in classes of its own, if the chosen port is paused.
// After the next link it may again take any path (Duato 1993).
var MinimalAdaptive = Policy{
	Name: "minimal-adaptive", Title: "minimal adaptive routing",
	Sprays: always,
	New:    func(_ param.Values, s Site) Chooser { return &adaptive{stream: s.Stream} },
}

type adaptive struct {
	memoryless
	stream rng.Stream
}

func (*adaptive) Escapes() {}

func (*adaptive) Classes(bool) int { return 3 }

func (*adaptive) Rises(bool) string {
	return "where they escape, the second after the cable that closes a ring"
}

// Pick returns the port with the shortest queue, unpaused ones first; ties are broken at random.
func (c *adaptive) Pick(now unit.Time, group []int32, _ int, _ uint32, ports []Port) int32 {
	best, least, equal := group[0], unit.Never, 0
	for _, g := range group {
		wait := ports[g].wait(now)
		if ports[g].Paused != 0 {
			wait += unit.Second // longer than any queue
		}
		switch {
		case wait < least:
			best, least, equal = g, wait, 1
		case wait == least:
			if equal++; c.stream.Intn(equal) == 0 {
				best = g
			}
		}
	}
	return best
}

package mrc

import (
	"testing"

	"railyard/internal/rng"
)

// A path that loses 2 % is left, although its single probes succeed. If all paths lose equally, no path or plane is
// left. Values hash onto 16 paths of each plane; some are probed once in 128 packets.
func TestLossyPathIsLeft(t *testing.T) {
	const paths, packets = 16, 400_000
	for _, c := range []struct {
		what        string
		one, others float64 // loss of path 3 and of the others
		least, most float64 // its share of the packets; 1 is the share of any path
	}{
		{"clean", 0, 0, 0.8, 1.2},
		{"2 % on one", 0.02, 0, 0, 0.2},
		{"5 % on one, 0.1 % on the others", 0.05, 0.001, 0, 0.2},
		{"0.01 % on one", 0.0001, 0, 0.7, 1.2},
		{"1 % on all", 0.01, 0.01, 0.7, 1.3},
		{"5 % on all", 0.05, 0.05, 0.7, 1.3},
	} {
		p := testProfile(256, 128, 2)
		r := rng.New(7, c.what)
		path := func(i uint16) int { return int(i) / 2 % paths }
		lost := func(i uint16) bool {
			if path(i) == 3 {
				return r.Float64() < c.one
			}
			return r.Float64() < c.others
		}
		by, fair := 0, 0
		for n := range packets {
			plane := n % 2
			v, ok := p.next(plane)
			if !ok {
				v, _ = p.resort(plane)
			}
			if n > packets/2 {
				if fair++; path(v.number) == 3 {
					by++
				}
			}
			if lost(v.number) {
				p.condemn(v.number)
			}
			if n%128 == 0 {
				for range min(len(p.bad), mostProbes) {
					if i, ok := p.probed(); ok && !lost(i) {
						p.restore(i, false)
					}
				}
			}
		}
		if share := float64(by) * paths / float64(fair); share < c.least || share > c.most {
			t.Errorf("%s: the path has %.2f of its share, want %g to %g; %d active", c.what, share, c.least, c.most,
				p.active())
		}
		// with 5 % loss more packets are lost than are probed
		if c.one == c.others && c.one < 0.02 && p.active() < 96 {
			t.Errorf("%s: %d values are active of 128", c.what, p.active())
		}
	}
}

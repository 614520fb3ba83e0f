package transporttest

import (
	"railyard/internal/rng"
	"railyard/unit"

	"pgregory.net/rapid"
)

// schedule runs one random schedule, twice.
func (s *Suite) schedule(rt *rapid.T) {
	seed := rapid.Uint64().Draw(rt, "seed")
	planes := rapid.SampledFrom(s.Planes).Draw(rt, "planes")
	first := s.random(rt, seed, planes)
	if seed%8 == 0 {
		if second := s.random(rt, seed, planes); second != first {
			rt.Fatalf("the same seed sends other packets: %x and %x", first, second)
		}
	}
}

// random runs a network under load whose paths have random faults for a while. One path per direction does no worse
// than lose, repeat or delay some of its packets.
func (s *Suite) random(rt fataler, seed uint64, planes int) uint64 {
	r := rng.New(seed, "schedule")
	set := Setup{Protocol: s.Protocol, Values: s.Values, Planes: planes, Paths: 1 + r.Intn(4),
		Conns: 1 + r.Intn(3), MTU: unit.Bytes(256) << r.Intn(5), Seed: seed, Carry: s.Carry,
		Delay: unit.Time(1+r.Intn(20)) * unit.Microsecond}
	if s.Adjust != nil {
		s.Adjust(&set, seed)
	}
	n := New(set)
	safe := [2]int{r.Intn(planes), r.Intn(n.set.Paths)}
	counted := map[string]int64{}
	for range 4 + r.Intn(12) {
		for range r.Intn(3) {
			n.Post(r.Intn(len(n.conns)), anySize(&r), r.Intn(4) == 0)
		}
		for range r.Intn(4) {
			n.disturb(&r, safe)
		}
		n.Until(n.Now + unit.Time(r.Intn(int(400*unit.Microsecond))))
		s.checkReports(rt, n, counted)
	}
	n.heal()
	s.finish(rt, n, n.Now)
	s.checkReports(rt, n, counted)
	n.close()
	s.finish(rt, n, n.Now)
	return n.Sum
}

func anySize(r *rng.Stream) int64 {
	if r.Intn(3) == 0 {
		return sizes[r.Intn(len(sizes))]
	}
	return int64(r.Intn(1 << (1 + r.Intn(17))))
}

// disturb makes one change of the network.
func (n *Net) disturb(r *rng.Stream, safe [2]int) {
	dir, plane, i := r.Intn(2), r.Intn(n.set.Planes), r.Intn(n.set.Paths)
	p := &n.Paths[dir][plane][i]
	isSafe := plane == safe[0] && i == safe[1]
	switch r.Intn(9) {
	case 0:
		p.Loss = r.Float64() * 0.1
	case 1:
		p.Mark = r.Float64()
	case 2:
		p.Trim = r.Float64() * 0.3
	case 3:
		p.Repeat = r.Float64() * 0.3
	case 4:
		p.Jitter = unit.Time(r.Intn(int(100 * unit.Microsecond)))
	case 5, 6:
		p.Dead = !p.Dead && !isSafe
	case 7:
		if plane != safe[0] {
			n.PlaneIs(dir, plane, !n.up[dir][plane])
		}
	case 8:
		*p = Path{Delay: unit.Time(1+r.Intn(40)) * unit.Microsecond}
	}
}

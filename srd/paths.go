package srd

import (
	"railyard/internal/rng"
	"railyard/unit"
)

// path is one path to a far NIC. Its share is in units of 1/256: the number of uses while a path without fault is used
// 256 times.
type path struct {
	rtt    unit.Time // smoothed; 0 before one was measured
	cutAt  unit.Time
	newest unit.Time // send time of the newest packet that has arrived
	share  int32
	owed   int32
	plane  uint8
}

const fullShare = 256

// paths are all paths to a far NIC. Their order is shuffled each round, so that senders do not synchronize.
type paths struct {
	all    []path
	order  [][]uint16 // by plane
	at     []int
	random rng.Stream
	shifts int64
	mean   unit.Time // smoothed mean of the round trips
}

func newPaths(s *settings, seed uint64) paths {
	p := paths{all: make([]path, s.Paths), order: make([][]uint16, s.Planes), at: make([]int, s.Planes),
		random: rng.New(seed, "srd")}
	for i := range p.all {
		plane := i % s.Planes
		p.all[i] = path{share: fullShare, plane: uint8(plane), cutAt: -unit.Never / 2}
		p.order[plane] = append(p.order[plane], uint16(i))
	}
	for plane := range p.order {
		p.shuffle(plane)
	}
	return p
}

func (p *paths) shuffle(plane int) {
	o := p.order[plane]
	for i := range o {
		j := p.random.Intn(i + 1)
		o[i], o[j] = o[j], o[i]
	}
	p.at[plane] = 0
}

// next returns the path of a plane whose turn it is. A path is skipped until its shares add up to a whole turn. A
// share is at least an eighth, so the loop ends.
func (p *paths) next(plane int) int {
	for {
		if p.at[plane] == len(p.order[plane]) {
			p.shuffle(plane)
		}
		i := int(p.order[plane][p.at[plane]])
		p.at[plane]++
		x := &p.all[i]
		if x.owed += x.share; x.owed >= fullShare {
			x.owed -= fullShare
			return i
		}
	}
}

// leastShare is the minimum share of a path; it keeps round trips measured, so that an improvement is seen.
const leastShare = fullShare / 8

// heard processes a round trip of a path. An overloaded path is slower than the mean, and slower than the minimum
// by a factor. It loses some of its share, once per round trip; other paths gain.
func (p *paths) heard(now unit.Time, s *settings, i int, rtt, least unit.Time) {
	x := &p.all[i]
	if x.rtt == 0 {
		x.rtt = rtt
	}
	x.rtt += (rtt - x.rtt) / 4
	if p.mean == 0 {
		p.mean = rtt
	}
	p.mean += (rtt - p.mean) / 32
	if now-x.cutAt < x.rtt {
		return
	}
	x.cutAt = now
	if float64(x.rtt) > s.Slow*float64(least) && x.rtt > p.mean {
		p.less(x, s.Step)
	} else {
		x.share = min(fullShare, x.share+int32(s.Step/4*fullShare)+1)
	}
}

// lost takes note that a path has lost a packet.
func (p *paths) lost(now unit.Time, s *settings, i int) {
	if x := &p.all[i]; now-x.cutAt >= x.rtt {
		x.cutAt = now
		p.less(x, s.Step)
	}
}

func (p *paths) less(x *path, step float64) {
	p.shifts++
	x.share = max(leastShare, x.share-int32(step*float64(x.share)))
}

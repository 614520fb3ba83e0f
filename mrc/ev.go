package mrc

import (
	"slices"

	"railyard/internal/rng"
)

// evState is a sender's verdict on the path of an entropy value.
type evState uint8

const (
	good       evState = iota
	skipped            // not used before the next round
	assumedBad         // not used before a probe succeeds
)

// profile is the set of entropy values for another NIC, equally many per plane. Each plane has active values and a
// reserve. The active values take turns in a random order, drawn anew in each round. A withdrawn value is replaced
// from the reserve of its plane, so that planes stay equally loaded.
type profile struct {
	planes  []planeEVs
	one     [1]planeEVs // the planes, if there is only one (near)
	reserve [][]uint16  // numbers, by plane
	values  []uint32
	states  []evState
	bad     []uint16 // bad values in the order of their probes
	index   []uint16 // hash table of values: number + 1
	random  rng.Stream
	wanted  int // active ones of a plane
	resorts int // next bad value for data if no good one is left

	rounds, skips, replaced, condemned, restored int64

	trials *trials
}

// planeEVs are the values that take turns on one plane. They are in order, with the fields that a packet needs, so
// the next value needs no random access.
type planeEVs struct {
	active []choice
	last   choice // value in use, and the packets left for it
	turn   uint16
	left   uint8
	burst  uint8 // packets in a row by one value
	skips  bool  // one of the active values may be skipped
}

// choice is a value with its number.
type choice struct {
	value  uint32
	number uint16
}

// firstPort is the lowest source port, the low half of a value, that ordinary programs may send from.
const firstPort = 1024

// anyEV draws a value that packets can carry.
func anyEV(r *rng.Stream, ipv6 bool) uint32 {
	v := uint32(firstPort + r.Intn(1<<16-firstPort))
	if ipv6 {
		v |= uint32(r.Intn(1<<16)) << 16
	}
	return v
}

func newProfile(m *maker, r rng.Stream) profile {
	planes := m.common.Planes
	each := m.EVs / planes
	p := profile{planes: make([]planeEVs, planes), reserve: make([][]uint16, planes), random: r,
		wanted: max(1, min(m.Active/planes, each))}
	slots := 4
	for slots < 4*each*planes {
		slots *= 2
	}
	p.index = make([]uint16, slots)
	for given := m.common.EVs; len(p.values) < each*planes; {
		v := anyEV(&p.random, m.common.IPv6)
		if len(given) > 0 {
			v, given = given[0], given[1:]
		}
		if _, taken := p.find(v); taken {
			continue
		}
		i := len(p.values)
		p.values = append(p.values, v)
		p.enter(v, i)
		if of := &p.planes[i%planes]; len(of.active) < p.wanted {
			of.active = append(of.active, choice{v, uint16(i)})
		} else {
			p.reserve[i%planes] = append(p.reserve[i%planes], uint16(i))
		}
	}
	p.states, p.trials = make([]evState, len(p.values)), &trials{of: make([]trial, len(p.values))}
	p.bad = make([]uint16, 0, len(p.values))
	for i := range p.planes {
		of := &p.planes[i]
		of.active, of.burst = append(make([]choice, 0, each), of.active...), uint8(m.Burst)
		p.reserve[i] = append(make([]uint16, 0, each), p.reserve[i]...)
	}
	return p
}

// near places the state of a single plane next to its pointer, which packets also read. The profile must not move
// from now on.
func (p *profile) near() {
	if len(p.planes) == 1 {
		p.one[0] = p.planes[0]
		p.planes = p.one[:]
	}
}

func (p *profile) home(v uint32) int { return int(rng.Mix64(uint64(v)) & uint64(len(p.index)-1)) }

func (p *profile) enter(v uint32, i int) {
	at := p.home(v)
	for ; p.index[at] != 0; at = (at + 1) & (len(p.index) - 1) {
	}
	p.index[at] = uint16(i + 1)
}

// find returns the number of a value; false for an unknown value.
func (p *profile) find(v uint32) (i uint16, ok bool) {
	for at := p.home(v); p.index[at] != 0; at = (at + 1) & (len(p.index) - 1) {
		if i = p.index[at] - 1; p.values[i] == v {
			return i, true
		}
	}
	return 0, false
}

func (p *profile) plane(i uint16) int { return int(i) % len(p.planes) }

// next returns the value whose turn it is on a plane; false if none is active.
func (p *profile) next(plane int) (v choice, ok bool) {
	of := &p.planes[plane]
	if of.left > 0 && p.states[of.last.number] == good {
		of.left--
		return of.last, true
	}
	if len(of.active) == 0 {
		return v, false
	}
	for {
		if int(of.turn) >= len(of.active) {
			p.shuffle(of)
		}
		v = of.active[of.turn]
		if of.turn++; !of.skips || p.states[v.number] == good {
			of.last, of.left = v, of.burst-1
			return v, true
		}
	}
}

// shuffle begins a round: skipped values are active again.
func (p *profile) shuffle(of *planeEVs) {
	for j := range of.active {
		k := p.random.Intn(j + 1)
		of.active[j], of.active[k] = of.active[k], of.active[j]
	}
	if of.skips {
		for _, v := range of.active {
			p.states[v.number] = good
		}
	}
	of.turn, of.skips = 0, false
	p.rounds++
}

// resort returns a value that is assumed bad, for a plane without another.
func (p *profile) resort(plane int) (v choice, ok bool) {
	for range p.bad {
		p.resorts++
		if i := p.bad[p.resorts%len(p.bad)]; p.plane(i) == plane {
			return choice{p.values[i], i}, true
		}
	}
	return v, false
}

// any returns a value of a plane for a packet other than data, a good one if possible.
func (p *profile) any(plane int) uint32 {
	of := &p.planes[plane]
	if n := len(of.active); n > 0 {
		return of.active[p.random.Intn(n)].value
	}
	if v, ok := p.resort(plane); ok {
		return v.value
	}
	return p.values[plane]
}

// skip omits a value for the remainder of the round.
func (p *profile) skip(i uint16) {
	if p.states[i] == good {
		p.states[i] = skipped
		p.planes[p.plane(i)].skips = true
		p.skips++
	}
}

// condemn withdraws a value until a probe succeeds.
func (p *profile) condemn(i uint16) {
	p.trials.losses++
	if p.states[i] == assumedBad {
		return
	}
	p.strike(i)
	p.withdraw(i)
	p.states[i] = assumedBad
	p.condemned++
	p.bad = append(p.bad, i)
}

// withdraw removes a value from its plane's active values and replaces it by a reserve value.
func (p *profile) withdraw(i uint16) {
	plane := p.plane(i)
	of, reserve := &p.planes[plane], p.reserve[plane]
	if at := slices.Index(reserve, i); at >= 0 {
		p.reserve[plane] = slices.Delete(reserve, at, at+1)
		return
	}
	at := slices.IndexFunc(of.active, func(v choice) bool { return v.number == i })
	if at < 0 {
		return
	}
	if last := len(reserve) - 1; last >= 0 {
		j := reserve[last]
		of.active[at] = choice{p.values[j], j}
		of.skips = of.skips || p.states[j] == skipped
		p.reserve[plane] = reserve[:last]
		p.replaced++
		return
	}
	of.active = slices.Delete(of.active, at, at+1)
	if int(of.turn) > at {
		of.turn--
	}
}

// restore takes a value back for which a probe was answered; marked: with a mark.
func (p *profile) restore(i uint16, marked bool) {
	if p.states[i] != assumedBad || !p.passes(i) {
		return
	}
	p.forgive(i)
	p.restored++
	p.comeBack(i)
	if marked {
		p.skip(i)
	}
}

// forgive removes a value from the list of bad ones.
func (p *profile) forgive(i uint16) {
	for at, x := range p.bad {
		if x == i {
			p.bad = append(p.bad[:at], p.bad[at+1:]...)
			return
		}
	}
}

func (p *profile) comeBack(i uint16) {
	p.states[i] = good
	plane := p.plane(i)
	if of := &p.planes[plane]; len(of.active) < p.wanted {
		of.active = append(of.active, choice{p.values[i], i})
	} else {
		p.reserve[plane] = append(p.reserve[plane], i)
	}
}

// probed returns the bad value whose last probe is oldest; false if none is bad.
func (p *profile) probed() (i uint16, ok bool) {
	if len(p.bad) == 0 {
		return 0, false
	}
	i = p.bad[0]
	copy(p.bad, p.bad[1:])
	p.bad[len(p.bad)-1] = i
	p.trying(i)
	return i, true
}

// active returns the number of active values on all planes.
func (p *profile) active() (n int) {
	for i := range p.planes {
		n += len(p.planes[i].active)
	}
	return n
}

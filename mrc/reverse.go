package mrc

import (
	"railyard/internal/rng"
	"railyard/transport"
	"railyard/unit"
)

// reverse is a receiver's way to the sender: an entropy value per plane, which nobody acknowledges. So while
// data come each is asked after once per round trip; where two questions in a row stay without an answer the
// value gives way to another one.
type reverse struct {
	evs            []reverseEV
	random         rng.Stream
	asked, changed int64
	ipv6           bool

	at    unit.Time
	until unit.Time // after it nothing is asked: no data have come
	every unit.Time
	turn  int32 // planes that are still to be asked after
	up    uint32
}

type reverseEV struct {
	ev    uint32
	id    uint32 // of the last question
	fails uint8  // questions without an answer
}

// patience is for how many questions after the last data the paths are kept up to date.
const patience = 4

func (v *reverse) start(m *maker, random rng.Stream) {
	v.random, v.ipv6, v.at, v.every = random, m.common.IPv6, unit.Never, m.probe
	v.evs = make([]reverseEV, m.common.Planes)
	for i := range v.evs {
		v.evs[i] = reverseEV{ev: anyEV(&v.random, v.ipv6), id: uint32(i)}
	}
}

// period is how often a path is asked after.
func (v *reverse) period(rtt unit.Time) unit.Time {
	switch {
	case v.every > 0:
		return v.every
	case rtt > 0:
		return rtt
	}
	return unknownRTT
}

func (v *reverse) ev(plane uint8) uint32 { return v.evs[plane].ev }

// data takes note that there is somebody to answer.
func (v *reverse) data(now unit.Time, rtt unit.Time) {
	every := v.period(rtt)
	if v.until = now + patience*every; v.at == unit.Never {
		v.at = now + every
		for i := range v.evs {
			v.evs[i].fails = 0
		}
	}
}

// tick asks after all planes that work.
func (v *reverse) tick(now unit.Time, up uint32, rtt unit.Time) {
	if v.at > now {
		return
	}
	if v.at = now + v.period(rtt); now >= v.until {
		v.at = unit.Never
		return
	}
	v.turn, v.up = int32(len(v.evs)), up
}

// say makes the next question.
func (v *reverse) say(now unit.Time, p *transport.Packet) bool {
	for v.turn > 0 {
		v.turn--
		if v.up>>v.turn&1 == 0 {
			continue
		}
		e := &v.evs[v.turn]
		if e.fails++; e.fails > 2 {
			e.ev, e.fails = anyEV(&v.random, v.ipv6), 1
			v.changed++
		}
		e.id = (e.id + maxPlanes) & 0xffff
		p.Kind, p.Code, p.PSN, p.EV, p.Plane = transport.Probe, AboutEV, e.id, e.ev, uint8(v.turn)
		p.Sent, p.Flags = now, transport.Stamped
		v.asked++
		return true
	}
	return false
}

// answered takes the answer to a question.
func (v *reverse) answered(p *transport.Packet) {
	if plane := int(p.PSN % maxPlanes); plane < len(v.evs) && v.evs[plane].id == p.PSN&0xffff {
		v.evs[plane].fails = 0
	}
}

package mrc

import (
	"railyard/internal/rng"
	"railyard/transport"
	"railyard/unit"
)

// reverse is a receiver's paths to the sender: an entropy value per plane, which no packet acknowledges. While data
// arrive, each is therefore probed once per round trip in which it was used, and at most once per answersAQuestion
// answers. In a deep incast a sender's turn lasts many round trips. Answers to probes would then use a tenth of the
// tested line. A duplicate of a received packet suggests that an answer was lost, and causes a probe immediately.
// If two consecutive probes stay unanswered, the second one for four times as long, the value is replaced. Round
// trips are measured on answers: under load longer than the path's.
type reverse struct {
	evs            []reverseEV
	random         rng.Stream
	asked, changed int64
	ipv6           bool
	turn           int8  // planes that are still to be probed
	said           uint8 // answers since then
	again          bool  // a packet arrived twice

	at    unit.Time
	until unit.Time // no probes after it: no data have arrived
	rtt   unit.Time // round trip of the last answer
	up    uint32    // planes that are probed
	used  uint32    // planes used since their last probe
}

const answersAQuestion = 8

type reverseEV struct {
	ev    uint32
	id    uint32    // number of the last question
	asked unit.Time // the first that has no answer
	fails uint8     // questions without an answer
}

// patience is the number of round trips after the last data during which paths are maintained. It is enough for two
// probes, the wait for the second answer, and another value. A sender whose answers all take a broken link
// retransmits once per timeout. It gives up if the paths do not change meanwhile.
const patience = 8

func (v *reverse) start(m *maker, random rng.Stream) {
	v.random, v.ipv6, v.at = random, m.common.IPv6, unit.Never
	v.evs = make([]reverseEV, m.common.Planes)
	for i := range v.evs {
		v.evs[i] = reverseEV{ev: anyEV(&v.random, v.ipv6), id: uint32(i)}
	}
}

// period returns the interval at which a path is probed.
func (v *reverse) period(rtt unit.Time) unit.Time {
	if rtt = max(rtt, v.rtt); rtt > 0 {
		return rtt
	}
	return unknownRTT
}

// ev returns the current value for answers on a plane.
func (v *reverse) ev(plane uint8) uint32 {
	v.used |= 1 << plane
	v.said = min(v.said+1, answersAQuestion)
	return v.evs[plane].ev
}

// doubtful returns the planes whose last probe has no answer, and the maximum number of consecutive probes without
// one.
func (v *reverse) doubtful() (planes uint32, fails uint8) {
	for i := range v.evs {
		if f := v.evs[i].fails; f > 0 {
			planes, fails = planes|1<<i, max(fails, f)
		}
	}
	return planes, fails
}

// data records that there is a sender to answer.
func (v *reverse) data(now unit.Time, rtt unit.Time) {
	every := v.period(rtt)
	if v.until = now + patience*every; v.at == unit.Never {
		v.at = now + every
		for i := range v.evs {
			v.evs[i].fails = 0
		}
	}
}

// tick probes working planes that were used.
func (v *reverse) tick(now unit.Time, up uint32, rtt unit.Time) {
	if v.at > now {
		return
	}
	if now >= v.until {
		v.at = unit.Never
		return
	}
	doubtful, fails := v.doubtful()
	if v.at = now + v.period(rtt); v.said < answersAQuestion && !v.again && fails == 0 {
		return
	}
	v.said, v.again = 0, false
	if fails > 0 {
		v.at += 3 * v.period(rtt) // answers may be in flight
	}
	v.turn, v.up = int8(len(v.evs)), up&(v.used|doubtful)
}

// say produces the next probe.
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
		if e.fails == 1 {
			e.asked = now
		}
		e.id = (e.id + maxPlanes) & 0xffff
		p.Kind, p.Code, p.PSN, p.EV, p.Plane = transport.Probe, AboutEV, e.id, e.ev, uint8(v.turn)
		p.Sent, p.Flags = now, transport.Stamped
		v.used &^= 1 << v.turn
		v.asked++
		return true
	}
	return false
}

// answered processes the answer to a probe, the last of a path or an earlier one.
func (v *reverse) answered(now unit.Time, p *transport.Packet) {
	plane := int(p.PSN % maxPlanes)
	if plane >= len(v.evs) {
		return
	}
	e := &v.evs[plane]
	if before := (e.id - p.PSN) & 0xffff / maxPlanes; before < uint32(e.fails) {
		e.fails, v.rtt = 0, now-e.asked
	}
}

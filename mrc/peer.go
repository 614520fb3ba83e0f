package mrc

import (
	"railyard/cc"
	"railyard/internal/rng"
	"railyard/transport"
	"railyard/unit"
	"slices"
)

// Peer is a NIC's state for another NIC, over all connections to it: one window, one profile of entropy values, one
// estimate of round trips, and the planes that lead there.
type Peer struct {
	m        *maker
	own, far uint32 // planes whose port works here and, as last reported, at the far end
	inFlight unit.Bytes
	patience unit.Time // timeout of a first transmission
	arrived  unit.Time // departure time of the last packet known to have arrived
	probeAt  unit.Time // time of the next probe of bad values
	timer    unit.Time // the pacer's
	penalty  uint8     // reduction of the window, in 128ths
	told     bool      // some sender reports its counters
	mute     uint32    // packets since the last request for a SACK

	pace cc.Pacer
	busy int // connections with data in flight or to send

	evs   profile
	rtt   estimate
	base  unit.Time // round trip without queues; 0: unknown
	until unit.Time // end of the penalty
	ack   *cc.Ack   // acknowledgement for the controller, allocated once
	early *early
}

// estimate follows round trips as RFC 6298 does.
type estimate struct{ last, mean, dev, least unit.Time }

func (e *estimate) sample(t unit.Time) {
	if t <= 0 || t > unit.Second {
		return // a foreign stamp, or one that has wrapped around
	}
	if e.last = t; e.mean == 0 {
		e.mean, e.dev, e.least = t, t/2, t
		return
	}
	e.least = min(e.least, t)
	d := t - e.mean
	e.dev += (max(d, -d) - e.dev) / 4
	e.mean += d / 8
}

func newPeer(m *maker, path cc.Path, seed uint64) *Peer {
	all := uint32(1)<<m.common.Planes - 1
	p := &Peer{m: m, base: path.RTT, own: all, far: all, probeAt: unit.Never, ack: new(cc.Ack), early: new(early),
		evs: newProfile(m, rng.New(seed, "entropy values"))}
	p.pace.Line, p.pace.MTU = path.Line, path.MTU
	p.pace.Start(m.control(path))
	p.evs.near()
	p.decide(0)
	p.patience = p.timeout()
	return p
}

// decide reads the congestion control's decision.
func (p *Peer) decide(now unit.Time) {
	p.pace.Decide(now)
	p.timer = p.pace.Timer
}

// measured takes a round trip.
func (p *Peer) measured(t unit.Time) {
	p.rtt.sample(t)
	p.patience = p.timeout()
}

// Sender makes a connection's sender. The first one returns the peer's counters.
func (p *Peer) Sender(seed uint64) transport.Sender {
	s := newSender(p, seed)
	s.first, p.told = !p.told, true
	return s
}

// Values lists the profile: each value's plane is its place modulo the number of planes.
func (p *Peer) Values() []uint32 { return p.evs.values }

// window returns the limit of bytes in flight; 0: no limit.
func (p *Peer) window(now unit.Time) unit.Bytes {
	w := p.pace.Window
	if p.penalty > 0 && now < p.until && w > 0 {
		w = max(w*unit.Bytes(128-p.penalty)/128, p.pace.MTU)
	}
	return w
}

// room reports whether the window permits a packet.
func (p *Peer) room(now unit.Time) bool {
	w := p.window(now)
	return w == 0 || p.inFlight < w
}

// asks reports whether the next packet requests a SACK. It does if it is a retransmission, is the last that the
// window admits, or follows an eighth of the window without a request (cc.Pacer.Asks). In a window of few packets,
// one answer covers most packets, and a sender would be idle until all have arrived.
func (p *Peer) asks(now unit.Time, again, last bool) bool {
	p.mute++
	w := p.window(now)
	if again || last || w > 0 && (p.inFlight >= w || 8*unit.Bytes(p.mute)*p.pace.MTU >= w) {
		p.mute = 0
		return true
	}
	return false
}

// planes returns the planes that work at both ends.
func (p *Peer) planes() uint32 { return p.own & p.far }

// usable reports whether data may use a plane. It must work and have a value that is not assumed bad, unless no
// working plane has one.
func (p *Peer) usable(plane int) bool {
	up := p.planes()
	if up>>plane&1 == 0 {
		return false
	}
	if len(p.evs.planes[plane].active) > 0 {
		return true
	}
	for i := range p.evs.planes {
		if up>>i&1 != 0 && len(p.evs.planes[i].active) > 0 {
			return false
		}
	}
	return p.hasBad(plane)
}

func (p *Peer) hasBad(plane int) bool {
	return slices.ContainsFunc(p.evs.bad, func(i uint16) bool { return p.evs.plane(i) == plane })
}

// roundTrip returns the time of a packet and its answer, if known.
func (p *Peer) roundTrip() unit.Time {
	switch {
	case p.rtt.mean > 0:
		return p.rtt.mean
	case p.base > 0:
		return p.base
	}
	return unknownRTT
}

// unknownRTT replaces an unknown round trip, as over sockets.
const unknownRTT = unit.Millisecond

// acknowledged passes an answer to the congestion control.
func (s *Sender) acknowledged(now unit.Time, a cc.Ack) {
	p := s.peer
	*p.ack = a
	p.ack.InFlight = p.inFlight
	p.pace.Ctl.OnAck(now, p.ack)
	s.decided(now)
}

func (s *Sender) lossOf(now unit.Time, l cc.Loss) {
	s.peer.pace.Lost(now, l, s.peer.inFlight)
	s.decided(now)
}

// decided reads the decision. A reduced window counts as a rate reduction of the connection whose answer caused it.
// The sum over all connections to a peer thus equals the peer's count.
func (s *Sender) decided(now unit.Time) {
	was := s.peer.pace.Window
	if s.peer.decide(now); s.peer.pace.Window < was {
		s.n.cuts++
	}
}

// condemn withdraws an entropy value, which will be probed.
func (p *Peer) condemn(now unit.Time, i uint16) {
	p.evs.condemn(i)
	if len(p.evs.bad) > 0 && p.probeAt == unit.Never {
		p.probeAt = now + p.probeEvery()
	}
}

// probeEvery returns the interval at which some of the bad values are probed: one round trip.
func (p *Peer) probeEvery() unit.Time {
	if p.m.ProbeEvery > 0 {
		return p.m.ProbeEvery
	}
	return max(p.roundTrip(), unit.Microsecond)
}

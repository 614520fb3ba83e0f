package mrc

import (
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// sacking is the state of a receiver's SACKs. Packets that arrived since the last SACK are collected by blocks of
// 64 PSNs, one SACK each, with the entropy value of the last packet. A packet with a verdict gets its own SACK,
// because a SACK has one entropy value.
type sacking struct {
	at      unit.Time // latest time at which they are sent
	since   int32     // packets in blocks
	due     bool      // whether they are sent now
	penalty uint8
	blocks  []reply // gathered
	queue   []reply // SACKs with a verdict, answers to probes, NACKs
	until   unit.Time
}

// reply is a queued answer.
type reply struct {
	psn     uint32
	ev      uint32
	sent    unit.Time // stamp of the packet
	came    unit.Time
	plane   uint8
	verdict uint8
	code    uint8 // code of a NACK; 0: a SACK
	probe   bool
}

// mostReplies is the limit of queued answers; further ones are lost, like any packet.
const mostReplies = 256

func (s *sacking) push(r reply) {
	if len(s.queue) < mostReplies {
		s.queue = append(s.queue, r)
	}
}

// note gathers a packet.
func (s *sacking) note(now unit.Time, psn uint32, p *transport.Packet, verdict uint8) {
	one := reply{psn: psn, ev: p.EV, sent: p.Sent, came: now - p.Waited, plane: p.Plane, verdict: verdict}
	if verdict != uint8(roce.VerdictNone) {
		s.push(one)
		return
	}
	for i := range s.blocks {
		if s.blocks[i].psn/64 == psn/64 {
			s.blocks[i] = one
			return
		}
	}
	if len(s.blocks) < mostReplies {
		s.blocks = append(s.blocks, one)
	}
}

// probed takes a question about the connection.
func (s *sacking) probed(p *transport.Packet, v roce.Verdict) {
	s.push(reply{psn: p.PSN & 0xffff, ev: p.EV, sent: p.Sent, plane: p.Plane, verdict: uint8(v), probe: true})
}

// penalise makes SACKs request smaller windows for some time.
func (s *sacking) penalise(now unit.Time, penalty uint8, span unit.Time) {
	if penalty > 0 {
		s.penalty, s.until = penalty, now+span
	}
}

// say produces the next answer.
func (s *sacking) say(now unit.Time, p *transport.Packet, r *Receiver) bool {
	if n := len(s.queue); n > 0 {
		q := s.queue[0]
		s.queue = append(s.queue[:0], s.queue[1:]...)
		if q.code != 0 {
			nack(p, &q)
			return true
		}
		s.sack(now, p, &q, r)
		return true
	}
	for s.due && len(s.blocks) > 0 {
		last := len(s.blocks) - 1
		q := s.blocks[last]
		s.blocks = s.blocks[:last]
		if last > 0 && int32(r.expect-(q.psn|63)) > 0 {
			continue // another answer has already reported everything
		}
		s.sack(now, p, &q, r)
		return true
	}
	if s.due {
		s.due, s.since, s.at = false, 0, unit.Never
	}
	return false
}

func nack(p *transport.Packet, q *reply) {
	p.Kind, p.Code, p.PSN, p.EchoEV, p.Plane = transport.Nack, q.code, q.psn&roce.PSNMask, q.ev, q.plane
	if p.Sent = q.sent; q.sent > 0 {
		p.Flags |= transport.Stamped
	}
}

// sack builds a SACK, or the answer to a probe, which is a SACK with the probe's identifier. The echoed stamp
// excludes the time that the packet was held here.
func (s *sacking) sack(now unit.Time, p *transport.Packet, q *reply, r *Receiver) {
	about := q.psn
	p.Kind, p.PSN, p.Plane = transport.Ack, q.psn&roce.PSNMask, q.plane
	if q.probe {
		p.Kind, p.Code, p.PSN = transport.Answer, AboutConnection, q.psn
		about = r.expect
	}
	p.EchoEV, p.Verdict = q.ev, q.verdict
	p.Expect, p.Base = r.expect&roce.PSNMask, about&^63&roce.PSNMask
	p.Bits[0], p.Bits[1] = r.bitmap(about&^63), uint64(r.span())
	p.Late, p.Bytes = uint32(r.held), uint64(r.n.placed)
	if q.sent > 0 {
		p.Flags |= transport.Stamped
		if p.Sent = q.sent; q.came > 0 {
			p.Sent += now - q.came
		}
	}
	if now < s.until {
		p.Penalty = s.penalty
	}
	r.n.sacks++
}

package rc

import (
	"railyard/roce"
	"railyard/unit"
)

// maxNamed is the largest window in which AckNamed can point from one end to the other.
const maxNamed = 1 << 15

// name answers packet s: everything before the expected PSN is here, s is, and so many in all.
func (q *QP) name(a *Answer, s uint64) {
	if s < q.expect && q.expect-s > maxNamed { // a very old copy: no field reaches it
		s = q.expect - 1
	}
	have := uint8(q.expect + uint64(q.reorder.held))
	q.nak(a, roce.AckNamed, uint32(uint16(s-q.expect))<<8|uint32(have))
}

// asks reports that a request is to be answered: it asks for that, or it came in marked and the answer can
// say at once that it was this one.
func (q *QP) asks(p *Packet) bool { return p.AckReq || p.Marked && q.cfg.Named }

// About returns which packet an acknowledgement answers: that of its PSN, or the one that it names.
func (p *Packet) About() (psn uint32, ok bool) {
	switch {
	case p.Opcode != roce.Acknowledge:
		return 0, false
	case p.Syndrome == roce.AckNamed:
		return (p.PSN + uint32(int32(int16(p.MSN>>8)))) & roce.PSNMask, true
	}
	return p.PSN, p.Syndrome.IsAck()
}

// ahead returns the number of packets that the responder has out of order.
func (q *QP) ahead() uint64 {
	if q.sel == nil || q.sel.have < q.una {
		return 0
	}
	return q.sel.have - q.una
}

// taken takes what an answer says of how many packets the responder has, and returns how many of them
// are news. Where many answers were lost the count may have gone round without notice; it is right again
// with everything in order.
func (q *QP) taken(p *Packet) (news uint64) {
	k := q.sel
	was := k.have
	k.have = max(k.have, q.una)
	if p.Syndrome == roce.AckNamed {
		if d := uint8(p.MSN) - uint8(k.have); d < 192 { // else an answer that another has overtaken
			k.have = min(k.have+uint64(d), q.high)
		}
	}
	return k.have - was
}

// nameTimed takes the time of packet s, if it is the one that is timed.
func (k *selective) nameTimed(now unit.Time, s uint64) {
	if k.timed != 0 && s == k.timed {
		k.rtt.sample(now - k.timedAt)
		k.timed = 0
	}
}

// named takes the answer to a packet while something before it is missing: as a report of a gap whose
// length is not told, which one packet is for sure.
func (q *QP) named(now unit.Time, p *Packet, cum uint64) {
	s := cum + uint64(int64(int16(p.MSN>>8)))
	if s <= cum || s >= q.high {
		return
	}
	k := q.sel
	q.gap(now, cum, 1, max(s, k.heard))
	if k.window > 0 && cum >= k.recover && q.ahead() > max(k.window+k.window/2, fewAhead) {
		k.recover, k.list = q.next, true
		q.lost(cum, cum+1, true)
	}
}

// listed takes a request that asks for what is missing: all of it is lost.
func (q *QP) listed() {
	r := &q.reorder
	if r.held == 0 {
		return
	}
	r.settle(q.expect)
	r.late, r.above = max(r.late, r.top), 0
}

// Silent reports that answers name their packets, nothing has been heard for long, and a packet goes for that
// reason: the path of the oldest may be broken.
func (q *QP) Silent() bool { return q.cfg.Named && q.sel != nil && q.sel.probes > 0 }

// fewAhead is the least number of packets that must overtake another before it counts as lost.
const fewAhead = 5

// Window says how many packets the driver's window holds; 0: there is none. Where answers name their packets,
// what more than half as many again have overtaken is lost, and so is what else is missing by then: a window
// can be no farther apart on its paths (SLEEK of uet-htsim, uec.cpp; docs/references.md, nscc). The oldest goes again
// at once and asks the responder to list the others.
func (q *QP) Window(packets uint64) {
	if q.sel != nil {
		q.sel.window = packets
	}
}

// EarlyTimeouts returns how often selective recovery retransmitted for want of news before the ACK timeout.
func (q *QP) EarlyTimeouts() uint64 {
	if q.sel == nil {
		return 0
	}
	return q.sel.early
}

package rc

import (
	"railyard/roce"
	"railyard/unit"
)

// maxNamed is the largest window whose packets AckNamed can name.
const maxNamed = 1 << 15

// name answers packet s: it acknowledges all packets before the expected PSN, packet s, and the total number received.
func (q *QP) name(a *Answer, s uint64) {
	if s < q.expect && q.expect-s > maxNamed { // a very old copy: no field reaches it
		s = q.expect - 1
	}
	have := uint8(q.expect + uint64(q.reorder.held))
	q.nak(a, roce.AckNamed, uint32(uint16(s-q.expect))<<8|uint32(have))
}

// asks reports whether a request needs an answer: it requests one, or it is marked and an immediate answer can name
// it.
func (q *QP) asks(p *Packet) bool { return p.AckReq || p.Marked && q.cfg.Named }

// About returns the packet that an acknowledgement answers: the one of its PSN, or the named one.
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

// taken processes the responder's count of received packets and returns its increase. If many answers were lost,
// the count may have wrapped unnoticed. It is correct again once everything is in order.
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

// nameTimed records the round trip of packet s, if s is the timed packet.
func (k *selective) nameTimed(now unit.Time, s uint64) {
	if k.timed != 0 && s == k.timed {
		k.rtt.sample(now - k.timedAt)
		k.timed = 0
	}
}

// named processes the answer to a packet while an earlier one is missing. The answer reports a gap of unknown
// length, of at least one packet.
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

// listed processes a request to list missing packets: all of them are lost.
func (q *QP) listed() {
	r := &q.reorder
	if r.held == 0 {
		return
	}
	r.settle(q.expect)
	r.late, r.above = max(r.late, r.top), 0
}

// Silent reports whether answers name their packets, none has arrived for long, and a packet is due for that
// reason. The path of the oldest packet may have failed.
func (q *QP) Silent() bool { return q.cfg.Named && q.sel != nil && q.sel.probes > 0 }

// fewAhead is the least number of packets that must overtake another before it counts as lost.
const fewAhead = 5

// Window returns the packets in the driver's window; 0: no window. Where answers name their packets, a packet is
// lost when more than 1.5 windows of packets have overtaken it. All other missing packets are then lost too,
// because paths cannot differ by more than a window (SLEEK of uet-htsim, uec.cpp; docs/references.md, nscc). The
// oldest is retransmitted immediately and requests a list of the rest.
func (q *QP) Window(packets uint64) {
	if q.sel != nil {
		q.sel.window = packets
	}
}

// EarlyTimeouts returns how often selective recovery retransmitted because answers were missing, before the ACK
// timeout.
func (q *QP) EarlyTimeouts() uint64 {
	if q.sel == nil {
		return 0
	}
	return q.sel.early
}

package rc

import "railyard/roce"

// Verdict is what became of a data packet.
type Verdict uint8

// Verdicts.
const (
	Accepted   Verdict = iota
	Duplicate          // seen before
	Reordered          // ahead of a gap and kept
	OutOfOrder         // ahead of a gap and dropped
	Refused            // the QP or the memory does not allow it
)

// Answer says what the responder makes of a data packet.
type Answer struct {
	Verdict   Verdict
	Reply     bool // send Packet back
	Packet    Packet
	Delivered int // messages complete, in posting order
}

// Data takes a data packet. The answer's packet, if any, is an ACK or NAK.
func (q *QP) Data(p *Packet, a *Answer) {
	*a = Answer{}
	if q.state != ReadyToReceive && q.state != ReadyToSend {
		a.Verdict = Refused
		return
	}
	d := roce.PSNDiff(p.PSN, uint32(q.expect)&roce.PSNMask)
	switch {
	case d == 0:
		q.inOrder(p, a)
	case d < 0: // IBTA 9.7.5.1.4: a duplicate is acknowledged again
		a.Verdict = Duplicate
		if p.AckReq {
			q.ack(a)
		}
	case q.cfg.Recovery == Selective:
		q.keep(p, uint64(d), a)
	default:
		a.Verdict = OutOfOrder
		if !q.nakSent { // one NAK per gap, IBTA 9.7.5.2.8
			q.nakSent = true
			q.nak(a, roce.NakSequence, q.msn)
		}
	}
}

// inOrder takes the expected packet and whatever it releases.
func (q *QP) inOrder(p *Packet, a *Answer) {
	if !q.place(p, a) {
		return
	}
	q.nakSent = false
	q.expect++
	owed := p.AckReq
	if q.reorder.held > 0 {
		q.release(a)
		owed = owed || q.ackOwed || q.reorder.held > 0
		q.ackOwed = false
	}
	if owed {
		q.ack(a)
	}
}

// place checks one packet's range and counts its bytes. A bad key or range is
// answered with a NAK that ends the connection.
func (q *QP) place(p *Packet, a *Answer) bool {
	bad := roce.Syndrome(0)
	switch {
	case p.Op.HasRETH():
		if !q.mem.mayWrite(p.RKey, p.VA, p.Len) {
			bad = roce.NakRemoteAccess
		} else if p.Payload > int32(q.cfg.MTU) || p.Op != roce.WriteFirst && uint32(p.Payload) != p.Len {
			bad = roce.NakInvalid
		}
		q.msgVA, q.msgLeft = p.VA, int64(p.Len)
	case q.msgLeft < int64(p.Payload), p.Op == roce.WriteLast && q.msgLeft != int64(p.Payload):
		bad = roce.NakInvalid // more or less data than the RETH announced
	}
	if bad != 0 {
		a.Verdict = Refused
		q.nak(a, bad, q.msn)
		q.fail(Flushed)
		return false
	}
	q.msgVA += uint64(p.Payload)
	q.msgLeft -= int64(p.Payload)
	q.Placed += uint64(p.Payload)
	q.Received++
	if q.ends(p.Op) {
		q.msn = (q.msn + 1) & roce.PSNMask
		a.Delivered++
	}
	return true
}

// ends reports whether op finishes a message: with a RETH in every packet,
// only the one with the immediate does.
func (q *QP) ends(op roce.Opcode) bool {
	return op == roce.WriteLast || op == roce.WriteOnlyImm || op == roce.WriteOnly && !q.cfg.WriteOnly
}

func (q *QP) ack(a *Answer) {
	a.Reply = true
	a.Packet = Packet{Op: roce.Acknowledge, Syndrome: roce.Ack, PSN: uint32(q.expect-1) & roce.PSNMask, MSN: q.msn}
}

func (q *QP) nak(a *Answer, s roce.Syndrome, msn uint32) {
	a.Reply = true
	a.Packet = Packet{Op: roce.Acknowledge, Syndrome: s, PSN: uint32(q.expect) & roce.PSNMask, MSN: msn}
}

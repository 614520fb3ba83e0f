package rc

import "railyard/roce"

// Verdict is the outcome of a data packet.
type Verdict uint8

// Verdicts.
const (
	Accepted   Verdict = iota
	Duplicate          // seen before
	Reordered          // beyond a gap and kept
	OutOfOrder         // behind a gap, so it was dropped
	NotReady           // no receive is posted for it
	Refused            // the QP or the memory does not allow it
	NoRoom             // beyond a gap and dropped: the NIC's store is full
)

// Answer is the responder's verdict on a data packet.
type Answer struct {
	Verdict   Verdict
	Reply     bool // send Packet back
	Packet    Packet
	Delivered int // messages complete, in posting order
}

// Data takes a request packet. The answer's packet, if any, is an ACK or NAK; NextResponse returns READ data and
// atomic answers. In selective recovery the responder keeps p.Data of a packet with the verdict Reordered. The
// caller must not modify those bytes afterwards.
func (q *QP) Data(p *Packet, a *Answer) {
	a.Verdict, a.Reply, a.Delivered = Accepted, false, 0
	if q.state < ReadyToReceive || q.state == Error || q.dying {
		a.Verdict = Refused
		return
	}
	d := roce.PSNDiff(p.PSN, uint32(q.expect)&roce.PSNMask)
	switch {
	case d == 0:
		q.inOrder(p, a)
	case d < 0:
		q.again(p, d, a)
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

// inOrder processes the expected packet and the stored packets that follow it.
func (q *QP) inOrder(p *Packet, a *Answer) {
	s := q.expect
	if !q.place(p, a) {
		return
	}
	q.nakSent = false
	owed := q.asks(p) && !p.Opcode.IsAtomic() && p.Opcode != roce.ReadRequest
	if q.reorder.held > 0 {
		if q.reorder.store != nil {
			q.known()
		}
		owed = q.release(a) || owed
	}
	switch {
	case q.cfg.Recovery == GoBackN:
		if owed {
			q.ack(a)
		}
	case !a.Reply && !q.dying:
		q.report(a, s, owed, p.List)
	}
}

// place executes one packet and advances the expected PSN. A violation of the QP's or the memory's rights is
// answered with a NAK that ends the connection, a missing receive with an RNR NAK.
func (q *QP) place(p *Packet, a *Answer) bool {
	is, bad, n := partWrite, roce.Syndrome(0), uint64(1)
	if p.Opcode != roce.WriteMiddle || !q.goesAhead(p) {
		is, bad = q.check(p)
	}
	switch {
	case bad != 0:
	case !q.cfg.AlwaysReady && len(q.receives) == 0 && q.needsReceive(p):
		a.Verdict = NotReady
		q.nakSent = true // further packets are dropped silently
		q.nak(a, roce.RNRNak|roce.Syndrome(q.cfg.RNRTimer&31), q.msn)
		return false
	case is&partWrite != 0:
		q.takeWrite(p, is)
	case is&partSend != 0:
		bad = q.takeSend(p, is)
	case is&partRead != 0:
		n, bad = q.takeRead(p, q.expect, false)
	default:
		bad = q.takeAtomic(p, q.expect)
	}
	if bad != 0 {
		a.Verdict = Refused
		q.fault = bad
		q.nak(a, bad, q.msn)
		if q.dying = !a.Reply; !q.dying { // else READ data and then the NAK leave first
			q.fail(Flushed)
		}
		return false
	}
	q.skip(n)
	q.Received++
	if is&(partRead|partAtomic) != 0 {
		return true // READs and atomics count their own messages
	}
	q.Placed += uint64(p.Payload)
	if q.ends(p.Opcode) {
		q.msn = (q.msn + 1) & roce.PSNMask
		a.Delivered++
	}
	return true
}

// midMessage reports whether the end of a First/Middle/Last message is still missing.
func (q *QP) midMessage() bool { return q.inSend || q.inWrite }

// takeWrite writes the bytes of a packet that was checked.
func (q *QP) takeWrite(p *Packet, is part) {
	if is&partStarts != 0 {
		q.msgVA, q.msgLeft = p.VA, int64(p.Len)
		if !q.cfg.AlwaysReady {
			q.announced(p)
		}
	}
	q.inWrite = is&partEnds == 0
	if p.Data != nil && p.Payload > 0 {
		copy(q.region.bytes(q.msgVA, int(p.Payload)), p.Data)
	}
	q.msgVA += uint64(p.Payload)
	q.msgLeft -= int64(p.Payload)
	if p.Opcode.HasImm() && !q.cfg.AlwaysReady {
		q.finishReceive(Received{Write: true, Len: q.msgLen, Imm: p.Imm, HasImm: true, Solicited: p.Solicited})
	}
}

// announced adds the length of the WRITE whose packet has a RETH, for the receive that its immediate completes.
// Where every packet has a RETH, the solicited bit marks all packets of a message but the last.
func (q *QP) announced(p *Packet) {
	if !q.goesOn {
		q.msgLen = 0
	}
	q.msgLen += int64(p.Len)
	q.goesOn = p.Opcode == roce.WriteOnly && p.Solicited
}

// skip moves the expected sequence number on by n; a READ covers its responses.
func (q *QP) skip(n uint64) {
	if n > 1 && q.reorder.held > 0 {
		q.reorder.forget(q.expect+1, min(n-1, uint64(q.cfg.Window)))
	}
	q.expect += n
}

// ends reports whether opcode finishes a message. If every packet has a RETH, only the one with the immediate does.
func (q *QP) ends(opcode roce.Opcode) bool {
	return opcode.Ends() && !(q.cfg.WriteOnly && opcode == roce.WriteOnly)
}

// ack acknowledges everything in order, after the responses still to be sent.
func (q *QP) ack(a *Answer) {
	q.reply(a, Packet{Opcode: roce.Acknowledge, Syndrome: roce.Ack, MSN: q.msn}, q.expect-1)
}

func (q *QP) nak(a *Answer, s roce.Syndrome, msn uint32) {
	q.reply(a, Packet{Opcode: roce.Acknowledge, Syndrome: s, MSN: msn}, q.expect)
}

func (q *QP) reply(a *Answer, p Packet, s uint64) {
	if len(q.out) == 0 {
		p.PSN = uint32(s) & roce.PSNMask
		a.Reply, a.Packet = true, p
		return
	}
	last := &q.out[len(q.out)-1]
	if last.opcode == roce.Acknowledge && last.syndrome.IsAck() {
		q.out = q.out[:len(q.out)-1] // the later answer also acknowledges this request
	}
	if len(q.out) > 4*q.cfg.ReadsIn+64 {
		return // a requester that does not read its answers repeats the request
	}
	q.out = append(q.out, response{opcode: roce.Acknowledge, syndrome: p.Syndrome, msn: p.MSN, next: s, end: s + 1})
}

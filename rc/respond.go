package rc

import (
	"slices"

	"railyard/roce"
)

// response is an answer that the responder still has to send: the rest of a READ's data, an atomic's answer, or an
// acknowledgement queued after them. Responses leave in the order of the requests (IBTA 9.7.5.1.1).
type response struct {
	opcode   roce.Opcode // Acknowledge, AtomicAck, or ReadRequest for a READ's data
	syndrome roce.Syndrome
	begun    bool // the first packet of this READ answer is out
	msn      uint32
	rkey     uint32
	next     uint64 // sequence number of the next packet
	end      uint64 // READ: end, exclusive
	va       uint64 // READ: address of the data of next
	left     uint32 // READ: bytes from next on
	orig     uint64 // atomic
}

// executed is a READ or an atomic that was accepted. A repeated atomic is answered with its stored result and not
// executed again. A repeated READ must be equal to the first or a part of it.
type executed struct {
	s, end uint64 // sequence numbers [s, end)
	read   bool
	rkey   uint32
	msn    uint32
	len    uint32
	va     uint64
	orig   uint64
}

// Responding reports whether NextResponse has a packet to send.
func (q *QP) Responding() bool { return len(q.out) > 0 }

// NextResponse produces the next packet of READ data, atomic answers and the acknowledgements queued after them.
func (q *QP) NextResponse(p *Packet) (ok bool) {
	if len(q.out) == 0 { // a queue pair that has failed keeps acknowledgements alone
		return false
	}
	r := &q.out[0]
	*p = Packet{Opcode: r.opcode, Syndrome: r.syndrome, PSN: uint32(r.next) & roce.PSNMask, MSN: r.msn, Orig: r.orig}
	if r.opcode != roce.ReadRequest {
		q.out = slices.Delete(q.out, 0, 1)
		if q.dying && p.Syndrome.IsNak() {
			q.fail(Flushed)
		}
		return true
	}
	n := min(r.left, uint32(q.cfg.MTU))
	if n > 0 {
		reg := q.mem.find(r.rkey, r.va, n, RemoteRead)
		if reg == nil { // deregistered since
			p.Opcode, p.Syndrome, q.fault = roce.Acknowledge, roce.NakRemoteAccess, roce.NakRemoteAccess
			q.fail(Flushed)
			return true
		}
		p.Data = reg.bytes(r.va, int(n))
	}
	p.Payload = int32(n)
	last := r.next+1 == r.end
	switch {
	case !r.begun && last:
		p.Opcode = roce.ReadRespOnly
	case !r.begun:
		p.Opcode = roce.ReadRespFirst
	case last:
		p.Opcode = roce.ReadRespLast
	default:
		p.Opcode = roce.ReadRespMiddle
	}
	r.begun = true
	r.next++
	r.va += uint64(n)
	r.left -= n
	if last {
		q.out = slices.Delete(q.out, 0, 1)
	}
	return true
}

// takeRead accepts a READ request at sequence number s: again when it is one of the past. It returns the number of
// sequence numbers of the response.
func (q *QP) takeRead(p *Packet, s uint64, again bool) (n uint64, bad roce.Syndrome) {
	if p.Len > MaxMessage {
		return 0, roce.NakInvalid
	}
	n = q.packets(int64(p.Len))
	if n > maxReadPackets || again && s+n > q.expect {
		return 0, roce.NakInvalid
	}
	if p.Len > 0 && q.mem.find(p.RKey, p.VA, p.Len, RemoteRead) == nil {
		return 0, roce.NakRemoteAccess
	}
	if again && !q.covers(p, s) {
		return 0, roce.NakInvalid
	}
	if !again {
		q.msn = (q.msn + 1) & roce.PSNMask
	}
	r := response{opcode: roce.ReadRequest, syndrome: roce.Ack, msn: q.msn, rkey: p.RKey, next: s,
		end: s + n, va: p.VA, left: p.Len}
	if !q.respond(r, again) {
		return 0, roce.NakInvalid
	}
	if !again {
		q.remember(executed{s: s, end: s + n, read: true, rkey: p.RKey, va: p.VA, len: p.Len})
	}
	return n, 0
}

// takeAtomic runs an atomic at sequence number s and queues its answer.
func (q *QP) takeAtomic(p *Packet, s uint64) (bad roce.Syndrome) {
	if p.VA%8 != 0 {
		return roce.NakInvalid // IBTA 9.7.4.1.6: misaligned
	}
	reg := q.mem.find(p.RKey, p.VA, 8, RemoteAtomic)
	if reg == nil {
		return roce.NakRemoteAccess
	}
	if q.answering() >= 2*q.cfg.ReadsIn {
		return roce.NakInvalid
	}
	q.msn = (q.msn + 1) & roce.PSNMask
	e := executed{s: s, end: s + 1, msn: q.msn, orig: reg.atomic(p.VA, p.Opcode == roce.CompareSwap,
		p.SwapAdd, p.Compare)}
	q.remember(e)
	q.respond(e.response(), false)
	return 0
}

// remember stores the last requests whose answers may be lost, up to the limit of outstanding ones. How many may be
// lowered meanwhile.
func (q *QP) remember(e executed) {
	if n := len(q.executed) - q.cfg.ReadsIn; n >= 0 {
		q.executed = q.executed[:copy(q.executed, q.executed[min(n+1, len(q.executed)):])]
	}
	q.executed = append(q.executed, e)
}

// covers reports whether a repeated READ at sequence number s requests the data of an accepted READ, or a part of
// them (IBTA 9.7.5.1.4).
func (q *QP) covers(p *Packet, s uint64) bool {
	for i := range q.executed {
		e := &q.executed[i]
		if off := (s - e.s) * uint64(q.cfg.MTU); e.read && e.s <= s && s < e.end {
			return p.RKey == e.rkey && p.VA == e.va+off && off+uint64(p.Len) <= uint64(e.len)
		}
	}
	return false
}

func (r *executed) response() response {
	return response{opcode: roce.AtomicAck, syndrome: roce.Ack, msn: r.msn, next: r.s, end: r.s + 1, orig: r.orig}
}

// answering counts the READs and atomics whose answers are not yet sent.
func (q *QP) answering() (n int) {
	for i := range q.out {
		if q.out[i].opcode != roce.Acknowledge {
			n++
		}
	}
	return n
}

// respond queues a response in the order of sequence numbers; a repeated READ replaces the rest of the earlier one. It
// returns false if the peer exceeds the agreed number of outstanding requests. Repeats may use half of the queue, so
// that copies made by the network cannot crowd out a new request.
func (q *QP) respond(r response, again bool) bool {
	at := len(q.out)
	for i := range q.out {
		o := &q.out[i]
		if o.opcode == r.opcode && o.end == r.end {
			if r.next < o.next {
				*o = r
			}
			return true
		}
		if r.next < o.next {
			at = i
			break
		}
	}
	if n := q.answering(); n >= 2*q.cfg.ReadsIn || again && n >= q.cfg.ReadsIn {
		return false
	}
	q.out = slices.Insert(q.out, at, r)
	return true
}

// again answers a request whose PSN is in the past (IBTA 9.7.5.1.4). READs are executed again, atomics get their
// stored result, and other requests are acknowledged.
func (q *QP) again(p *Packet, d int32, a *Answer) {
	a.Verdict = Duplicate
	s := q.expect - uint64(-int64(d))
	if q.expect-s <= uint64(len(q.reorder.asks)) {
		q.reorder.cameAgain(s)
	}
	switch {
	case p.Opcode == roce.ReadRequest:
		// A repeated READ that is no longer allowed gets no answer, so its requester uses up its retries.
		q.takeRead(p, s, true)
	case p.Opcode.IsAtomic():
		for i := range q.executed {
			if e := &q.executed[i]; e.s == s && !e.read {
				q.respond(e.response(), true)
			}
		}
	case !p.Opcode.IsSend() && p.Opcode > roce.WriteOnlyImm:
	case q.cfg.Recovery == Selective: // C9-105: acknowledged even without a request
		q.report(a, s, true, p.List)
	default:
		q.ack(a)
	}
}

package rc

import (
	"railyard/roce"
	"railyard/unit"
)

// Reasons why the next packet needs a check before it is sent.
const (
	specialRNR   uint8 = 1 << iota // waiting out a receiver that was not ready
	specialDrain                   // state SQD: start no new message
	specialReads                   // READs, atomics, fences or unusable buffers are in the send queue
)

// maxOpen is the maximum of sequence numbers in flight. It is less than half of the space, so that old and new ones
// are distinguishable (IBTA 9.7.2).
const maxOpen = 1<<23 - 1

// Pending reports whether a packet could be sent now, windows of congestion
// control aside.
func (q *QP) Pending() bool { return q.Resending() || q.mayAdvance() }

// mayAdvance reports whether a new packet is posted and fits the window: half the sequence space, or the capacity of a
// selective responder.
func (q *QP) mayAdvance() bool {
	limit := uint64(maxOpen)
	if q.cfg.Recovery == Selective {
		limit = uint64(q.cfg.Window)
	}
	return q.next < q.end && q.next-q.una < limit && (q.special == 0 || q.mayStart())
}

// mayStart makes the checks that mayAdvance omits for speed.
func (q *QP) mayStart() bool {
	if q.special&specialRNR != 0 {
		return false
	}
	w := &q.wrs[q.cur]
	if q.next != w.first && !w.Verb.answered() {
		return true // in the middle of a message
	}
	if q.special&specialDrain != 0 && q.next >= q.high && !w.Continues {
		return false
	}
	if w.Unprotected {
		return false
	}
	if !w.Fence && !w.Verb.answered() {
		return true
	}
	if w.Verb.answered() && w.end-q.una > maxOpen { // a READ covers the numbers of its responses
		return false
	}
	reads := 0
	for i := range q.wrs[:q.cur] {
		if q.wrs[i].Verb.answered() {
			reads++
		}
	}
	return !(w.Fence && reads > 0) && !(w.Verb.answered() && reads >= q.cfg.Reads)
}

// InFlightBytes returns the bytes sent and not acknowledged, counted as full packets. Where answers name their
// packets, packets that arrived out of order or are known to be lost are excluded.
func (q *QP) InFlightBytes() unit.Bytes {
	n := q.next - q.una
	if q.cfg.Named && q.sel != nil {
		n -= min(n, q.ahead()+q.sel.pending)
	}
	return unit.Bytes(n) * unit.Bytes(q.cfg.MTU)
}

// Next produces the next packet to send; ok is false when nothing may be sent.
func (q *QP) Next(now unit.Time, p *Packet) (ok bool) {
	if q.sel != nil && q.Resending() && q.nextLost(now, p) {
		return true
	}
	if !q.mayAdvance() {
		return false
	}
	if q.una == q.next { // nothing is in flight, or everything is retransmitted: the timer starts here
		q.progressAt = now
	}
	w := &q.wrs[q.cur]
	again := q.next < q.high
	q.next = q.build(p, w, q.next)
	if q.next == w.end {
		q.cur++
	}
	q.high = max(q.high, q.next)
	if again {
		p.Again = true
		q.Retransmitted++
	}
	if q.sel != nil {
		q.sel.sent(now, q.next-1, p.AckReq)
	}
	return true
}

func (q *QP) at(s uint64) int32 { return int32(q.locate(s)) }

// locate returns the index of the request that holds sequence number s.
func (q *QP) locate(s uint64) int {
	for i := range q.wrs {
		if s < q.wrs[i].end {
			return i
		}
	}
	return len(q.wrs)
}

// Acknowledged processes the responder's answers, ACK, NAK, READ response or atomic ACK, and returns the number of
// newly acknowledged packets. Completions are then ready in PopCompletion.
func (q *QP) Acknowledged(now unit.Time, p *Packet) (packets uint64) {
	if q.state != ReadyToSend && q.state != SendQueueDrain {
		return 0
	}
	if p.Opcode != roce.Acknowledge {
		return q.answer(now, p)
	}
	s := roce.Extend(p.PSN, q.una)
	ack := p.Syndrome.IsAck()
	cum := s + 1 // an ACK covers its PSN, a NAK everything before it
	if !ack {
		cum = s
	}
	if q.sel != nil && p.Syndrome.Names() && cum <= q.high {
		// Each trimmed packet is one copy: if it was a retransmission, another one must follow.
		q.lost(cum+uint64(p.MSN>>8), cum+uint64(p.MSN>>8)+uint64(p.MSN&0xff), p.Syndrome.IsTrimmed())
	}
	if cum > q.high || cum < q.una || ack && cum == q.una {
		return 0 // a ghost, or old news
	}
	if q.sel != nil {
		if p.Syndrome == roce.AckNamed {
			q.sel.nameTimed(now, cum+uint64(int64(int16(p.MSN>>8))))
		}
		q.sel.past = max(q.sel.past, cum)
		packets = q.progress(now)
		if !ack && q.sel != nil && (cum == q.una || p.Syndrome.IsRNR() || p.Syndrome == roce.NakGap) {
			q.refused(now, p, cum)
		}
		if q.cfg.Named && q.sel != nil {
			return q.taken(p)
		}
		return packets
	}
	if q.special&specialReads != 0 {
		if first := q.firstUnanswered(); first < cum {
			// The responder is past a READ whose data did not arrive.
			packets = q.reach(now, first)
			q.answerLost(now)
			return packets
		}
	}
	packets = q.reach(now, cum)
	if !ack {
		q.refused(now, p, cum)
	}
	return packets
}

// reach advances una to cum and returns the distance, 0 if cum is not ahead.
func (q *QP) reach(now unit.Time, cum uint64) (packets uint64) {
	if cum <= q.una {
		return 0
	}
	packets = cum - q.una
	q.advance(now, cum)
	return packets
}

// refused handles the negative acknowledgements; everything before cum is
// acknowledged (IBTA 9.7.5.2).
func (q *QP) refused(now unit.Time, p *Packet, cum uint64) {
	switch {
	case p.Syndrome == roce.NakSequence:
		if cum == q.una && q.una < q.high && q.retry() {
			q.goBack(now)
		}
	case p.Syndrome.Names():
		// A selective responder answers a go-back-N requester like this: the NAK covers the run at una only. In
		// selective mode Acknowledged has processed the report.
		if q.sel == nil && cum == q.una && q.una < q.high && p.MSN>>8 == 0 && q.retry() {
			q.goBack(now)
		}
	case p.Syndrome == roce.NakGap:
		if q.sel != nil && cum < q.high {
			q.gap(now, cum, uint64(p.MSN&0xff), cum+uint64(p.MSN>>8))
		}
	case p.Syndrome == roce.AckNamed:
		q.named(now, p, cum)
	case p.Syndrome.IsRNR():
		q.notReady(now, p.Syndrome.Code(), cum)
	case p.Syndrome == roce.NakRemoteAccess:
		q.fail(RemoteAccessError)
	case p.Syndrome == roce.NakRemoteOp:
		q.fail(RemoteOperationError)
	case p.Syndrome == roce.NakInvalid:
		q.fail(RemoteInvalidRequest)
	}
}

// notReady waits for the peer's RNR timer and then retransmits the packet. It fails when the RNR retry count is
// used up; 7 means unlimited retries (IBTA 9.7.5.2).
func (q *QP) notReady(now unit.Time, code uint8, cum uint64) {
	if cum >= q.high || q.special&specialRNR != 0 {
		return
	}
	if q.cfg.RNRRetries < 7 {
		if int(q.rnrTries) >= q.cfg.RNRRetries {
			q.fail(RNRRetryExceeded)
			return
		}
		q.rnrTries++
	}
	q.special |= specialRNR
	q.rnrUntil = now + roce.RNRTimer(code)
	q.progressAt = now
	if q.sel == nil {
		q.goBack(now)
	} else {
		q.lost(cum, cum+1, true)
	}
}

// WaitsForReceiver reports whether the peer returned RNR and its timer still runs, until TimeoutAt.
func (q *QP) WaitsForReceiver() bool { return q.special&specialRNR != 0 }

// Ask sets the request for an acknowledgement in the packet that Next has just produced. The driver needs it when
// its window is full until an acknowledgement arrives.
func (q *QP) Ask(now unit.Time, p *Packet) {
	if q.sel != nil && !p.AckReq && !p.Again {
		q.sel.askedFor(now, roce.Extend(p.PSN, q.una))
	}
	p.AckReq = true
}

// longQueue is a number of requests. A longer queue is not moved to the front at every completion, because that
// takes time quadratic in its length. Appending moves it occasionally.
const longQueue = 256

// advance sets una to cum and completes the requests that end by then.
func (q *QP) advance(now unit.Time, cum uint64) {
	q.una, q.progressAt, q.retries, q.rnrTries, q.answerGap = cum, now, 0, 0, false
	n := 0
	for n < len(q.wrs) && q.wrs[n].end <= cum {
		w := &q.wrs[n]
		q.done = append(q.done, Completion{ID: w.ID, Status: Success, Verb: w.Verb, Len: w.Len})
		n++
	}
	if n > 0 {
		rest := len(q.wrs) - n
		if rest < longQueue {
			copy(q.wrs, q.wrs[n:])
			clear(q.wrs[rest:]) // free the buffers
			q.wrs = q.wrs[:rest]
		} else {
			clear(q.wrs[:n])
			q.wrs = q.wrs[n:]
		}
		q.cur = max(0, q.cur-int32(n))
		if rest == 0 {
			q.special &^= specialReads
		}
	}
	if q.next < cum {
		q.next = cum
		q.cur = q.at(cum)
	}
	if q.sel != nil {
		q.sel.advance(now, cum)
	}
	if q.special&specialReads != 0 {
		q.protect()
	}
}

// retry counts one more try without progress, by time-out or by NAK. It fails when the retry count is used up (IBTA
// 9.9.2.1.1).
func (q *QP) retry() bool {
	if int(q.retries) >= q.cfg.Retries {
		q.fail(RetryExceeded)
		return false
	}
	q.retries++
	return true
}

// goBack restarts from the oldest unacknowledged packet.
func (q *QP) goBack(now unit.Time) {
	q.next, q.progressAt = q.una, now
	q.cur = q.at(q.una)
	if k := q.sel; k != nil { // a responder that goes back N dropped the later packets
		k.spans, k.pending, k.hole, k.timed = nil, 0, 0, 0
	}
}

// waits reports whether the oldest unacknowledged packet must still be retransmitted. It may wait for its turn, for
// a pause, or for its pace, which can be slower than the timeout below one packet per round trip.
func (q *QP) waits() bool {
	if q.sel == nil {
		return q.next == q.una
	}
	return q.sel.pending > 0 && q.sel.spans[0].next == q.una
}

// TimeoutAt returns when Timeout is due, unit.Never when nothing is in flight.
func (q *QP) TimeoutAt() unit.Time {
	switch {
	case q.special&specialRNR != 0:
		return q.rnrUntil
	case q.una >= q.high || q.cfg.Timeout == 0 || q.state != ReadyToSend && q.state != SendQueueDrain:
		return unit.Never
	case q.waits():
		return unit.Never
	}
	at := q.progressAt + q.cfg.Timeout
	if q.sel != nil {
		at = min(at, q.probeAt())
	}
	return at
}

// Timeout handles the local ACK timeout: resend from the oldest unacknowledged packet, or fail once the retry count
// is used up (IBTA 9.9.2.1.1). It also ends the wait for a receiver that was not ready. It returns false if nothing
// was due.
func (q *QP) Timeout(now unit.Time) bool {
	if now < q.TimeoutAt() {
		return false
	}
	if q.special&specialRNR != 0 {
		q.special &^= specialRNR
		q.progressAt = now
		return true
	}
	if now < q.progressAt+q.cfg.Timeout {
		q.sel.early++
		q.probe(now)
		return true
	}
	q.Timeouts++
	if !q.retry() {
		return true
	}
	q.answerGap = false
	if q.progressAt = now; q.sel != nil {
		q.restart(now)
	} else {
		q.goBack(now)
	}
	return true
}

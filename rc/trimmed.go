package rc

import (
	"railyard/roce"
	"railyard/unit"
)

// Trimmed processes a request that a switch trimmed to its headers; only its PSN is used. The answer names it
// immediately (roce.NakTrimmed, or NakTrimmedLast if last: trimmed at the receiver's port). The requester
// retransmits it at once, before others overtake it. A packet that has arrived by another copy is acknowledged.
func (q *QP) Trimmed(psn uint32, last bool, a *Answer) {
	a.Verdict, a.Reply, a.Delivered = OutOfOrder, false, 0
	if q.state < ReadyToReceive || q.state == Error || q.dying {
		a.Verdict = Refused
		return
	}
	d := roce.PSNDiff(psn, uint32(q.expect)&roce.PSNMask)
	if q.cfg.Recovery != Selective {
		switch {
		case d < 0:
			a.Verdict = Duplicate
			q.ack(a)
		case !q.nakSent: // as for a packet after a gap: the expected one is missing
			q.nakSent = true
			q.nak(a, roce.NakSequence, q.msn)
		}
		return
	}
	r, s := &q.reorder, q.expect+uint64(int64(d))
	switch {
	case d < 0 || int(d) < len(r.slots) && r.has(s):
		a.Verdict = Duplicate
		q.report(a, s, true, false)
	case int(d) < q.cfg.Window:
		r.settle(q.expect)
		r.ask(s, s+1, q.cfg.Window)
		why := roce.NakTrimmed
		if last {
			why = roce.NakTrimmedLast
		}
		q.nak(a, why, uint32(d)<<8|1)
	}
}

// AnswerTrimmed processes the trimmed headers of READ data: the packet is requested again.
func (q *QP) AnswerTrimmed(now unit.Time, psn uint32) {
	if q.state != ReadyToSend && q.state != SendQueueDrain {
		return
	}
	s := roce.Extend(psn, q.una)
	if s < q.una || s >= q.high {
		return
	}
	if w := &q.wrs[q.locate(s)]; w.Verb != Read {
		return
	}
	if q.sel == nil {
		if s == q.firstUnanswered() {
			q.answerLost(now)
		}
		return
	}
	if k := q.sel; k.answers.used == nil || !k.answers.has(s) {
		q.lost(s, s+1, true)
	}
}

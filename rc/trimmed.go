package rc

import (
	"railyard/roce"
	"railyard/unit"
)

// Trimmed takes a request of which a switch has left the headers, and of those nothing but its PSN is asked
// for. The answer names it at once (roce.NakTrimmed, or NakTrimmedLast where last says that it was cut at the
// port to us), and the requester sends it again without waiting for others to overtake it. What has come by
// another copy is acknowledged.
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
		case !q.nakSent: // as for one that is ahead of a gap: the expected one is gone
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

// AnswerTrimmed takes the headers of READ data: that packet is asked for again.
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

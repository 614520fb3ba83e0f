package rc

import (
	"railyard/roce"
	"railyard/unit"
)

// answerAhead takes READ data and atomic answers in any order, as a selective
// requester does: each says where it belongs. What is missing is asked for again
// once too many overtook it, and only that.
func (q *QP) answerAhead(now unit.Time, p *Packet) (packets uint64) {
	k := q.sel
	s := roce.Extend(p.PSN, q.una)
	if s < q.una || s >= q.high {
		return 0 // an answer to a question asked twice, or a ghost
	}
	w := &q.wrs[q.locate(s)]
	if !w.Verb.answered() || (w.Verb == Read) != p.Op.IsReadResponse() || p.Op.HasAETH() && !p.Syndrome.IsAck() {
		q.fail(BadResponse)
		return 0
	}
	k.past, k.at = max(k.past, s+1), now
	r := &k.answers
	if r.used == nil {
		r.used = make([]bool, q.cfg.Window)
	}
	switch first := q.firstUnanswered(); {
	case s-first >= uint64(len(r.used)) || r.has(s):
		return q.progress(now) // there is no room to note it, or it is here
	case !q.takeAnswer(p, w, s):
		q.fail(BadResponse)
		return 0
	case s > first:
		r.hold(s, first, q.cfg.NakAfter)
	default:
		*r.at(s) = true
		if r.held++; r.held > 1 {
			r.caughtUp(s + 1)
		}
	}
	packets = q.progress(now)
	q.askAgain()
	return packets
}

// progress moves una over what the responder has executed, as far as the answers
// that carry data are here.
func (q *QP) progress(now unit.Time) (packets uint64) {
	k := q.sel
	to, r := q.una, &k.answers
	for i := range q.wrs {
		w := &q.wrs[i]
		if !w.Verb.answered() {
			to = max(to, min(w.end, k.past))
		} else if r.held > 0 {
			for ; to < w.end && r.has(to); to++ {
				*r.at(to) = false
				r.held--
			}
		}
		if to < w.end {
			break
		}
	}
	packets = q.reach(now, to)
	if r.used != nil {
		r.settle(q.firstUnanswered())
	}
	return packets
}

// askAgain asks for the data that is lost, each run once.
func (q *QP) askAgain() {
	if q.sel == nil {
		return
	}
	r := &q.sel.answers
	for i := range q.wrs {
		w := &q.wrs[i]
		if w.first >= r.late {
			break
		}
		for s := max(w.first, r.told); w.Verb.answered() && s < min(w.end, r.late); s++ {
			if e := q.noData(s, min(w.end, r.late)); e > s {
				q.lost(s, e, false)
				s = e
			}
		}
	}
	r.told = max(r.told, r.late)
}

// noData returns where the run of data that is missing from s on ends.
func (q *QP) noData(s, upto uint64) uint64 {
	r := &q.sel.answers
	for s < upto && (r.held == 0 || !r.has(s)) {
		s++
	}
	return s
}

// gone reports that what is at una is known to be missing: a packet at the
// responder, or data on its way here.
func (q *QP) gone() bool {
	k := q.sel
	return k.hole == q.una || k.past > q.una && len(q.wrs) > 0 && q.wrs[0].Verb.answered()
}

// goneUpto returns where the run that is gone ends.
func (q *QP) goneUpto() uint64 {
	if k := q.sel; k.hole != q.una {
		return q.noData(q.una, min(q.wrs[0].end, k.past))
	}
	return q.sel.holeEnd
}

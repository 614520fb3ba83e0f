package rc

import (
	"railyard/roce"
	"railyard/unit"
)

// answerAhead accepts READ data and atomic answers in any order, as a selective requester does: each carries its
// position. Only missing data are requested again, after enough packets have overtaken them.
func (q *QP) answerAhead(now unit.Time, p *Packet) (packets uint64) {
	k := q.sel
	s := roce.Extend(p.PSN, q.una)
	if s < q.una || s >= q.high {
		if q.una-s <= uint64(len(k.answers.used)) {
			k.answers.cameAgain(s)
		}
		return 0 // an answer to a repeated request, or a stale one
	}
	w := &q.wrs[q.locate(s)]
	if !w.Verb.answered() || (w.Verb == Read) != p.Opcode.IsReadResponse() || p.Opcode.HasAETH() &&
		!p.Syndrome.IsAck() {
		q.fail(BadResponse)
		return 0
	}
	k.past, k.at = max(k.past, s+1), now
	r := &k.answers
	if r.used == nil {
		r.used = make([]bool, q.cfg.Window)
	}
	switch first := q.firstUnanswered(); {
	case s-first >= uint64(len(r.used)): // the buffer of requests is full
		return q.progress(now)
	case r.has(s):
		r.cameAgain(s)
		return q.progress(now)
	case !q.takeAnswer(p, w, s):
		q.fail(BadResponse)
		return 0
	case s > first:
		r.hold(s, first, q.cfg)
	default:
		if r.held > 0 {
			r.came(s)
		}
		*r.at(s) = true
		r.held++
	}
	packets = q.progress(now)
	q.askAgain()
	return packets
}

// progress moves una over the executed requests, up to the first missing answer with data.
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

// askAgain requests the lost data, each run once.
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
				r.ask(s, e, q.cfg.Window)
				s = e
			}
		}
	}
	r.told = max(r.told, r.late)
}

// noData returns the end of the run of missing data that starts at s.
func (q *QP) noData(s, upto uint64) uint64 {
	r := &q.sel.answers
	for s < upto && (r.held == 0 || !r.has(s)) {
		s++
	}
	return s
}

// askAll requests all missing data of executed requests.
func (q *QP) askAll() {
	past := q.sel.past
	for i := range q.wrs {
		w := &q.wrs[i]
		for s := max(w.first, q.una); w.Verb.answered() && s < min(w.end, past); s++ {
			if e := q.noData(s, min(w.end, past)); e > s {
				q.lost(s, e, true)
				s = e
			}
		}
	}
}

// gone reports whether a packet is known to be missing: a request at the responder, or data at this end.
func (q *QP) gone() bool {
	k := q.sel
	return k.hole != 0 || k.past > q.una && len(q.wrs) > 0 && q.wrs[0].Verb.answered()
}

package rc

import (
	"encoding/binary"

	"railyard/roce"
	"railyard/unit"
)

// firstUnanswered returns the lowest sequence number whose answer carries data and has not arrived. Everything
// before it can be acknowledged by number alone.
func (q *QP) firstUnanswered() uint64 {
	for i := range q.wrs {
		if w := &q.wrs[i]; w.Verb.answered() {
			return max(q.una, w.first)
		}
	}
	return q.end
}

// answer takes a READ response or an atomic ACK. Answers arrive in the order of their PSNs. An early answer shows
// that an earlier one was lost (IBTA 9.7.5.1.2).
func (q *QP) answer(now unit.Time, p *Packet) (packets uint64) {
	if q.sel != nil {
		return q.answerAhead(now, p)
	}
	s := roce.Extend(p.PSN, q.una)
	if s < q.una || s >= q.high {
		return 0 // an answer to a repeated request, or a stale one
	}
	want := q.firstUnanswered()
	i := q.locate(s)
	w := &q.wrs[i]
	if s < want || !w.Verb.answered() || (w.Verb == Read) != p.Opcode.IsReadResponse() {
		q.fail(BadResponse)
		return 0
	}
	if s > want {
		packets = q.reach(now, want)
		q.answerLost(now)
		return packets
	}
	if !p.Syndrome.IsAck() && p.Opcode.HasAETH() || !q.takeAnswer(p, w, s) {
		q.fail(BadResponse)
		return 0
	}
	return q.reach(now, s+1)
}

// takeAnswer stores the data of an answer; false if they do not match the request.
func (q *QP) takeAnswer(p *Packet, w *wr, s uint64) bool {
	if w.Verb != Read {
		if w.Data != nil {
			binary.NativeEndian.PutUint64(w.Data, p.Orig)
		}
		return true
	}
	off := int64(s-w.first) * int64(q.cfg.MTU)
	n := min(w.Len-off, int64(q.cfg.MTU))
	if int64(p.Payload) != n || q.sel == nil && p.Opcode.Ends() != (s+1 == w.end) {
		return false
	}
	if w.Data != nil {
		copy(w.Data[off:off+n], p.Data)
	}
	return true
}

// answerLost repeats the request, once per gap, for missing data when the responder is already past them.
func (q *QP) answerLost(now unit.Time) {
	if !q.answerGap && q.state != Error {
		q.answerGap = true
		q.goBack(now)
	}
}

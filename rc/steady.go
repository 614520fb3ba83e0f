package rc

// A simulator may find a network in the same state twice, except for sequence numbers. It may then skip the
// repetitions: it removes packets from the middle of messages, at both ends.

// Under is the message that a queue pair sends, in sequence numbers.
type Under struct {
	First, End uint64 // packets of the message: [First, End)
	Una, Next  uint64 // of the requester
}

// Under returns the current message of a requester. The state is plain if packets may be removed from it: it is a
// WRITE, and nothing is lost, retransmitted or rejected.
func (q *QP) Under() (u Under, plain bool) {
	u.Una, u.Next = q.una, q.next
	if q.next >= q.end || int(q.cur) >= len(q.wrs) {
		return u, false
	}
	w := &q.wrs[q.cur]
	u.First, u.End = w.first, w.end
	return u, q.state == ReadyToSend && q.special == 0 && q.high == q.next && w.Verb <= WriteImm && w.Data == nil &&
		(q.sel == nil || q.sel.pending == 0 && len(q.sel.spans) == 0 && q.sel.hole == 0)
}

// Expects returns the sequence number that a responder expects next. The state is plain if it is within a WRITE and
// nothing is out of order.
func (q *QP) Expects() (s uint64, plain bool) {
	return q.expect, !q.nakSent && q.reorder.held == 0 && len(q.out) == 0 && (q.inWrite || q.cfg.WriteOnly)
}

// Shorten removes packets from the rest of the requester's current message, which must have more.
func (q *QP) Shorten(packets uint64) {
	w := &q.wrs[q.cur]
	if w.end-q.next <= packets {
		panic("rc: a message has no packets to be left out")
	}
	w.end -= packets
	w.Len -= int64(packets) * int64(q.cfg.MTU)
	q.end -= packets
	for i := int(q.cur) + 1; i < len(q.wrs); i++ {
		q.wrs[i].first -= packets
		q.wrs[i].end -= packets
	}
}

// Skip counts packets of the responder's current message as received.
func (q *QP) Skip(packets uint64) {
	if q.inWrite {
		q.msgLeft -= int64(packets) * int64(q.cfg.MTU)
	}
	q.Placed += packets * uint64(q.cfg.MTU)
	q.Received += packets
}

package rc

import "railyard/roce"

// reorderState is the responder's window of packets that arrived ahead of a
// gap: a ring of slots indexed by sequence number, allocated on first use.
type reorderState struct {
	held  int
	slots []Packet
	used  []bool
	// Peak is the most packets ever held: what the NIC must buffer unless
	// every packet carries its own address.
	peak int
}

// HeldPeak returns the most packets that waited for an earlier one.
func (q *QP) HeldPeak() int { return q.reorder.peak }

// keep stores a packet d ahead of the expected one and asks for what is missing.
func (q *QP) keep(p *Packet, d uint64, a *Answer) {
	w := uint64(q.cfg.Window)
	if d >= w {
		a.Verdict = OutOfOrder
		return
	}
	r := &q.reorder
	if r.slots == nil {
		r.slots, r.used = make([]Packet, w), make([]bool, w)
	}
	i := (q.expect + d) & (w - 1)
	if r.used[i] {
		a.Verdict = Duplicate
	} else {
		a.Verdict = Reordered
		r.slots[i], r.used[i] = *p, true
		r.held++
		r.peak = max(r.peak, r.held)
	}
	q.ackOwed = q.ackOwed || p.AckReq
	if r.held > q.cfg.NakAfter {
		q.nak(a, roce.NakSequence, p.PSN)
	}
}

// release takes every held packet that is now in order.
func (q *QP) release(a *Answer) {
	r := &q.reorder
	w := uint64(q.cfg.Window)
	for i := q.expect & (w - 1); r.used[i]; i = q.expect & (w - 1) {
		r.used[i] = false
		r.held--
		if !q.place(&r.slots[i], a) {
			return
		}
		r.slots[i].Data = nil
	}
}

// forget frees n slots from sequence number s on: a READ covers them.
func (r *reorderState) forget(s, n uint64) {
	for ; n > 0; s, n = s+1, n-1 {
		if i := s & uint64(len(r.slots)-1); r.used[i] {
			r.used[i], r.slots[i].Data = false, nil
			r.held--
		}
	}
}

// sackState is the requester's picture of what arrived beyond una, and its
// progress through a recovery (IRN rules, HANDBOOK.md 1.5).
type sackState struct {
	bits       []uint64
	recovering bool
	at         uint64 // next candidate for retransmission
	until      uint64 // candidates end here: nothing beyond is known lost
	exit       uint64 // leave recovery once una reaches this
}

func (q *QP) sackMask() uint64 { return uint64(q.cfg.Window) - 1 }

// sackNak notes that s was received although una was not, and starts recovery.
func (q *QP) sackNak(s uint64) {
	k := &q.sack
	if k.bits == nil {
		k.bits = make([]uint64, max(1, q.cfg.Window/64))
	}
	if s <= q.una || s >= q.high || s-q.una >= uint64(q.cfg.Window) {
		return
	}
	i := s & q.sackMask()
	k.bits[i>>6] |= 1 << (i & 63)
	if !k.recovering {
		k.recovering, k.at, k.exit = true, q.una, q.next
	}
	k.until = max(k.until, s)
}

// sackTimeout starts recovery over: everything not known received is lost.
func (q *QP) sackTimeout() {
	q.sack.recovering, q.sack.at, q.sack.until, q.sack.exit = true, q.una, q.next, q.next
}

// sackAdvance frees the slots of [old, cum) and ends a recovery that is done.
func (q *QP) sackAdvance(old, cum uint64) {
	k := &q.sack
	if k.bits != nil {
		for s := old; s < cum; s++ {
			i := s & q.sackMask()
			k.bits[i>>6] &^= 1 << (i & 63)
		}
	}
	k.at = max(k.at, cum)
	if k.recovering && cum >= k.exit {
		k.recovering, k.until = false, 0
	}
}

// Resending reports that Next has a lost packet to send again, which takes no
// more of any window than it already does.
func (q *QP) Resending() bool {
	return q.sack.recovering && q.sack.at < q.sack.until && q.special&specialRNR == 0
}

// nextLost produces the lowest packet that is known lost and not yet resent.
func (q *QP) nextLost(p *Packet) bool {
	k := &q.sack
	for k.at < k.until {
		s := k.at
		w := &q.wrs[q.locate(s)]
		if w.Verb.answered() {
			k.at = w.end
		} else {
			k.at++
		}
		if i := s & q.sackMask(); k.bits != nil && s != q.una && k.bits[i>>6]&(1<<(i&63)) != 0 {
			continue
		}
		q.build(p, w, s)
		p.Again, p.AckReq = true, true // the ACK of the one before may be what was lost
		q.Retransmitted++
		return true
	}
	return false
}

package engine

import "math/bits"

// Each calls f for every pending event, in an arbitrary order.
func (q *Queue) Each(f func(e *Event)) {
	for i := q.pos; i < len(q.cur); i++ {
		f(&q.cur[i])
	}
	for i := range q.late {
		f(&q.late[i])
	}
	for i := range q.lanes {
		l := &q.lanes[i]
		for at := l.head; at != l.tail; at++ {
			f(&l.ring[at&uint32(len(l.ring)-1)])
		}
	}
	q.eachOf(q.l0, q.l0bits, f)
	for lev := range q.up {
		q.eachOf(q.up[lev][:], q.upbits[lev][:], f)
	}
}

// eachOf calls f for the events in the occupied slots of a wheel.
func (q *Queue) eachOf(slots []list, occupied []uint64, f func(e *Event)) {
	for w, m := range occupied {
		for ; m != 0; m &= m - 1 {
			for n := slots[w<<6+bits.TrailingZeros64(m)].head; n != nil32; n = q.nodes[n].next {
				f(&q.nodes[n].Event)
			}
		}
	}
}

package rc

import "railyard/roce"

// window records which packets arrived after a gap, and which of the missing ones are late or lost. It is a ring
// indexed by sequence number and allocated on first use. The responder has one for requests, the requester one for
// READ data.
type window struct {
	held  int
	used  []bool // a power of two of them, at most Config.Window
	top   uint64 // highest PSN ever held, plus 1
	late  uint64 // below it, missing packets are lost, because too many packets overtook them
	above int32  // packets held at late and beyond
	peak  int32  // most packets ever held
	told  uint64 // below it, missing packets have been requested
	most  int    // largest reordering distance of a single late packet

	// Config.Window values by sequence number, allocated on the first request: the reordering distance at arrival,
	// notHere until then, 0 without a request.
	asks []int32
}

const notHere = -1

// reorderState is the responder's window with the packets themselves. Its ring grows with the reordering distance.
// Few queue pairs come near the window, and 100 B times the window per sender is too much for a large fabric.
type reorderState struct {
	window
	slots []Packet // as many slots as are used
	store *stored  // store of early packets; nil: only the window limits them
}

// Close frees the memory for waiting packets and, once all requests are acknowledged, for requests, when no other
// message follows. Later arrivals are copies of packets, and no acknowledgement may be processed.
func (q *QP) Close() {
	if q.Idle() {
		q.wrs, q.done = nil, nil
		if q.sel != nil && q.sel.early == 0 { // EarlyTimeouts counts them
			q.sel = nil
		}
	}
	if r := &q.reorder; r.held == 0 {
		r.slots, r.used, r.asks = nil, nil, nil
	}
}

// HeldPeak returns the most packets that waited for an earlier one.
func (q *QP) HeldPeak() int { return int(q.reorder.peak) }

func (r *window) has(s uint64) bool { return r.used[s&uint64(len(r.used)-1)] }

func (r *window) at(s uint64) *bool { return &r.used[s&uint64(len(r.used)-1)] }

// hold stores s, which is after the expected packet. Limits of the packets that may overtake another before it
// counts as lost: the minimum, and at most half the window.
func (r *window) hold(s, expect uint64, cfg *Config) {
	*r.at(s) = true
	r.settle(expect)
	r.came(s)
	r.held++
	r.peak = max(r.peak, int32(r.held))
	r.overtake(s, overtakes(cfg.NakAfter, r.most, cfg.Window))
}

// came records the first arrival of s while later packets are stored. It counts as late if it was not requested.
func (r *window) came(s uint64) {
	ahead := 0
	if s+1 < r.top {
		ahead = int(min(r.top-1-s, uint64(r.held))) // READs cover numbers that no packet has
	}
	if r.asks != nil {
		if a := &r.asks[s&uint64(len(r.asks)-1)]; *a == notHere {
			*a = int32(ahead)
			return
		} else {
			*a = 0
		}
	}
	r.most = max(r.most, ahead)
}

// cameAgain records a copy: a requested packet that arrived twice had only been late, and the request was
// unnecessary.
func (r *window) cameAgain(s uint64) {
	if r.asks != nil {
		if a := &r.asks[s&uint64(len(r.asks)-1)]; *a > 0 {
			r.most = max(r.most, int(*a))
			*a = 0
		}
	}
}

// ask records that [s, upto) is requested, in a window of a size.
func (r *window) ask(s, upto uint64, size int) {
	if r.asks == nil {
		r.asks = make([]int32, size)
	}
	for ; s < upto; s++ {
		r.asks[s&uint64(len(r.asks)-1)] = notHere
	}
}

// unasked returns the first part of a run of n missing packets from s that trimmed headers have not requested; none
// if all have.
func (r *window) unasked(s uint64, n int) (uint64, int) {
	if r.asks == nil {
		return s, n
	}
	asked := func(s uint64) bool { return r.asks[s&uint64(len(r.asks)-1)] == notHere }
	for n > 0 && asked(s) {
		s, n = s+1, n-1
	}
	for i := 1; i < n; i++ {
		if asked(s + uint64(i)) {
			return s, i
		}
	}
	return s, n
}

// keep stores packet p at distance d after the expected one and requests the missing ones.
func (q *QP) keep(p *Packet, d uint64, a *Answer) {
	if d >= uint64(q.cfg.Window) {
		a.Verdict = OutOfOrder
		return
	}
	q.openWindow(d)
	r := &q.reorder
	s := q.expect + d
	if i := s & uint64(len(r.used)-1); r.used[i] {
		a.Verdict = Duplicate
		r.cameAgain(s)
	} else if r.store != nil && !q.keeps(p, s) {
		a.Verdict = NoRoom
		r.settle(q.expect)
		r.ask(s, s+1, q.cfg.Window)
		// the answer for a packet that a switch trimmed in front of the NIC
		q.nak(a, roce.NakTrimmedLast, uint32(d)<<8|1)
		return
	} else {
		a.Verdict = Reordered
		r.slots[i] = *p
		r.hold(s, q.expect, q.cfg)
	}
	q.report(a, s, q.asks(p), p.List)
}

// leastRing is the initial size of the responder's ring at the first missing packet, or the window if that is
// smaller.
const leastRing = 64

// openWindow grows the responder's ring for a packet at distance d after the expected one; d is less than the
// window. It doubles, so that a packet is moved twice on average.
func (q *QP) openWindow(d uint64) {
	r := &q.reorder
	had := uint64(len(r.slots))
	if d < had {
		return
	}
	room := max(had, uint64(min(leastRing, q.cfg.Window)))
	for room <= d {
		room *= 2
	}
	slots, used := make([]Packet, room), make([]bool, room)
	for s := q.expect; r.held > 0 && s < q.expect+had; s++ {
		if i := s & (had - 1); r.used[i] {
			slots[s&(room-1)], used[s&(room-1)] = r.slots[i], true
		}
	}
	r.slots, r.used = slots, used
	if r.store != nil {
		r.store.grow(q.expect, int(room))
	}
}

// overtake records that s has arrived and advances late over missing packets that more than after packets have
// overtaken.
func (r *window) overtake(s uint64, after int) {
	r.top = max(r.top, s+1)
	if s >= r.late {
		r.above++
	}
	for int(r.above) > after {
		if r.has(r.late) {
			if int(r.above) == after+1 {
				return
			}
			r.above--
		}
		r.late++
	}
}

// overtakes returns how many packets may overtake another before it counts as lost. It is NakAfter, or twice the
// reordering distance seen (as TCP learns its reordering threshold), up to half the window.
func overtakes(least, seen, size int) int { return max(least, min(2*seen, size/2)) }

// settle takes note that everything before expect has been taken.
func (r *window) settle(expect uint64) {
	if r.late <= expect {
		r.late, r.above = expect, int32(r.held)
	}
	r.told = max(r.told, expect)
}

// mostMissing is the largest number of packets that a report may name.
const mostMissing = 255

// missing returns the first run of missing packets in [from, upto), at most mostMissing
// of them. A READ held covers the numbers of its responses.
func (q *QP) missing(from, upto uint64) (s uint64, n int) {
	r := &q.reorder
	for s = from; s < upto && r.has(s); {
		p := &r.slots[s&uint64(len(r.slots)-1)]
		if p.Opcode != roce.ReadRequest {
			s++
			continue
		}
		s += q.packets(int64(p.Len))
	}
	for n < mostMissing && s+uint64(n) < upto && !r.has(s+uint64(n)) {
		n++
	}
	return s, n
}

// report answers packet s in selective mode: with the lost packets, once per gap, and on request with the range
// that has arrived completely. Both are Railyard's profile, not IBTA's (doc.go), and acknowledge everything before
// their PSN.
func (q *QP) report(a *Answer, s uint64, asked, list bool) {
	r := &q.reorder
	if list && q.cfg.Named {
		q.listed()
	}
	if r.held == 0 {
		switch {
		case asked && q.cfg.Named:
			q.name(a, s)
		case asked:
			q.ack(a)
		}
		return
	}
	for r.told < r.late {
		s, n := q.missing(r.told, r.late)
		if s, n = r.unasked(s, n); n > 0 {
			r.told = s + uint64(n)
			r.ask(s, r.told, q.cfg.Window)
			q.nak(a, roce.NakMissing, uint32(s-q.expect)<<8|uint32(n))
			return
		}
		r.told = s
	}
	switch {
	case asked && q.cfg.Named:
		q.name(a, s)
	case asked:
		_, n := q.missing(q.expect, r.top)
		q.nak(a, roce.NakGap, uint32(r.top-1-q.expect)<<8|uint32(n))
	}
}

// release processes every stored packet that is now in order, and reports whether an acknowledgement is due. It is
// due if one of them requested it, or if the last packet of all did, which may be the last one sent. Where answers
// name their packets, each of them has been answered, and only that last packet needs an answer. An answer for
// every filled gap would name packets of the slowest paths, and an adaptive sender would prefer these paths.
func (q *QP) release(a *Answer) (asked bool) {
	r := &q.reorder
	w := uint64(len(r.slots))
	r.came(q.expect - 1)
	for i := q.expect & (w - 1); r.used[i]; i = q.expect & (w - 1) {
		r.used[i] = false
		r.held--
		if r.store != nil {
			r.store.put(q.expect, &r.slots[i])
		}
		if !q.place(&r.slots[i], a) {
			break
		}
		asked = asked || r.slots[i].AckReq
		r.slots[i].Data = nil
	}
	r.settle(q.expect)
	if q.cfg.Named {
		return r.held == 0 && r.slots[(q.expect-1)&(w-1)].AckReq
	}
	return asked || r.held > 0 && r.slots[(r.top-1)&(w-1)].AckReq
}

// forget frees n slots from sequence number s on: a READ covers them.
func (r *reorderState) forget(s, n uint64) {
	for ; n > 0; s, n = s+1, n-1 {
		if i := s & uint64(len(r.slots)-1); r.used[i] {
			if r.store != nil {
				r.store.put(s, &r.slots[i])
			}
			r.used[i], r.slots[i].Data = false, nil
			r.held--
		}
	}
}

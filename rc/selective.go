package rc

import (
	"slices"

	"railyard/unit"
)

// Minimum time for which a selective requester waits before the ACK timeout (docs/references.md, irn: IRN's two
// settings). One applies while a packet is known to be missing. The other is far longer, because a pause is silence
// too, and applies while none is. With at most rtoFew packets in flight, a time-out delays no other packet.
const (
	rtoGap  = 100 * unit.Microsecond
	rtoHigh = 1350 * unit.Microsecond
	rtoLow  = 454 * unit.Microsecond
	rtoFew  = 3

	// ProbeAfter is the time for which a selective requester waits for an answer after its last packet.
	ProbeAfter = rtoHigh
)

// selective is the requester's state of selective repeat: packets reported lost, the last PSN known to have arrived,
// and the time of answers.
type selective struct {
	spans   []span // sent again or to be sent again, by sequence number
	pending uint64 // packets of them to be sent again

	hole     uint64 // the responder misses the run [hole, holeEnd), its oldest; 0: unknown
	holeEnd  uint64
	heard    uint64    // highest sequence number it has
	overtook uint64    // packets at the responder that overtook the hole
	most     int       // largest number of packets that overtook one which was not lost
	at       unit.Time // time of the last change of una or heard, or of the last retransmission
	newAt    unit.Time // time of the latest first transmission
	drained  uint64    // packets missing below it are lost: packets retransmitted long after them have arrived
	came     unit.Time // arrival time of the latest retransmission known to have arrived
	swept    uint64    // up to here, retransmissions that left well before an arrived one were sent once more
	sweeps   int       // consecutive sweeps with all packets lost; 0: a later packet has arrived
	probes   uint8     // probes in a row without progress
	early    uint64    // of all

	named   bool   // Config.Named
	window  uint64 // window of the driver in packets; 0: none
	recover uint64 // more than a window overtook a missing packet: all missing packets up to this one are listed
	list    bool   // the next retransmitted packet requests the list
	have    uint64 // Named: sequence numbers that have arrived, in order or not, counted as if in order

	answers window // READ data beyond the missing part
	past    uint64 // the responder has executed everything before it

	asked   uint64 // the last packet that requested an ACK, and its time
	askedAt unit.Time
	timed   uint64 // the packet whose answer is timed; 0: none
	timedAt unit.Time
	rtt     rtt
}

// span is a run of lost packets: [from, next) were retransmitted, [next, to) will be. stamp was the next new packet
// when the last packet was sent, at time at. Packets from stamp on therefore overtook it if they have arrived.
type span struct {
	from, next, to, stamp uint64
	at                    unit.Time
}

// rtt estimates round trips as RFC 6298 does. Before the first sample a round trip is base, or 0 if the driver has
// not set the length of the path.
type rtt struct{ mean, dev, least, base unit.Time }

func (r *rtt) sample(t unit.Time) {
	if r.mean == 0 {
		r.mean, r.dev, r.least = t, t/2, t
		return
	}
	r.least = min(r.least, t)
	d := t - r.mean
	r.dev += (max(d, -d) - r.dev) / 4
	r.mean += d / 8
}

// patience returns the maximum time of an answer: two round trips (RFC 8985, 7.2), more if round trips vary (RFC 6298,
// 2.3).
func (r *rtt) patience() unit.Time {
	if r.mean == 0 {
		return 2 * r.base
	}
	return max(2*r.mean, r.mean+4*r.dev)
}

// Unloaded sets the round trip of the idle path for a selective requester. It is the minimum time to the first
// answer; no probe is sent earlier.
func (q *QP) Unloaded(rtt unit.Time) {
	if q.sel != nil {
		q.sel.rtt.base = rtt
	}
}

// sent records the first transmission of a packet.
func (k *selective) sent(now unit.Time, s uint64, asks bool) {
	k.newAt = now
	if asks {
		k.askedFor(now, s)
	}
}

func (k *selective) askedFor(now unit.Time, s uint64) {
	k.asked, k.askedAt = max(k.asked, s), now
	if k.timed == 0 {
		k.timed, k.timedAt = s, now
	}
}

// answered records the round trip of a packet that is known to have arrived.
func (k *selective) answered(now unit.Time, upto uint64) {
	if k.timed != 0 && upto > k.timed {
		if !k.named { // otherwise its own answer was lost, and this one may have been delayed
			k.rtt.sample(now - k.timedAt)
		}
		k.timed = 0
	}
}

// advance discards the state below una.
func (k *selective) advance(now unit.Time, una uint64) {
	k.answered(now, una)
	if k.hole < una {
		if _, again := k.sentAgain(k.hole); k.hole > 0 && !again {
			k.most = max(k.most, int(k.overtook))
		}
		k.hole = 0
	}
	for _, sp := range k.spans {
		if sp.from >= una || sp.next == sp.from {
			continue
		}
		if sp.next <= una {
			k.arrived(sp)
		}
		if sp.from >= k.swept {
			k.sweeps = 0
		}
		if now-sp.at < k.rtt.least && k.heard > sp.from { // the copy cannot be there yet
			k.most = max(k.most, int(k.overtook))
		}
	}
	k.cut(0, una)
	k.at, k.probes = now, 0
}

// arrived records that a whole span has arrived.
func (k *selective) arrived(sp span) {
	k.came = max(k.came, sp.at)
	if sp.at-k.newAt >= rtoGap {
		k.drained = max(k.drained, sp.stamp)
	}
}

// cut takes [from, to) out of the spans.
func (k *selective) cut(from, to uint64) {
	for i := 0; i < len(k.spans) && k.spans[i].from < to; i++ {
		s := k.spans[i]
		if s.to <= from {
			continue
		}
		k.pending -= s.to - s.next
		left, right := s, s
		left.to, left.next = max(s.from, min(s.to, from)), min(s.next, from)
		right.from, right.next = min(s.to, to), max(s.next, to)
		k.spans = slices.Delete(k.spans, i, i+1)
		i--
		for _, part := range [2]span{left, right} {
			if part.from < part.to {
				k.pending += part.to - part.next
				i++
				k.spans = slices.Insert(k.spans, i, part)
			}
		}
	}
}

// add queues the packets of [from, to) that no span covers for retransmission.
func (k *selective) add(from, to uint64) {
	if from <= k.timed && k.timed < to {
		k.timed = 0 // a retransmitted packet gives no round trip (Karn)
	}
	i := 0
	for from < to {
		for i < len(k.spans) && k.spans[i].to <= from {
			i++
		}
		end := to
		if i < len(k.spans) {
			end = min(to, k.spans[i].from)
		}
		if from < end {
			k.spans = slices.Insert(k.spans, i, span{from: from, next: from, to: end})
			k.pending += end - from
			i++
		}
		from = end
		if i < len(k.spans) {
			from = max(end, min(to, k.spans[i].to))
		}
	}
}

// sentAgain returns the span of a retransmitted packet.
func (k *selective) sentAgain(s uint64) (sp span, ok bool) {
	for _, sp := range k.spans {
		if sp.from <= s && s < sp.to {
			return sp, s < sp.next
		}
	}
	return span{}, false
}

// lost queues [from, to) for retransmission, and packets that were retransmitted before only if again is set. For
// an executed READ the data are requested again; otherwise the request of one packet is retransmitted.
func (q *QP) lost(from, to uint64, again bool) {
	k := q.sel
	from, to = max(from, q.una), min(to, q.next)
	for i := q.locate(from); from < to && i < len(q.wrs); i++ {
		w := &q.wrs[i]
		end := min(to, w.end)
		if w.Verb.answered() && k.past <= w.first {
			from, end = w.first, w.first+1
		}
		if again {
			k.cut(from, end)
		}
		k.add(from, end)
		from = w.end
	}
}

// gap processes a report: the responder's first missing packets are the n packets from s on, and heard is the last
// packet that it received.
func (q *QP) gap(now unit.Time, s, n, heard uint64) {
	k := q.sel
	k.answered(now, heard+1) // the silence includes an outage, after which queues may cause that delay
	if sp, again := k.sentAgain(heard); again && heard > k.heard && sp.next == heard+1 {
		k.arrived(sp)
	}
	if heard > k.heard || s != k.hole { // news
		k.at, k.heard, k.probes = now, max(k.heard, heard), 0
	}
	k.hole, k.holeEnd, k.overtook = s, s+n, q.requests(s, heard)
	after := uint64(overtakes(q.cfg.NakAfter, k.most, q.cfg.Window))
	sp, again := k.sentAgain(s)
	switch {
	case again && (q.requests(sp.stamp, heard+1) > after || sp.at <= k.longAgo()): // lost again
		q.sweep(s, min(k.holeEnd, sp.next))
	case !again && k.overtook > 2*after: // the report of the loss was lost
		q.lost(s, k.holeEnd, false)
	case !again && s < k.drained:
		q.lost(s, k.holeEnd, false)
	}
}

// longAgo returns the time before which a retransmitted packet that has not arrived counts as lost.
func (k *selective) longAgo() unit.Time { return k.came - max(rtoHigh, k.rtt.patience()) }

// sweep retransmits the run [s, e) once more, whose last retransmission was long ago. The report does not show
// which other retransmissions arrived. After several sweeps in a row in which all were lost, as after an outage,
// the interval doubles each time.
func (q *QP) sweep(s, e uint64) {
	k := q.sel
	if next, _ := k.old(k.swept); next != s {
		k.sweeps = 0
	}
	k.sweeps = min(k.sweeps+1, 16)
	for range 1 << max(0, k.sweeps-3) {
		q.lost(s, e, true)
		k.swept = e
		if s, e = k.old(e); s == e {
			break
		}
	}
}

// old returns the first run from s on whose retransmission was long ago, up to the length of a report.
func (k *selective) old(s uint64) (from, to uint64) {
	for _, sp := range k.spans {
		if from = max(s, sp.from); from < sp.next && sp.at <= k.longAgo() {
			return from, min(sp.next, from+mostMissing)
		}
	}
	return 0, 0
}

// requests counts the packets of the sequence numbers [from, upto): one for a READ of any length.
func (q *QP) requests(from, upto uint64) (n uint64) {
	for i := range q.wrs {
		w := &q.wrs[i]
		switch lo, hi := max(from, w.first), min(upto, w.end); {
		case lo >= hi:
		case w.Verb.answered():
			n++
		default:
			n += hi - lo
		}
	}
	return n
}

// Resending reports whether Next has a lost packet to retransmit, which is already counted in all windows.
func (q *QP) Resending() bool { return q.sel != nil && q.sel.pending > 0 && q.special&specialRNR == 0 }

// PastWindow reports whether Next has a packet that ignores the driver's window. A retransmission is already
// counted in the window. Where answers name their packets, lost packets have left the window, and a retransmission
// needs free window like a new packet. Exceptions are the oldest packet, which blocks all others, and a packet sent
// after a long silence. Otherwise a window that shrank below the data in flight would stay full of lost packets.
func (q *QP) PastWindow() bool {
	if !q.Resending() {
		return false
	}
	return !q.cfg.Named || q.sel.spans[0].next == q.una || q.sel.probes > 0
}

// nextLost produces the lowest lost packet.
func (q *QP) nextLost(now unit.Time, p *Packet) bool {
	k := q.sel
	for i := range k.spans {
		sp := &k.spans[i]
		if sp.next == sp.to {
			continue
		}
		w, s := &q.wrs[q.locate(sp.next)], sp.next
		q.build(p, w, s)
		if sp.next++; w.Verb == Read && k.past > w.first {
			sp.next = sp.to
			p.Len = uint32(min(uint64(p.Len), (sp.to-s)*uint64(q.cfg.MTU)))
		}
		if s == q.una {
			q.progressAt = now
		}
		p.List, k.list = k.list, false
		p.Again, p.AckReq = true, true // the lost packet may have been the ACK of the one before
		k.asked, k.askedAt = max(k.asked, s), now
		sp.stamp, sp.at = q.next, now
		k.pending -= sp.next - s
		k.at = now
		q.Retransmitted++
		return true
	}
	return false
}

// probeAt returns when a selective requester does not wait for the ACK timeout
// any longer.
func (q *QP) probeAt() unit.Time {
	k := q.sel
	wait, from := k.rtt.patience(), k.at
	if q.cfg.Named { // the driver's window may block retransmissions and new packets
		return max(k.at, k.newAt) + max(wait, rtoGap)<<min(k.probes, 16)
	}
	if k.pending > 0 {
		return unit.Never
	}
	if q.gone() {
		// If no more packets are sent, none will overtake the missing one.
		if wait = max(wait, rtoGap); q.mayAdvance() {
			wait = max(wait, rtoHigh)
		} else {
			from = max(k.at, k.newAt)
		}
	} else {
		if k.asked < q.una {
			return unit.Never // no packet requested an answer
		}
		from = max(k.at, k.askedAt)
		if wait = max(wait, rtoHigh); q.next-q.una <= rtoFew && k.rtt.mean > 0 {
			wait = max(k.rtt.patience(), rtoLow)
		}
	}
	return from + wait<<min(k.probes, 16)
}

// probe retransmits the packets known to be missing, or otherwise the last packet, whose answer reports what
// arrived.
func (q *QP) probe(now unit.Time) {
	k := q.sel
	k.probes++
	k.list = q.cfg.Named
	if q.gone() {
		q.lost(k.hole, k.holeEnd, true)
		k.swept, k.sweeps = k.holeEnd, 1
		q.askAll()
	} else {
		q.lost(q.next-1, q.next, true)
	}
	k.at = now
}

// restart resumes after the ACK timeout. It sends the oldest packet, which any responder accepts, and the last one,
// whose answer reports the missing packets.
func (q *QP) restart(now unit.Time) {
	q.probe(now)
	q.lost(q.una, q.una+1, true)
}

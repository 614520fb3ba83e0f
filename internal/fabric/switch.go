package fabric

import (
	"math"
	"math/bits"
	"unsafe"

	"railyard/internal/cache"
	"railyard/internal/engine"
	"railyard/internal/queue"
	"railyard/internal/rng"
	"railyard/internal/route"
	"railyard/unit"
)

func exponential(s *rng.Stream) float64 { return -math.Log(1 - s.Float64()) }

// Arrive takes a packet that has passed a switch's ingress pipeline.
func (n *Net) Arrive(in, pi int32) {
	now := n.Q.Now()
	p := &n.Packets[pi]
	node := n.node[in]
	p.In = in
	var out int32
	if p.Flags&FlagTail != 0 {
		out = p.next // chosen when the header arrived
		p.Flags &^= FlagTail
		if n.forward[node].slow&slowRing != 0 {
			out = n.late(node, out, p)
		}
		if n.forward[node].slow&slowStorm != 0 && n.inStorm(in, out, pi, p) {
			return
		}
	} else {
		f := &n.forward[node]
		p.Hops++
		p.Class = n.tables.dscp[f.dscp+int32(p.TOS>>2)]
		p.Came = p.Class
		if f.slow&slowSteer != 0 {
			n.steer(now, f, node, in, p)
		}
		out = n.route(now, f, node, p)
		if out < 0 || int32(p.Size) > f.mtu {
			n.refuse(in, pi, p, out)
			return
		}
		if f.slow != 0 {
			if f.slow&slowChannel != 0 {
				out = n.member(node, out, p.Hash)
			}
			if f.slow&slowInformed != 0 {
				out = n.consider(now, f, node, out, p)
			}
			if f.slow&slowRing != 0 {
				out = n.ring(node, in, out, p)
			}
			if n.setAside(now, f, in, out, pi, p) {
				return
			}
		}
	}
	tx := &n.Ports[out]
	if tx.BusyUntil <= now && tx.NonEmpty == 0 && tx.Paused&(1<<p.Class) == 0 {
		// An idle port: the packet leaves as received and occupies no buffer.
		n.Transmit(now, out, tx, pi, p)
		return
	}
	n.enqueue(now, &n.Sw[node], out, tx, pi, p)
}

// route returns the egress port, or -1.
func (n *Net) route(now unit.Time, f *forward, node int32, p *Packet) int32 {
	code := n.tables.fwd[f.fwd+int32(p.Loc)]
	if code < 0 {
		if i := p.Dst - f.nearBase; code == fwdAttached && uint32(i) < uint32(f.nearLen) {
			return n.tables.near[f.near+i]
		}
		return -1
	}
	g := n.tables.groups[f.groups+int32(code)]
	switch {
	// also for a single choice, because the branch predictor cannot predict whether a packet is routed up or down
	case f.hashed:
		return n.tables.members[int(g.start)+route.Hashed(p.Hash, f.seed, int(g.n))]
	case g.n == 1:
		return n.tables.members[g.start]
	}
	return n.Sw[node].Chooser.Pick(now, n.tables.members[g.start:g.start+g.n], int(code), p.Hash, n.Ports)
}

func (n *Net) refuse(in, pi int32, p *Packet, out int32) {
	if out < 0 {
		n.NoRoute++
	}
	n.lose(in, pi, p)
}

// setAside handles packets off the fast path. They are dropped in a PFC storm or by WRED's average, or wait until
// their tail arrives.
func (n *Net) setAside(now unit.Time, f *forward, in, out, pi int32, p *Packet) bool {
	if f.slow&slowStorm != 0 && n.inStorm(in, out, pi, p) {
		return true
	}
	if f.slow&slowAverage != 0 && n.passBy(now, out, pi, p) {
		return true
	}
	return f.slow&slowCut != 0 && n.waitForTail(now, in, out, pi, p)
}

// waitForTail delays a cut-through packet whose egress link is faster than its ingress link until the tail has
// arrived. Otherwise the frame could have a gap.
func (n *Net) waitForTail(now unit.Time, in, out, pi int32, p *Packet) bool {
	rate := n.rateOf(in)
	if n.Ports[out].Rate <= rate || int(p.Size) <= n.header {
		return false
	}
	p.Flags |= FlagTail
	p.next = out
	tail := now + unit.Serialize(unit.Bytes(int(p.Size)-n.header), rate)
	n.Q.Push(engine.Node(n.node[in]), tail, KindArrive, in, pi)
	return true
}

// enqueue admits a packet to the buffer or drops it.
func (n *Net) enqueue(now unit.Time, sw *Switch, out int32, tx *route.Port, pi int32, p *Packet) {
	c := p.Class
	size := int64(p.Size)
	q := &n.classes[n.slot(out, int(c))]
	if (p.TOS&3 == 0 || sw.wred&(1<<c) != 0) && n.early(now, sw, out, pi, p) {
		return
	}
	if sw.lossless&(1<<c) != 0 {
		if !n.admitLossless(sw, out, p) {
			n.drop(out, pi, p)
			return
		}
	} else if !n.admitLossy(sw, out, q, p) {
		if sw.trims&(1<<c) != 0 {
			n.trim(now, sw, out, tx, pi, p)
		} else {
			n.drop(out, pi, p)
		}
		return
	}
	p.next = -1
	p.enq = uint32(now >> 10)
	if q.bytes == 0 {
		q.head = pi
	} else {
		n.Packets[q.tail].next = pi
	}
	q.tail = pi
	q.bytes += int32(size)
	tx.NonEmpty |= 1 << c
	tx.Queued += int32(size)
	q.peak = max(q.peak, q.bytes)
	if !tx.Armed && tx.NonEmpty&^tx.Paused != 0 {
		tx.Armed = true
		n.Q.Push(engine.Node(tx.Node), tx.BusyUntil, engine.Kind(tx.Service), out, 0)
	}
}

func (n *Net) drop(out, pi int32, p *Packet) {
	n.Drops++
	n.Stats[out].Drops++
	if p.Flags&FlagTrimmed != 0 {
		n.TrimDrops++
	}
	if n.tapped = pi; n.OnDrop != nil {
		n.OnDrop(p, out)
	}
	n.Free(pi)
}

// threshold returns the bytes of the shared pool that an element of class k may use: alpha times the free bytes
// (docs/references.md, thresholds).
func (sw *Switch) threshold(k *queue.Class) int64 {
	return int64(k.Alpha * float64(sw.limit-sw.shared))
}

// xoff is the threshold of a lossless class now.
func (sw *Switch) xoff(k *queue.Class) int64 {
	if k.XOff > 0 {
		return int64(k.XOff)
	}
	return sw.threshold(k)
}

// admitLossless accounts a packet to its ingress. Up to xOFF it uses the shared pool, whether the peer is paused or
// not (docs/references.md, thresholds). Beyond, it uses headroom, and the peer is paused. Only a full headroom
// loses packets.
func (n *Net) admitLossless(sw *Switch, out int32, p *Packet) bool {
	slot := n.slot(p.In, int(p.Came))
	g := &n.ing[slot]
	k := &sw.Spec.Queues[p.Came]
	size := int32(p.Size)
	xoff := false
	if int64(g.shared+size) <= sw.xoff(k) && sw.shared+int64(size) <= sw.limit {
		g.shared += size
		sw.shared += int64(size)
	} else {
		if g.headroom+size > n.hrLimit[slot] {
			return false
		}
		g.headroom += size
		if xoff = !g.pausing && n.cfg[p.In].noPFC&(1<<p.Came) == 0; xoff {
			n.begin(sw, slot)
		}
	}
	if g.held != 0 {
		sw.held[g.held-1][n.cfg[out].place].add(n.Q.Now(), size)
	}
	g.peak, g.peakHead = max(g.peak, g.shared+g.headroom), max(g.peakHead, g.headroom)
	if n.credits != nil {
		n.owe(p.In, size)
	}
	if xoff {
		g.pausing = true
		n.Pauses++
		if int64(g.shared+size) <= sw.xoff(k) {
			n.FullPauses++
		}
		n.trace("xoff", p.In, int(p.Came))
		n.sendPause(slot)
	}
	return true
}

// admitLossy applies tail drop.
func (n *Net) admitLossy(sw *Switch, out int32, q *classQ, p *Packet) bool {
	k := &sw.Spec.Queues[p.Class]
	size := int64(p.Size)
	if int64(q.bytes)+size > n.room(sw, out, k) || sw.shared+size > sw.limit {
		return false
	}
	sw.shared += size
	return true
}

// release returns the buffer of a packet that an egress port dequeued. Headroom drains first, then the shared pool
// (as in the HPCC model); below xON the peer resumes.
func (n *Net) release(sw *Switch, out int32, p *Packet) {
	size := int64(p.Size)
	if sw.lossless&(1<<p.Class) == 0 {
		sw.shared -= size
		return
	}
	slot := n.slot(p.In, int(p.Came))
	g := &n.ing[slot]
	fromHeadroom := min(int32(size), g.headroom)
	g.headroom -= fromHeadroom
	g.shared -= int32(size) - fromHeadroom
	sw.shared -= size - int64(fromHeadroom)
	if g.held != 0 {
		sw.held[g.held-1][n.cfg[out].place].add(n.Q.Now(), -int32(size))
	}
	if n.credits != nil {
		n.owe(p.In, -int32(size))
	}
	if !g.pausing {
		return
	}
	k := &sw.Spec.Queues[p.Came]
	if g.headroom == 0 && unit.Bytes(g.shared) <= k.Resume(unit.Bytes(sw.xoff(k)), sw.Spec.MTU) {
		n.resume(slot)
	}
}

// service sends the next packet of a port that has become free.
func (n *Net) service(out int32) {
	now := n.Q.Now()
	tx := &n.Ports[out]
	if tx.BusyUntil > now { // a pause frame slipped in
		n.Q.Push(engine.Node(tx.Node), tx.BusyUntil, engine.Kind(tx.Service), out, 0)
		return
	}
	elig := tx.NonEmpty &^ tx.Paused
	if elig == 0 {
		tx.Armed = false
		return
	}
	pi, p := n.Dequeue(now, out, tx, n.pickClass(out, tx, elig))
	sw := &n.Sw[tx.Node]
	n.release(sw, out, p)
	n.mark(now, sw, out, p)
	n.Transmit(now, out, tx, pi, p)
	if tx.NonEmpty&^tx.Paused != 0 {
		n.Q.PushAfter(engine.Node(tx.Node), tx.BusyUntil-now, engine.Kind(tx.Service), out, 0)
	} else {
		tx.Armed = false
	}
}

// Dequeue takes the head of a class's queue.
func (n *Net) Dequeue(now unit.Time, out int32, tx *route.Port, c int) (int32, *Packet) {
	q := &n.classes[n.slot(out, c)]
	pi := q.head
	p := &n.Packets[pi]
	q.head = p.next
	q.bytes -= int32(p.Size)
	tx.Queued -= int32(p.Size)
	if q.bytes == 0 {
		tx.NonEmpty &^= 1 << c
	} else {
		// the packet will be sent soon; large fabrics prefetch it again then
		cache.Line(unsafe.Pointer(&n.Packets[q.head]))
	}
	if n.Waits != nil && p.PSN&15 == 0 && p.Payload != 0 {
		n.Waits.add(p.QP, out, unit.Time(uint32(now>>10)-p.enq)<<10, q.bytes)
	}
	return pi, p
}

// Enqueue appends to a class queue of a host port: no buffer limit applies, a
// NIC's control queue is fed by the NIC itself.
func (n *Net) Enqueue(out int32, pi int32, c int) {
	tx := &n.Ports[out]
	p := &n.Packets[pi]
	p.next, p.Class = -1, uint8(c)
	q := &n.classes[n.slot(out, c)]
	if q.bytes == 0 {
		q.head = pi
	} else {
		n.Packets[q.tail].next = pi
	}
	q.tail = pi
	q.bytes += int32(p.Size)
	tx.NonEmpty |= 1 << c
	tx.Queued += int32(p.Size)
}

// PickClass chooses among the eligible classes of a port: strict priority
// first, highest queue number first, then deficit round robin by weight.
func (n *Net) PickClass(out int32, elig uint8) int { return n.pickClass(out, &n.Ports[out], elig) }

func (n *Net) pickClass(out int32, tx *route.Port, elig uint8) int {
	if s := elig & tx.Strict; s != 0 {
		return 7 - bits.LeadingZeros8(s)
	}
	if elig&(elig-1) == 0 {
		return bits.TrailingZeros8(elig)
	}
	return n.deficit(out, tx, elig)
}

// deficit is deficit round robin (Shreedhar and Varghese 1995). A class may send while its deficit covers the head
// packet. When no class may, every eligible class earns its weight in MTU shares. Weight 0 runs only when alone.
func (n *Net) deficit(out int32, tx *route.Port, elig uint8) int {
	spec := n.Sw[tx.Node].Spec
	for range 1 << 12 {
		for m := elig; m != 0; m &= m - 1 {
			c := bits.TrailingZeros8(m)
			q := &n.classes[n.slot(out, c)]
			if size := int32(n.Packets[q.head].Size); spec.Queues[c].Weight > 0 && q.deficit >= size {
				q.deficit -= size
				return c
			}
		}
		earned := false
		for m := elig; m != 0; m &= m - 1 {
			c := bits.TrailingZeros8(m)
			if w := spec.Queues[c].Weight; w > 0 {
				n.classes[n.slot(out, c)].deficit += int32(w) * 256
				earned = true
			}
		}
		if !earned {
			break
		}
	}
	return 7 - bits.LeadingZeros8(elig)
}

func (n *Net) trace(what string, port int32, prio int) {
	if n.Trace != nil {
		n.Trace(n.Q.Now(), what, port, prio)
	}
}

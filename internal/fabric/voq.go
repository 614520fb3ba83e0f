package fabric

import (
	"railyard/unit"
)

// voq is the queue of an interface node's packets to one egress port in one class. The port is the one to the NIC
// at the locator's node. Bytes are counted since the start, as in an account: the next request or grant replaces a
// lost one.
type voq struct {
	q         classQ
	dst       int32 // NIC
	more      int32 // next queue of the same NIC, in another class or through another of its ports, + 1; 0: none
	nextAsk   int32 // next in the ring of VOQs that may send a request,
	nextReady int32 // next in the ring of VOQs that may send data
	enqueued  int64
	wire      int64 // bytes on fabric links
	requested int64
	asked     int64 // bytes on the wire, requested
	granted   int64
	sent      int64
	heard     unit.Time // time of the last grant or request
	loc       uint16
	class     uint8
	local     bool // the egress port belongs to this node
	ready     bool // whether it is in the ring of VOQs that may send data
	waits     bool // whether it is in the ring of VOQs that may send a request
	watched   bool // turnRetry is pending
}

// fromNIC takes a packet that a NIC has sent.
func (n *Net) fromNIC(in, pi int32) {
	now, node := n.Q.Now(), n.node[in]
	f, fw, p := n.sched.at[node], &n.forward[node], &n.Packets[pi]
	p.In = in
	p.Hops++
	p.Class = n.tables.dscp[fw.dscp+int32(p.TOS>>2)]
	p.Came = p.Class
	loc, ok := n.home(node, f, p)
	if !ok {
		n.NoRoute++
	}
	if p.Loc = loc; !ok || int32(p.Size) > fw.mtu {
		n.lose(in, pi, p)
		return
	}
	if fw.slow&slowStorm != 0 && n.storms[n.slot(in, int(p.Came))].stormed {
		n.StormDrops++
		n.drop(in, pi, p)
		return
	}
	at := f.voq(p)
	if v := &f.voqs[at]; n.admit(node, f, v, pi, p) {
		v.enqueued += int64(p.Size)
		v.wire += int64(n.sched.Wire(unit.Bytes(p.Size)))
		n.ask(now, node, f, at)
	}
}

// nearPort returns the port of a switch to a NIC, -1 for none.
func (n *Net) nearPort(node, nic int32) int32 {
	fw := &n.forward[node]
	if i := nic - fw.nearBase; uint32(i) < uint32(fw.nearLen) {
		return n.tables.near[fw.near+i]
	}
	return -1
}

// voq returns a packet's VOQ; a new one is created.
func (f *iface) voq(p *Packet) int32 {
	for int(p.Dst) >= len(f.voqAt) {
		f.voqAt = append(f.voqAt, 0)
	}
	for i := f.voqAt[p.Dst]; i > 0; i = f.voqs[i-1].more {
		if v := &f.voqs[i-1]; v.class == p.Class && v.loc == p.Loc {
			return i - 1
		}
	}
	f.voqs = append(f.voqs, voq{dst: p.Dst, class: p.Class, loc: p.Loc, local: p.Loc == f.loc, more: f.voqAt[p.Dst]})
	f.voqAt[p.Dst] = int32(len(f.voqs))
	return int32(len(f.voqs) - 1)
}

// admit appends a packet to its VOQ or drops it. Its ingress accounts for it as at any switch. A lossless class
// therefore pauses the NIC when the memory is full; a lossy class drops beyond the VOQ's limit.
func (n *Net) admit(node int32, f *iface, v *voq, pi int32, p *Packet) bool {
	sw, c := &n.Sw[node], p.Class
	w := &sw.Spec.Queues[c].WRED
	if w.Max > 0 && (!w.ECN || p.TOS&3 == 0) && w.Hit(unit.Bytes(v.q.bytes), &sw.stream) {
		n.WREDDrops++
		n.drop(p.In, pi, p)
		return false
	}
	if lossless := sw.lossless&(1<<c) != 0; lossless && !n.admitLossless(sw, noone, p) ||
		!lossless && !n.admitLossy(sw, noone, &v.q, p) {
		n.drop(p.In, pi, p)
		return false
	}
	p.next, p.enq = -1, uint32(n.Q.Now()>>10)
	if v.q.bytes == 0 {
		v.q.head = pi
	} else {
		n.Packets[v.q.tail].next = pi
	}
	v.q.tail = pi
	v.q.bytes += int32(p.Size)
	v.q.peak = max(v.q.peak, v.q.bytes)
	f.Held += int64(p.Size)
	f.HeldPeak, f.VOQPeak = max(f.HeldPeak, f.Held), max(f.VOQPeak, int64(v.q.bytes))
	return true
}

// take removes a VOQ's first packet, whose cells start to leave by a port, and marks it by the remaining queue. out
// is negative if the server's link has failed meanwhile; then the caller handles the packet.
func (n *Net) take(now unit.Time, node, out int32, f *iface, v *voq) (int32, *Packet) {
	sw, pi := &n.Sw[node], v.q.head
	p := &n.Packets[pi]
	v.q.head = p.next
	v.q.bytes -= int32(p.Size)
	f.Held -= int64(p.Size)
	w := &sw.Spec.Queues[p.Class].WRED
	if out >= 0 && w.ECN && p.TOS&3 != 0 && unit.Bytes(v.q.bytes) > w.Min {
		n.markAbove(sw, w, unit.Bytes(v.q.bytes), out, p)
	}
	n.release(sw, out, p)
	if waited := unit.Time(uint32(now>>10)-p.enq) << 10; waited >= 0 {
		f.Waited += waited
		f.WaitMost = max(f.WaitMost, waited)
		f.Left++
	}
	v.sent += int64(p.Size)
	return pi, p
}

// ask makes a VOQ request credit for its packets.
func (n *Net) ask(now unit.Time, node int32, f *iface, at int32) {
	v := &f.voqs[at]
	if v.local { // fabric links are not involved
		v.requested, v.asked, v.heard = v.enqueued, v.wire, now
		n.request(now, node, f, at)
		return
	}
	if v.waits {
		return
	}
	v.waits = true
	f.asking.push(at, func(i int32) *int32 { return &f.voqs[i].nextAsk })
	if !f.asks {
		n.askInTurn(now, node, f)
	}
}

// askCredits is the number of credits that a VOQ requests at a time. A VOQ that requested its whole queue would
// block the VOQs of other egress ports. Those ports would have no requests to grant.
const askCredits = 4

// askInTurn sends requests up to the capacity of the node's fabric links. Credit beyond it gains nothing and
// deprives others.
func (n *Net) askInTurn(now unit.Time, node int32, f *iface) {
	for f.asking.head >= 0 {
		if f.askAt > now {
			f.asks = true
			n.clock(node, f.askAt, turnAsk, 0)
			return
		}
		at := f.asking.pop(func(i int32) *int32 { return &f.voqs[i].nextAsk })
		v := &f.voqs[at]
		bytes, wire := v.enqueued-v.requested, v.wire-v.asked
		if most := askCredits * int64(n.sched.Credit); bytes > most {
			wire = int64(float64(wire) * (float64(most) / float64(bytes)))
			bytes = most
		}
		if cost := wire + 2*int64(n.sched.Message); f.up > 0 {
			f.askAt = max(f.askAt, now-f.loop) + unit.Serialize(unit.Bytes(cost), f.up)
		}
		v.requested, v.asked, v.heard = v.requested+bytes, v.asked+wire, now
		if v.waits = v.requested < v.enqueued; v.waits {
			f.asking.push(at, func(i int32) *int32 { return &f.voqs[i].nextAsk })
		}
		n.request(now, node, f, at)
	}
}

// request sends the egress port's node the total that a VOQ needs.
func (n *Net) request(now unit.Time, node int32, f *iface, at int32) {
	v := &f.voqs[at]
	f.Requests++
	n.Requests++
	m := Packet{Dst: v.dst, Loc: v.loc, Class: v.class, VA: uint64(v.requested), Sent: unit.Time(v.asked),
		next: f.number, Final: f.loc}
	if v.local {
		n.requested(now, node, f, &m)
		return
	}
	if !v.watched {
		v.watched = true
		n.clock(node, now+n.sched.Timeout, turnRetry, at)
	}
	n.sendMessage(now, node, m)
}

// retry repeats the request of a VOQ without a grant for long: the request or the grant may be lost.
func (n *Net) retry(now unit.Time, node int32, f *iface, at int32) {
	v := &f.voqs[at]
	if v.watched = false; v.granted >= v.requested {
		return
	}
	if due := v.heard + n.sched.Timeout; due > now {
		v.watched = true
		n.clock(node, due, turnRetry, at)
		return
	}
	if !n.hangs(v.dst, v.loc) {
		n.strand(node, f, v)
		return
	}
	v.heard = now
	f.Repeats++
	n.request(now, node, f, at)
}

// granted processes a grant for one of the node's VOQs.
func (n *Net) granted(now unit.Time, node int32, f *iface, m *Packet) {
	at := noone
	if int(m.Dst) < len(f.voqAt) {
		for i := f.voqAt[m.Dst]; i > 0; i = f.voqs[i-1].more {
			if v := &f.voqs[i-1]; v.class == m.Class && v.loc == m.Final {
				at = i - 1
			}
		}
	}
	if at < 0 {
		return
	}
	v := &f.voqs[at]
	v.heard = now
	v.granted = max(v.granted, int64(m.VA))
	n.spend(now, node, f, at)
}

// spend lets a VOQ with credit send. Credit is counted in bytes and packets are not split: the last packet may exceed
// the credit, and the next grant covers it.
func (n *Net) spend(now unit.Time, node int32, f *iface, at int32) {
	v := &f.voqs[at]
	if v.local {
		for v.q.bytes > 0 && v.granted > v.sent {
			from := v.sent
			pi, p := n.take(now, node, n.nearPort(node, v.dst), f, v)
			p.next, p.In, p.Final = f.number, int32(uint32(from)), uint16(n.sched.Cells(unit.Bytes(p.Size)))
			n.gather(now, node, f, pi)
			v = &f.voqs[at]
		}
		return
	}
	if v.ready || v.q.bytes == 0 || v.granted <= v.sent {
		return
	}
	v.ready = true
	f.ready.push(at, func(i int32) *int32 { return &f.voqs[i].nextReady })
	if !f.sends {
		n.sendCells(now, node, f)
	}
}

// push and pop operate on a ring; next is an entry's successor.
func (r *ring) push(i int32, next func(int32) *int32) {
	*next(i) = noone
	if r.head < 0 {
		r.head = i
	} else {
		*next(r.tail) = i
	}
	r.tail = i
}

// remove removes an entry of the ring.
func (r *ring) remove(i int32, next func(int32) *int32) int32 {
	before := noone
	for k := r.head; k != i; k = *next(k) {
		before = k
	}
	if before < 0 {
		return r.pop(next)
	}
	if *next(before) = *next(i); r.tail == i {
		r.tail = before
	}
	return i
}

func (r *ring) pop(next func(int32) *int32) int32 {
	i := r.head
	if r.head = *next(i); r.head < 0 {
		r.tail = noone
	}
	return i
}

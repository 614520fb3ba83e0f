package fabric

import (
	"railyard/internal/engine"
	"railyard/internal/route"
	"railyard/unit"
)

// gather processes a burst at the packet's egress node. The burst completes a packet, or waits for the missing
// bursts. Packets of a VOQ continue in the order in which they left it.
func (n *Net) gather(now unit.Time, node int32, f *iface, pi int32) {
	p := &n.Packets[pi]
	port := n.nearPort(node, p.Dst)
	if port < 0 {
		n.NoRoute++
		n.loseBurst(n.Sw[node].ports[0], pi, p)
		return
	}
	at := f.flow(p.next, n.sched.grants[port], p.Class)
	w := &f.flows[at]
	if int32(uint32(p.In)-uint32(w.place)) < 0 { // the reassembly was given up
		n.CellsLost += int64(p.Final)
		n.Free(pi)
		return
	}
	before, i := noone, w.head
	for i >= 0 && int32(uint32(n.Packets[i].In)-uint32(p.In)) < 0 {
		before, i = i, n.Packets[i].next
	}
	if i >= 0 && n.Packets[i].In == p.In {
		n.Packets[i].Final += p.Final
		n.Free(pi)
	} else {
		if w.head < 0 {
			w.heard = now
		}
		if p.next = i; before < 0 {
			w.head = pi
		} else {
			n.Packets[before].next = pi
		}
		f.Egress += int64(p.Size)
		f.EgressPeak = max(f.EgressPeak, f.Egress)
		if !w.watched {
			w.watched = true
			n.clock(node, now+n.sched.Timeout, turnGiveUp, at)
		}
	}
	n.inOrder(now, node, f, at, port)
}

// inOrder forwards the complete packets of a flow that are next in order.
func (n *Net) inOrder(now unit.Time, node int32, f *iface, at, port int32) {
	for {
		w := &f.flows[at]
		pi := w.head
		if pi < 0 {
			return
		}
		p := &n.Packets[pi]
		if uint32(p.In) != uint32(w.place) || !n.whole(p) {
			return
		}
		w.head, w.heard = p.next, now
		w.place += int64(p.Size)
		f.settle(w, w.place)
		n.toNIC(now, node, f, port, pi)
	}
}

// whole reports whether all cells of a packet have arrived.
func (n *Net) whole(p *Packet) bool { return int64(p.Final) == n.sched.Cells(unit.Bytes(p.Size)) }

// settle marks a flow's stream as finished up to a position.
func (f *iface) settle(w *flow, place int64) {
	before := w.due()
	w.settled = max(w.settled, place)
	f.granters[w.granter].due[w.class] -= before - w.due()
}

// toNIC appends a complete packet to its egress port's queue, or sends it immediately.
func (n *Net) toNIC(now unit.Time, node int32, f *iface, port, pi int32) {
	p, tx := &n.Packets[pi], &n.Ports[port]
	c := int(p.Class)
	p.Final = 0
	if n.forward[node].slow&slowStorm != 0 && n.storms[n.slot(port, c)].stormed {
		f.Egress -= int64(p.Size)
		n.StormDrops++
		n.drop(port, pi, p)
		n.grant(now, node, f, n.sched.grants[port])
		return
	}
	if tx.BusyUntil <= now && tx.NonEmpty == 0 && tx.Paused&(1<<c) == 0 {
		if n.Waits != nil && p.PSN&15 == 0 && p.Payload != 0 {
			n.Waits.add(p.QP, port, unit.Time(uint32(now>>10)-p.enq)<<10, 0)
		}
		f.Egress -= int64(p.Size)
		n.Transmit(now, port, tx, pi, p)
		n.grant(now, node, f, n.sched.grants[port])
		return
	}
	n.Enqueue(port, pi, c)
	q := &n.classes[n.slot(port, c)]
	q.peak = max(q.peak, q.bytes)
	f.PortPeak = max(f.PortPeak, int64(q.bytes))
	n.Kick(port, tx)
}

// sendToNIC serves an egress port.
func (n *Net) sendToNIC(out int32) {
	now, tx := n.Q.Now(), &n.Ports[out]
	if tx.BusyUntil > now { // a pause frame slipped in
		n.clockPort(tx, out)
		return
	}
	elig := tx.NonEmpty &^ tx.Paused
	if tx.Armed = elig != 0; !tx.Armed {
		return
	}
	f := n.sched.at[tx.Node]
	pi, p := n.Dequeue(now, out, tx, n.pickClass(out, tx, elig))
	f.Egress -= int64(p.Size)
	n.Transmit(now, out, tx, pi, p)
	if tx.Armed = tx.NonEmpty&^tx.Paused != 0; tx.Armed {
		n.clockPort(tx, out)
	}
	n.grant(now, tx.Node, f, n.sched.grants[out])
}

func (n *Net) clockPort(tx *route.Port, out int32) {
	n.Q.Push(engine.Node(tx.Node), tx.BusyUntil, KindEgress, out, 0)
}

// giveUp checks a flow whose cells may be lost. After that time missing data are lost: the port frees the reserved
// room, and later packets proceed. Incomplete packets before a complete one have lost cells as well.
func (n *Net) giveUp(now unit.Time, node int32, f *iface, at int32) {
	w := &f.flows[at]
	w.watched = false
	if w.head < 0 && w.due() == 0 {
		return
	}
	if due := w.heard + n.sched.Timeout; due > now {
		w.watched = true
		n.clock(node, due, turnGiveUp, at)
		return
	}
	if w.head < 0 {
		f.settle(w, w.granted)
	}
	for first := true; w.head >= 0 && (first || n.wholeBehind(w)); first = false {
		n.skip(f, w)
		n.inOrder(now, node, f, at, f.granters[w.granter].port)
	}
	if w.heard = now; w.head >= 0 || w.due() > 0 {
		w.watched = true
		n.clock(node, now+n.sched.Timeout, turnGiveUp, at)
	}
	n.grant(now, node, f, w.granter)
}

// skip gives up the missing data before a flow's first packet, or that packet.
func (n *Net) skip(f *iface, w *flow) {
	pi := w.head
	p := &n.Packets[pi]
	f.GaveUp++
	if gap := uint32(p.In) - uint32(w.place); gap > 0 { // none of the missing data has arrived
		w.place += int64(gap)
		f.settle(w, w.place)
		n.Drops++
		return
	}
	w.head = p.next
	w.place += int64(p.Size)
	f.settle(w, w.place)
	f.Egress -= int64(p.Size)
	n.CellsLost += int64(p.Final)
	n.drop(f.granters[w.granter].port, pi, p)
}

// wholeBehind reports whether a complete packet of a flow is blocked by earlier ones.
func (n *Net) wholeBehind(w *flow) bool {
	for i := w.head; i >= 0; i = n.Packets[i].next {
		if n.whole(&n.Packets[i]) {
			return true
		}
	}
	return false
}

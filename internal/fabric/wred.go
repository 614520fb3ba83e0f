package fabric

import (
	"railyard/internal/engine"
	"railyard/internal/queue"
	"railyard/internal/rng"
	"railyard/roce"
	"railyard/unit"
)

// average is the queue length that WRED with a weight decides by (Floyd and Jacobson 1993).
type average struct {
	bytes unit.Bytes
	empty unit.Time // since when the queue is empty; 0 if it is not
}

// early applies WRED to an arriving packet, and reports whether it was dropped. It drops without ECN, in a lossless
// class as in any other (PFC limits the buffer; WRED does not check it). With ECN it drops packets that are not
// ECN-capable where it would mark others (RFC 3168, section 5).
func (n *Net) early(now unit.Time, sw *Switch, out, pi int32, p *Packet) bool {
	w := &sw.Spec.Queues[p.Class].WRED
	if w.Max == 0 {
		return false
	}
	slot := n.slot(out, int(p.Class))
	if w.ECN && p.TOS&3 != 0 { // the packet is marked when it leaves
		n.idled(now, sw, w, slot)
		return false
	}
	if !w.Hit(n.averaged(now, sw, w, slot), &sw.stream) {
		return false
	}
	n.WREDDrops++
	n.drop(out, pi, p)
	return true
}

// mark sets CE on a departing ECN-capable packet, depending on the queue after it. It marks on dequeue, as the HPCC
// and htsim models do.
func (n *Net) mark(now unit.Time, sw *Switch, out int32, p *Packet) {
	w := &sw.Spec.Queues[p.Class].WRED
	if w.Weight != 0 && w.Max > 0 {
		slot := n.slot(out, int(p.Class))
		if w.ECN && p.TOS&3 != 0 {
			n.markAbove(sw, w, n.averaged(now, sw, w, slot), out, p)
		}
		n.emptied(now, slot)
		return
	}
	if !w.ECN || p.TOS&3 == 0 {
		return
	}
	if q := n.timed(sw, out, n.classes[n.slot(out, int(p.Class))].bytes); q > w.Min {
		n.markAbove(sw, w, q, out, p)
	}
}

// timed converts a queue's length for thresholds in units of time. The result is the bytes that the port would send
// at its link's own rate in the time that the queue takes at the current rate.
func (n *Net) timed(sw *Switch, out int32, bytes int32) unit.Bytes {
	if !sw.Spec.Timed {
		return unit.Bytes(bytes)
	}
	return unit.Bytes(float64(bytes) * float64(n.cfg[out].rate) / float64(n.Ports[out].Rate))
}

// room returns how many bytes of a lossy class a port may hold now. A limit in time leaves room for two frames at any
// rate of the port.
func (n *Net) room(sw *Switch, out int32, k *queue.Class) int64 {
	limit := int64(k.Limit)
	switch {
	case limit == 0:
		return sw.threshold(k)
	case sw.Spec.Timed:
		share := float64(n.Ports[out].Rate) / float64(n.cfg[out].rate)
		return max(int64(float64(limit)*share), min(limit, 2*int64(sw.Spec.MTU)))
	}
	return limit
}

// SilentToHosts reports whether a port belongs to a switch that does not mark packets to servers.
func (n *Net) SilentToHosts(port int32) bool {
	node := n.Ports[port].Node
	return int(node) < len(n.Sw) && n.Sw[node].Spec != nil && n.Sw[node].Spec.CoreMarks
}

func (n *Net) markAbove(sw *Switch, w *queue.WRED, q unit.Bytes, out int32, p *Packet) {
	if sw.Spec.CoreMarks && engine.Kind(n.Ports[out].Arrive) >= KindHost {
		return
	}
	if w.Hit(q, &sw.stream) {
		p.TOS |= CE
		n.Marks++
		n.Stats[out].Marks++
		if n.Trace != nil {
			n.trace("mark", out, int(p.Class))
		}
	}
}

// passBy updates WRED's average for a packet that finds its port idle. The packet may still be marked or dropped
// while the average is high. It reports whether it was dropped.
func (n *Net) passBy(now unit.Time, out, pi int32, p *Packet) bool {
	tx := &n.Ports[out]
	sw := &n.Sw[tx.Node]
	if w := &sw.Spec.Queues[p.Class].WRED; w.Weight == 0 || w.Max == 0 || tx.BusyUntil > now ||
		tx.NonEmpty != 0 || tx.Paused&(1<<p.Class) != 0 {
		return false // the packet is queued, and checked again when it leaves
	}
	if n.early(now, sw, out, pi, p) {
		n.emptied(now, n.slot(out, int(p.Class)))
		return true
	}
	n.mark(now, sw, out, p)
	return false
}

// averaged returns the queue length by which WRED decides, and updates its average.
func (n *Net) averaged(now unit.Time, sw *Switch, w *queue.WRED, slot int32) unit.Bytes {
	q := n.timed(sw, n.portOf(slot), n.classes[slot].bytes)
	if w.Weight == 0 {
		return q
	}
	n.idled(now, sw, w, slot)
	a := &n.averages[slot]
	a.bytes = w.Average(a.bytes, q)
	return a.bytes
}

// idled lowers an average for the time in which its queue was empty: once for each frame that could have been sent,
// as RED does.
func (n *Net) idled(now unit.Time, sw *Switch, w *queue.WRED, slot int32) {
	if w.Weight == 0 || n.averages[slot].empty == 0 {
		return
	}
	a := &n.averages[slot]
	frames := (now - a.empty) / unit.Serialize(sw.Spec.MTU+roce.PreambleIFG, n.cfg[n.portOf(slot)].rate)
	if frames > 64<<w.Weight { // e^-64 is left
		a.bytes = 0
	}
	for ; frames > 0 && a.bytes > 0; frames-- {
		a.bytes = w.Average(a.bytes, 0)
	}
	a.empty = 0
}

// emptied records that a queue is empty now, if it is.
func (n *Net) emptied(now unit.Time, slot int32) {
	if n.classes[slot].bytes == 0 {
		n.averages[slot].empty = max(now, 1)
	}
}

// Redraw has a switch draw from the stream of another seed, as marking and trimming do.
func (n *Net) Redraw(node int32, seed uint64, name string) {
	n.Sw[node].stream = rng.New(seed, "wred/"+name)
}

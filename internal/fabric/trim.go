package fabric

import (
	"railyard/internal/engine"
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/unit"
)

// trim makes a queue trim a packet for which it has no room. The headers go into the queue of trimmed packets,
// which may drop them.
func (n *Net) trim(now unit.Time, sw *Switch, out int32, tx *route.Port, pi int32, p *Packet) {
	t := &sw.Spec.Trim
	if t.Either && sw.stream.Float64() < 0.5 {
		n.exchange(now, sw, out, tx, pi, p)
	}
	last := engine.Kind(tx.Arrive) >= KindHost
	if p.Payload > 0 && unit.Bytes(p.Size) > t.Size {
		n.cut(out, t, p)
		if last && t.LastHop != t.DSCP {
			p.Flags |= FlagLastHop
		}
	}
	dscp := t.DSCP
	if last {
		dscp = t.LastHop
	}
	p.TOS = dscp<<2 | p.TOS&3
	p.Class = sw.Spec.DSCP[dscp]
	n.enqueue(now, sw, out, tx, pi, p)
}

// cut reduces a packet to its headers.
func (n *Net) cut(out int32, t *queue.Trim, p *Packet) {
	n.Trims++
	n.TrimmedBytes += int64(p.Payload)
	n.Stats[out].Trims++
	p.Size, p.Payload = uint16(t.Size), 0
	p.Flags |= FlagTrimmed
}

// exchange replaces the last packet of a class's queue by a packet that fits; the two packets change places.
func (n *Net) exchange(now unit.Time, sw *Switch, out int32, tx *route.Port, pi int32, p *Packet) {
	k := &sw.Spec.Queues[p.Class]
	q := &n.classes[n.slot(out, int(p.Class))]
	if q.bytes == 0 {
		return
	}
	last := &n.Packets[q.tail]
	more := int32(p.Size) - int32(last.Size)
	if int64(q.bytes+more) > n.room(sw, out, k) || sw.shared+int64(more) > sw.limit {
		return
	}
	*p, *last = *last, *p
	n.swapBeside(pi, q.tail)
	last.next, last.enq = -1, uint32(now>>10)
	q.bytes += more
	tx.Queued += more
	sw.shared += int64(more)
	q.peak = max(q.peak, q.bytes)
}

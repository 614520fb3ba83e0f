package fabric

import (
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/unit"
)

// rings are the rules for packets on a torus: their classes and their escape.
//
// In dimension order a packet's class rises after the link that closes a ring, and falls back when the packet
// leaves the ring. Within a ring it then never waits for a buffer that could wait for it. Rings of a dimension wait
// only for later dimensions (Dally and Seitz 1987). Its ingress accounts it to the class in which the peer sent it,
// as with detours.
//
// Packets that may take any shortest path have a class of their own. A switch queues a packet at one port and does
// not revise that choice. Packets queued at a port whose class is paused therefore move to the port and class of
// dimension order. No packet waits endlessly for a buffer of the class, because each can escape, and the escape has
// no ring (Duato 1993).
//
// On a detour both legs are in dimension order, the second in two higher classes. Buffers of a leg wait only for
// those of that leg and of the next, and no leg has a ring.
type rings struct {
	dim   []int8 // by port: the dimension of its cable's ring; -1: a cable to a server
	wrap  []bool // by port: whether its cable closes its ring
	rise  [queue.Classes][route.Levels]uint8
	first uint8 // level of dimension order's first class: 1 if a class for all paths precedes it
	legs  bool  // packets take detours: two such classes per leg
	// by node and locator: the port in dimension order, -1 for none; nil: packets always take dimension order
	escape [][]int32
}

// SetRings sets the dimension of each port's link, the links that close rings, and the classes that packets rise
// through. With escapes packets take any path, and SetEscape sets the port in dimension order. With legs packets
// may take detours. It must be called before SetRoutes.
func (n *Net) SetRings(dim []int8, wrap []bool, rising *queue.Rising, escapes, legs bool) {
	r := &rings{dim: dim, wrap: wrap, rise: risen(rising), legs: legs}
	if n.rings = r; escapes {
		r.first, r.escape = 1, make([][]int32, len(n.Sw))
	}
	for node := range n.forward {
		if n.Sw[node].Spec != nil {
			n.forward[node].slow |= slowRing
		}
	}
}

// SetEscape sets, by locator, the port of a switch in dimension order, -1 for none.
func (n *Net) SetEscape(node int32, ports []int32) { n.rings.escape[node] = ports }

// risen computes the next class of packets of a class, by level.
func risen(rising *queue.Rising) (rise [queue.Classes][route.Levels]uint8) {
	for c, row := range rising {
		for level := range rise[c] {
			rise[c][level] = uint8(c)
			if len(row) > 0 {
				rise[c][level] = row[min(level, len(row)-1)]
			}
		}
	}
	return rise
}

// late checks a packet again whose port was chosen when its header arrived.
func (n *Net) late(node, out int32, p *Packet) int32 {
	r := n.rings
	if r.escape != nil && p.Level == 0 && r.dim[out] >= 0 && n.Ports[out].Paused&(1<<p.Class) != 0 {
		return n.escape(node, out, p)
	}
	return out
}

// ring sets the class in which a packet leaves by a port, or makes it escape to another port.
func (n *Net) ring(node, in, out int32, p *Packet) int32 {
	r, base := n.rings, p.Class
	level, first := p.Level, r.first
	if r.legs && p.Flags&FlagLeg == 0 {
		first = 2
	}
	if r.dim[in] >= 0 {
		p.Came = r.rise[base][level]
		if r.wrap[in] && level >= first {
			level = first + 1
		}
	}
	switch {
	case r.dim[out] < 0: // the port leads to a NIC, which uses no other class
		p.Level = 0
		return out
	case r.escape != nil:
		p.Level = 0
		if n.Ports[out].Paused&(1<<base) == 0 {
			return out
		}
		return n.escape(node, out, p)
	}
	p.Level = r.onRing(in, out, level, first)
	p.Class = r.rise[base][p.Level]
	return out
}

// escape sends a packet that would be queued at a paused port in dimension order instead, if a path is left. A
// packet that arrived in dimension order stays on its side of the ring.
func (n *Net) escape(node, out int32, p *Packet) int32 {
	r := n.rings
	to := r.escape[node][p.Loc]
	if to < 0 || r.rise[p.Class][1] == p.Class {
		return out
	}
	level := uint8(0)
	if r.dim[p.In] >= 0 && p.Came != p.Class {
		level = r.first
		if r.wrap[p.In] || p.Came == r.rise[p.Class][r.first+1] {
			level = r.first + 1
		}
	}
	p.Level = r.onRing(p.In, to, level, r.first)
	p.Class = r.rise[p.Class][p.Level]
	return to
}

// onRing returns the level of dimension order on which a packet leaves by a port, given its arrival port. first is
// the lower level of its leg.
func (r *rings) onRing(in, out int32, level, first uint8) uint8 {
	if r.dim[in] != r.dim[out] || level < first {
		return first
	}
	return level
}

// giveWay makes the packets escape that are queued at a port whose class is paused.
func (n *Net) giveWay(now unit.Time, port int32, class int) {
	r, node := n.rings, n.node[port]
	if r.escape == nil || r.dim[port] < 0 || r.rise[class][1] == uint8(class) {
		return
	}
	tx, q := &n.Ports[port], &n.classes[n.slot(port, class)]
	if q.bytes == 0 {
		return
	}
	pi, last := q.head, q.tail
	tx.Queued -= q.bytes
	tx.NonEmpty &^= 1 << class
	q.bytes = 0
	for {
		p := &n.Packets[pi]
		next := p.next
		out := n.escape(node, port, p)
		n.Enqueue(out, pi, int(p.Class))
		n.move(port, out, p)
		to := &n.classes[n.slot(out, int(p.Class))]
		to.peak = max(to.peak, to.bytes)
		if out != port {
			n.Kick(out, &n.Ports[out])
		}
		if pi == last {
			break
		}
		pi = next
	}
	n.Kick(port, tx) // packets of other classes, or escaping packets, use this port
}

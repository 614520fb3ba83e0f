package fabric

import (
	"fmt"

	"railyard/internal/queue"
	"railyard/unit"
)

// holding is the bytes of one ingress in the queues of a switch's egress ports, a cell per egress port. A switch
// has this account for an ingress only from its first pause on. Before that the queue that holds the bytes is
// irrelevant.
type holding []heldCell

// heldCell is an ingress's bytes in the queues of one egress port. Their sum over time up to t is moment + bytes x
// t, so only arrivals and departures change it.
type heldCell struct {
	bytes  int32
	moment int64 // bytes x time of departures, less that of arrivals; time in 1.024 ns, as Packet.enq
	base   int64 // the sum over time when the pause began
}

func (c *heldCell) sum(now unit.Time) int64 { return c.moment + int64(c.bytes)*int64(now>>10) }

func (c *heldCell) add(now unit.Time, size int32) {
	c.bytes += size
	c.moment -= int64(size) * int64(now>>10)
}

// hold starts the account of an ingress of a switch.
func (n *Net) hold(sw *Switch, slot int32) {
	h := make(holding, len(sw.ports))
	in, class := n.portOf(slot), n.classOf(slot)
	now := n.Q.Now()
	for i, out := range sw.ports {
		n.eachWaiting(out, func(p *Packet) {
			if p.In == in && int(p.Came) == class && sw.lossless&(1<<p.Class) != 0 {
				h[i].add(now, int32(p.Size))
			}
		})
	}
	sw.held = append(sw.held, h)
	n.ing[slot].held = int32(len(sw.held))
}

// eachWaiting calls f for the packets in the queues of a port, by class, in their order.
func (n *Net) eachWaiting(port int32, f func(p *Packet)) {
	for c, m := 0, n.Ports[port].NonEmpty; m != 0; c, m = c+1, m>>1 {
		if m&1 == 0 {
			continue
		}
		q := &n.classes[n.slot(port, c)]
		for pi := q.head; ; pi = n.Packets[pi].next {
			f(&n.Packets[pi])
			if pi == q.tail {
				break
			}
		}
	}
}

// begin records that an ingress pauses its peer from now on.
func (n *Net) begin(sw *Switch, slot int32) {
	if n.sched != nil {
		return // packets wait in VOQs for ports of other switches; see eachVOQ
	}
	if n.ing[slot].held == 0 {
		n.hold(sw, slot)
	}
	h, now := sw.held[n.ing[slot].held-1], n.Q.Now()
	for i := range h {
		h[i].base = h[i].sum(now)
	}
}

// move accounts for a packet that moved from one egress port's queue to another's.
func (n *Net) move(from, to int32, p *Packet) {
	g, sw := &n.ing[n.slot(p.In, int(p.Came))], &n.Sw[n.node[to]]
	if g.held == 0 || sw.lossless&(1<<p.Class) == 0 {
		return
	}
	h, now := sw.held[g.held-1], n.Q.Now()
	h[n.cfg[from].place].add(now, -int32(p.Size))
	h[n.cfg[to].place].add(now, int32(p.Size))
}

// Holder is an egress port whose queues hold bytes of an ingress.
type Holder struct {
	Port  int32      // -1: a VOQ of a scheduled fabric, for the egress port of NIC
	NIC   int32      // of a VOQ
	Bytes unit.Bytes // now
	// Moment is the integral of those bytes over time since the ingress last paused its peer, in bytes x 1.024 ns.
	// It is 0 for a VOQ.
	Moment int64
}

// Holders calls f for the egress ports whose queues have held bytes of an ingress and priority since it last paused
// its peer. The order is that of the ports. It finds none for a host, or without a pause.
func (n *Net) Holders(port int32, prio int, f func(Holder)) {
	sw, g := &n.Sw[n.node[port]], &n.ing[n.slot(port, prio)]
	if n.sched != nil {
		n.eachVOQ(port, prio, f)
		return
	}
	if g.held == 0 {
		return
	}
	now := n.Q.Now()
	for i, out := range sw.ports {
		c := &sw.held[g.held-1][i]
		if moment := c.sum(now) - c.base; c.bytes > 0 || moment > 0 {
			f(Holder{Port: out, Bytes: unit.Bytes(c.bytes), Moment: moment})
		}
	}
}

// eachVOQ calls f for the VOQs with bytes of an ingress of an interface node, in the order of their creation.
func (n *Net) eachVOQ(port int32, prio int, f func(Holder)) {
	node := n.sched.at[n.node[port]]
	if node == nil {
		return
	}
	for i := range node.voqs {
		v, bytes := &node.voqs[i], unit.Bytes(0)
		for pi, left := v.q.head, v.q.bytes; left > 0; pi = n.Packets[pi].next {
			p := &n.Packets[pi]
			if left -= int32(p.Size); p.In == port && int(p.Came) == prio {
				bytes += unit.Bytes(p.Size)
			}
		}
		if bytes > 0 {
			f(Holder{Port: -1, NIC: v.dst, Bytes: bytes})
		}
	}
}

// holder returns the index of the egress port that holds most bytes of an ingress among its switch's ports, -1 for
// none.
func (n *Net) holder(slot int32) int {
	g := &n.ing[slot]
	if g.held == 0 {
		return -1
	}
	top, most := -1, int32(0)
	for i, c := range n.Sw[n.node[n.portOf(slot)]].held[g.held-1] {
		if c.bytes > most {
			top, most = i, c.bytes
		}
	}
	return top
}

// WaitsSince returns the enqueue time of the packet that has been queued longest at a port, or the current time if the
// port is empty. It is exact to 1.024 ns, for queueing times of up to four seconds.
func (n *Net) WaitsSince(port int32) unit.Time {
	now, longest := n.Q.Now(), uint32(0)
	for c, m := 0, n.Ports[port].NonEmpty; m != 0; c, m = c+1, m>>1 {
		if m&1 != 0 {
			longest = max(longest, uint32(now>>10)-n.Packets[n.classes[n.slot(port, c)].head].enq)
		}
	}
	return now - unit.Time(longest)<<10
}

// Waiting calls f for the connections whose packets wait at a port, with their bytes. It reads at most most
// packets, in each class those that have waited longest. Below zero: none, NIC ^conn sent it.
func (n *Net) Waiting(port int32, most int, f func(conn int32, bytes unit.Bytes)) {
	n.eachWaiting(port, func(p *Packet) {
		if most--; most >= 0 {
			f(p.QP, unit.Bytes(p.Size))
		}
	})
}

// auditHolding checks that the account of a switch's ingresses equals its queues' content, and that its sum equals
// the ingress counters.
func (n *Net) auditHolding(sw *Switch) error {
	for _, in := range sw.ports {
		for c := range queue.Classes {
			g := &n.ing[n.slot(in, c)]
			if g.held == 0 {
				continue
			}
			sum := int32(0)
			for i, out := range sw.ports {
				bytes := int32(0)
				n.eachWaiting(out, func(p *Packet) {
					if p.In == in && int(p.Came) == c && sw.lossless&(1<<p.Class) != 0 {
						bytes += int32(p.Size)
					}
				})
				if cell := sw.held[g.held-1][i]; cell.bytes != bytes {
					return fmt.Errorf("ingress %d priority %d: port %d holds %d bytes, its cell has %d", in, c, out,
						bytes, cell.bytes)
				}
				sum += bytes
			}
			if sum != g.shared+g.headroom {
				return fmt.Errorf("ingress %d priority %d counts %d bytes, queues hold %d", in, c,
					g.shared+g.headroom, sum)
			}
		}
	}
	return nil
}

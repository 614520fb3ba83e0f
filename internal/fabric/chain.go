package fabric

import (
	"math/bits"
	"slices"
)

// A paused port is blocked until the next switch forwards the packets that arrived through it. These may be queued
// at paused ports themselves, and so on back to the first port. Then none can send unless the switches have other
// packets to forward: a circular pause dependency (Hu et al., HotNets 2016).

// Held is a paused port of a circular pause dependency, with the packets queued at it that arrived through the
// previous port.
type Held struct {
	Port  int32
	Class int
	Bytes int64
	QP    int32 // queue pair with most of these packets; negative: none, NIC ^QP sent them
}

// Chains finds closed chains of pauses. It reads the state of many switches at one time, which no real switch can
// do.
type Chains struct {
	net  *Net
	came []int32 // by (port, class): predecessor + 1; 0: not visited
	line []int32 // met
}

// NewChains returns a finder.
func NewChains(n *Net) *Chains { return &Chains{net: n, came: make([]int32, len(n.classes))} }

// Through returns the shortest closed chain of paused ports that contains a port paused in a class, beginning with
// that port; nil if there is none. Its cost is proportional to the paused queues that it visits.
func (c *Chains) Through(port int32, class int) []Held {
	first := c.net.slot(port, class)
	c.line = append(c.line[:0], first)
	defer func() {
		for _, s := range c.line {
			c.came[s] = 0
		}
	}()
	for i := 0; i < len(c.line); i++ {
		s := c.line[i]
		closed := false
		c.after(s, func(next int32) {
			if next == first {
				closed = true
			} else if c.came[next] == 0 {
				c.came[next] = s + 1
				c.line = append(c.line, next)
			}
		})
		if closed {
			return c.held(first, s)
		}
	}
	return nil
}

// held returns the chain that ends with slot last, which slot first blocks.
func (c *Chains) held(first, last int32) []Held {
	slots := []int32{last}
	for last != first {
		last = c.came[last] - 1
		slots = append(slots, last)
	}
	slices.Reverse(slots)
	chain := make([]Held, len(slots))
	for i, s := range slots {
		before := slots[(i+len(slots)-1)%len(slots)]
		chain[i] = c.waiting(s, before)
	}
	return chain
}

// after visits the paused ports that block a given one.
func (c *Chains) after(s int32, visit func(next int32)) {
	n := c.net
	in := n.Ports[n.portOf(s)].Peer
	if g := &n.ing[n.slot(in, n.classOf(s))]; g.shared+g.headroom == 0 {
		return // a NIC, or no packet of the ingress is queued here
	}
	for _, out := range n.Sw[n.node[in]].ports {
		tx := &n.Ports[out]
		for m := tx.Paused & tx.NonEmpty; m != 0; m &= m - 1 {
			if next := n.slot(out, bits.TrailingZeros8(m)); c.some(next, in, n.classOf(s)) {
				visit(next)
			}
		}
	}
}

// some reports whether a queue has packets that arrived by a port in a class.
func (c *Chains) some(queue, in int32, class int) bool {
	n := c.net
	for pi := n.classes[queue].head; ; pi = n.Packets[pi].next {
		p := &n.Packets[pi]
		if p.In == in && int(p.Came) == class {
			return true
		}
		if pi == n.classes[queue].tail {
			return false
		}
	}
}

// waiting returns the bytes that wait at a port and arrived by another.
func (c *Chains) waiting(s, before int32) Held {
	n := c.net
	h := Held{Port: n.portOf(s), Class: n.classOf(s)}
	in, class := n.Ports[n.portOf(before)].Peer, n.classOf(before)
	by, most := map[int32]int64{}, int64(0)
	q := &n.classes[s]
	for pi := q.head; ; pi = n.Packets[pi].next {
		if p := &n.Packets[pi]; p.In == in && int(p.Came) == class {
			h.Bytes += int64(p.Size)
			if by[p.QP] += int64(p.Size); by[p.QP] > most { // the first of equals
				most, h.QP = by[p.QP], p.QP
			}
		}
		if pi == q.tail {
			return h
		}
	}
}

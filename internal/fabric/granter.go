package fabric

import (
	"math/bits"

	"railyard/internal/queue"
	"railyard/unit"
)

// granter is the scheduler of an egress port. It grants credit to the VOQs with data for it, round-robin. It grants
// slightly faster than the port sends, up to its free buffer.
type granter struct {
	port   int32
	nic    int32                // behind it
	next   int32                // next in the ring of VOQs that wait for the node's fabric links
	rings  [queue.Classes]ring  // flows that request credit
	due    [queue.Classes]int64 // granted, and not here
	turns  [queue.Classes]int32 // round-robin weights so far (smooth weighted round robin)
	wanted uint8                // classes whose ring is not empty
	armed  bool                 // turnGrant is pending
	waits  bool                 // whether it is in the ring
	turn   bool                 // the ring released it: one grant may use fabric links
	free   unit.Time            // time of the next possible grant
}

// flow is a VOQ as seen by its egress port's node.
type flow struct {
	src       int32  // number of the VOQ's interface node
	loc       uint16 // of that
	class     uint8
	wants     bool  // in the ring
	watched   bool  // turnGiveUp is pending
	granter   int32 // number in iface.granters
	next      int32 // in the ring
	more      int32 // next entry of the same sender and port in another class, + 1; 0: none
	requested int64
	wire      int64 // bytes on fabric links
	granted   int64
	place     int64     // position of the next packet in order in the VOQ's stream of bytes
	settled   int64     // all earlier packets have arrived or were given up
	head      int32     // packets that lack cells or arrived early, sorted by position
	heard     unit.Time // time of the last grant, or packet in order
}

func (f *iface) addGranter(port int32) (number int32) {
	g := granter{port: port}
	for c := range g.rings {
		g.rings[c] = ring{noone, noone}
	}
	f.granters = append(f.granters, g)
	return int32(len(f.granters) - 1)
}

// flow returns a node's state of another node's VOQ, created if new.
func (f *iface) flow(src, granter int32, class uint8) int32 {
	for int(src) >= len(f.flowAt) {
		f.flowAt = append(f.flowAt, nil)
	}
	if f.flowAt[src] == nil {
		f.flowAt[src] = make([]int32, len(f.granters))
	}
	first := &f.flowAt[src][granter]
	for i := *first; i > 0; i = f.flows[i-1].more {
		if f.flows[i-1].class == class {
			return i - 1
		}
	}
	f.flows = append(f.flows, flow{src: src, class: class, granter: granter, more: *first, head: noone})
	*first = int32(len(f.flows))
	return *first - 1
}

// requested processes a VOQ's request.
func (n *Net) requested(now unit.Time, node int32, f *iface, m *Packet) {
	port := n.nearPort(node, m.Dst)
	if port < 0 {
		return // the link is down
	}
	gi := n.sched.grants[port]
	f.granters[gi].nic = m.Dst
	at := f.flow(m.next, gi, m.Class)
	w := &f.flows[at]
	w.loc = m.Final
	if int64(m.VA) <= w.requested && w.requested == w.granted { // again: the grant was lost
		n.tell(now, node, f, at)
	}
	w.requested, w.wire = max(w.requested, int64(m.VA)), max(w.wire, int64(m.Sent))
	if w.requested > w.granted && !w.wants {
		n.want(f, gi, at)
	}
	n.grant(now, node, f, gi)
}

// want appends a flow to the ring of flows that request credit.
func (n *Net) want(f *iface, gi, at int32) {
	g, w := &f.granters[gi], &f.flows[at]
	w.wants = true
	g.wanted |= 1 << w.class
	g.rings[w.class].push(at, func(i int32) *int32 { return &f.flows[i].next })
}

// eligible returns the classes with requests and room for one credit.
func (n *Net) eligible(g *granter) (elig uint8) {
	for m := g.wanted; m != 0; m &= m - 1 {
		c := bits.TrailingZeros8(m)
		held := g.due[c] + int64(n.classes[n.slot(g.port, c)].bytes)
		if held+int64(n.sched.Credit) <= int64(n.sched.Egress) {
			elig |= 1 << c
		}
	}
	return elig
}

// grant grants one credit if it is due and there are a request and buffer for it.
func (n *Net) grant(now unit.Time, node int32, f *iface, gi int32) {
	g := &f.granters[gi]
	if g.armed {
		return
	}
	elig := n.eligible(g)
	if elig == 0 {
		return // the next request, or the next departure, calls it again
	}
	if g.free > now {
		g.armed = true
		n.clock(node, g.free, turnGrant, gi)
		return
	}
	if !g.turn && (f.sharedAt > now || f.shared.head >= 0) {
		n.wait(now, node, f, gi)
		if elig &= f.own(gi); elig == 0 {
			return
		}
		c := n.pickGrant(g, elig) // fabric links are not involved
		n.grantTo(now, node, f, gi, g.rings[c].remove(f.ownFlow(gi, uint8(c)), f.after))
	} else {
		n.grantTo(now, node, f, gi, g.rings[n.pickGrant(g, elig)].pop(f.after))
	}
	n.grant(now, node, f, gi) // when it is due
}

// wait adds a granter to the ring of granters that wait for the node's fabric links.
func (n *Net) wait(now unit.Time, node int32, f *iface, gi int32) {
	g := &f.granters[gi]
	if g.waits {
		return
	}
	g.waits = true
	f.shared.push(gi, func(i int32) *int32 { return &f.granters[i].next })
	if !f.shares {
		f.shares = true
		n.clock(node, max(now, f.sharedAt), turnShared, 0)
	}
}

// after returns the next flow in the ring.
func (f *iface) after(i int32) *int32 { return &f.flows[i].next }

// own returns the classes in which the node's own NICs request credit of an egress port.
func (f *iface) own(gi int32) (classes uint8) {
	if int(f.number) >= len(f.flowAt) || f.flowAt[f.number] == nil {
		return 0
	}
	for i := f.flowAt[f.number][gi]; i > 0; i = f.flows[i-1].more {
		if w := &f.flows[i-1]; w.wants {
			classes |= 1 << w.class
		}
	}
	return classes
}

// ownFlow returns the existing flow of the node's own NICs in a class.
func (f *iface) ownFlow(gi int32, class uint8) int32 { return f.flow(f.number, gi, class) }

// shareGrants lets granters that wait for the node's fabric links grant in turn.
func (n *Net) shareGrants(now unit.Time, node int32, f *iface) {
	for f.shared.head >= 0 {
		if f.sharedAt > now {
			n.clock(node, f.sharedAt, turnShared, 0)
			return
		}
		gi := f.shared.pop(func(i int32) *int32 { return &f.granters[i].next })
		g := &f.granters[gi]
		g.waits, g.turn = false, n.eligible(g) != 0
		n.grant(now, node, f, gi)
	}
	f.shares = false
}

// pickGrant chooses the class: strict ones first, the others by their weights (smooth weighted round robin). In
// each turn every class earns its weight, and the class with the largest balance is chosen and pays the sum.
func (n *Net) pickGrant(g *granter, elig uint8) int {
	tx := &n.Ports[g.port]
	if s := elig & tx.Strict; s != 0 {
		return 7 - bits.LeadingZeros8(s)
	}
	spec, best, sum := n.Sw[tx.Node].Spec, -1, int32(0)
	for m := elig; m != 0; m &= m - 1 {
		c := bits.TrailingZeros8(m)
		w := int32(spec.Queues[c].Weight)
		if w == 0 && best >= 0 {
			continue // used only if no other class can
		}
		if g.turns[c] += w; best < 0 || spec.Queues[best].Weight == 0 || g.turns[c] > g.turns[best] {
			best = c
		}
		sum += w
	}
	g.turns[best] -= sum
	return best
}

// grantTo grants a credit to the flow whose turn it is; the flow has left its ring.
func (n *Net) grantTo(now unit.Time, node int32, f *iface, gi, at int32) {
	g := &f.granters[gi]
	w := &f.flows[at]
	c := w.class
	if w.wants = false; g.rings[c].head < 0 {
		g.wanted &^= 1 << c
	}
	bytes := min(int64(n.sched.Credit), w.requested-w.granted)
	before := w.due()
	w.granted += bytes
	if g.due[c] += w.due() - before; w.head < 0 {
		w.heard = now
	}
	f.Grants++
	f.Granted += bytes
	n.Grants++
	tx := &n.Ports[g.port]
	g.free = max(g.free, now) + unit.Time(float64(unit.Serialize(unit.Bytes(bytes), tx.Rate))/n.sched.Speedup)
	if w.src != f.number && f.up > 0 {
		g.turn = false
		wire := unit.Bytes(float64(w.wire) / float64(w.requested) * float64(bytes))
		f.sharedAt = max(f.sharedAt, now-f.loop) + unit.Serialize(wire+2*n.sched.Message, f.up)
	}
	if w.requested > w.granted {
		n.want(f, gi, at)
	}
	if !w.watched {
		w.watched = true
		n.clock(node, now+n.sched.Timeout, turnGiveUp, at)
	}
	n.tell(now, node, f, at)
}

// due returns the bytes that were granted and have not arrived.
func (w *flow) due() int64 { return max(0, w.granted-w.settled) }

// tell sends a flow's VOQ its total grant.
func (n *Net) tell(now unit.Time, node int32, f *iface, at int32) {
	w := &f.flows[at]
	m := Packet{Dst: f.granters[w.granter].nic, Loc: w.loc, Final: f.loc, Class: w.class,
		VA: uint64(w.granted), Flags: FlagGrant}
	if w.src == f.number {
		n.granted(now, node, f, &m)
		return
	}
	n.sendMessage(now, node, m)
}

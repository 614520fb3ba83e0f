package cc

import (
	"math/bits"

	"railyard/unit"
)

// Terms are the rules by which a receiver grants credit for an algorithm.
type Terms struct {
	Share   float64 // granted share of the line rate, above 0, at most 1
	Packets int     // full packets in one grant
	Pulls   bool    // each arriving packet, whole or trimmed, is granted another; senders send no requests
}

// Granter is the receiver's side of credit for all traffic that arrives at one NIC. It grants a share of the line
// rate, one grant at a time, round-robin among flows with requests. Flows of a higher level precede those of lower
// ones. It has no clock and sends nothing; its owner (a NIC, or an endpoint of sockets) calls Next at NextAt.
type Granter struct {
	Slack unit.Time // maximum lateness of a grant that is made up; simulated NICs are never late

	flows   []grantee
	idle    []int32 // flows that have left and are in no ring
	rings   [levels]struct{ head, tail int32 }
	waiting uint8 // levels with a flow in their ring
	at      unit.Time
}

const levels = 8

// grantee is one flow. Sums are bytes of wire since it began.
type grantee struct {
	asked, granted int64
	quantum        int64
	share          float64
	next           int32
	level          uint8
	queued, gone   bool
}

// mostAhead is the maximum of a flow's requested and not yet granted bytes.
const mostAhead = 1 << 40

// Join adds a flow whose full packets have the given size on the wire. It returns the flow's number.
func (g *Granter) Join(t Terms, packet int64, level uint8) int32 {
	if g.flows == nil {
		for l := range g.rings {
			g.rings[l].head, g.rings[l].tail = -1, -1
		}
	}
	f := grantee{quantum: int64(t.Packets) * packet, share: t.Share, next: -1, level: min(level, levels-1)}
	if n := len(g.idle); n > 0 {
		flow := g.idle[n-1]
		g.idle, g.flows[flow] = g.idle[:n-1], f
		return flow
	}
	g.flows = append(g.flows, f)
	return int32(len(g.flows) - 1)
}

// Drop discards a flow's outstanding request.
func (g *Granter) Drop(flow int32) { g.flows[flow].asked = g.flows[flow].granted }

// Leave removes a flow. Join may reuse its number. Next may have it once more.
func (g *Granter) Leave(flow int32) {
	f := &g.flows[flow]
	g.Drop(flow)
	f.gone = true
	if !f.queued {
		g.idle = append(g.idle, flow)
	}
}

// Asked processes a request; the argument is the total requested so far. A repeated request shows that a grant was
// lost, and the grant is repeated.
func (g *Granter) Asked(flow int32, total int64) {
	f := &g.flows[flow]
	if total < 0 || total > f.granted+mostAhead {
		return
	}
	f.asked = max(f.asked, total)
	g.queue(flow)
}

// Needs adds bytes that a flow will need: packets known to be lost before the sender requests credit for them.
func (g *Granter) Needs(flow int32, wire int64) {
	f := &g.flows[flow]
	f.asked = max(f.asked, f.granted) + wire
	g.queue(flow)
}

func (g *Granter) queue(flow int32) {
	f := &g.flows[flow]
	if f.queued {
		return
	}
	f.queued, f.next = true, -1
	if r := &g.rings[f.level]; r.tail >= 0 {
		g.flows[r.tail].next = flow
		r.tail = flow
	} else {
		r.head, r.tail = flow, flow
		g.waiting |= 1 << f.level
	}
}

// NextAt returns the time of the next grant, or unit.Never without requests.
func (g *Granter) NextAt() unit.Time {
	if g.waiting == 0 {
		return unit.Never
	}
	return g.at
}

// Next returns the flow whose turn it is and its total grant, for a NIC of the given rate; ok is false before NextAt.
func (g *Granter) Next(now unit.Time, line unit.Rate) (flow int32, total int64, ok bool) {
	if g.NextAt() > now {
		return
	}
	level := bits.Len8(g.waiting) - 1
	r := &g.rings[level]
	flow = r.head
	f := &g.flows[flow]
	if r.head = f.next; r.head < 0 {
		r.tail = -1
		g.waiting &^= 1 << level
	}
	f.queued = false
	n := max(0, min(f.quantum, f.asked-f.granted))
	f.granted += n
	rate := max(1, unit.Rate(float64(line)*f.share))
	g.at = max(g.at, now-g.Slack) + unit.Serialize(unit.Bytes(n), rate)
	if f.asked > f.granted {
		g.queue(flow)
	} else if f.gone {
		g.idle = append(g.idle, flow)
	}
	return flow, f.granted, true
}

// Granted and Asks return a flow's totals.
func (g *Granter) Granted(flow int32) unit.Bytes { return unit.Bytes(g.flows[flow].granted) }

// Outstanding returns a flow's requested and not yet granted bytes.
func (g *Granter) Outstanding(flow int32) unit.Bytes {
	return unit.Bytes(g.flows[flow].asked - g.flows[flow].granted)
}

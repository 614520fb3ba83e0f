package host

import (
	"math/bits"

	"railyard/cc"
	"railyard/internal/engine"
	"railyard/rc"
	"railyard/unit"
)

// Position is the progress of a connection within the message that it sends, in sequence numbers.
type Position struct {
	rc.Under
	Expects uint64 // next at the receiver
}

// Position returns a connection's progress. It sends if a packet is still to be sent; it is idle if nothing is
// unacknowledged. It is calm if it sends at line rate, no timer of its congestion control runs, none of its packets
// is lost or out of order, and both ends are within one message.
func (h *Hosts) Position(c int32) (p Position, sends, idle, calm bool) {
	s, r := &h.senders[c], &h.receivers[c]
	u, plain := s.qp.Under()
	expects, whole := r.qp.Expects()
	p = Position{u, expects}
	sends, idle = u.End > 0, s.qp.Idle()
	calm = !s.sprayed && s.paths == nil && !s.stuck && s.paceAt == unit.Never && s.timerAt == unit.Never &&
		s.pace.Rate >= s.pace.Line && !s.pace.Credited() && !s.pace.Acked() && h.Net.Q.Now()-r.lastCNP > h.CNPGap(c)
	if n, ok := s.pace.Ctl.Counter(cc.CounterCNPs); ok && n > 0 {
		calm = false // the congestion estimate is still changing
	}
	if sends {
		calm = calm && plain && whole && u.Una > u.First && expects > u.First
	}
	return p, sends, idle, calm
}

// Ahead returns the time until PCIe has read the sender's requested data and written the receiver's arrived data.
func (h *Hosts) Ahead(c int32) (fetched, written unit.Time) {
	s, now := &h.senders[c], h.Net.Q.Now()
	src, dst := &h.nics[s.nic], &h.nics[s.dst]
	if len(h.buses) > 0 {
		fetched = max(0, h.fetchable(src)-now)
		for _, b := range dst.buses {
			written += max(0, h.buses[b].written-now)
		}
	}
	return fetched, written + max(0, dst.rxFree-now)
}

// CNPGap returns the least time between two CNPs of a connection's receiver.
func (h *Hosts) CNPGap(c int32) unit.Time { return h.Service(c).CNPGap }

// Next returns the sequence number of the packet that a connection sends next.
func (h *Hosts) Next(c int32) uint64 {
	u, _ := h.senders[c].qp.Under()
	return u.Next
}

// Shorten takes packets out of the message that a connection sends. They count as sent and received.
func (h *Hosts) Shorten(c int32, packets uint64) {
	h.senders[c].qp.Shorten(packets)
	h.receivers[c].qp.Skip(packets)
}

// Stale reports whether an event does nothing, or only checks whether an acknowledgement is overdue.
func (h *Hosts) Stale(e *engine.Event) bool {
	switch e.Kind() - h.base {
	case KindTimeout:
		return true
	case KindCC:
		return !h.ccTimers.Live(e)
	}
	return false
}

// Waiting calls f for the connections that wait at a NIC's port, in their turns.
func (h *Hosts) Waiting(port int32, f func(c int32)) {
	own := h.rings.owner[port]
	for m := h.rings.waiting[own]; m != 0; m &= m - 1 {
		r := &h.rings.all[h.rings.base[bits.TrailingZeros8(m)]+own]
		for c := r.head; c >= 0; c = h.senders[c].next {
			f(c)
		}
	}
}

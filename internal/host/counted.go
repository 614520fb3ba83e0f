package host

import (
	"railyard/cc"
	"railyard/transport"
	"railyard/unit"
)

// Reports on a connection, for any transport.

// Controller returns a connection's congestion control; nil if a protocol keeps it private.
func (h *Hosts) Controller(c int32) cc.Controller { return h.senders[c].pace.Ctl }

// Counter returns a counter of a connection's congestion control, or of its transport protocol: the sum over its
// two ends.
func (h *Hosts) Counter(c int32, name string) (n int64, ok bool) {
	e := h.endsOf(c)
	if e == nil {
		return h.senders[c].pace.Ctl.Counter(name)
	}
	n, ok = e.send.Counter(name)
	if more, also := e.recv.Counter(name); also {
		return n + more, true
	}
	return n, ok
}

// Signal reports a signal of a connection's congestion control, or of the protocol that carries it.
func (h *Hosts) Signal(now unit.Time, c int32, name string) (float64, bool) {
	if e := h.endsOf(c); e != nil {
		return e.send.Signal(now, name)
	}
	return h.senders[c].pace.Ctl.Signal(now, name)
}

// Finish sums up per-connection counters; call it after a run.
func (h *Hosts) Finish() {
	h.Count.Retransmissions, h.Count.HeldPeak = 0, 0
	h.Count.OutOfOrder -= h.summed.OutOfOrder
	h.Count.Duplicates -= h.summed.Duplicates
	h.Count.Timeouts -= h.summed.Timeouts
	h.summed = Counters{}
	for i := range h.senders {
		if e := h.endsOf(int32(i)); e != nil {
			h.sum(e)
			continue
		}
		h.Count.Retransmissions += int64(h.senders[i].qp.Retransmitted)
		h.Count.HeldPeak = max(h.Count.HeldPeak, h.receivers[i].qp.HeldPeak())
	}
	h.Count.OutOfOrder += h.summed.OutOfOrder
	h.Count.Duplicates += h.summed.Duplicates
	h.Count.Timeouts += h.summed.Timeouts
}

// sum adds the counters of one connection's ends, by the names that all protocols share.
func (h *Hosts) sum(e *ends) {
	late, _ := e.send.Counter(transport.CounterTimeouts)
	reordered, _ := e.recv.Counter(transport.CounterReordered)
	twice, _ := e.recv.Counter(transport.CounterDuplicates)
	peak, _ := e.recv.Counter(transport.CounterHeldPeak)
	h.summed.Timeouts += late
	h.summed.OutOfOrder += reordered
	h.summed.Duplicates += twice
	h.Count.Retransmissions += e.again
	h.Count.HeldPeak = max(h.Count.HeldPeak, int(peak))
}

// Placed returns the payload bytes a connection's receiver has written.
func (h *Hosts) Placed(c int32) unit.Bytes {
	e := h.endsOf(c)
	if e == nil {
		return unit.Bytes(h.receivers[c].qp.Placed)
	}
	if n, ok := e.recv.Counter(transport.CounterPlaced); ok {
		return unit.Bytes(n)
	}
	return e.done
}

// CEMarks returns how many marked packets a connection's receiver saw.
func (h *Hosts) CEMarks(c int32) int64 {
	if e := h.endsOf(c); e != nil {
		return e.ce
	}
	return h.receivers[c].ce
}

// Trimmed returns how many of a connection's packets arrived as headers.
func (h *Hosts) Trimmed(c int32) int64 {
	if e := h.endsOf(c); e != nil {
		return e.cut
	}
	return h.receivers[c].cut
}

// Retransmitted returns how many packets a connection has sent again.
func (h *Hosts) Retransmitted(c int32) int64 {
	if e := h.endsOf(c); e != nil {
		return e.again
	}
	return int64(h.senders[c].qp.Retransmitted)
}

// Timeouts returns how often a connection's sender waited for an acknowledgement in vain.
func (h *Hosts) Timeouts(c int32) int64 {
	if e := h.endsOf(c); e != nil {
		n, _ := e.send.Counter(transport.CounterTimeouts)
		return n
	}
	return int64(h.senders[c].qp.Timeouts)
}

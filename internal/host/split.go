package host

import "slices"

// Owns reports whether a NIC's events run here, in a network in parts.
func (h *Hosts) Owns(nic int32) bool { return h.Net.Owns(h.Net.Ports[h.nics[nic].ports[0]].Node) }

// Adopts prepares hosts that have not run for Adopt. The hosts of all parts have set up the same connections and
// posted the same messages.
func (h *Hosts) Adopts(first *Hosts) {
	h.Messages, h.Count, h.silences = first.Messages, Counters{}, nil
	h.senders, h.receivers, h.carried = slices.Clone(first.senders), slices.Clone(first.receivers),
		slices.Clone(first.carried)
}

// Adopt merges the state of a part's NICs: senders and receivers, and their counters.
func (h *Hosts) Adopt(o *Hosts) {
	for nic := range h.nics {
		if o.Owns(int32(nic)) {
			h.nics[nic] = o.nics[nic]
		}
	}
	for c := range h.senders {
		src, dst := h.Peers(int32(c))
		if o.Owns(src) {
			h.senders[c] = o.senders[c]
		}
		if o.Owns(dst) {
			h.receivers[c] = o.receivers[c]
		}
		if e := h.endsOf(int32(c)); e != nil {
			e.adopt(&o.carried[c], o.Owns(src), o.Owns(dst))
		}
	}
	for c, s := range o.silences {
		if h.silences == nil {
			h.silences = map[int32]Silence{}
		}
		h.silences[c] = s
	}
	h.Count.add(&o.Count)
}

// adopt copies the sender, the receiver, or both.
func (e *ends) adopt(o *ends, sends, receives bool) {
	if sends {
		e.send, e.again, e.broken = o.send, o.again, o.broken
	}
	if receives {
		e.recv, e.ce, e.cut, e.done = o.recv, o.ce, o.cut, o.done
	}
}

// add sums up two parts' counters.
func (c *Counters) add(o *Counters) {
	for _, x := range [][2]*int64{{&c.CNPs, &o.CNPs}, {&c.Acks, &o.Acks}, {&c.Naks, &o.Naks},
		{&c.NaksReceived, &o.NaksReceived},
		{&c.OutOfOrder, &o.OutOfOrder}, {&c.Trimmed, &o.Trimmed}, {&c.Retransmissions, &o.Retransmissions},
		{&c.Timeouts, &o.Timeouts}, {&c.EarlyTimeouts, &o.EarlyTimeouts},
		{&c.Duplicates, &o.Duplicates}, {&c.DataPackets, &o.DataPackets},
		{&c.DataBytes, &o.DataBytes}, {&c.Failed, &o.Failed}, {&c.NoRoom, &o.NoRoom}} {
		*x[0] += *x[1]
	}
	c.HeldPeak = max(c.HeldPeak, o.HeldPeak)
}

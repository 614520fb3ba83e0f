package host

import (
	"railyard/rc"
	"railyard/unit"
)

// Reorder is the memory of each NIC for RC packets that overtook others and cannot be placed yet. The zero Reorder
// has no limit, and places packets as soon as their address is known.
type Reorder struct {
	Placement rc.Placement
	Bytes     unit.Bytes // bytes of payload; 0: no limit
	Entries   int        // packets; 0: no limit
	// Rate is the bandwidth of a NIC's own memory, if packets after a gap pass through it. Each is written to it
	// and read from it.
	Rate unit.Rate
}

// needs reports whether NICs store packets. They do not store packets that go-back-N drops. They store packets with
// their own address only if all pass through a memory.
func (o *Reorder) needs(c *rc.Config) bool {
	return c.Recovery == rc.Selective && (!c.WriteOnly || o.Placement == rc.ThroughNIC)
}

// remember gives a NIC its reorder memory if it needs one.
func (h *Hosts) remember(nic int32) {
	o, n := &h.cfg.Reorder, &h.nics[nic]
	if o.needs(&h.cfg.RC) {
		n.store = &rc.Store{Placement: o.Placement, Bytes: int64(o.Bytes), Entries: o.Entries}
	}
	if through := o.Rate / 2; through > 0 && o.Placement == rc.ThroughNIC {
		n.pcie = through // its buffer's drain rate, unless PCIe is slower
	}
}

// detour schedules a packet that a NIC stores in its own memory on the bandwidth of that memory, in and out. Faster
// arrivals wait in the NIC's buffer, from which the NIC pauses its switch as it does for PCIe.
func (h *Hosts) detour(now unit.Time, nic int32, payload int, v rc.Verdict) {
	if h.cfg.Reorder.Placement != rc.ThroughNIC || v != rc.Reordered {
		return
	}
	n := &h.nics[nic]
	n.detoured = max(n.detoured, now) + unit.Serialize(unit.Bytes(2*payload), h.cfg.Reorder.Rate)
	n.rxFree = max(n.rxFree, n.detoured)
	h.fills(now, n, nic)
}

// Stored is the state of a NIC's reorder memory.
type Stored struct {
	Used, Top, Peak     unit.Bytes // now, most since the last look, most ever
	Held, TopHeld, Most int        // packets, likewise
	Kept, Refused       int64      // packets ever stored, and packets dropped because the memory was full
}

// Stored returns the state of a NIC's reorder memory; false: it needs none.
func (h *Hosts) Stored(nic int32) (s Stored, ok bool) {
	m := h.nics[nic].store
	if m == nil {
		return s, false
	}
	return Stored{Used: unit.Bytes(m.Used), Top: unit.Bytes(m.Top), Peak: unit.Bytes(m.Peak), Held: m.Held,
		TopHeld: m.TopHeld, Most: m.Most, Kept: m.Kept, Refused: m.Refused}, true
}

// Looked begins a new interval of a NIC's reorder memory: its current content becomes the peak.
func (h *Hosts) Looked(nic int32) {
	if m := h.nics[nic].store; m != nil {
		m.Top, m.TopHeld = m.Used, m.Held
	}
}

// Refused returns how many of a connection's packets its receiver's NIC dropped because the reorder memory was
// full.
func (h *Hosts) Refused(c int32) int64 {
	if h.endsOf(c) != nil {
		return 0
	}
	return int64(h.receivers[c].qp.Refused())
}

package host

import "railyard/unit"

// Bus is a PCIe link between GPUs and NICs of one server with less bandwidth than they have. It belongs to one NIC,
// to a GPU with several NICs, or is above several switches. Each direction is separate.
type Bus struct {
	Rate unit.Rate // of payload
	NICs []int32
}

// bus is one at work.
type bus struct {
	rate    unit.Rate
	fetched unit.Time // time at which all requested data are at the NICs
	written unit.Time // time at which all received data are in GPU memory
}

// Share connects NICs of a server by a bus.
func (h *Hosts) Share(b Bus) {
	h.buses = append(h.buses, bus{rate: b.Rate})
	for _, id := range b.NICs {
		n := &h.nics[id]
		n.buses = append(n.buses, int32(len(h.buses)-1))
		if n.pcie == 0 || b.Rate < n.pcie {
			n.pcie = b.Rate
		}
		n.slow = true
	}
}

// limited reports that a NIC has a bus. Without any, NICs need not be checked for it.
func (h *Hosts) limited(n *nic) bool { return len(h.buses) > 0 && n.slow }

// fetchable returns the time at which a NIC can have its next payload.
func (h *Hosts) fetchable(n *nic) (at unit.Time) {
	for _, b := range n.buses {
		at = max(at, h.buses[b].fetched)
	}
	return at
}

// fetch schedules on the bus a payload that a NIC reads from its GPU.
func (h *Hosts) fetch(now unit.Time, n *nic, payload unit.Bytes) {
	for _, i := range n.buses {
		b := &h.buses[i]
		b.fetched = max(b.fetched, now) + unit.Serialize(payload, b.rate)
	}
}

// write schedules on the bus a payload that a NIC writes to its GPU.
func (h *Hosts) write(now unit.Time, n *nic, payload unit.Bytes) {
	for _, i := range n.buses {
		b := &h.buses[i]
		b.written = max(b.written, now) + unit.Serialize(payload, b.rate)
		n.rxFree = max(n.rxFree, b.written)
	}
}

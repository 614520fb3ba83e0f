package sim

import (
	"railyard/internal/result"
	"railyard/rc"
	"railyard/unit"
)

// placementNames are the names of a NIC's placements in scenarios.
var placementNames = map[rc.Placement]string{rc.ByAddress: "address", rc.InOrder: "order", rc.ThroughNIC: "local"}

// nicMemory is the series of the NICs' reorder memories.
type nicMemory struct {
	rows    []result.NICRow
	refused []int64 // by NIC: refused packets until the last sample
}

// take closes the interval [began, now). NICs that stored or dropped packets in it have a row.
func (m *nicMemory) take(n *Network, began, now unit.Time) {
	if m.refused == nil {
		m.refused = make([]int64, len(n.Graph.NICs))
	}
	for i := range m.refused {
		s, ok := n.Hosts.Stored(int32(i))
		if !ok {
			return // then no NIC does
		}
		refused := s.Refused - m.refused[i]
		if s.Top == 0 && refused == 0 {
			continue
		}
		m.rows = append(m.rows, result.NICRow{Start: int64(began), Length: int64(now - began), NIC: int32(i),
			Bytes: int64(s.Used), Peak: int64(s.Top), Packets: int32(s.TopHeld), Refused: refused})
		m.refused[i] = s.Refused
		n.Hosts.Looked(int32(i))
	}
}

// merge combines the rows of one NIC within each span, which the sampler doubles. A NIC that stores packets has a
// link that sends to it, so there are no more rows than links have.
func (m *nicMemory) merge(span unit.Time) {
	last := make([]int, len(m.refused)) // row + 1 of a NIC in this span
	out, slot, base := m.rows[:0], int64(-1), 0
	for _, r := range m.rows {
		if k := r.Start / int64(span); k != slot {
			slot, base = k, len(out)
		}
		if j := last[r.NIC] - 1; j >= base {
			o := &out[j]
			o.Length, o.Bytes = r.Start+r.Length-o.Start, r.Bytes
			o.Peak, o.Packets, o.Refused = max(o.Peak, r.Peak), max(o.Packets, r.Packets), o.Refused+r.Refused
			continue
		}
		out = append(out, r)
		last[r.NIC] = len(out)
	}
	m.rows = out
}

// reorderMemory summarizes the NICs' reorder memories; nil if none held or dropped packets.
func (r *Run) reorderMemory() *result.ReorderMemory {
	limits := &r.Setup.Host.Reorder
	m := result.ReorderMemory{Placement: placementNames[limits.Placement], Limit: int64(limits.Bytes),
		Entries: limits.Entries}
	for i := range r.Graph.NICs {
		s, _ := r.Hosts.Stored(int32(i))
		if s.Kept+s.Refused == 0 {
			continue
		}
		m.NICs++
		if int64(s.Peak) > m.Peak || m.NIC == "" {
			m.NIC, m.Peak = r.Graph.NICName(i), int64(s.Peak)
		}
		m.Packets, m.Kept, m.Refused = max(m.Packets, s.Most), m.Kept+s.Kept, m.Refused+s.Refused
		if s.Refused > 0 {
			m.Full++
		}
	}
	if m.NICs == 0 {
		return nil
	}
	return &m
}

package rc

import "railyard/roce"

// Placement is the rule by which a NIC writes packets that arrive after a gap to memory. Packets that cannot be
// placed yet are stored in its Store.
type Placement uint8

// The placements.
const (
	// ByAddress places a packet as soon as its address is known. A packet with a RETH is placed immediately. A
	// Middle or Last is placed once the First of its message has arrived, whose RETH has address and length.
	ByAddress Placement = iota
	// InOrder places parts of First/Middle/Last messages in PSN order, and messages of one packet with a RETH
	// immediately.
	InOrder
	// ThroughNIC stores every packet after a gap in the NIC's own memory, whatever its headers.
	ThroughNIC
)

// Store is the memory of a NIC for packets that cannot be placed yet. The NIC's queue pairs share it. The zero
// Store has no limit.
type Store struct {
	Placement Placement
	Bytes     int64 // bytes of payload; 0: no limit
	Entries   int   // packets; 0: no limit

	Used    int64 // bytes of payload now,
	Held    int   // and packets
	Top     int64 // peak of Used since Top was last set to Used,
	TopHeld int   // and packets
	Peak    int64 // most bytes ever,
	Most    int   // and packets
	Kept    int64 // packets that were stored
	Refused int64 // packets dropped because the memory was full
}

// take reserves room for a packet; false: there is none.
func (m *Store) take(bytes int64) bool {
	if m.Bytes > 0 && m.Used+bytes > m.Bytes || m.Entries > 0 && m.Held >= m.Entries {
		m.Refused++
		return false
	}
	m.Used, m.Held, m.Kept = m.Used+bytes, m.Held+1, m.Kept+1
	m.Top, m.TopHeld = max(m.Top, m.Used), max(m.TopHeld, m.Held)
	m.Peak, m.Most = max(m.Peak, m.Used), max(m.Most, m.Held)
	return true
}

// far reports whether a packet d beyond the expected one exceeds the store's capacity. Otherwise a store full of
// the furthest packets would have no room for the packets before them. It counts as refused.
func (m *Store) far(d uint64, mtu int) bool {
	far := m.Bytes > 0 && d*uint64(mtu) > uint64(m.Bytes) || m.Entries > 0 && d > uint64(m.Entries)
	if far {
		m.Refused++
	}
	return far
}

// stored is one queue pair's part of a Store.
type stored struct {
	*Store
	kept    []bool  // by sequence number, as window.used
	firsts  []reach // messages whose First is beyond the gap
	refused uint64  // packets of this queue pair
}

// reach is the sequence numbers of a message, [from, to).
type reach struct{ from, to uint64 }

// KeepIn makes a responder in selective recovery store packets that it cannot place yet. Packets are dropped if the
// store is full. Without a store, only Config.Window bounds them.
func (q *QP) KeepIn(m *Store) { q.reorder.store = &stored{Store: m} }

// Refused returns the number of packets that this responder dropped because its store was full.
func (q *QP) Refused() uint64 {
	if q.reorder.store == nil {
		return 0
	}
	return q.reorder.store.refused
}

// keeps allocates memory for packet p at sequence number s, after the gap, and reports whether there is any. The
// ring has a slot for s.
func (q *QP) keeps(p *Packet, s uint64) bool {
	m := q.reorder.store
	if m.Placement == ByAddress && isWrite(p.Opcode) && p.Opcode.HasRETH() && !p.Opcode.Ends() {
		to := s + q.packets(int64(p.Len))
		m.firsts = append(m.firsts, reach{s, to})
		q.placed(s+1, to)
		return true
	}
	if p.Payload == 0 || q.placeable(p, s) {
		return true
	}
	if m.Placement != ByAddress && m.far(s-q.expect, q.cfg.MTU) || !m.take(int64(p.Payload)) {
		m.refused++
		return false
	}
	m.kept[s&uint64(len(m.kept)-1)] = true
	return true
}

// placeable reports whether packet p at sequence number s, which does not start a multi-packet message, is written to
// memory immediately.
func (q *QP) placeable(p *Packet, s uint64) bool {
	m := q.reorder.store
	switch {
	case m.Placement == ThroughNIC || !isWrite(p.Opcode):
		return false
	case p.Opcode.HasRETH():
		return p.Opcode.Ends()
	case m.Placement == InOrder:
		return false
	case q.inWrite && s < q.expect+q.packets(q.msgLeft):
		return true
	}
	for _, f := range m.firsts {
		if f.from < s && s < f.to {
			return true
		}
	}
	return false
}

// grow sets the capacity of the ring; it holds no sequence numbers below expect.
func (m *stored) grow(expect uint64, size int) {
	kept := make([]bool, size)
	for i := range uint64(len(m.kept)) {
		s := expect + i
		kept[s&uint64(size-1)] = m.kept[s&uint64(len(m.kept)-1)]
	}
	m.kept = kept
}

// put frees the memory of the packet at sequence number s, which was written to GPU memory or is forgotten.
func (m *stored) put(s uint64, p *Packet) {
	if i := s & uint64(len(m.kept)-1); len(m.kept) > 0 && m.kept[i] {
		m.kept[i] = false
		m.Used, m.Held = m.Used-int64(p.Payload), m.Held-1
	}
}

// placed frees the room of packets in [from, to), whose addresses are known now.
func (q *QP) placed(from, to uint64) {
	r := &q.reorder
	for s := from; s < min(to, r.top); s++ {
		if r.has(s) {
			r.store.put(s, &r.slots[s&uint64(len(r.slots)-1)])
		}
	}
}

// known frees the stored packets of the current message: its First has arrived.
func (q *QP) known() {
	m := q.reorder.store
	if m.Placement == ByAddress && q.inWrite {
		q.placed(q.expect, q.expect+q.packets(q.msgLeft))
	}
	for len(m.firsts) > 0 && m.firsts[0].to <= q.expect {
		m.firsts = append(m.firsts[:0], m.firsts[1:]...)
	}
}

// free releases the stored packets of a responder whose queue pair has failed.
func (q *QP) free() {
	if m := q.reorder.store; m != nil {
		for i := range q.reorder.used {
			s := q.expect + uint64(i)
			if q.reorder.has(s) {
				m.put(s, &q.reorder.slots[s&uint64(len(q.reorder.slots)-1)])
			}
		}
		m.firsts = nil
	}
}

// isWrite reports whether a packet is part of a WRITE.
func isWrite(o roce.Opcode) bool { return o >= roce.WriteFirst && o <= roce.WriteOnlyImm }

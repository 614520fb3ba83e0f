package rc

// Memory is a table of registered regions, looked up by rkey. One table serves
// all queue pairs of a protection domain.
type Memory struct {
	regions map[uint32]region
	next    uint32
}

type region struct {
	va, len uint64
	write   bool
}

// NewMemory returns an empty table; the first key is base.
func NewMemory(base uint32) *Memory { return &Memory{regions: map[uint32]region{}, next: base} }

// Register pins [va, va+len) and returns its rkey.
func (m *Memory) Register(va, length uint64, remoteWrite bool) (rkey uint32) {
	rkey = m.next
	m.next++
	m.regions[rkey] = region{va, length, remoteWrite}
	return rkey
}

// mayWrite checks a RETH against the table: the key exists, the region allows
// remote writes and the whole range lies inside (IBTA 9.7.4.1.5).
func (m *Memory) mayWrite(rkey uint32, va uint64, length uint32) bool {
	r, ok := m.regions[rkey]
	return ok && r.write && va >= r.va && uint64(length) <= r.len && va-r.va <= r.len-uint64(length)
}

package rc

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Access is the set of operations that a registered region allows (IBTA 10.6.3.1).
type Access uint8

// Access rights. Without LocalWrite the region can only be read from.
const (
	LocalWrite Access = 1 << iota
	RemoteWrite
	RemoteRead
	RemoteAtomic
	// RemoteInvalidate lets a peer end the region with SEND with invalidate. In
	// ibverbs fast-registered regions and type 2 windows allow that, and no others.
	RemoteInvalidate
)

// Memory is a table of registered regions, looked up by rkey. All queue pairs of a protection domain share one table.
type Memory struct {
	regions map[uint32]*region
	next    uint32
}

// region is [va, va+len). Its bytes are in buf; the simulator has none.
type region struct {
	va, len uint64
	access  Access
	buf     []byte
	dead    bool // deregistered or invalidated during a message
}

// NewMemory returns an empty table; the first key of Register is base.
func NewMemory(base uint32) *Memory { return &Memory{regions: map[uint32]*region{}, next: base} }

// Register pins [va, va+length) without memory and returns its rkey.
func (m *Memory) Register(va, length uint64, access Access) (rkey uint32) {
	rkey = m.next
	m.next++
	m.regions[rkey] = &region{va: va, len: length, access: access}
	return rkey
}

// RegisterBuffer makes buf known as [va, va+len(buf)) under a key of the
// caller's choice, which must be free.
func (m *Memory) RegisterBuffer(rkey uint32, va uint64, buf []byte, access Access) error {
	if m.regions[rkey] != nil {
		return fmt.Errorf("rkey %#x is taken", rkey)
	}
	if va+uint64(len(buf)) < va {
		return errors.New("region wraps around the address space")
	}
	if access&(RemoteWrite|RemoteAtomic) != 0 && access&LocalWrite == 0 {
		return errors.New("remote write and atomic access need local write access") // IBTA 10.6.3.1
	}
	m.regions[rkey] = &region{va: va, len: uint64(len(buf)), access: access, buf: buf}
	return nil
}

// Deregister forgets a key and reports whether it was known. Further packets of messages into the region are refused.
func (m *Memory) Deregister(rkey uint32) bool {
	r := m.regions[rkey]
	if r == nil {
		return false
	}
	r.dead = true
	delete(m.regions, rkey)
	return true
}

// mayInvalidate reports whether a peer may end the region of a key.
func (m *Memory) mayInvalidate(rkey uint32) bool {
	r := m.regions[rkey]
	return r != nil && r.access&RemoteInvalidate != 0
}

// find checks a RETH against the table: the key exists, the region allows the access and the whole range is inside
// (IBTA 9.7.4.1.5). Nil when not.
func (m *Memory) find(rkey uint32, va uint64, length uint32, need Access) *region {
	r := m.regions[rkey]
	if r == nil || r.access&need != need || va < r.va || uint64(length) > r.len || va-r.va > r.len-uint64(length) {
		return nil
	}
	return r
}

// Target returns the memory of a WRITE of length bytes at va. It returns false for an unknown key, a missing right
// or a range outside the region.
func (m *Memory) Target(rkey uint32, va uint64, length uint32) (b []byte, ok bool) {
	r := m.find(rkey, va, length, RemoteWrite)
	if r == nil {
		return nil, false
	}
	return r.bytes(va, int(length)), true
}

// bytes returns the n bytes at va, which lie inside; nil without a buffer.
func (r *region) bytes(va uint64, n int) []byte {
	if r.buf == nil {
		return nil
	}
	return r.buf[va-r.va:][:n]
}

// atomic runs FETCH_ADD or CMP_SWAP on the eight bytes at va, in the byte order of the host, and returns their old
// value.
func (r *region) atomic(va uint64, swap bool, swapAdd, compare uint64) (was uint64) {
	b := r.bytes(va, 8)
	if b == nil {
		return 0
	}
	was = binary.NativeEndian.Uint64(b)
	switch {
	case !swap:
		binary.NativeEndian.PutUint64(b, was+swapAdd)
	case was == compare:
		binary.NativeEndian.PutUint64(b, swapAdd)
	}
	return was
}

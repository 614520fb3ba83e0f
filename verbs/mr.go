package verbs

import (
	"errors"
	"fmt"
	"unsafe"

	"railyard/rc"
	"railyard/rcudp"
	"railyard/unit"
)

// Access are the rights of a memory region or queue pair.
type Access = rc.Access

// Access rights.
const (
	LocalWrite   = rc.LocalWrite
	RemoteWrite  = rc.RemoteWrite
	RemoteRead   = rc.RemoteRead
	RemoteAtomic = rc.RemoteAtomic
	// RemoteInvalidate lets a peer end the region with SEND with invalidate. In
	// ibverbs fast-registered regions and type 2 windows allow that, and no others.
	RemoteInvalidate = rc.RemoteInvalidate
)

// PD is a protection domain.
type PD struct {
	dev   *Device
	mem   *rc.Memory
	local map[uint32]*MR // by lkey; guarded by the device's lock
}

// MR is a registered memory region. LKey and RKey are the same number, as on
// most NICs.
type MR struct {
	Addr   uint64 // virtual address of the first byte
	Length int
	LKey   uint32
	RKey   uint32
	Access Access

	pd  *PD
	buf []byte
}

// MaxRegion is the largest region, 1 TiB.
const MaxRegion = 1 << 40

// RegMR registers buf. The region's address is the buffer's own. Go code must not use the buffer while a peer may
// write to it. It may use it after a completion that permits it.
func (pd *PD) RegMR(buf []byte, access Access) (*MR, error) {
	if len(buf) == 0 || len(buf) > MaxRegion {
		return nil, fmt.Errorf("a region has 1 to %d bytes, found %d", int64(MaxRegion), len(buf))
	}
	mr := &MR{Addr: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(buf)))), Length: len(buf), Access: access,
		pd: pd, buf: buf}
	d := pd.dev
	d.mu.Lock()
	mr.LKey = random(d.keys, 1<<32-1)
	d.keys[mr.LKey] = true
	d.mu.Unlock()
	mr.RKey = mr.LKey
	var err error
	d.dev.Do(func(*rcudp.Endpoint, unit.Time) {
		if err = d.alive(); err != nil {
			return
		}
		if err = pd.mem.RegisterBuffer(mr.RKey, mr.Addr, buf, access); err == nil {
			pd.local[mr.LKey] = mr
		}
	})
	if err != nil {
		return nil, err
	}
	return mr, nil
}

// Dereg ends a region: its keys are refused from then on.
func (mr *MR) Dereg() error {
	known := false
	mr.pd.dev.dev.Do(func(*rcudp.Endpoint, unit.Time) {
		known = mr.pd.local[mr.LKey] == mr
		delete(mr.pd.local, mr.LKey)
		mr.pd.mem.Deregister(mr.RKey)
	})
	if !known {
		return errors.New("region is not registered")
	}
	d := mr.pd.dev
	d.mu.Lock()
	delete(d.keys, mr.LKey)
	d.mu.Unlock()
	return nil
}

// SGE is a scatter/gather element: bytes of a local region.
type SGE struct {
	Addr   uint64
	Length uint32
	LKey   uint32
}

// SGE returns the element of n bytes from offset off on. A message longer than the limit, or of negative length, is
// refused when it is posted.
func (mr *MR) SGE(off, n int) SGE {
	return SGE{mr.Addr + uint64(off), uint32(min(uint64(n), 1<<32-1)), mr.LKey}
}

// PD returns the region's protection domain.
func (mr *MR) PD() *PD { return mr.pd }

// All returns a list with the whole region, which must not exceed 2 GiB.
func (mr *MR) All() []SGE { return []SGE{mr.SGE(0, mr.Length)} }

// slice resolves an element; the device is locked. ok is false if the key, the range or the right to write is
// missing.
func (pd *PD) slice(s SGE, write bool) (b []byte, ok bool) {
	mr := pd.local[s.LKey]
	if mr == nil || s.Addr < mr.Addr || uint64(s.Length) > uint64(mr.Length) ||
		s.Addr-mr.Addr > uint64(mr.Length)-uint64(s.Length) ||
		write && mr.Access&LocalWrite == 0 {
		return nil, false
	}
	return mr.buf[s.Addr-mr.Addr:][:s.Length:s.Length], true
}

package roce

import (
	"encoding/binary"
	"fmt"

	"railyard/unit"
)

// CSIG is congestion signaling's tag (draft-ravi-ippm-csig-01; OCP SAI, Congestion Signaling, 2025), between the
// MAC addresses and the IP header. The sender writes it, and every switch whose egress port is worse replaces it.
// The compact tag has 4 bytes and 5 bits of value, the wide one 8 bytes and 20 bits. The drafts name fields and
// widths of values. Railyard chose their positions and the second EtherType:
//
//	compact  EtherType 16 | type 3 | reserved 1 | value 5 | locator 7
//	wide     EtherType 16 | type 3 | reserved 5 | value 20 | locator 20
type CSIG struct {
	Wide  bool
	Type  Signal
	Value uint32 // quantised
	Where uint32 // port that the signal refers to
}

// Signal is the quantity in a tag.
type Signal uint8

// Signals, by their code.
const (
	SignalABW   Signal = iota // least available bandwidth
	SignalABWC                // smallest available share of a port
	SignalDelay               // most time that a switch kept the packet
)

// EtherTypes of the tags: the first is the one of FBOSS's tests.
const (
	TypeCSIG     = 0x9900
	TypeCSIGWide = 0x9901
)

// Lengths of the tags.
const (
	CSIGLen     = 4
	CSIGWideLen = 8
)

// Units of the values: the wide tag's buckets are equal, with a power of two as their width; so are the 32 buckets
// of the compact tag. They are Gbit/s in 32s, 32nds of the port's rate, and 512 ns.
const (
	compactBits, wideBits   = 5, 20
	compactWhere, wideWhere = 1<<7 - 1, 1<<20 - 1

	abwCompact, abwWide     = 32 * unit.Gbps, 4 * unit.Mbps
	delayCompact, delayWide = 512 * unit.Nanosecond, unit.Nanosecond
)

// buckets returns the number of values.
func (t *CSIG) buckets() float64 {
	if t.Wide {
		return 1 << wideBits
	}
	return 1 << compactBits
}

// step returns the width of one bucket of a signal: bits per second, shares, or picoseconds.
func (t *CSIG) step() float64 {
	pick := func(compact, wide float64) float64 {
		if t.Wide {
			return wide
		}
		return compact
	}
	switch t.Type {
	case SignalABW:
		return pick(float64(abwCompact), float64(abwWide))
	case SignalABWC:
		return 1 / t.buckets()
	}
	return pick(float64(delayCompact), float64(delayWide))
}

// Quantise returns the bucket of a signal: bits per second, a share, or picoseconds.
func (t *CSIG) Quantise(x float64) uint32 { return uint32(min(max(x, 0)/t.step(), t.buckets()-1)) }

// Signal returns the lower end of the tag value's bucket.
func (t *CSIG) Signal() float64 { return float64(t.Value) * t.step() }

// Most returns the value of the tag's last bucket, which means that or more.
func (t *CSIG) Most() float64 { return (t.buckets() - 1) * t.step() }

// NewCSIG is a sender's tag: the best value there is.
func NewCSIG(wide bool, signal Signal) CSIG {
	t := CSIG{Wide: wide, Type: signal}
	if signal != SignalDelay {
		t.Value = uint32(t.buckets()) - 1
	}
	return t
}

// Replace stores a port's signal if it is worse and reports whether it was.
func (t *CSIG) Replace(x float64, port uint32) bool {
	q := t.Quantise(x)
	if worse := q < t.Value && t.Type != SignalDelay || q > t.Value && t.Type == SignalDelay; !worse {
		return false
	}
	t.Value, t.Where = q, port&wideWhere
	if !t.Wide {
		t.Where = port & compactWhere
	}
	return true
}

// Len returns the tag's bytes.
func (t *CSIG) Len() int {
	if t.Wide {
		return CSIGWideLen
	}
	return CSIGLen
}

// append writes the tag.
func (t *CSIG) append(b []byte) []byte {
	if t.Wide {
		b = binary.BigEndian.AppendUint16(b, TypeCSIGWide)
		w := uint64(t.Type&7)<<45 | uint64(t.Value&(1<<wideBits-1))<<20 | uint64(t.Where&wideWhere)
		b = binary.BigEndian.AppendUint16(b, uint16(w>>32))
		return binary.BigEndian.AppendUint32(b, uint32(w))
	}
	b = binary.BigEndian.AppendUint16(b, TypeCSIG)
	return binary.BigEndian.AppendUint16(b,
		uint16(t.Type&7)<<13|uint16(t.Value&(1<<compactBits-1))<<7|uint16(t.Where&compactWhere))
}

// decode reads a tag from exactly its bytes; false: its EtherType is no tag's, or reserved bits are set.
func (t *CSIG) decode(b []byte) bool {
	w := uint64(binary.BigEndian.Uint16(b[2:]))
	switch binary.BigEndian.Uint16(b) {
	case TypeCSIG:
		*t = CSIG{Type: Signal(w >> 13), Value: uint32(w >> 7 & (1<<compactBits - 1)),
			Where: uint32(w & compactWhere)}
		return w>>12&1 == 0
	case TypeCSIGWide:
		if len(b) < CSIGWideLen {
			return false
		}
		w = w<<32 | uint64(binary.BigEndian.Uint32(b[4:]))
		*t = CSIG{Wide: true, Type: Signal(w >> 45), Value: uint32(w >> 20 & (1<<wideBits - 1)),
			Where: uint32(w & wideWhere)}
		return w>>40&31 == 0
	}
	return false
}

func (t *CSIG) String() string {
	switch t.Type {
	case SignalABW:
		return fmt.Sprintf("CSIG available %v at port %d", unit.Rate(t.Signal()), t.Where)
	case SignalABWC:
		return fmt.Sprintf("CSIG available %.4f at port %d", t.Signal(), t.Where)
	case SignalDelay:
		return fmt.Sprintf("CSIG delay %v at port %d", unit.Time(t.Signal()), t.Where)
	}
	return fmt.Sprintf("CSIG signal %d value %d at port %d", t.Type, t.Value, t.Where)
}

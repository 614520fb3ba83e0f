package roce

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// Segment routing with compressed segments (RFC 9800, NEXT-CSID; MRC's forwarding by SRv6): the destination of an
// outer IPv6 header is a block of 32 bits and up to six micro segments of 16 bits. Each segment is a switch. A
// switch whose own uSID follows the block shifts the remaining ones up by 16 bits and appends zeros. It forwards by
// the resulting first /48. A zero ends the list.

// SegmentsMax is the number of micro segments that one address has room for.
const SegmentsMax = 6

// SRv6Len is the length of the outer header.
const SRv6Len = IPv6Len

// protoIPv6 is the protocol number of IPv6 in IP (RFC 2473).
const protoIPv6 = 41

// SegmentAddress is the address of a path: the block's 32 bits, and the switches in the order of the path.
func SegmentAddress(block uint32, segments ...uint16) (netip.Addr, error) {
	if len(segments) > SegmentsMax {
		return netip.Addr{}, fmt.Errorf("%d segments do not fit an SRv6 address: there is room for %d",
			len(segments), SegmentsMax)
	}
	var a [16]byte
	binary.BigEndian.PutUint32(a[:], block)
	for i, s := range segments {
		if s == 0 {
			return netip.Addr{}, fmt.Errorf("segment %d of %d is 0, which ends the list", i+1, len(segments))
		}
		binary.BigEndian.PutUint16(a[4+2*i:], s)
	}
	return netip.AddrFrom16(a), nil
}

// AppendSegments appends an address's segments to a list and returns its block.
func AppendSegments(to []uint16, a netip.Addr) (block uint32, segments []uint16) {
	b := a.As16()
	for i := range SegmentsMax {
		s := binary.BigEndian.Uint16(b[4+2*i:])
		if s == 0 {
			break
		}
		to = append(to, s)
	}
	return binary.BigEndian.Uint32(b[:]), to
}

// Encapsulate puts the frame's IPv6 packet, which Complete has completed, into an outer packet from src along a
// path. DSCP and ECN are copied, as in tunnels (RFC 6040), and so is the flow label.
func (f *Frame) Encapsulate(src, path netip.Addr) {
	f.Tunnel = true
	f.Outer = IP{Version: 6, TOS: f.IP.TOS, Flow: f.IP.Flow, Len: f.IP.Len + IPv6Len, Proto: protoIPv6,
		TTL: f.IP.TTL, Src: src, Dst: path}
}

// decodeTunnel decodes an outer IPv6 header with IPv6 content if b begins with one.
func (f *Frame) decodeTunnel(b []byte) ([]byte, error) {
	if len(b) < IPv6Len || b[0]>>4 != 6 || b[6] != protoIPv6 {
		return b, nil
	}
	inner, err := f.decode6(b)
	if err != nil {
		return nil, err
	}
	f.Outer, f.Tunnel = f.IP, true
	if !f.Exact || len(inner) == 0 || inner[0]>>4 != 6 {
		return nil, ErrNotRoCE
	}
	return inner, nil
}

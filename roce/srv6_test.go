package roce

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Segments decode in their order, one fewer at each switch, and the address is empty after the last.
func TestSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		block := rapid.Uint32().Draw(t, "block")
		path := rapid.SliceOfN(rapid.Uint16Range(1, 1<<16-1), 0, SegmentsMax).Draw(t, "path")
		a, err := SegmentAddress(block, path...)
		if err != nil {
			t.Fatal(err)
		}
		for left := path; ; left = left[1:] {
			b, got := AppendSegments(nil, a)
			if b != block || !slices.Equal(got, left) {
				t.Fatalf("%v: block %x, %x; want %x", a, b, got, left)
			}
			if len(left) == 0 {
				break
			}
			var own uint16
			if a, own = nextSegment(a); own != left[0] {
				t.Fatalf("a switch took %x for its own, not %x", own, left[0])
			}
		}
	})
	// RFC 9800's form, and MRC's digest: fcbb:bb00:leaf:spine:leaf::
	if a, _ := SegmentAddress(0xfcbbbb00, 0x11, 0x2002, 0x33); a != addr("fcbb:bb00:11:2002:33::") {
		t.Error(a)
	}
	for want, path := range map[string][]uint16{"7 segments do not fit": make([]uint16, 7),
		"segment 2 of 3 is 0": {1, 0, 2}} {
		if _, err := SegmentAddress(1, path...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Shifts of the outer address do not change the ICRC. Truncated tunnelled packets are rejected.
func TestTunnel(t *testing.T) {
	var p Frame
	for _, x := range mrcPackets() {
		if x.Tunnel {
			p = x.Frame
		}
	}
	plain := p
	plain.Tunnel = false
	if n := len(p.Append(nil)) - len(plain.Append(nil)); n != SRv6Len || SRv6Len != 40 {
		t.Errorf("the tunnel costs %d bytes", n)
	}
	for hop := range 4 {
		wire := p.Append(nil)
		var f Frame
		if err := f.Decode(wire); err != nil || f.ComputeICRC() != p.ICRC || !f.Tunnel ||
			f.Outer.Dst != p.Outer.Dst || f.IP.Dst != plain.IP.Dst || f.IP.Flow != plain.IP.Flow {
			t.Fatalf("hop %d: %v, %v", hop, err, &f)
		}
		if _, path := AppendSegments(nil, f.Outer.Dst); len(path) != 3-hop {
			t.Errorf("hop %d: %x", hop, path)
		}
		for n := range wire {
			if err := f.Decode(wire[:n:n]); err == nil {
				t.Fatalf("%d of %d bytes are taken for a whole packet", n, len(wire))
			}
		}
		for _, tail := range [][]byte{{0}, make([]byte, 7)} { // Ethernet's padding
			if err := f.Decode(append(bytes.Clone(wire), tail...)); err != nil ||
				!bytes.Equal(f.Trail, tail) {
				t.Errorf("with %d bytes behind it: %v, %x", len(tail), err, f.Trail)
			}
		}
		p.Outer.Dst, _ = nextSegment(p.Outer.Dst)
	}
}

// nextSegment removes the first segment of an address, as a switch does, and shifts the others up.
func nextSegment(a netip.Addr) (next netip.Addr, own uint16) {
	b := a.As16()
	own = binary.BigEndian.Uint16(b[4:])
	copy(b[4:], b[6:])
	b[14], b[15] = 0, 0
	return netip.AddrFrom16(b), own
}

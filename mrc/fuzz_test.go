package mrc

import (
	"encoding/binary"
	"testing"

	"railyard/internal/rng"
	"railyard/transport"
	"railyard/transport/transporttest"
	"railyard/unit"
)

// FuzzPeer makes a peer send random packets to both ends of loaded connections. Neither end panics, hangs or sends
// without end.
func FuzzPeer(f *testing.F) {
	f.Add(uint64(1), []byte("a SACK that is none"))
	f.Add(uint64(2), make([]byte, 200))
	f.Fuzz(func(t *testing.T, seed uint64, b []byte) {
		suite := transporttest.Suite{Protocol: &Protocol}
		at := 0
		next := func() uint64 {
			var w [8]byte
			at += copy(w[:], b[min(at, len(b)):])
			return binary.LittleEndian.Uint64(w[:])
		}
		if fault := suite.Attack(seed, func(r *rng.Stream, p *transport.Packet) {
			if at >= len(b) {
				at = 0
			}
			a, c, d := next(), next(), next()
			*p = transport.Packet{Kind: transport.Kind(a % 7), Flags: transport.Flags(a >> 8),
				Plane: uint8(a >> 16 & 3), Verdict: uint8(a >> 24), Code: uint8(a >> 32),
				Penalty: uint8(a >> 40), Message: uint32(a >> 48), Late: uint32(a)}
			p.EV, p.PSN, p.Offset, p.Sent = uint32(c), uint32(c>>32), c, unit.Time(c>>1)
			p.Expect, p.Base, p.EchoEV = uint32(d), uint32(d>>32), uint32(d)
			p.Payload, p.Bytes, p.Bits = uint32(d>>8&0x7ff), d, [2]uint64{c ^ d, a}
		}); fault != "" {
			t.Fatal(fault)
		}
	})
}

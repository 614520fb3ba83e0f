package mrc

import (
	"encoding/binary"
	"testing"

	"railyard/internal/rng"
	"railyard/transport"
	"railyard/transport/transporttest"
	"railyard/unit"
)

// FuzzPeer lets a peer say anything, packets made of bytes, to both ends of connections with load: neither
// panics, hangs or talks without end.
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
			*p = transport.Packet{Kind: transport.Kind(a % 7), Flags: transport.Flags(a >> 8), Plane: uint8(a >> 16 & 3),
				Verdict: uint8(a >> 24), Code: uint8(a >> 32), Penalty: uint8(a >> 40), EV: uint32(c),
				PSN: uint32(c >> 32), Expect: uint32(d), Base: uint32(d >> 32), Payload: uint32(d >> 8 & 0x7ff),
				Message: uint32(a >> 48), Offset: c, Bytes: d, Bits: [2]uint64{c ^ d, a}, EchoEV: uint32(d),
				Sent: unit.Time(c >> 1), Late: uint32(a)}
		}); fault != "" {
			t.Fatal(fault)
		}
	})
}

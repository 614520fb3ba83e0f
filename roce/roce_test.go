package roce

import (
	"bytes"
	"testing"

	"railyard/unit"
)

// docs/references.md, wire: a WRITE Middle at MTU 4096 has 62 bytes of overhead, 82 with preamble and gap, so 98.04
// % of the wire is payload.
func TestFrameSizes(t *testing.T) {
	for _, c := range []struct {
		op      Opcode
		payload int
		want    int
	}{
		{WriteMiddle, 4096, 4158}, {WriteFirst, 4096, 4174}, {WriteOnly, 1, 82},
		{WriteLast, 3, 66}, {WriteOnlyImm, 4096, 4178},
	} {
		if got := DataLen(c.op, c.payload); got != c.want {
			t.Errorf("%v with %d bytes is %d, want %d", c.op, c.payload, got, c.want)
		}
	}
	if AckLen != 66 || CNPLen != 78 {
		t.Errorf("ACK %d and CNP %d, want 66 and 78", AckLen, CNPLen)
	}
}

// Sizes that no capture shows, because it lacks preamble, gap and FCS: IEEE 802.3, 3.1.1 (preamble of 7 bytes,
// start delimiter of 1, FCS of 4), 4.4.2 (96 bit times between frames), 31B (control frames have the minimum size,
// 64 bytes).
func TestSizesOnTheWire(t *testing.T) {
	for what, c := range map[string][2]int{
		"preamble and gap": {PreambleIFG, 7 + 1 + 96/8}, "FCS": {FCSLen, 4}, "PFC frame": {PFCLen, 64},
		"IPv6 beyond IPv4": {IPv6More, 40 - 20}, "WRITE Middle's overhead": {BaseLen, 14 + 20 + 8 + 12 + 4 + 4},
		"INT of five hops": {INTLen, 42}, "CSIG": {CSIGLen, 4}, "wide CSIG": {CSIGWideLen, 8},
		"WRITE Middle of 4,096": {DataLen(WriteMiddle, 4096) + PreambleIFG, 4178},
		"acknowledgement":       {AckLen + PreambleIFG, 86},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d bytes, want %d", what, c[0], c[1])
		}
	}
}

func TestPSNArithmetic(t *testing.T) {
	if d := PSNDiff(2, PSNMask); d != 3 {
		t.Errorf("2 - 0xffffff = %d, want 3 across the wrap", d)
	}
	if d := PSNDiff(PSNMask, 2); d != -3 {
		t.Errorf("0xffffff - 2 = %d, want -3", d)
	}
	for _, near := range []uint64{1 << 24, 5<<24 - 2, 1<<40 + 1} {
		for d := int64(-1000); d <= 1000; d++ {
			want := uint64(int64(near) + d)
			if got := Extend(uint32(want)&PSNMask, near); got != want {
				t.Fatalf("Extend near %d gave %d, want %d", near, got, want)
			}
		}
	}
}

// IEEE 802.1Q clause 36: full pause at 400 Gbit/s is 65,535 x 1.28 ns.
func TestPauseTime(t *testing.T) {
	if got := PauseTime(MaxQuanta, 400*unit.Gbps); got != 65535*1280 {
		t.Errorf("full pause lasts %d ps, want %d", got, 65535*1280)
	}
	if got := PauseTime(1, 100*unit.Gbps); got != 5120 {
		t.Errorf("a quantum at 100G is %d ps, want 5120", got)
	}
}

func TestPFCFrame(t *testing.T) {
	var q [8]uint16
	q[3] = MaxQuanta
	f := AppendPFC(nil, [6]byte{2, 0, 0, 0, 0, 1}, 1<<3, q)
	want := []byte{0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x88, 0x08, 0x01, 0x01, 0x00, 0x08,
		0, 0, 0, 0, 0, 0, 0xff, 0xff}
	if len(f) != 60 || !bytes.HasPrefix(f, want) {
		t.Errorf("PFC frame %x", f)
	}
}

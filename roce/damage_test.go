package roce

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// Every prefix of a packet is rejected, and no byte after it is read. A truncated capture is never decoded as a
// shorter packet.
func TestEveryPrefix(t *testing.T) {
	for i, f := range ours() {
		wire := f.Append(nil)
		for n := range wire {
			var g Frame
			if err := g.Decode(wire[:n:n]); err == nil {
				t.Errorf("frame %d, %v: %d of %d bytes are taken for a whole one", i, &f, n, len(wire))
			}
		}
		var g Frame
		if err := g.Decode(wire); err != nil || !bytes.Equal(g.Append(nil), wire) {
			t.Errorf("frame %d, %v: %v", i, &f, err)
		}
	}
}

// A CRC of 32 bits detects every flipped bit and every burst of up to 32 bits (IBTA 9.3.1 uses Ethernet's
// polynomial). After any such change of covered bytes the ICRC is invalid, or the packet no longer decodes. What
// routers change is not covered: DSCP and ECN, hop limit, the IP header's checksum.
func TestICRCFindsBursts(t *testing.T) {
	frames, tried := ours(), 0
	rapid.Check(t, func(t *rapid.T) {
		f := frames[rapid.IntRange(0, len(frames)-1).Draw(t, "frame")]
		wire := f.Append(nil)
		var whole Frame
		if err := whole.Decode(wire); err != nil || !whole.Exact {
			t.Skip("its ICRC cannot be computed from the frame alone")
		}
		// From the BTH's destination on; the byte before it may change in flight.
		first := len(wire) - ICRCLen - len(whole.Body) - whole.BTH.Size() + 5
		at := rapid.IntRange(first, len(wire)-1).Draw(t, "byte")
		n := min(rapid.IntRange(1, 4).Draw(t, "bytes"), len(wire)-at)
		damaged := bytes.Clone(wire)
		tried++
		for i := range n {
			damaged[at+i] ^= rapid.Byte().Draw(t, "bits")
		}
		var g Frame
		if err := g.Decode(damaged); err == nil && g.Kind == whole.Kind && g.ComputeICRC() == g.ICRC &&
			!bytes.Equal(damaged, wire) {
			t.Fatalf("%v: %d bytes from %d on are damaged and the ICRC holds", &f, n, at)
		}
	})
	if tried < 20 {
		t.Errorf("%d packets were damaged", tried)
	}
}

// Eight priorities with eight times: every PFC frame decodes as encoded, and has Ethernet's minimum length (802.1Q
// 36.1).
func TestPFCRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enable := rapid.Byte().Draw(t, "priorities")
		var quanta [8]uint16
		for i := range quanta {
			quanta[i] = rapid.Uint16().Draw(t, "quanta")
		}
		wire := AppendPFC(nil, MAC{2, 0, 0, 0, 0, 9}, enable, quanta)
		var f Frame
		if err := f.Decode(wire); err != nil || f.Kind != KindPause || f.Src != (MAC{2, 0, 0, 0, 0, 9}) {
			t.Fatalf("%+v: %v", f, err)
		}
		if len(wire) != PFCLen-FCSLen {
			t.Fatalf("%d bytes without FCS", len(wire))
		}
		for i := range 8 {
			if on := enable>>i&1 == 1; f.Pause.Vector>>i&1 == 1 != on || on &&
				f.Pause.Quanta[i] != quanta[i] {
				t.Fatalf("priority %d: %+v, said %b and %v", i, f.Pause, enable, quanta)
			}
		}
	})
}

package roce

import (
	"strings"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// HPCC's header has 42 bytes for five hops (docs/references.md, hpcc; int-header.h 10 to 31).
func TestINTLength(t *testing.T) {
	var h INT
	if n := len(h.append(nil)); n != 42 || INTLen != 42 {
		t.Errorf("%d bytes, INTLen %d", n, INTLen)
	}
	if n := TelemetryINT.Len() + BTHLen; (&Header{Opcode: WriteMiddle, Telemetry: TelemetryINT}).Size() != n {
		t.Errorf("a header with it should have %d bytes", n)
	}
}

// A stamp has the precision of its widths and units: time to the nanosecond within 16.8 ms. At 25 Gbit/s bytes are
// in units of 128 and the queue in units of 80, and at 400 Gbit/s in units 16 times as large.
func TestStamp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		code := uint8(rapid.IntRange(0, 7).Draw(rt, "code"))
		now := unit.Time(rapid.Int64Range(0, int64(unit.Second)).Draw(rt, "now"))
		sent := rapid.Int64Range(0, 1<<45).Draw(rt, "sent")
		queue := rapid.Int64Range(0, 1<<27).Draw(rt, "queue")
		s := NewStamp(code, now, sent, queue)
		if back, ok := StampRate(s.Rate()); !ok || back != code {
			rt.Fatalf("code %d became %d", code, back)
		}
		if want := now % StampPeriod; s.At() > want || want-s.At() >= StampTime {
			rt.Fatalf("%v became %v", want, s.At())
		}
		scale := max(1, int64(s.Rate()/(25*unit.Gbps)))
		want := unit.Bytes(sent) % s.SentPeriod()
		if s.Sent() > want || want-s.Sent() >= unit.Bytes(128*scale) {
			rt.Fatalf("%d bytes became %d", want, s.Sent())
		}
		most := 80 * scale * (1<<17 - 1)
		want = unit.Bytes(min(queue, most))
		if s.Queue() > want || want-s.Queue() >= unit.Bytes(80*scale) {
			rt.Fatalf("a queue of %d became %d", want, s.Queue())
		}
	})
	if _, ok := StampRate(40 * unit.Gbps); ok {
		t.Error("a stamp names 40 Gbit/s")
	}
	const all = "10Gbps, 25Gbps, 50Gbps, 100Gbps, 200Gbps, 400Gbps, 800Gbps or 1.6Tbps"
	if got := StampRates(); got != all {
		t.Error(got)
	}
}

// stamped is a data packet that five switches have stamped, and one with a sixth.
func stamped(hops int) *Frame {
	f := &Frame{Kind: KindRoCEv2, Body: make([]byte, 256)}
	f.BTH = Header{Opcode: WriteOnly, PKey: DefaultPKey, DestQP: 17, PSN: 9, Len: 256,
		Telemetry: TelemetryINT}
	f.IP = IP{TOS: 98, TTL: 64, Src: addr("10.0.0.1"), Dst: addr("10.0.0.2")}
	for i := range hops {
		stamp := NewStamp(4, unit.Time(i+1)*unit.Microsecond, int64(i)*100_000, int64(i)*4096)
		f.BTH.INT.Add(uint32(i), stamp)
	}
	f.Complete()
	return f
}

// Stamps do not change the ICRC, so no switch recomputes it. A change of another bit does. A packet with more hops
// than entries keeps the first five and counts all of them.
func TestSwitchesLeaveTheICRC(t *testing.T) {
	before, after := stamped(0), stamped(6)
	if before.ICRC != after.ICRC {
		t.Errorf("ICRC %08x became %08x", before.ICRC, after.ICRC)
	}
	if n := len(after.BTH.INT.Stamps()); n != INTHops || after.BTH.INT.Hops != 6 {
		t.Errorf("%d places, %d hops", n, after.BTH.INT.Hops)
	}
	b := after.Append(nil)
	var g Frame
	if err := g.Decode(b); err != nil || g.ComputeICRC() != g.ICRC || g.BTH != after.BTH {
		t.Fatalf("%v: %v, ICRC %08x or %08x", err, &g.BTH, g.ICRC, g.ComputeICRC())
	}
	const words = "400Gbps at 2us sent 98304 queue 3840"
	if s := g.String(); !strings.Contains(s, " 6 hops") || !strings.Contains(s, words) {
		t.Error(s)
	}
	head := EthernetLen + IPv4Len + UDPLen
	for at := head; at < len(b)-ICRCLen; at++ {
		b[at] ^= 0x10
		err, telemetry := g.Decode(b), at >= head+BTHLen+RETHLen && at < head+BTHLen+RETHLen+INTLen
		if err == nil && at != head+4 && (g.ComputeICRC() == g.ICRC) != telemetry {
			t.Errorf("byte %d: ICRC holds %v", at-head, !telemetry)
		}
		b[at] ^= 0x10
	}
}

// A header truncated within its telemetry is rejected.
func TestCutTelemetry(t *testing.T) {
	b := stamped(3).BTH.Append(nil)
	var h Header
	for n := range len(b) {
		if _, err := h.Decode(b[:n]); err != ErrTruncated {
			t.Errorf("%d of %d bytes: %v", n, len(b), err)
		}
	}
	if n, err := h.Decode(b); n != len(b) || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if n := testing.AllocsPerRun(100, func() {
		_, _ = h.Decode(b)
		_ = h.Append(b[:0])
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

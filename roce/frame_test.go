package roce

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// golden reads the known-good packets. The repository has copies, because a clone has no shared folder.
func golden(t testing.TB) map[string][]byte {
	t.Helper()
	f, err := os.Open("testdata/roce_packets.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string][]byte{}
	for s := bufio.NewScanner(f); s.Scan(); {
		w := strings.Fields(s.Text())
		if len(w) != 3 || w[0] == "#" {
			continue
		}
		b, err := hex.DecodeString(w[2])
		if err != nil {
			t.Fatal(err)
		}
		out[w[1]+" "+w[0]] = b
	}
	return out
}

func decode(f *Frame, name string, b []byte) error {
	if strings.HasPrefix(name, "ip ") {
		*f = Frame{}
		return f.DecodeIP(b)
	}
	return f.Decode(b)
}

// Every known-good packet (captures of a ConnectX-4 Lx and of Soft-RoCE, scapy's and open-rdma's test vectors)
// decodes, has a matching ICRC, and encodes to equal bytes.
func TestGolden(t *testing.T) {
	packets := golden(t)
	if len(packets) != 7 {
		t.Fatalf("%d packets", len(packets))
	}
	for name, b := range packets {
		var f Frame
		if err := decode(&f, name, b); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := f.ComputeICRC(); got != f.ICRC {
			t.Errorf("%s: ICRC %08x, the packet has %08x", name, got, f.ICRC)
		}
		var out []byte
		if strings.HasPrefix(name, "ip ") {
			out = f.AppendIP(nil)
		} else {
			out = f.Append(nil)
		}
		if !bytes.Equal(out, b) {
			t.Errorf("%s:\n got %x\nwant %x", name, out, b)
		}
		if f.Exact { // Complete restores the fields that were there
			g := f
			g.ICRC, g.IP.Len, g.IP.Checksum, g.UDP.Len, g.Type, g.IP.Version = 0, 0, 0, 0, 0, 0
			if g.Complete(); !bytes.Equal(g.Append(nil), b) {
				t.Errorf("%s: completed\n got %x\nwant %x", name, g.Append(nil), b)
			}
		}
		t.Logf("%s: %v", name, &f)
	}
}

// Annex A17: routers may change type of service, TTL, checksum and the
// congestion bits; everything else breaks the ICRC.
func TestICRCCovers(t *testing.T) {
	b := golden(t)["eth SoftRoCE_RC_READ_REQUEST_captured"]
	variant := map[int]bool{
		14 + 1:  true,
		14 + 8:  true,
		14 + 10: true,
		14 + 11: true,
		34 + 6:  true,
		34 + 7:  true,
		42 + 4:  true,
	}
	for i := 14; i < len(b)-4; i++ {
		c := bytes.Clone(b)
		c[i] ^= 0x5a
		same := ICRC(c[14:34], c[34:42], c[42:len(c)-4]) == WireICRC(b)
		if same != variant[i] {
			t.Errorf("byte %d changed: ICRC holds %v", i-14, same)
		}
	}
}

func TestHeaderRoundTrip(t *testing.T) {
	for op := range 256 {
		h := Header{Opcode: Opcode(op), Solicited: true, Pad: 1, PKey: 0xffff, BECN: true, DestQP: 0x123456,
			AckReq: true, PSN: 0xfffffe,
			VA: 0x7f800000, RKey: 0x1234, Len: 24 << 20, Syndrome: NakSequence, MSN: 0xabcdef, Imm: 7,
			InvKey: 8, SwapAdd: 9,
			Compare: 10, Orig: 11, QKey: 12, SrcQP: 13, EECN: 14, Flush: 15, Credit: 16}
		b := h.Append(nil)
		var g Header
		n, err := g.Decode(b)
		if !h.Opcode.Known() || h.Opcode.IsMRC() {
			if err != ErrOpcode {
				t.Errorf("opcode %#02x: %v", op, err)
			}
			continue
		}
		if err != nil || n != len(b) || n != h.Size() || !bytes.Equal(g.Append(nil), b) {
			t.Errorf("%v: %d of %d bytes, %v", h.Opcode, n, len(b), err)
		}
		for i := range n {
			if _, err := g.Decode(b[:i]); err == nil {
				t.Errorf("%v cut to %d bytes decodes", h.Opcode, i)
			}
		}
		if s := h.String(); !strings.HasPrefix(s, h.Opcode.String()) {
			t.Errorf("%v prints as %q", h.Opcode, s)
		}
	}
	// docs/references.md, wire: RC opcodes and their headers.
	for op, size := range map[Opcode]int{0x00: 12, 0x03: 16, 0x06: 28, 0x0b: 32, 0x0c: 28, 0x0d: 16, 0x0e: 12,
		0x11: 16, 0x12: 24,
		0x13: 40, 0x17: 16, 0x1c: 32, 0x1d: 28, 0x64: 20, 0x65: 24} {
		h := Header{Opcode: op}
		if h.Size() != size {
			t.Errorf("%v has %d header bytes, want %d", op, h.Size(), size)
		}
	}
}

func TestPauseFrames(t *testing.T) {
	var q [8]uint16
	q[3], q[4] = MaxQuanta, 0
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{AppendPFC(nil, MAC{2, 0, 0, 0, 0, 1}, 0x18, q), "PFC prio 3 pause 65535 quanta prio 4 resume"},
		{appendControl(nil, MAC{2, 0, 0, 0, 0, 1}, &PauseFrame{Classic: true, Quanta: [8]uint16{512}}), "PAUSE quanta 512"},
	} {
		var f Frame
		if err := f.Decode(c.b); err != nil || f.Kind != KindPause || f.Pause.String() != c.want ||
			len(c.b) != 60 {
			t.Errorf("%v %q, want %q", err, f.Pause.String(), c.want)
		}
		if !bytes.Equal(f.Append(nil), c.b) {
			t.Errorf("%s does not come out as it went in", c.want)
		}
	}
}

// announcement is a neighbour with every DCBX part: priority 3 lossless with half the link, and RoCEv2 and DSCP 26
// on priority 3.
func announcement() LLDP {
	return LLDP{ChassisSubtype: 4, ChassisID: []byte{2, 0, 0, 0, 0, 1}, PortSubtype: 5,
		PortID: []byte("Ethernet1/3"), TTL: 120,
		SystemName: []byte("rail-1"), Has: HasETS | HasRecommendation | HasPFC | HasApps | HasCEE,
		ETS: ETS{Willing: true, MaxTCs: 7, Class: [8]uint8{0, 0, 0, 3, 0, 0, 6, 7},
			Percent: [8]uint8{50, 0, 0, 50}, Selection: [8]uint8{2, 2, 2, 2, 2, 2, 0, 0}},
		Recommended: ETS{Class: [8]uint8{0, 0, 0, 3, 0, 0, 6, 7}, Percent: [8]uint8{40, 0, 0, 60},
			Selection: [8]uint8{2, 2, 2, 2, 2, 2, 0, 0}},
		PFC:  PFCConfig{Willing: true, Cap: 8, Enable: 1 << 3},
		Apps: []AppPriority{{3, 3, Port}, {3, 5, 26}},
		CEE: CEE{Seq: 1, Ack: 2, Features: 0x1c, PGFlags: 0xc0, PGID: [8]uint8{0, 0, 0, 1, 0, 0, 15, 15},
			PGPercent: [8]uint8{50, 50}, PGClasses: 8,
			PFCFlags: 0x80, PFCEnable: 1 << 3, PFCCap: 8, AppFlags: 0x80,
			Apps: []CEEApp{{TypeRoCEv1, 0, 1 << 3}}}}
}

func TestLLDPRoundTrip(t *testing.T) {
	l := announcement()
	b := l.Append(nil)
	var g LLDP
	if err := g.Decode(b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(g.Append(nil), b) || g.String() != l.String() {
		t.Errorf("got %v\nwant %v", &g, &l)
	}
	// IEEE 802.1Q D.2.10: PFC is OUI 00-80-c2, subtype 11, willing and capability, enable bits.
	if want := []byte{127 << 1, 6, 0x00, 0x80, 0xc2, 11, 0x88, 0x08}; !bytes.Contains(b, want) {
		t.Errorf("no PFC TLV % x in % x", want, b)
	}
	for i := range b[:len(b)-2] {
		if err := g.Decode(b[:i]); err == nil {
			t.Errorf("cut to %d bytes it decodes", i)
		}
	}
}

func TestDecodeAllocatesNothing(t *testing.T) {
	packets := golden(t)
	l := announcement()
	tlvs, d := l.Append(nil), LLDP{Apps: make([]AppPriority, 0, 8), CEE: CEE{Apps: make([]CEEApp, 0, 8)}}
	buf := make([]byte, 0, 256)
	var f Frame
	var sum Summer
	if n := testing.AllocsPerRun(100, func() {
		for name, b := range packets {
			if decode(&f, name, b) != nil {
				t.Fatal(name)
			}
			buf = f.Append(buf[:0])
		}
		if b := packets["eth SoftRoCE_RC_READ_REQUEST_captured"]; sum.ICRC(b[14:34], b[34:42],
			b[42:len(b)-4]) != WireICRC(b) {
			t.Fatal("ICRC")
		}
		if d.Decode(tlvs) != nil {
			t.Fatal("LLDP")
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// Random bytes decode to an error or to a frame that encodes to equal bytes.
func FuzzFrame(f *testing.F) {
	for _, b := range golden(f) {
		f.Add(b)
	}
	l := announcement()
	lf := Frame{Kind: KindLLDP, Ethernet: Ethernet{Dst: LLDPAddress, Type: TypeLLDP}, LLDP: l.Append(nil)}
	f.Add(lf.Append(nil))
	f.Add(AppendPFC(nil, MAC{}, 8, [8]uint16{3: 100}))
	f.Add(stamped(6).Append(nil))
	for _, wide := range []bool{false, true} {
		tagged := stamped(0)
		tagged.Tagged, tagged.CSIG = true, NewCSIG(wide, SignalABWC)
		f.Add(tagged.Append(nil))
	}
	for _, fr := range mrcPackets() {
		f.Add(fr.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var fr Frame
		if fr.Decode(b) == nil {
			if out := fr.Append(nil); !bytes.Equal(out, b) {
				t.Errorf("%v\n got %x\nwant %x", &fr, out, b)
			}
			_ = fr.String()
			if fr.Kind == KindRoCEv2 || fr.Kind == KindRoCEv1 {
				_, _ = fr.Payload(), fr.ComputeICRC()
			}
			var l LLDP
			if fr.Kind == KindLLDP && l.Decode(fr.LLDP) == nil {
				_ = l.String()
				again := l.Append(nil)
				var m LLDP
				if m.Decode(again) != nil || m.String() != l.String() {
					t.Errorf("LLDP %v comes back as %v", &l, &m)
				}
			}
		}
		fr = Frame{}
		_ = fr.DecodeIP(b)
	})
}

func BenchmarkDecodeAndICRC(b *testing.B) {
	f := Frame{Kind: KindRoCEv2, BTH: Header{Opcode: WriteMiddle, PKey: DefaultPKey},
		Body: make([]byte, 4096)}
	f.IP.Src, f.IP.Dst, f.IP.TTL = addr("10.0.0.1"), addr("10.0.0.2"), 64
	f.Complete()
	p := f.Append(nil)
	b.SetBytes(int64(len(p)))
	var g Frame
	var sum Summer
	for b.Loop() {
		if g.Decode(p) != nil || sum.ICRC(p[14:34], p[34:42], p[42:len(p)-4]) != g.ICRC {
			b.Fatal("wrong")
		}
	}
}

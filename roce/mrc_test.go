package roce

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// mrcPacket is a frame with its name in testdata/mrc_packets.txt.
type mrcPacket struct {
	name string
	Frame
}

// mrcPackets are the golden packets, encoded by this package from the values in mrc_golden.py.
func mrcPackets() (out []mrcPacket) {
	const qpA, qpB = 0x11, 0x2a
	const ev, back = EV(0x00150c07), EV(0x00160c01)
	seq := make([]byte, 256)
	for i := range seq {
		seq[i] = byte(i)
	}
	add := func(name string, e EV, v4, answer bool, h Header, m MRC, body string) *Frame {
		f := Frame{Kind: KindRoCEv2, BTH: h, MRC: m}
		f.Src, f.Dst = MAC{2, 0, 0, 0, 0, 1}, MAC{2, 0, 0, 0, 0, 2}
		f.IP.Src, f.IP.Dst, f.IP.TTL = addr("2001:db8::1"), addr("2001:db8::2"), 64
		if v4 {
			f.IP.Src, f.IP.Dst, f.IP.ID, f.IP.Frag = addr("10.0.0.1"), addr("10.0.0.2"), 7, 0x4000
		}
		if answer {
			f.Src, f.Dst, f.IP.Src, f.IP.Dst = f.Dst, f.Src, f.IP.Dst, f.IP.Src
		}
		f.IP.TOS = 46<<2 | 2
		if h.Opcode.IsMRCWrite() || h.Opcode == MRCProbe || m.ERTH.Op == EVProbe {
			f.IP.TOS = 10<<2 | 2
		}
		f.Body = append([]byte(body), make([]byte, -len(body)&3)...)
		f.BTH.PKey, f.BTH.Pad = DefaultPKey, uint8(-len(body)&3)
		e.Put(&f.IP, &f.UDP)
		f.Complete()
		out = append(out, mrcPacket{name, f})
		return &out[len(out)-1].Frame
	}
	write := func(op Opcode, psn uint32, va uint64, length uint32) Header {
		return Header{Opcode: op, DestQP: qpB, PSN: psn, VA: va, RKey: 0x5678, Len: length}
	}
	stamp := func(n uint16) TSETH { return TSETH{Stamp: n, Format: StampFormat} }
	message := func(rqmsn, msn uint16) MRC { return MRC{METH: METH{rqmsn, msn}} }

	m := message(0, 3)
	m.Stamped, m.TSETH = true, stamp(0x1234)
	add("write_first", ev, false, false, write(MRCWriteFirst, 5000, 0x7f0000001000, 529), m, string(seq))
	add("write_middle", ev+1, false, false, write(MRCWriteMiddle, 5001, 0x7f0000001100, 529), message(0, 3),
		string(seq))
	m.Again, m.TSETH = true, stamp(0x1240)
	h := write(MRCWriteLast, 5002, 0x7f0000001200, 529)
	h.AckReq = true
	add("write_last_again", ev+2, false, false, h, m, "seventeen bytes..")
	h = write(MRCWriteLastImm, 5003, 0x7f0000002000, 4)
	h.AckReq, h.Imm = true, 0xdeadbeef
	m = message(9, 4)
	m.Stamped, m.TSETH = true, TSETH{Stamp: 0xffff, Own: true, Format: StampFormat}
	add("write_last_imm", ev, false, false, h, m, "four")
	add("write_only_v4", 0xc0de, true, false, Header{Opcode: MRCWriteOnly, DestQP: qpB, PSN: PSNMask,
		AckReq: true, VA: 0x1000, RKey: 1, Len: 2}, message(0, 0xffff), "xy")
	h = write(MRCWriteOnlyImm, 5004, 0x7f0000003000, 8)
	h.AckReq, h.Imm = true, 7
	path, _ := SegmentAddress(0xfcbbbb00, 0x11, 0x2002, 0x33)
	add("write_only_imm_srv6", ev, false, false, h, message(10, 5), "8 bytes.").
		Encapsulate(addr("2001:db8:a::1"), path)
	h = Header{Opcode: MRCAck, DestQP: qpA, PSN: 5004, Syndrome: Ack, MSN: 6}
	add("ack", 0xc000, true, true, h, MRC{}, "")

	sack := func(name string, e EV, v4 bool, psn uint32, s SETH) {
		s.Source, s.Dest, s.Cumulative = qpB, qpA, psn
		add(name, e, v4, true, Header{Opcode: MRCSack, DestQP: qpA, PSN: psn}, MRC{SETH: s}, "")
	}
	sack("sack", back, false, 5000, SETH{Verdict: VerdictSkipOnce, AckOffset: 3, EV: ev, Range: 2, Offset: 2,
		Bitmap: 0x8000000000000005, CC: CCState{0x1234, 0x4567, true, 64, 0xabcdef}})
	sack("sack_before_cumulative_v4", 0xc123, true, 1, SETH{Verdict: VerdictAlwaysSkip, AckOffset: -2,
		EV: 0xc0de, Offset: -1, Bitmap: 15, CC: CCState{Received: 1}})
	id := uint16(0x8001)
	sack("sack_answers_probe", back, false, 5000, SETH{Probed: true, AckOffset: int16(id), EV: ev, Offset: 1,
		CC: CCState{Stamp: 0x2222, Penalty: 127, Received: 3}})
	for _, r := range []NackReason{NackTrimmed, NackTrimmedLastHop, NackNoBitmap, NackNoBuffer,
		NackNoResource, NackOutOfWindow, NackUnexpected} {
		h = Header{Opcode: MRCNack, DestQP: qpA, PSN: 5001}
		add("nack_"+strings.ToLower(r.String()), back, false, true, h,
			MRC{NETH: NETH{Reason: r, Vendor: 0x77, EV: ev, Source: qpB, Dest: qpA, PSN: 5001,
				CCType: NackCCType, Stamp: 0x1235}}, "")
	}
	add("probe", ev, false, false, Header{Opcode: MRCProbe, DestQP: qpB, AckReq: true},
		MRC{PETH: PETH{Vendor: 0x5a, ID: id, Source: qpA, Dest: qpB, TSETH: stamp(0x2222)}}, "")
	h = Header{Opcode: MRCEndpointRequest, DestQP: MRCEndpointQP, PSN: 0x77}
	add("port_status_update", ev, false, false, h,
		MRC{ERTH: ERTH{Op: PortStatusUpdate, Vendor: 0x42, Ports: 0xfd, TSETH: stamp(0x3333)}}, "")
	h.PSN = 0x78
	add("ev_probe", ev, false, false, h, MRC{ERTH: ERTH{Op: EVProbe, Vendor: 0x42, TSETH: stamp(0x3334)}}, "")
	add("ev_probe_answer", back, false, true,
		Header{Opcode: MRCEndpointResponse, DestQP: MRCEndpointQP, PSN: 0x78},
		MRC{EETH: EETH{Op: EVProbe, Stamp: 0x3334}}, "")
	return out
}

// goldenMRC reads testdata/mrc_packets.txt.
func goldenMRC(t testing.TB) (names []string, packets map[string][]byte) {
	t.Helper()
	text, err := os.ReadFile("testdata/mrc_packets.txt")
	if err != nil {
		t.Fatal(err)
	}
	packets = map[string][]byte{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, digits, _ := strings.Cut(strings.TrimSpace(line), " ")
		if packets[name], err = hex.DecodeString(digits); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names, packets
}

// This encoder's packets are byte-for-byte those of an independent encoder from the same values. They decode to
// those values, and their ICRC is valid.
func TestGoldenMRC(t *testing.T) {
	names, golden := goldenMRC(t)
	ours := mrcPackets()
	if len(ours) != len(names) {
		t.Errorf("%d packets here, %d in the file", len(ours), len(names))
	}
	for _, p := range ours {
		want := golden[p.name]
		if got := p.Append(nil); !bytes.Equal(got, want) {
			t.Errorf("%s:\n got %x\nwant %x", p.name, got, want)
			continue
		}
		var f Frame
		if err := f.Decode(want); err != nil || f.ComputeICRC() != f.ICRC {
			t.Errorf("%s: %v, ICRC %08x, want %08x", p.name, err, f.ICRC, f.ComputeICRC())
		}
		if f.BTH != p.BTH || f.MRC != p.MRC || f.Tunnel != p.Tunnel ||
			!bytes.Equal(f.Payload(), p.Payload()) {
			t.Errorf("%s: %v\nwant %v", p.name, &f, &p.Frame)
		}
		if e := EVOf(&f.IP, &f.UDP); e != EVOf(&p.IP, &p.UDP) {
			t.Errorf("%s: EV %#x", p.name, e)
		}
	}
}

// TestScapyMRC makes the golden packets anew.
func TestScapyMRC(t *testing.T) {
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "import scapy.contrib.roce").Run() != nil {
		t.Skip("python3-scapy is not installed")
	}
	out, err := exec.Command(python, "-W", "ignore", "testdata/mrc_golden.py").Output()
	if err != nil {
		t.Fatal(err)
	}
	names, golden := goldenMRC(t)
	var have []string
	for line := range strings.Lines(string(out)) {
		name, digits, _ := strings.Cut(strings.TrimSpace(line), " ")
		if have = append(have, name); digits != hex.EncodeToString(golden[name]) {
			t.Errorf("%s: scapy makes\n%s\nthe file has\n%x", name, digits, golden[name])
		}
	}
	if !slices.Equal(names, have) {
		t.Errorf("scapy makes %v, the file has %v", have, names)
	}
}

// anyMRC draws headers of an opcode.
func anyMRC(t *rapid.T) (h Header, m MRC) {
	o := rapid.SampledFrom(mrcOps).Draw(t, "opcode").Op
	u := func(bits int) uint64 { return rapid.Uint64Range(0, 1<<bits-1).Draw(t, "field") }
	flag := func() bool { return u(1) == 1 }
	h = Header{Opcode: o, Solicited: flag(), Pad: uint8(u(2)), PKey: uint16(u(16)), FECN: flag(),
		Resv6: uint8(u(6)), DestQP: uint32(u(24)), AckReq: flag(), PSN: uint32(u(24)), Resv7: uint8(u(4))}
	m.Again, m.Stamped = flag(), flag()
	stamp := TSETH{uint16(u(16)), flag(), uint8(u(4)), uint16(u(11))}
	switch o {
	case MRCAck:
		h.Syndrome, h.MSN = Syndrome(u(8)), uint32(u(24))
	case MRCSack:
		m.SETH = SETH{Verdict(u(2)), flag(), int16(u(16)), EV(u(32)), uint16(u(16)), uint16(u(16)),
			uint32(u(24)), uint8(u(4)), uint8(u(4)), uint8(u(8)), int16(u(16)), u(63),
			CCState{uint16(u(16)), uint16(u(15)), flag(), uint8(u(7)), uint32(u(24))}}
	case MRCNack:
		m.NETH = NETH{NackReason(u(8)), uint8(u(8)), EV(u(32)), uint16(u(16)), uint16(u(16)),
			uint32(u(24)), uint8(u(4)), uint8(u(4)), uint16(u(16))}
	case MRCProbe:
		m.PETH = PETH{uint8(u(8)), uint16(u(16)), uint16(u(16)), uint16(u(16)), stamp}
	case MRCEndpointRequest:
		m.ERTH = ERTH{EndpointOp(u(2)), uint8(u(8)), uint32(u(32)), stamp}
	case MRCEndpointResponse:
		m.EETH = EETH{EndpointOp(u(2)), uint16(u(16))}
	default:
		m.METH = METH{uint16(u(16)), uint16(u(16))}
		if h.VA, h.RKey, h.Len = u(63), uint32(u(32)), uint32(u(32)); o.HasMRCImm() {
			h.Imm = uint32(u(32))
		}
		if m.Stamped {
			m.TSETH = stamp
		}
	}
	return h, m
}

// All header values decode as encoded, at the encoded length, and no prefix decodes.
func TestMRCRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, m := anyMRC(t)
		b := m.Append(&h, nil)
		var h2 Header
		var m2 MRC
		n, err := m2.Decode(&h2, append(bytes.Clone(b), 1, 2, 3))
		if err != nil || n != len(b) || n != m.Size(&h) || h2 != h || m2 != m {
			t.Fatalf("%d of %d bytes, %v\n got %v\nwant %v", n, len(b), err, m2.Text(&h2), m.Text(&h))
		}
		cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut")
		if _, err := m2.Decode(&h2, b[:cut:cut]); err != ErrTruncated {
			t.Fatalf("%d of %d bytes: %v", cut, len(b), err)
		}
	})
}

// The list of fields agrees with the codec: a flipped bit changes exactly the field listed there, and a reserved
// bit is kept. No two fields share a bit.
func TestMRCFieldList(t *testing.T) {
	for _, o := range mrcOps {
		at := 0
		for _, header := range mrcHeaders {
			if !slices.Contains(o.Headers, header.Name) {
				continue
			}
			others := func(f MRCField) bool { return f.Header != header.Name }
			fields := slices.DeleteFunc(slices.Clone(MRCFields()), others)
			for b := range 8 * header.Len {
				if at > 0 || b >= 16 { // opcode and version are excluded
					checkBit(t, o.Op, at, b, fields)
				}
			}
			at += header.Len
		}
		if n := o.Op.MRCLen(true); n != at {
			t.Errorf("%v has %d bytes of headers, the list %d", o.Op, n, at)
		}
	}
}

// checkBit sets one bit of a header that begins at a byte; all its other bits are zero.
func checkBit(t *testing.T, op Opcode, at, b int, fields []MRCField) {
	t.Helper()
	wire := make([]byte, op.MRCLen(true))
	wire[0], wire[8] = byte(op), mrcStamped
	var h, h0 Header
	var m, m0 MRC
	if _, err := m0.Decode(&h0, wire); err != nil {
		t.Fatal(err)
	}
	wire[at+b/8] ^= 0x80 >> (b % 8)
	if _, err := m.Decode(&h, wire); err != nil || !bytes.HasPrefix(wire, m.Append(&h, nil)) {
		t.Fatalf("%v: bit %d of the header at %d is not kept: %v, %x", op, b, at, err, m.Append(&h, nil))
	}
	owners := 0
	for _, f := range fields {
		if b >= f.At && b < f.At+f.Bits {
			owners++
		}
	}
	r, r0 := m, m0 // without reserved bits
	h.Resv6, h.Resv7 = 0, 0
	for _, x := range []*MRC{&r, &r0} {
		x.reserved, x.reserving = [9]uint32{}, false
		x.TSETH = TSETH{Stamp: x.TSETH.Stamp, Own: x.TSETH.Own, Format: x.TSETH.Format}
		x.PETH.TSETH.Reserved, x.ERTH.TSETH.Reserved = 0, 0
	}
	if owners > 1 || (owners == 1) != (r != r0 || h != h0) {
		t.Errorf("%v: bit %d of the header at %d belongs to %d fields of the list; it changes one: %v", op,
			b, at, owners, r != r0 || h != h0)
	}
}

// The values that a SACK implies: RFC-style arithmetic over the wrap of PSNs.
func TestSackArithmetic(t *testing.T) {
	s := SETH{Cumulative: PSNMask - 1, AckOffset: 5, Offset: 1, Bitmap: 0b1001_0110}
	for psn, want := range map[uint32]bool{PSNMask - 5: true, PSNMask - 1: true, PSNMask: false, 0: true,
		1: true, 2: false, 3: true, 4: false, 6: true, 7: false, 62: false, 63: false, 100: false} {
		if s.Has(psn) != want {
			t.Errorf("Has(%d) is %v", psn, !want)
		}
	}
	if s.AckPSN() != 3 || s.Base() != PSNMask || s.Upto() != 6 {
		t.Errorf("AckPSN %d, base %d, up to %d", s.AckPSN(), s.Base(), s.Upto())
	}
	if s = (SETH{Cumulative: 9, Offset: -63, Bitmap: 1<<64 - 1}); s.Upto() != 9 || s.Has(10) {
		t.Errorf("up to %d", s.Upto())
	}
}

// 128 ns a step, 8.39 ms around.
func TestMRCStamp(t *testing.T) {
	now := 20*unit.Millisecond + 127*unit.Nanosecond
	sent := NewTSETH(now)
	for _, later := range []unit.Time{0, 300 * unit.Nanosecond, 8 * unit.Millisecond} {
		if at := StampedAt(now+later, sent.Stamp); at > now || now-at >= 128*unit.Nanosecond {
			t.Errorf("%v later it was at %v, not %v", later, at, now)
		}
	}
	if at := StampedAt(0, 9); at != 0 {
		t.Errorf("before the clock began: %v", at)
	}
}

// An entropy value decodes from the headers that carry it: whole over IPv6, 16 bits over IPv4.
func TestEV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := EV(rapid.Uint32().Draw(t, "EV"))
		for _, a := range []string{"10.0.0.1", "2001:db8::1"} {
			f := Frame{Kind: KindRoCEv2, BTH: Header{Opcode: MRCProbe}}
			f.IP.Src, f.IP.Dst, f.IP.TTL = addr(a), addr(a), 64
			e.Put(&f.IP, &f.UDP)
			f.Complete()
			var g Frame
			if err := g.Decode(f.Append(nil)); err != nil {
				t.Fatal(err)
			}
			want := e
			if g.IP.Version == 4 {
				want &= 0xffff
			}
			if got := EVOf(&g.IP, &g.UDP); got != want {
				t.Fatalf("%v became %v over %s", e, got, a)
			}
		}
	})
	for e, want := range map[EV]string{0x10000: "does not fit the 16 bits", 1023: "below 1024", 0xc000: ""} {
		if err := CheckEV(e, EVBits4); (want == "") != (err == nil) || err != nil &&
			!strings.Contains(err.Error(), want) {
			t.Errorf("%#x: %v", e, err)
		}
	}
	if CheckEV(0x0015_0c07, EVBits6) != nil || CheckEV(0x0015_0007, EVBits6) == nil {
		t.Error("32 bits")
	}
}

func TestMRCAllocatesNothing(t *testing.T) {
	_, golden := goldenMRC(t)
	var wires [][]byte
	for _, b := range golden {
		wires = append(wires, b)
	}
	buf := make([]byte, 0, 512)
	var f Frame
	if n := testing.AllocsPerRun(100, func() {
		for _, b := range wires {
			if f.Decode(b) != nil {
				t.Fatal("decode")
			}
			buf = f.Append(buf[:0])
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// Random bytes after the UDP header decode to an error or to headers that encode to equal bytes.
func FuzzMRC(f *testing.F) {
	for _, p := range mrcPackets() {
		f.Add(p.AppendHead(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var h Header
		var m MRC
		n, err := m.Decode(&h, b)
		if err != nil {
			return
		}
		if out := m.Append(&h, nil); !bytes.Equal(out, b[:n]) {
			t.Errorf("%s\n got %x\nwant %x", m.Text(&h), out, b[:n])
		}
		_, _ = m.SETH.Upto(), m.SETH.Has(h.PSN)
	})
}

// The MRC decoder rejects ordinary RoCEv2, and the reverse.
func TestMRCIsApart(t *testing.T) {
	var h Header
	var m MRC
	for _, f := range ours() {
		if _, err := m.Decode(&h, f.BTH.Append(nil)); err != ErrOpcode {
			t.Errorf("%v: %v", &f.BTH, err)
		}
	}
	for _, p := range mrcPackets() {
		b := p.AppendHead(nil)
		if _, err := h.Decode(b); err != ErrOpcode {
			t.Errorf("%s: %v", p.name, err)
		}
		if s := p.String(); !strings.Contains(s, p.BTH.Opcode.String()) {
			t.Errorf("%s prints as %q", p.name, s)
		}
	}
	// MRC on its own port, and another protocol on that port.
	p := mrcPackets()[0].Frame
	p.UDP.DstPort = MRCPortDefault
	p.Complete()
	var f Frame
	if err := f.Decode(p.Append(nil)); err != nil || f.UDP.DstPort != MRCPortDefault ||
		f.ComputeICRC() != f.ICRC {
		t.Errorf("on port %d: %v", f.UDP.DstPort, err)
	}
	other := ours()[0].Append(nil)
	binary.BigEndian.PutUint16(other[EthernetLen+IPv4Len+2:], MRCPortDefault)
	if err := f.Decode(other); err != ErrNotRoCE {
		t.Errorf("RC on port %d: %v", MRCPortDefault, err)
	}
}

// BenchmarkMRC measures a WRITE and its SACK, encoded and decoded, without payload and ICRC.
func BenchmarkMRC(b *testing.B) {
	packets := mrcPackets()
	write, sack := packets[0].Frame, packets[7].Frame
	buf := make([]byte, 0, 128)
	var h Header
	var m MRC
	b.ReportAllocs()
	for b.Loop() {
		buf = write.MRC.Append(&write.BTH, buf[:0])
		_, err := m.Decode(&h, buf)
		buf = sack.MRC.Append(&sack.BTH, buf[:0])
		if _, err2 := m.Decode(&h, buf); err != nil || err2 != nil {
			b.Fatal(err, err2)
		}
	}
}

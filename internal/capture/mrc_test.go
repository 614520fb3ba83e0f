package capture

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"railyard/internal/story"
	"railyard/roce"
	"railyard/unit"

	"pgregory.net/rapid"
)

// script is an exchange of MRC that is written packet by packet, as seen by the NIC of the sender, with a port to
// each of two planes. Entropy values name their plane and path: bit 20 and the lowest byte.
type script struct {
	t        testing.TB
	buf      bytes.Buffer
	w        *Writer
	at       time.Duration
	v4, srv6 bool
	planes   bool // each has its own addresses
	tos      uint8
	spoil    func(b []byte) []byte
}

const (
	askQP, tellQP = 0x11, 0x2a
	packetBytes   = 1024
)

func newScript(t testing.TB) *script {
	s := &script{t: t, tos: 10<<2 | 2}
	var err error
	if s.w, err = NewWriter(&s.buf, "railyard test", "plane0", "plane1"); err != nil {
		t.Fatal(err)
	}
	return s
}

func evOf(plane, path int) roce.EV { return roce.EV(0x000a_0c00 | plane<<20 | path) }

// put writes a packet; after is the time since the previous one.
func (s *script) put(after time.Duration, ev roce.EV, back bool, h roce.Header, m roce.MRC, body []byte) {
	s.at += after
	f := roce.Frame{Kind: roce.KindRoCEv2, BTH: h, MRC: m, Body: body}
	f.BTH.PKey, f.BTH.Migrated = roce.DefaultPKey, true
	f.IP.Src, f.IP.Dst, f.IP.TTL, f.IP.TOS = netip.MustParseAddr("2001:db8::1"),
		netip.MustParseAddr("2001:db8::2"), 64, s.tos
	if s.v4 {
		f.IP.Src, f.IP.Dst = netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	}
	if plane := ev >> 20 & 1; s.planes && plane == 1 {
		f.IP.Src, f.IP.Dst = netip.MustParseAddr("10.1.0.1"), netip.MustParseAddr("10.1.0.2")
	}
	if back {
		f.IP.Src, f.IP.Dst, f.IP.TOS = f.IP.Dst, f.IP.Src, 46<<2|2
	}
	ev.Put(&f.IP, &f.UDP)
	f.Complete()
	if s.srv6 && !back {
		path, _ := roce.SegmentAddress(0xfcbbbb00, uint16(ev>>20&1)<<8|0x11, uint16(ev&0xff)|0x2000, 0x33)
		f.Encapsulate(f.IP.Src, path)
	}
	raw := f.Append(nil)
	if s.spoil != nil {
		raw = s.spoil(raw)
	}
	s.w.Frame(time.Unix(1_800_000_000, 0).Add(s.at), int(ev>>20&1), !back, raw, "")
}

func (s *script) stamp() uint16 { return roce.StampAt(unit.Time(s.at.Nanoseconds()) * unit.Nanosecond) }

// write sends packet i of n of a message whose first PSN is first.
func (s *script) write(ev roce.EV, again bool, msn uint16, first uint32, i, n int, imm uint32) {
	op := [2][2]roce.Opcode{{roce.MRCWriteMiddle, roce.MRCWriteLast}, {roce.MRCWriteFirst, roce.MRCWriteOnly}}
	bit := map[bool]int{true: 1}
	h := roce.Header{Opcode: op[bit[i == 0]][bit[i == n-1]], DestQP: tellQP,
		PSN: (first + uint32(i)) & roce.PSNMask, VA: 0x7f0000000000 + uint64(msn)<<16 + uint64(i)*packetBytes,
		RKey: 0x5678, Len: uint32(n) * packetBytes, AckReq: i == n-1}
	m := roce.MRC{Again: again, Stamped: true, METH: roce.METH{MSN: msn},
		TSETH: roce.TSETH{Stamp: s.stamp(), Format: roce.StampFormat}}
	if i == n-1 && imm != 0 {
		h.Opcode, h.Imm, m.METH.RQMSN = h.Opcode+1, imm, 1
	}
	s.put(250*time.Nanosecond, ev, false, h, m, make([]byte, packetBytes))
}

// sack answers: everything up to cum has arrived, and bits are the following PSNs.
func (s *script) sack(after time.Duration, cum uint32, bits uint64, ackOffset int16, ev roce.EV,
	v roce.Verdict, more func(k *roce.SETH)) {
	k := roce.SETH{Verdict: v, AckOffset: ackOffset, EV: ev, Source: tellQP, Dest: askQP, Cumulative: cum,
		Offset: 1, Bitmap: bits, CC: roce.CCState{Stamp: s.stamp() - 40, Received: cum & 0xffff}}
	if more != nil {
		more(&k)
	}
	h := roce.Header{Opcode: roce.MRCSack, DestQP: askQP, PSN: cum}
	s.put(after, evOf(0, 0x81), true, h, roce.MRC{SETH: k}, nil)
}

func (s *script) nack(after time.Duration, psn uint32, ev roce.EV, r roce.NackReason) {
	s.put(after, evOf(0, 0x81), true, roce.Header{Opcode: roce.MRCNack, DestQP: askQP, PSN: psn},
		roce.MRC{NETH: roce.NETH{Reason: r, EV: ev, Source: tellQP, Dest: askQP, PSN: psn,
			CCType: roce.NackCCType}}, nil)
}

func (s *script) probe(ev roce.EV, id uint16) {
	s.put(time.Microsecond, ev, false, roce.Header{Opcode: roce.MRCProbe, DestQP: tellQP},
		roce.MRC{PETH: roce.PETH{ID: id, Source: askQP, Dest: tellQP}}, nil)
}

// endpoint sends an endpoint operation from one side, or its answer.
func (s *script) endpoint(after time.Duration, ev roce.EV, back, answer bool, id uint32, op roce.EndpointOp,
	mask uint32) {
	h := roce.Header{Opcode: roce.MRCEndpointRequest, DestQP: roce.MRCEndpointQP, PSN: id}
	m := roce.MRC{ERTH: roce.ERTH{Op: op, Ports: mask}}
	if answer {
		h.Opcode, m = roce.MRCEndpointResponse, roce.MRC{EETH: roce.EETH{Op: op}}
	}
	s.put(after, ev, back, h, m, nil)
}

// exchange is the sample: losses, trims, marks, probes and withdrawals in a few messages.
func (s *script) exchange() {
	const us, first = time.Microsecond, uint32(roce.PSNMask - 3)
	psn := func(i int) uint32 { return (first + uint32(i)) & roce.PSNMask }
	s.endpoint(0, evOf(0, 1), false, false, 1, roce.PortStatusUpdate, 0b11)
	s.endpoint(us, evOf(0, 0x81), true, false, 7, roce.PortStatusUpdate, 0b11)
	for i := range 8 { // message 3: eight packets on eight paths in turn
		s.write(evOf(i%2, i/2), false, 3, first, i, 8, 0)
	}
	// PSN 0 was trimmed in the core, PSN 2 is lost with its path, PSN 3 was marked.
	s.sack(5*us, psn(3), 0, 0, evOf(1, 1), roce.VerdictNone, nil)
	s.nack(100*time.Nanosecond, psn(4), evOf(0, 2), roce.NackTrimmed)
	s.sack(100*time.Nanosecond, psn(3), 0b1010, 4, evOf(1, 3), roce.VerdictSkipOnce, nil)
	s.write(evOf(1, 0), true, 3, first, 4, 8, 0)
	s.sack(6*us, psn(5), 0b10, 0, evOf(1, 0), roce.VerdictNone, func(k *roce.SETH) {
		k.CC.OutOfOrder, k.CC.Penalty = 3, 64
	})
	s.write(evOf(1, 1), true, 3, first, 6, 8, 0)
	s.sack(6*us, psn(7), 0, 0, evOf(1, 1), roce.VerdictNone, nil)
	ack := roce.Header{Opcode: roce.MRCAck, DestQP: askQP, PSN: psn(7), Syndrome: roce.Ack, MSN: 4}
	s.put(us, evOf(0, 0x81), true, ack, roce.MRC{}, nil)
	// The path of PSN 2 is withdrawn, and returns.
	s.sack(us, psn(7), 0, 0, evOf(0, 3), roce.VerdictAlwaysSkip, nil)
	s.probe(evOf(0, 3), 100)
	s.probe(evOf(0, 3), 101)
	s.sack(7*us, psn(7), 0, 101, evOf(0, 3), roce.VerdictNone, func(k *roce.SETH) { k.Probed = true })
	// Plane 1 goes down at the far end while message 4, with an immediate, is in flight.
	s.write(evOf(0, 3), false, 4, psn(8), 0, 3, 9)
	s.write(evOf(1, 0), false, 4, psn(8), 1, 3, 9)
	s.endpoint(us, evOf(0, 0x81), true, false, 8, roce.PortStatusUpdate, 0b01)
	s.write(evOf(0, 0), true, 4, psn(8), 1, 3, 9)
	s.write(evOf(0, 1), false, 4, psn(8), 2, 3, 9)
	s.sack(5*us, psn(10), 0, 0, evOf(0, 1), roce.VerdictNone, nil)
	// Return paths are checked by probes of entropy values; the second probe gets no answer.
	s.endpoint(us, evOf(0, 0x81), true, false, 9, roce.EVProbe, 0)
	s.endpoint(3*us, evOf(0, 1), false, true, 9, roce.EVProbe, 0)
	s.endpoint(us, evOf(1, 0x82), true, false, 10, roce.EVProbe, 0)
	s.endpoint(us, evOf(0, 0x81), true, false, 11, roce.PortStatusUpdate, 0b11)
	s.write(evOf(1, 2), false, 5, psn(11), 0, 2, 0) // message 5 stays incomplete
}

// told reads a capture as events and a summary.
func (s *script) told() (events []string, st *Story) {
	s.t.Helper()
	if _, err := s.w.Close(); err != nil {
		s.t.Fatal(err)
	}
	return tellAll(s.t, s.buf.Bytes())
}

func tellAll(t testing.TB, capture []byte) (events []string, st *Story) {
	t.Helper()
	r, err := NewReader(bufio.NewReader(bytes.NewReader(capture)))
	if err != nil {
		t.Fatal(err)
	}
	tl := NewTeller(100000, func(e Event) {
		events = append(events, fmt.Sprintf("%9.3f  %s: %s", e.Micros, e.Who, e.Text))
	})
	if err := tl.Tell(r, nil); err != nil {
		t.Fatal(err)
	}
	return events, &tl.Story
}

// The sample capture in testdata is the scripted exchange, whole: -rewrite writes it.
func TestMRCSample(t *testing.T) {
	s := newScript(t)
	s.exchange()
	_, st := s.told()
	if st.ICRCBad+st.Broken+st.Other != 0 || st.ICRCGood != st.Packets {
		t.Errorf("%+v", st)
	}
	const path = "testdata/mrc.pcapng"
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.WriteFile(path, s.buf.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, s.buf.Bytes()) {
		t.Error("the sample is not what the script makes: go test ./internal/capture -run MRCSample -rewrite")
	}
}

// The description of the sample, event by event.
func TestMRCStory(t *testing.T) {
	b, err := os.ReadFile("testdata/mrc.pcapng")
	if err != nil {
		t.Fatal(err)
	}
	events, st := tellAll(t, b)
	slices.Sort(events) // messages are reported when they end, at the position of their start
	text := "# A capture of MRC at the sender's ports to two planes: eight packets by eight paths, of\n" +
		"# which one is trimmed, one lost and one marked; a path that is given up and comes back; a plane\n" +
		"# that goes down at the far end; a message with an immediate, and one that stays unfinished.\n\n" +
		strings.Join(events, "\n") + "\n\n"
	for _, f := range st.Flows {
		text += fmt.Sprintf("%s > %s QP %#x: %d packets, %d messages, %d again, %d NACKs, %d missing\n",
			f.Src, f.Dst, f.QP, f.Packets, f.Messages, f.Again, f.Naks, f.Missing)
		for _, p := range f.MRC.Paths {
			text += fmt.Sprintf("  %s %s: %d packets, %d again, %d lost, %d trimmed, %d SKIP_ONCE, "+
				"%d ALWAYS_SKIP, %s\n", p.EV, p.Port, p.Packets, p.Again, p.Lost, p.Trimmed, p.SkipOnce,
				p.AlwaysSkip, p.State)
		}
	}
	story.Check(t, "mrc", text)
}

// Trimmed packets are distinguished from damage: by their DSCP, or by missing headers.
func TestMRCTrimmed(t *testing.T) {
	s := newScript(t)
	s.write(evOf(0, 0), false, 1, 100, 0, 9, 0)
	cut := func(left int) func([]byte) []byte {
		return func(b []byte) []byte { // as a switch does: another DSCP, the current lengths
			var f roce.Frame
			if err := f.Decode(b); err != nil {
				t.Fatal(err)
			}
			f.IP.TOS = 48 << 2
			rest := b[roce.EthernetLen+roce.IPv6Len+roce.UDPLen:][:left]
			return roce.AppendUDP(nil, &f.Ethernet, &f.IP, f.UDP.SrcPort, roce.Port, rest)
		}
	}
	for i, left := range []int{12, 20, 36, 100} {
		s.spoil = cut(left)
		s.write(evOf(1, i), false, 1, 100, i+1, 9, 0)
	}
	s.spoil = func(b []byte) []byte { b[len(b)-9] ^= 1; return b } // damage: its DSCP is that of data
	s.write(evOf(0, 1), false, 1, 100, 5, 9, 0)
	events, st := s.told()
	all := strings.Join(events, "\n")
	if f := st.Flows[0]; f.MRC.Trimmed != 4 || st.ICRCBad != 1 || st.Broken != 0 || f.MRC.Writes != 1 ||
		f.Packets != 5 || f.Missing != 4 || f.MRC.Paths[4].Trimmed != 1 ||
		!strings.Contains(all, "trimmed by a switch: 4 packets, PSN 101…104, on 4 paths") {
		t.Errorf("%s\n%+v\n%+v", all, st, f.MRC)
	}
}

// A connection whose planes have different addresses is one connection, with its paths.
func TestMRCPlanesByAddress(t *testing.T) {
	s := newScript(t)
	s.v4, s.planes = true, true
	s.exchange()
	events, st := s.told()
	one := newScript(t)
	one.v4 = true
	one.exchange()
	_, whole := one.told()
	var f, w *Flow
	for _, x := range st.Flows {
		if x.QP == tellQP {
			f = x
		}
	}
	for _, x := range whole.Flows {
		if x.QP == tellQP {
			w = x
		}
	}
	if len(f.Also) != 1 || f.Also[0] != "10.1.0.1 > 10.1.0.2" || f.Packets != w.Packets ||
		f.Messages != w.Messages || f.Again != w.Again || f.Missing != 0 || f.MRC.Paths[0].Port != "plane0" {
		t.Errorf("%+v, %+v\n%s", f, f.MRC, strings.Join(events, "\n"))
	}
	for _, x := range st.Flows { // endpoint operations have no connection; all other packets belong to these two
		if x.QP != roce.MRCEndpointQP && x != f && x.QP != askQP {
			t.Errorf("%+v", x)
		}
	}
}

// Paths of segments are shown with the remaining segments at the capturing port.
func TestMRCSegments(t *testing.T) {
	s := newScript(t)
	s.srv6 = true
	s.write(evOf(1, 3), false, 1, 100, 0, 1, 0)
	_, st := s.told()
	f := st.Flows[0]
	if f.MRC.Block != "fcbbbb00" || f.MRC.Paths[0].Segments != "[111 2003 33]" || st.ICRCGood != 1 ||
		f.MRC.Paths[0].EV != "0x1a0c03" {
		t.Errorf("%+v %+v", f.MRC, f.MRC.Paths[0])
	}
}

// Over IPv4, and for every prefix of the sample, the description has exactly what is present.
func TestMRCPrefixes(t *testing.T) {
	for _, v4 := range []bool{false, true} {
		s := newScript(t)
		s.v4 = v4
		s.exchange()
		_, whole := s.told()
		for n := 400; n < s.buf.Len(); n += 61 {
			r, err := NewReader(bufio.NewReader(bytes.NewReader(s.buf.Bytes()[:n])))
			if err != nil {
				continue
			}
			tl := NewTeller(1000, func(Event) {})
			_ = tl.Tell(r, nil)
			if st := tl.Story; st.ICRCBad+st.Broken > 0 || st.ICRCGood > whole.ICRCGood {
				t.Fatalf("%d bytes: %+v", n, st)
			}
		}
	}
}

// A sender whose packets are lost, repeated and reordered at random: the summary counts what happened.
func TestMRCCounts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newScript(t)
		first := rapid.SampledFrom([]uint32{0, 7, roce.PSNMask - 5}).Draw(rt, "first PSN")
		n := rapid.IntRange(1, 40).Draw(rt, "packets")
		seen := map[int]bool{}
		highest, again, repeated, late, lowest := -1, 0, 0, 0, n
		for range rapid.IntRange(1, 60).Draw(rt, "sent") {
			i := rapid.IntRange(max(0, highest-6), min(n-1, highest+3)).Draw(rt, "packet")
			rtx := seen[i] && rapid.Bool().Draw(rt, "again")
			s.write(evOf(i%2, rapid.IntRange(0, 3).Draw(rt, "path")), rtx, 1, first, i, n, 0)
			switch {
			case rtx:
				again++
			case seen[i]:
				repeated++
			case i < highest:
				late++
			}
			seen[i] = true
			highest, lowest = max(highest, i), min(lowest, i)
		}
		_, st := s.told()
		f := st.Flows[0]
		if missing := highest - lowest + 1 - len(seen); f.Again != int64(again) ||
			f.MRC.Repeated != int64(repeated) || f.MRC.OutOfOrder != int64(late) ||
			f.Missing != int64(missing) ||
			f.Payload-f.payloadAgain != int64(len(seen))*packetBytes {
			rt.Fatalf("%d again, %d twice, %d late, %d missing; %d, %d, %d and %d were", f.Again,
				f.MRC.Repeated, f.MRC.OutOfOrder, f.Missing, again, repeated, late, missing)
		}
	})
}

package capture

import (
	"bufio"
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"railyard/roce"
)

// tape builds a capture packet by packet, a microsecond apart.
type tape struct {
	t   *testing.T
	buf bytes.Buffer
	w   *Writer
	n   int
}

func newTape(t *testing.T) *tape {
	c := &tape{t: t}
	var err error
	if c.w, err = NewWriter(&c.buf, "test", "port"); err != nil {
		t.Fatal(err)
	}
	return c
}

// put adds a packet from 10.0.0.1 to 10.0.0.2 QP 17, or back to QP 42.
func (c *tape) put(back bool, h roce.Header, body []byte, tos uint8, change func(b []byte) []byte) {
	f := roce.Frame{Kind: roce.KindRoCEv2, BTH: h, Body: body}
	a, b := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	f.BTH.DestQP, f.BTH.PKey = 17, 0xffff
	if back {
		a, b, f.BTH.DestQP = b, a, 42
	}
	f.IP.Src, f.IP.Dst, f.IP.TTL, f.IP.TOS, f.UDP.SrcPort = a, b, 64, tos, 50000
	f.Complete()
	raw := f.Append(nil)
	if change != nil {
		raw = change(raw)
	}
	c.n++
	c.w.Frame(time.Unix(1000, int64(c.n)*1000), 0, !back, raw, "")
}

func (c *tape) story() (events []string, s *Story) {
	c.t.Helper()
	if _, err := c.w.Close(); err != nil {
		c.t.Fatal(err)
	}
	r, err := NewReader(bufio.NewReader(&c.buf))
	if err != nil {
		c.t.Fatal(err)
	}
	t := NewTeller(1000, func(e Event) { events = append(events, fmt.Sprintf("%g %s", e.Micros, e.Text)) })
	if err := t.Tell(r, nil); err != nil {
		c.t.Fatal(err)
	}
	return events, &t.Story
}

// A short version of the source documents' lost packet: PSN 7200 is dropped, then NAK(7200), go-back-N, one
// cumulative ACK. A marked packet, a CNP, a damaged packet and a pause follow.
func TestStory(t *testing.T) {
	c := newTape(t)
	mtu := make([]byte, 1024)
	write := func(op roce.Opcode, psn uint32, change func([]byte) []byte) {
		c.put(false, roce.Header{Opcode: op, PSN: psn, VA: 0x7f800000, RKey: 0x1234, Len: 5 * 1024},
			mtu, 2, change)
	}
	write(roce.WriteFirst, 7198, nil)
	write(roce.WriteMiddle, 7199, nil)
	write(roce.WriteMiddle, 7201, nil)
	c.put(true, roce.Header{Opcode: roce.Acknowledge, PSN: 7200, Syndrome: roce.NakSequence}, nil, 2, nil)
	write(roce.WriteLast, 7202, nil)
	write(roce.WriteMiddle, 7200, nil)
	write(roce.WriteMiddle, 7201, nil)
	write(roce.WriteLast, 7202, nil)
	c.put(true, roce.Header{Opcode: roce.Acknowledge, PSN: 7202, Syndrome: roce.Ack, MSN: 1}, nil, 2, nil)
	c.put(false, roce.Header{Opcode: roce.SendOnlyImm, PSN: 7203, Imm: 9}, mtu, 3, nil)
	for range 3 {
		c.put(true, roce.Header{Opcode: roce.CNP, BECN: true}, make([]byte, 16), 48<<2, nil)
	}
	write(roce.WriteOnly, 7204, func(b []byte) []byte { b[100] ^= 1; return b })
	c.put(false, roce.Header{Opcode: roce.FetchAdd, PSN: 7205, VA: 8, SwapAdd: 3}, nil, 2, nil)
	c.put(true, roce.Header{Opcode: roce.AtomicAck, PSN: 7205, Syndrome: roce.Ack, Orig: 39}, nil, 2, nil)
	c.n++
	c.w.Frame(time.Unix(1000, int64(c.n)*1000), 0, true,
		roce.AppendPFC(nil, roce.MAC{2}, 8, [8]uint16{3: 100}), "")
	events, s := c.story()
	all := strings.Join(events, "\n")
	for _, want := range []string{
		"2 gap: PSN 7200 expected, 7201 received (1 missing here)",
		"3 NAK PSN sequence error, PSN 7200, MSN 0",
		"5 goes back: PSN 7200…7202 retransmitted, 3 packets",
		"0 WRITE va 0x7f800000 rkey 0x1234: 5.12KB, PSN 7198…7202, 5 packets in 7us (4.68 Gbit/s), " +
			"acknowledged 1us later",
		"first congestion experienced mark, on PSN 7203",
		"CNP: congestion reported",
		"ICRC ", "is wrong",
		"gap: PSN 7204 expected, 7205 received",
		"FETCH_ADD 3 va 0x8 rkey 0x0: 0B, PSN 7205, acknowledged 1us later, was 39",
		"SEND imm 0x9: 1KiB, PSN 7203, acknowledged",
		"PFC prio 3 pause 100 quanta",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the story lacks %q", want)
		}
	}
	f, b := s.Flows[0], s.Flows[1]
	if s.Packets != 17 || s.RoCE != 16 || s.Pause != 1 || s.ICRCBad != 1 || s.ICRCGood != 15 ||
		f.Again != 3 || f.Missing != 2 || f.Messages != 3 || f.CE != 1 || b.CNPs != 3 || b.Naks != 1 {
		t.Errorf("%+v\n%+v\n%+v", s, f, b)
	}
	if t.Failed() {
		t.Log(all)
	}
}

// Requests for credit are described, grants are counted, and both have their totals.
func TestCreditStory(t *testing.T) {
	c := newTape(t)
	c.put(false, roce.Header{Opcode: roce.CreditRequest, Credit: 70_000}, nil, 48<<2, nil)
	for i := range uint64(3) {
		c.put(true, roce.Header{Opcode: roce.CreditGrant, Credit: 4206 * (i + 1)}, nil, 48<<2, nil)
	}
	events, s := c.story()
	if all := strings.Join(events, "\n"); !strings.Contains(all, "0 credit requested, 70000 bytes in total") ||
		len(events) != 1 {
		t.Errorf("%q", events)
	}
	f, b := s.Flows[0], s.Flows[1]
	if s.ICRCGood != 4 || f.Requests != 1 || f.Credit != 70_000 || b.Grants != 3 || b.Credit != 3*4206 {
		t.Errorf("%+v\n%+v\n%+v", s, f, b)
	}
}

// Selective repeat: the report names missing packets. An ACK before a gap is an ACK without news.
func TestSelectiveStory(t *testing.T) {
	c := newTape(t)
	for _, psn := range []uint32{10, 11, 13, 14, 17} {
		c.put(false, roce.Header{Opcode: roce.WriteOnly, PSN: psn, VA: 0x1000, RKey: 1, Len: 100},
			make([]byte, 100), 2, nil)
	}
	c.put(true, roce.Header{Opcode: roce.Acknowledge, PSN: 12, Syndrome: roce.NakGap, MSN: 5<<8 | 1}, nil,
		2, nil)
	c.put(true, roce.Header{Opcode: roce.Acknowledge, PSN: 12, Syndrome: roce.NakMissing, MSN: 3<<8 | 2},
		nil, 2,
		nil)
	events, s := c.story()
	all := strings.Join(events, "\n")
	if b := s.Flows[1]; b.Naks != 1 || b.Acks != 1 ||
		!strings.Contains(all, "NAK: 2 packets missing from PSN 15 on") {
		t.Errorf("%d NAKs, %d ACKs in\n%s", b.Naks, b.Acks, all)
	}
}

// A READ of three packets: the answers belong to the other direction, and the PSNs to the request.
func TestReadStory(t *testing.T) {
	c := newTape(t)
	c.put(false, roce.Header{Opcode: roce.ReadRequest, PSN: 0xffffff, VA: 0x1000, RKey: 1, Len: 2500}, nil, 2,
		nil)
	for i, op := range []roce.Opcode{roce.ReadRespFirst, roce.ReadRespMiddle, roce.ReadRespLast} {
		c.put(true, roce.Header{Opcode: op, PSN: uint32(0xffffff+i) & roce.PSNMask, Syndrome: roce.Ack},
			make([]byte, []int{1024, 1024, 452}[i]), 2, nil)
	}
	c.put(false, roce.Header{Opcode: roce.WriteOnly, PSN: 2, VA: 0x1000, RKey: 1, Len: 4},
		make([]byte, 4), 2, nil)
	events, s := c.story()
	all := strings.Join(events, "\n")
	if !strings.Contains(all, "READ va 0x1000 rkey 0x1: 2.5KB, PSN 16777215…1, 3 packets") ||
		!strings.Contains(all, "answered in full") ||
		strings.Contains(all, "gap") || s.Flows[0].Unfinished != 1 {
		t.Errorf("%s\n%+v", all, s.Flows[0])
	}
}

// Segments that the kernel had not split are split here.
func TestSplit(t *testing.T) {
	var ib []byte
	f := roce.Frame{Kind: roce.KindRoCEv2, Exact: true}
	f.IP.Src, f.IP.Dst, f.IP.TTL, f.UDP.SrcPort = netip.MustParseAddr("10.0.0.1"),
		netip.MustParseAddr("10.0.0.2"), 64, 50000
	for i := range 3 {
		g := f
		g.BTH, g.Body, g.IP.ID = roce.Header{Opcode: roce.WriteMiddle, PKey: 0xffff, PSN: uint32(i)},
			make([]byte, []int{512, 512, 100}[i]), uint16(i)
		g.Complete()
		ib = append(ib, g.AppendIP(nil)[28:]...)
	}
	raw := roce.AppendUDP(nil, &roce.Ethernet{}, &f.IP, 50000, roce.Port, ib)
	var g roce.Frame
	if err := g.Decode(raw); err != nil {
		t.Fatal(err)
	}
	parts := split(&g)
	if len(parts) != 3 || parts[2].BTH.PSN != 2 || len(parts[2].Body) != 100 ||
		parts[2].ComputeICRC() != parts[2].ICRC {
		t.Errorf("%d parts", len(parts))
	}
}

// Any bytes give a story or an error.
func FuzzTell(f *testing.F) {
	for _, name := range []string{"testdata/lo.pcap", "testdata/real.pcap", "testdata/mrc.pcapng"} {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<20 {
			return
		}
		r, err := NewReader(bufio.NewReader(bytes.NewReader(b)))
		if err != nil {
			return
		}
		_ = NewTeller(100, func(Event) {}).Tell(r, nil)
	})
}

// Captures of others: tcpdump on loopback with batches of segments, and the
// known-good packets of a ConnectX-4 Lx and Soft-RoCE.
func TestForeignCaptures(t *testing.T) {
	for name, want := range map[string]struct{ roce, good int64 }{"lo.pcap": {31, 31}, "real.pcap": {6, 6}} {
		r, err := Open("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		tl := NewTeller(100, func(Event) {})
		if err := tl.Tell(r, nil); err != nil {
			t.Error(err)
		}
		r.Close()
		if s := tl.Story; s.RoCE != want.roce || s.ICRCGood != want.good || s.ICRCBad != 0 || s.Broken != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

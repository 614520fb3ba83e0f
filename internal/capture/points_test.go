package capture

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"railyard/roce"
)

// A capture of two points contains each packet twice and counts it once. Retransmissions are recognized at both.
func TestTwoPoints(t *testing.T) {
	var buf bytes.Buffer
	w, err := NewWriter(&buf, "test", "rail-1:Eth1", "rail-1:Eth2")
	if err != nil {
		t.Fatal(err)
	}
	a, b := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	at := 0
	put := func(back bool, h roce.Header, body []byte, points ...int) {
		f := roce.Frame{Kind: roce.KindRoCEv2, BTH: h, Body: body}
		f.BTH.DestQP, f.BTH.PKey, f.IP.TTL, f.UDP.SrcPort = 17, 0xffff, 64, 50000
		if f.IP.Src, f.IP.Dst = a, b; back {
			f.IP.Src, f.IP.Dst, f.BTH.DestQP = b, a, 42
		}
		f.Complete()
		at += 160
		for k, point := range points {
			w.Frame(time.Unix(1000, int64(at+3*k)), point, k == 1, f.Append(nil), "")
		}
	}
	body := make([]byte, 4096)
	write := func(op roce.Opcode, psn uint32, points ...int) {
		put(false, roce.Header{Opcode: op, PSN: psn, VA: 8, RKey: 9, Len: 3 * 4096}, body, points...)
	}
	write(roce.WriteFirst, 1, 0, 1)
	write(roce.WriteMiddle, 2, 0, 1)
	write(roce.WriteLast, 3, 0) // dropped between the points
	put(true, roce.Header{Opcode: roce.Acknowledge, PSN: 2, Syndrome: roce.Ack}, nil, 1, 0)
	write(roce.WriteLast, 3, 0, 1)
	put(true, roce.Header{Opcode: roce.Acknowledge, PSN: 3, Syndrome: roce.Ack, MSN: 1}, nil, 1, 0)
	put(true, roce.Header{Opcode: roce.CNP, BECN: true}, make([]byte, 16), 1, 0)
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(bufio.NewReader(&buf))
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	x := NewTeller(1000, func(e Event) { events = append(events, e.Text) })
	if err := x.Tell(r, nil); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(events, "\n")
	if strings.Count(all, "retransmitted") != 1 || !strings.Contains(all, "PSN 3 retransmitted") ||
		strings.Contains(all, "gap") || strings.Count(all, "CNP") != 1 {
		t.Error(all)
	}
	got := ""
	for _, f := range x.Story.Flows {
		got += fmt.Sprintln(f.Packets, f.Messages, f.Again, f.Acks, f.CNPs, f.Elsewhere, f.Missing)
	}
	if want := "4 1 1 0 0 3 0\n3 0 0 2 1 3 0\n"; got != want {
		t.Errorf("%swant\n%s", got, want)
	}
}

// Two packets of 4 KiB, 160 ns apart, are one packet in 160 ns, because the first arrived before its time stamp.
func TestRateOfTwo(t *testing.T) {
	c := newTape(t)
	body := make([]byte, 4096)
	for i, op := range []roce.Opcode{roce.WriteFirst, roce.WriteLast} {
		c.put(false, roce.Header{Opcode: op, PSN: uint32(i), VA: 8, RKey: 9, Len: 8192}, body, 2, nil)
	}
	events, s := c.story()
	want := 4096 * 8 / 1000.0 // 1 us between them
	if !strings.Contains(strings.Join(events, "\n"), fmt.Sprintf("(%.2f Gbit/s)", want)) ||
		math.Abs(s.Flows[0].Gbps-want) > 1e-9 {
		t.Error(events, s.Flows[0].Gbps)
	}
}

package capture

import (
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	"railyard/roce"
	"railyard/unit"
)

// analyzed is a WRITE with the metadata of n switches.
func analyzed(n int, v6 bool) *roce.Frame {
	f := &roce.Frame{Kind: roce.KindRoCEv2, Analyzed: true, IFA: roce.NewIFA(), Body: make([]byte, 256),
		BTH: roce.Header{Opcode: roce.WriteOnly, PKey: roce.DefaultPKey, DestQP: 0x11, PSN: uint32(n), Len: 256}}
	f.IP = roce.IP{TOS: 24<<2 | 2, TTL: 61, Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2")}
	if v6 {
		f.IP.Src, f.IP.Dst = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	}
	f.UDP.SrcPort = 50000
	for i := range n {
		f.IFA.Push(&roce.IFAHop{LNS: 1, Device: uint32(i), Rate: 6, Received: unit.Second, Residence: 100, Cells: 2})
	}
	f.Complete()
	return f
}

// TestTsharkIFA: Wireshark has no dissector of IFA. Its IP headers match: protocol 131, the length of all bytes,
// the checksum. The rest has the length of IFA plus UDP's.
func TestTsharkIFA(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
	var frames [][]byte
	for _, v6 := range []bool{false, true} {
		for n := range 6 {
			frames = append(frames, analyzed(n, v6).Append(nil))
		}
	}
	rows := tshark(t, frames, "ip.proto", "ip.len", "ipv6.nxt", "ipv6.plen", "frame.len", "ip.checksum")
	for i, row := range rows {
		n := i % 6
		behind := 8 + 32*n + 8 + 12 + 16 + 256 + 4 // IFA, UDP, BTH, RETH, data, ICRC
		want := []string{"", "131", fmt.Sprint(20 + behind), "", "", fmt.Sprint(34 + behind)}
		if i >= 6 {
			want = []string{"", "", "", "131", fmt.Sprint(behind), fmt.Sprint(54 + behind)}
		}
		if strings.Join(row[:6], "|") != strings.Join(want, "|") {
			t.Errorf("%d switches: tshark reads %q, want %q", n, row, want)
		}
	}
}

// TestIFAStory: a description has the first metadata and the first queue, and counts the bytes.
func TestIFAStory(t *testing.T) {
	c := newTape(t)
	for n := range 3 {
		f := analyzed(n, false)
		f.BTH.PSN = uint32(n)
		f.Complete()
		c.w.Frame(time.Unix(1000, int64(n)*1000), 0, true, f.Append(nil), "")
	}
	events, s := c.story()
	text := strings.Join(events, "\n")
	for _, want := range []string{"telemetry: IFA 0 hops", "telemetry: first queue, on PSN 1: IFA 1 hop, 1: device 0 port 0 > 0 " +
		"400Gbps residence 100 ns sent 0 queue 508"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	w := s.Flows[0]
	if w.Told != 3 || w.ToldBytes != 3*8+3*32 || w.ToldQueue != 508 || w.BadICRC != 0 || s.ICRCGood != 3 {
		t.Errorf("%+v", w)
	}
}

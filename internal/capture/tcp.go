package capture

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// TCPFlow sums up one direction of a TCP connection.
type TCPFlow struct {
	Src      string `json:"src"` // address and port
	Dst      string `json:"dst"`
	Packets  int64  `json:"packets"`
	Payload  int64  `json:"payload_bytes"`
	Again    int64  `json:"packets_again"` // packets below the highest sequence number seen
	Missing  int64  `json:"bytes_missing"` // bytes overtaken by others, at the time
	Gaps     int64  `json:"acks_with_gaps"`
	Echoes   int64  `json:"ece"`
	FirstSeq uint32 `json:"first_seq"`
	LastSeq  uint32 `json:"last_seq"` // one above the highest byte
	LastAck  uint32 `json:"last_ack"`
	gapAt    uint32 // acknowledgement number whose gap was reported
}

// tcpKey names one direction of a connection.
type tcpKey struct{ src, dst netip.AddrPort }

// tcpOf decodes a packet's TCP header; nil: it has none.
func tcpOf(data []byte, link layers.LinkType) *layers.TCP {
	p := gopacket.NewPacket(data, link, gopacket.DecodeOptions{Lazy: true, NoCopy: true})
	t, _ := p.Layer(layers.LayerTypeTCP).(*layers.TCP)
	return t
}

// tcp processes a TCP packet. It reports the first of a direction, retransmissions, gaps and marks.
func (t *Teller) tcp(us float64, p *Packet) {
	ip, h := &p.Frame.IP, p.TCP
	key := tcpKey{netip.AddrPortFrom(ip.Src, uint16(h.SrcPort)), netip.AddrPortFrom(ip.Dst, uint16(h.DstPort))}
	f, known := t.tcps[key]
	if !known {
		if len(t.tcps) >= maxFlows {
			t.Story.Untracked++
			return
		}
		if t.tcps == nil {
			t.tcps = map[tcpKey]*TCPFlow{}
		}
		f = &TCPFlow{Src: key.src.String(), Dst: key.dst.String(), FirstSeq: h.Seq, LastSeq: h.Seq, gapAt: h.Ack - 1}
		t.tcps[key] = f
		t.Story.TCP = append(t.Story.TCP, f)
	}
	say := func(format string, args ...any) {
		t.say(Event{Micros: us, Packet: p.Number, Who: f.Src + " > " + f.Dst, Text: fmt.Sprintf("TCP "+format, args...)})
	}
	n := uint32(len(h.Payload))
	if ip.Version == 4 { // without Ethernet's padding
		n = uint32(max(0, int(ip.Len)-20-len(ip.Options)-4*int(h.DataOffset)))
	}
	f.Packets++
	f.Payload += int64(n)
	f.LastAck = h.Ack
	if !known {
		say("%s seq %d ack %d, %d bytes", flags(h), h.Seq, h.Ack, n)
	}
	switch ahead := int32(h.Seq - f.LastSeq); {
	case n > 0 && ahead < 0:
		f.Again++
		say("seq %d retransmitted, %d bytes", h.Seq, n)
	case ahead > 0:
		f.Missing += int64(ahead)
		say("gap: seq %d expected, %d received", f.LastSeq, h.Seq)
	}
	if end := h.Seq + n; int32(end-f.LastSeq) > 0 {
		f.LastSeq = end
	}
	for _, o := range h.Options {
		if o.OptionType == layers.TCPOptionKindSACK && len(o.OptionData) >= 8 {
			if f.Gaps++; f.gapAt != h.Ack {
				f.gapAt = h.Ack
				say("ack %d reports a gap", h.Ack)
			}
		}
	}
	if h.ECE {
		if f.Echoes++; f.Echoes == 1 {
			say("first ECE, ack %d: congestion experienced", h.Ack)
		}
	}
}

// flags returns the names of a header's flags.
func flags(h *layers.TCP) string {
	var all []string
	for i, set := range [...]bool{h.SYN, h.ACK, h.PSH, h.FIN, h.RST, h.ECE, h.CWR} {
		if set {
			all = append(all, [...]string{"SYN", "ACK", "PSH", "FIN", "RST", "ECE", "CWR"}[i])
		}
	}
	return strings.Join(all, "+")
}

package web

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/capture"
	"railyard/internal/result"
	"railyard/roce"
)

// Field is a part of a packet's bytes, explained.
type Field struct {
	Layer string `json:"layer"`
	Name  string `json:"name"`
	From  int    `json:"from"`
	To    int    `json:"to"`
	Value string `json:"value"`
	About string `json:"about"`
}

// Packet is one captured packet.
type Packet struct {
	Number int64   `json:"number"`
	At     int64   `json:"at_ns"`
	Kind   string  `json:"kind"`
	From   string  `json:"from"`   // NIC, or address
	To     string  `json:"to"`     // likewise
	Sender string  `json:"sender"` // node that sent it on the captured cable
	Peer   string  `json:"peer"`   // and its receiver
	Port   string  `json:"port"`   // and the port; "" of another program's capture
	Again  bool    `json:"again"`  // the same packet was seen here before
	QP     uint32  `json:"qp"`     // on the wire
	PSN    uint32  `json:"psn"`
	CE     bool    `json:"ce"`
	Bytes  int     `json:"bytes"`
	Hex    string  `json:"hex"`            // the headers, at most maxHead bytes
	Said   string  `json:"said,omitempty"` // the simulator's comment on a packet that it does not encode
	Fields []Field `json:"fields"`
	conn   int64   // the run's queue pair, as other views have it; of another program's capture its qpn
}

// maxPackets is the maximum number of packets per response, and maxHead the maximum bytes of each: all headers,
// also those of a packet in a tunnel.
const (
	maxPackets = 1000
	maxHead    = 160
)

// place names the sender of a packet on the captured cable, and the NICs between which it is sent. The simulator's
// addresses number ports and NICs.
func (r *Directory) place(x *Packet, raw []byte) {
	if x.Said == "" {
		x.conn = int64(x.QP)
	}
	if len(raw) < 14 || raw[6] != 0x02 || raw[7] != 0x52 {
		return
	}
	if port := int(binary.BigEndian.Uint32(raw[8:12])); port < len(r.ports) {
		x.Sender, x.Peer = r.ports[port].Node, r.ports[port].Peer
		x.Port, _, _ = strings.Cut(r.ports[port].Name, " → ")
	}
	if x.Said == "" && x.QP >= result.FirstQPN {
		x.conn = int64(x.QP-result.FirstQPN) / 2
	}
	for _, end := range []*string{&x.From, &x.To} {
		if n := nicOf(*end); n >= 1 && n <= len(r.Topology.NICs) {
			*end = r.Topology.NICs[n-1].Name
		}
	}
}

// nicOf returns the number, from 1, of the NIC of a simulated address: 10.0.0.3, or the same four bytes at the end
// of fd00::/96.
func nicOf(text string) int {
	a, err := netip.ParseAddr(text)
	if err != nil {
		return 0
	}
	b := a.As16()
	if a.Is6() && (b[0] != 0xfd || [11]byte(b[1:12]) != [11]byte{}) || b[12] != 10 {
		return 0
	}
	return int(b[13])<<16 | int(b[14])<<8 | int(b[15])
}

// comment is the simulator's comment on a packet with an unpublished format (sim/spell.go).
var comment = regexp.MustCompile(`^(.+?) from (\S+) to ([^\s,]+), connection (\d+), PSN (\d+)`)

// tell adds the simulator's comment on a packet.
func (x *Packet) tell(said string) {
	m := comment.FindStringSubmatch(said)
	if m == nil {
		return
	}
	x.Said, x.Kind, x.From, x.To = said, m[1], m[2], m[3]
	qp, _ := strconv.ParseUint(m[4], 10, 32)
	psn, _ := strconv.ParseUint(m[5], 10, 32)
	x.conn = int64(qp)
	x.QP, x.PSN, x.CE = uint32(qp), uint32(psn), strings.Contains(said, ", marked")
}

// brief returns a packet's row in a list.
func brief(p *capture.Packet) Packet {
	x := Packet{Number: p.Number, At: p.At.UnixNano(), Kind: "other", Bytes: len(p.Raw)}
	switch f := &p.Frame; {
	case p.Err != nil:
		x.tell(p.Comment)
		return x
	case f.Kind == roce.KindPause:
		x.Kind = f.Pause.String()
		return x
	case f.Kind == roce.KindLLDP:
		x.Kind = "LLDP"
		return x
	case f.Kind == roce.KindOther:
		return x
	}
	h := &p.Frame.BTH
	x.Kind, x.QP, x.PSN, x.CE = h.Opcode.String(), h.DestQP, h.PSN, p.Frame.IP.TOS&3 == 3
	if h.Opcode == roce.Acknowledge {
		x.Kind = h.Syndrome.String()
	}
	x.From, x.To = p.Frame.IP.Src.String(), p.Frame.IP.Dst.String()
	return x
}

// spell adds a packet's bytes and fields.
func spell(x *Packet, p *capture.Packet) {
	x.Hex = hex.EncodeToString(p.Raw[:min(maxHead, len(p.Raw))])
	switch {
	case p.Err != nil:
	case p.Frame.Kind == roce.KindPause:
		x.Fields = pauseFields(&p.Frame.Pause)
	default:
		x.Fields = layers(&p.Frame, p.Raw)
	}
}

// pauseFields explains a frame of MAC control without a VLAN tag.
func pauseFields(f *roce.PauseFrame) []Field {
	all := []Field{{"Ethernet", "destination", 0, 6, "01:80:c2:00:00:01",
		"the address of MAC control frames: no switch forwards them"},
		{"Ethernet", "EtherType", 12, 14, "0x8808", "MAC control (IEEE 802.3 annex 31)"}}
	if f.Classic {
		return append(all, Field{"PAUSE", "opcode", 14, 16, "0x0001", "pause of the whole link (IEEE 802.3 annex 31B)"},
			Field{"PAUSE", "quanta", 16, 18, fmt.Sprint(f.Quanta[0]), "duration in units of 512 bit times"})
	}
	all = append(all, Field{"PFC", "opcode", 14, 16, "0x0101", "priority flow control (IEEE 802.1Qbb)"},
		Field{"PFC", "class enable", 16, 18, fmt.Sprintf("0x%02x%02x", f.High, f.Vector),
			"a bit per priority that is paused or released"})
	for p, quanta := range f.Quanta {
		if f.Vector>>p&1 == 1 {
			all = append(all, Field{"PFC", fmt.Sprintf("priority %d, quanta", p), 18 + 2*p, 20 + 2*p, fmt.Sprint(quanta),
				"duration of the pause in units of 512 bit times; 0 releases the priority"})
		}
	}
	return all
}

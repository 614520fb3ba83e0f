package web

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
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
	Peer   string  `json:"peer"`   // and the one that received it
	Again  bool    `json:"again"`  // the same packet was seen here before
	QP     uint32  `json:"qp"`
	PSN    uint32  `json:"psn"`
	CE     bool    `json:"ce"`
	Bytes  int     `json:"bytes"`
	Hex    string  `json:"hex"`            // the headers, at most maxHead bytes
	Said   string  `json:"said,omitempty"` // what the simulator wrote beside one it does not spell out
	Fields []Field `json:"fields"`
}

// maxPackets bounds the packets that are sent at once, maxHead the bytes of each: all headers, also those of
// a packet in a tunnel.
const (
	maxPackets = 1000
	maxHead    = 160
)

// packets decodes a part of the capture of a run.
func (r *Directory) packets(q url.Values) (any, error) {
	skip, err := number(q, "skip", 0, 0, 1<<40)
	if err != nil {
		return nil, err
	}
	from, err := number(q, "from", 0, 0, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	in, err := capture.Open(filepath.Join(r.Dir, "capture.pcapng"))
	if errors.Is(err, os.ErrNotExist) {
		return Packets{Missing: "this run has no capture; run the scenario with --capture PORT to see packets"}, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	in.Comments = true
	out := []Packet{}
	type key struct {
		at, from, kind string
		qp, psn        uint32
	}
	seen := map[key]bool{}
	var p capture.Packet
	more := false
	for n := int64(0); ; {
		if err := in.Next(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if p.At.UnixNano() < from/1000 {
			continue
		}
		if n++; n <= skip {
			continue
		}
		if more = len(out) >= maxPackets; more {
			break
		}
		x := decode(&p)
		r.place(&x, p.Raw)
		k := key{x.Sender, x.From, x.Kind, x.QP, x.PSN}
		x.Again = seen[k] && x.From != "" && p.Frame.BTH.Opcode != roce.Acknowledge
		if x.Said != "" {
			x.Again = strings.Contains(x.Said, ", again")
		}
		seen[k] = true
		out = append(out, x)
	}
	return Packets{Packets: out, More: more}, nil
}

// followed are the packets that the run followed.
func (r *Directory) followed() (any, error) {
	all, err := result.ReadFollowed(r.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return Journeys{}, nil
	}
	if err != nil {
		return nil, r.broken(result.FollowedFile, err)
	}
	for _, f := range all {
		for _, c := range f.Copies {
			for _, h := range c.Hops {
				if h.Port < 0 || int(h.Port) >= len(r.ports) {
					return nil, r.broken(result.FollowedFile, fmt.Errorf("packet %s was at port %d, which does not exist", f.Asked, h.Port))
				}
			}
		}
	}
	return Journeys{all}, nil
}

// place names who sent a packet on the captured cable and whose NICs it goes between:
// the simulator's addresses count ports and NICs.
func (r *Directory) place(x *Packet, raw []byte) {
	if len(raw) < 14 || raw[6] != 0x02 || raw[7] != 0x52 {
		return
	}
	if port := int(binary.BigEndian.Uint32(raw[8:12])); port < len(r.ports) {
		x.Sender, x.Peer = r.ports[port].Node, r.ports[port].Peer
	}
	for _, end := range []*string{&x.From, &x.To} {
		if n := nicOf(*end); n >= 1 && n <= len(r.Topology.NICs) {
			*end = r.Topology.NICs[n-1].Name
		}
	}
}

// nicOf is the number, from 1, of the NIC that a simulated address belongs to: 10.0.0.3, or the same four
// bytes at the end of fd00::/96.
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

// comment is what the simulator writes beside a packet whose format nobody has published (sim/spell.go).
var comment = regexp.MustCompile(`^(.+?) from (\S+) to ([^\s,]+), connection (\d+), PSN (\d+)`)

// tell fills in what the simulator wrote beside a packet.
func (x *Packet) tell(said string) {
	m := comment.FindStringSubmatch(said)
	if m == nil {
		return
	}
	x.Said, x.Kind, x.From, x.To = said, m[1], m[2], m[3]
	qp, _ := strconv.ParseUint(m[4], 10, 32)
	psn, _ := strconv.ParseUint(m[5], 10, 32)
	x.QP, x.PSN, x.CE = uint32(qp), uint32(psn), strings.Contains(said, ", marked")
}

// decode spells one packet out.
func decode(p *capture.Packet) Packet {
	x := Packet{Number: p.Number, At: p.At.UnixNano(), Kind: "other", Bytes: len(p.Raw),
		Hex: hex.EncodeToString(p.Raw[:min(maxHead, len(p.Raw))])}
	if p.Err != nil {
		if len(p.Raw) >= 18 && p.Raw[12] == 0x88 && p.Raw[13] == 0x08 {
			x.Kind = "PFC pause"
			x.Fields = []Field{{"Ethernet", "destination", 0, 6, "01:80:c2:00:00:01",
				"the address of MAC control frames: no switch forwards them"},
				{"Ethernet", "EtherType", 12, 14, "0x8808", "MAC control (IEEE 802.3 annex 31)"},
				{"PFC", "opcode", 14, 16, "0x0101", "priority flow control (IEEE 802.1Qbb)"},
				{"PFC", "class enable", 16, 18, fmt.Sprintf("0x%02x%02x", p.Raw[16], p.Raw[17]),
					"a bit per priority that is paused or released"}}
		}
		x.tell(p.Comment)
		return x
	}
	f := &p.Frame
	h := &f.BTH
	x.Kind, x.QP, x.PSN, x.CE = h.Opcode.String(), h.DestQP, h.PSN, f.IP.TOS&3 == 3
	x.From, x.To = f.IP.Src.String(), f.IP.Dst.String()
	x.Fields = layers(f, p.Raw)
	return x
}

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
	"slices"

	"railyard/internal/capture"
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
	Hex    string  `json:"hex"` // the headers, at most 128 bytes
	Fields []Field `json:"fields"`
}

// maxPackets bounds the packets that are sent at once.
const maxPackets = 1000

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
		seen[k] = true
		out = append(out, x)
	}
	return Packets{Packets: out, More: more}, nil
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
		if a, err := netip.ParseAddr(*end); err == nil && a.Is4() {
			if b := a.As4(); b[0] == 10 {
				if n := int(b[1])<<16 | int(b[2])<<8 | int(b[3]); n >= 1 && n <= len(r.Topology.NICs) {
					*end = r.Topology.NICs[n-1].Name
				}
			}
		}
	}
}

// decode spells one packet out.
func decode(p *capture.Packet) Packet {
	x := Packet{Number: p.Number, At: p.At.UnixNano(), Kind: "other", Bytes: len(p.Raw),
		Hex: hex.EncodeToString(p.Raw[:min(128, len(p.Raw))])}
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
		return x
	}
	f := &p.Frame
	h := &f.BTH
	x.Kind, x.QP, x.PSN, x.CE = h.Opcode.String(), h.DestQP, h.PSN, f.IP.TOS&3 == 3
	x.From, x.To = f.IP.Src.String(), f.IP.Dst.String()
	x.Fields = layers(f, p.Raw)
	return x
}

// layers lists the fields of a RoCEv2 packet over IPv4 with an Ethernet header.
func layers(f *roce.Frame, raw []byte) []Field {
	h := &f.BTH
	const ip = 14
	if len(raw) < ip+20+8+12 || raw[12] != 0x08 || raw[13] != 0 || raw[ip] != 0x45 {
		return nil
	}
	out := []Field{
		{"Ethernet", "destination", 0, 6, mac(raw[0:6]), "the NIC or router port that is next"},
		{"Ethernet", "source", 6, 12, mac(raw[6:12]), "who sent it on this cable"},
		{"Ethernet", "EtherType", 12, 14, "0x0800", "IPv4 follows"},
		{"IPv4", "DSCP, ECN", ip + 1, ip + 2, fmt.Sprintf("%d, %d", f.IP.TOS>>2, f.IP.TOS&3),
			"the DSCP chooses the switch's queue; ECN 2: capable, 3: congestion was met"},
		{"IPv4", "identification", ip + 4, ip + 6, fmt.Sprintf("%d", int(raw[ip+4])<<8|int(raw[ip+5])),
			"covered by the ICRC"},
		{"IPv4", "TTL", ip + 8, ip + 9, fmt.Sprint(raw[ip+8]), "one less at each router"},
		{"IPv4", "source", ip + 12, ip + 16, f.IP.Src.String(), "the sending NIC"},
		{"IPv4", "destination", ip + 16, ip + 20, f.IP.Dst.String(), "the receiving NIC"},
		{"UDP", "source port", ip + 20, ip + 22, fmt.Sprintf("%d", int(raw[ip+20])<<8|int(raw[ip+21])),
			"entropy: switches hash it to choose among equal paths"},
		{"UDP", "destination port", ip + 22, ip + 24, "4791", "RoCEv2"},
	}
	bth := ip + 28
	if h.Opcode.IsMRC() {
		return append(out, mrcLayers(f, raw, bth)...)
	}
	out = append(out,
		Field{"BTH", "opcode", bth, bth + 1, fmt.Sprintf("0x%02x %v", raw[bth], h.Opcode),
			"what the packet is part of"},
		Field{"BTH", "destination QP", bth + 5, bth + 8, fmt.Sprintf("0x%06x", h.DestQP),
			"the queue pair that takes it"},
		Field{"BTH", "acknowledge", bth + 8, bth + 9, fmt.Sprint(raw[bth+8] >> 7),
			"1: the receiver shall answer"},
		Field{"BTH", "PSN", bth + 9, bth + 12, fmt.Sprint(h.PSN), "packet sequence number: gaps are loss"})
	at := bth + 12
	if h.Opcode.HasRETH() && len(raw) >= at+16 {
		out = append(out, Field{"RETH", "virtual address", at, at + 8, fmt.Sprintf("0x%x", h.VA),
			"where in the receiver's memory the bytes go"},
			Field{"RETH", "rkey", at + 8, at + 12, fmt.Sprintf("0x%08x", h.RKey),
				"the key of that memory region"},
			Field{"RETH", "DMA length", at + 12, at + 16, fmt.Sprint(h.Len), "of the whole message"})
		at += 16
	}
	if h.Opcode.HasAETH() && len(raw) >= at+4 {
		out = append(out, Field{"AETH", "syndrome", at, at + 1, fmt.Sprintf("0x%02x", raw[at]),
			"0x00 to 0x1f: acknowledged; 0x60: a gap was found"},
			Field{"AETH", "MSN", at + 1, at + 4, fmt.Sprint(h.MSN), "messages that are complete"})
		at += 4
	}
	if n := h.Telemetry.Len(); n > 0 && len(raw) >= at+n {
		out = append(out, telemetry(h, at)...)
		at += n
	}
	if end := len(raw) - 4; end >= at {
		if end > at {
			out = append(out, Field{"payload", fmt.Sprintf("%d bytes", end-at), at, end, "",
				"the GPU's data"})
		}
		out = append(out, Field{"ICRC", "invariant CRC", end, end + 4, hex.EncodeToString(raw[end:]),
			"over everything that routers do not change"})
	}
	return out
}

// mrcLayers lists the fields of a packet of MRC from its BTH on, by the codec's own list.
func mrcLayers(f *roce.Frame, raw []byte, at int) (out []Field) {
	for _, o := range roce.MRCOps() {
		if o.Op != f.BTH.Opcode {
			continue
		}
		for _, h := range roce.MRCHeaders() {
			if !slices.Contains(o.Headers, h.Name) || h.Name == "TSETH" && !f.MRC.Stamped ||
				len(raw) < at+h.Len {
				continue
			}
			for _, x := range roce.MRCFields() {
				if x.Header == h.Name {
					first, end := at+x.At/8, at+(x.At+x.Bits+7)/8
					out = append(out, Field{h.Name, x.Name, first, end, x.Show(raw[at:]), x.Doc})
				}
			}
			at += h.Len
		}
	}
	end := len(raw) - roce.ICRCLen
	if end < at {
		return out
	}
	if end > at {
		out = append(out, Field{"payload", fmt.Sprintf("%d bytes", end-at), at, end, "", "the GPU's data"})
	}
	return append(out, Field{"ICRC", "invariant CRC", end, end + 4, hex.EncodeToString(raw[end:]),
		"over everything that routers do not change"})
}

// telemetry lists the fields of what switches wrote, which begins at a byte.
func telemetry(h *roce.Header, at int) []Field {
	if h.Telemetry != roce.TelemetryINT {
		return []Field{{"CSIG", "reflected tag", at, at + h.Telemetry.Len(), h.Reflected.String(),
			"what the packet that this answers came in with"}}
	}
	out := []Field{{"INT", "hops, path", at, at + 2, fmt.Sprintf("%d, 0x%03x", h.INT.Hops, h.INT.Path),
		"switches passed, and what tells paths apart"}}
	for i, s := range h.INT.Stamps() {
		hop := at + 2 + 8*i
		out = append(out, Field{"INT", fmt.Sprintf("switch %d", i+1), hop, hop + 8, s.String(),
			"its egress port: rate, clock, bytes sent before this frame, bytes waiting"})
	}
	return out
}

func mac(b []byte) string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5])
}

package web

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"railyard/roce"
)

// layers lists the fields of a RoCEv2 packet after an Ethernet header: over IPv4 or IPv6, with tags, and in an outer
// IPv6 header with its path.
func layers(f *roce.Frame, raw []byte) []Field {
	if f.Kind != roce.KindRoCEv2 || len(raw) < roce.EthernetLen {
		return nil
	}
	raw = raw[:len(raw)-len(f.Trail)] // Ethernet's padding
	out, at := ethernet(f, raw)
	if f.Tunnel {
		out = append(out, way(&f.Outer, at)...)
		at += roce.IPv6Len
	}
	switch {
	case f.IP.Version == 4 && len(raw) > at+roce.IPv4Len:
		out = append(out, ipv4(f, raw, at)...)
		at += int(raw[at]&15) * 4
	case f.IP.Version == 6:
		out = append(out, ipv6("IPv6", &f.IP, at, f.BTH.Opcode.IsMRC())...)
		at += roce.IPv6Len
	}
	if len(raw) < at+roce.UDPLen+roce.BTHLen {
		return nil
	}
	if f.Analyzed {
		out = append(out, Field{"IFA", "header", at, at + 4, fmt.Sprintf("version 2, GNS %d, next protocol %d",
			f.IFA.GNS, f.IFA.Next), "in-band flow analyzer; the receiver removes it"})
		at += 4
	}
	out = append(out,
		Field{"UDP", "source port", at, at + 2, fmt.Sprint(f.UDP.SrcPort),
			"entropy: switches hash it to choose among equal paths"},
		Field{"UDP", "destination port", at + 2, at + 4, fmt.Sprint(f.UDP.DstPort), service(f)})
	at += roce.UDPLen
	if f.Analyzed {
		out = append(out, metadata(&f.IFA, at)...)
		at += f.IFA.Len() - 4
	}
	if f.BTH.Opcode.IsMRC() {
		return append(out, mrcLayers(f, raw, at)...)
	}
	return append(out, rcLayers(f, raw, at)...)
}

// service returns what listens at a packet's port.
func service(f *roce.Frame) string {
	if f.UDP.DstPort == roce.Port {
		return "RoCEv2"
	}
	return "MRC"
}

// ethernet lists the fields up to the EtherType of the payload, and the payload's offset.
func ethernet(f *roce.Frame, raw []byte) (out []Field, at int) {
	out = []Field{
		{"Ethernet", "destination", 0, 6, mac(raw[0:6]), "the NIC or router port that is next"},
		{"Ethernet", "source", 6, 12, mac(raw[6:12]), "who sent it on this cable"}}
	at = 12
	for _, t := range f.Tags[:f.NumTags] {
		out = append(out, Field{"VLAN", "tag", at, at + roce.VLANLen,
			fmt.Sprintf("%d, priority %d", t.TCI&0xfff, t.TCI>>13),
			"which VLAN, and the class of service at layer 2"})
		at += roce.VLANLen
	}
	if f.Tagged {
		n := roce.CSIGLen
		if int(raw[at])<<8|int(raw[at+1]) == roce.TypeCSIGWide {
			n = roce.CSIGWideLen
		}
		out = append(out, Field{"CSIG", "tag", at, at + n - 2, f.CSIG.String(), "the worst port on the path so far"})
		at += n - 2 // its last two bytes are the EtherType of the payload
	}
	follows := map[uint16]string{roce.TypeIPv4: "IPv4 follows", roce.TypeIPv6: "IPv6 follows"}[f.Type]
	return append(out, Field{"Ethernet", "EtherType", at, at + 2, fmt.Sprintf("0x%04x", f.Type), follows}), at + 2
}

const classes = "the DSCP chooses the switch's queue; ECN 2: capable, 3: congestion was met"

func ipv4(f *roce.Frame, raw []byte, at int) []Field {
	ip := &f.IP
	return []Field{
		{"IPv4", "DSCP, ECN", at + 1, at + 2, fmt.Sprintf("%d, %d", ip.TOS>>2, ip.TOS&3), classes},
		{"IPv4", "identification", at + 4, at + 6, fmt.Sprint(ip.ID), "covered by the ICRC"},
		{"IPv4", "TTL", at + 8, at + 9, fmt.Sprint(raw[at+8]), "one less at each router"},
		{"IPv4", "source", at + 12, at + 16, ip.Src.String(), "the sending NIC"},
		{"IPv4", "destination", at + 16, at + 20, ip.Dst.String(), "the receiving NIC"},
	}
}

func ipv6(layer string, ip *roce.IP, at int, mrc bool) []Field {
	label := "entropy: switches hash it to choose among equal paths"
	if mrc {
		label = "its low 16 bits are the high half of MRC's entropy value"
	}
	return []Field{
		{layer, "DSCP, ECN", at, at + 2, fmt.Sprintf("%d, %d", ip.TOS>>2, ip.TOS&3), classes},
		{layer, "flow label", at + 1, at + 4, fmt.Sprintf("0x%05x", ip.Flow), label},
		{layer, "payload length", at + 4, at + 6, fmt.Sprint(ip.Len), "behind this header"},
		{layer, "next header", at + 6, at + 7, fmt.Sprint(ip.Proto), "17: UDP, 41: another IPv6 header"},
		{layer, "hop limit", at + 7, at + 8, fmt.Sprint(ip.TTL), "one less at each router"},
		{layer, "source", at + 8, at + 24, ip.Src.String(), "the sending NIC"},
		{layer, "destination", at + 24, at + 40, ip.Dst.String(), "the receiving NIC"},
	}
}

// way lists the fields of an outer header whose destination contains the switches of the packet's path.
func way(ip *roce.IP, at int) []Field {
	out := ipv6("outer IPv6", ip, at, false)
	last := &out[len(out)-1]
	block, segments := roce.AppendSegments(nil, ip.Dst)
	var left []string
	for _, s := range segments {
		left = append(left, fmt.Sprintf("0x%04x", s))
	}
	last.Name, last.About = "segments", fmt.Sprintf("SRv6: block 0x%08x, then the switches that are still to come (%s); each takes its own out", block, strings.Join(left, ", "))
	return out
}

// rcLayers lists the fields of a packet of RC from its BTH on.
func rcLayers(f *roce.Frame, raw []byte, bth int) (out []Field) {
	h := &f.BTH
	out = append(out,
		Field{"BTH", "opcode", bth, bth + 1, fmt.Sprintf("0x%02x %v", raw[bth], h.Opcode),
			"what the packet is part of"},
		Field{"BTH", "destination QP", bth + 5, bth + 8, fmt.Sprintf("0x%06x", h.DestQP),
			"the queue pair that takes it"},
		Field{"BTH", "acknowledge", bth + 8, bth + 9, fmt.Sprint(raw[bth+8] >> 7), "1: the receiver shall answer"},
		Field{"BTH", "PSN", bth + 9, bth + 12, fmt.Sprint(h.PSN), "packet sequence number: gaps are loss"})
	at := bth + 12
	if h.Opcode.HasRETH() && len(raw) >= at+16 {
		out = append(out, Field{"RETH", "virtual address", at, at + 8, fmt.Sprintf("0x%x", h.VA),
			"where in the receiver's memory the bytes go"},
			Field{"RETH", "rkey", at + 8, at + 12, fmt.Sprintf("0x%08x", h.RKey), "the key of that memory region"},
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
			out = append(out, Field{"payload", fmt.Sprintf("%d bytes", end-at), at, end, "", "the GPU's data"})
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
			if !slices.Contains(o.Headers, h.Name) || h.Name == "TSETH" && !f.MRC.Stamped || len(raw) < at+h.Len {
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

// telemetry lists the fields of switches' telemetry, from an offset.
func telemetry(h *roce.Header, at int) []Field {
	if h.Telemetry != roce.TelemetryINT {
		return []Field{{"CSIG", "reflected tag", at, at + h.Telemetry.Len(), h.Reflected.String(),
			"what the packet that this answers came in with"}}
	}
	out := []Field{{"INT", "hops, path", at, at + 2, fmt.Sprintf("%d, 0x%03x", h.INT.Hops, h.INT.Path),
		"switches passed, and what distinguishes paths"}}
	for i, s := range h.INT.Stamps() {
		hop := at + 2 + 8*i
		out = append(out, Field{"INT", fmt.Sprintf("switch %d", i+1), hop, hop + 8, s.String(),
			"its egress port: rate, clock, bytes sent before this frame, bytes waiting"})
	}
	return out
}

// metadata lists IFA's metadata header and stack, which begin at a byte.
func metadata(a *roce.IFA, at int) []Field {
	out := []Field{{"IFA", "metadata header", at, at + 4, fmt.Sprintf("hop limit %d, %d words", a.Limit, len(a.Meta)/4),
		"switches that may still add metadata, and its length"}}
	hops, ok := a.Hops()
	if at += 4; !ok {
		return append(out, Field{"IFA", "metadata", at, at + len(a.Meta), "in a format other than LNS 1", ""})
	}
	for i := len(hops) - 1; i >= 0; i-- {
		out = append(out, Field{"IFA", fmt.Sprintf("switch %d", i+1), at, at + roce.IFAHopLen, hops[i].String(),
			"its ports, the egress port's rate, time in the switch, bytes sent before this frame, bytes waiting"})
		at += roce.IFAHopLen
	}
	return out
}

func mac(b []byte) string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5])
}

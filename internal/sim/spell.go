package sim

import (
	"fmt"
	"net/netip"

	"railyard/internal/fabric"
	"railyard/internal/host"
	"railyard/roce"
	"railyard/transport"
)

// typeExperiment is IEEE 802's EtherType for local experiments: captures use it for protocols without a published wire
// format.
const typeExperiment = 0x88b5

// spelled encodes a captured packet. It returns false if only its addresses could be encoded, because its protocol
// has no codec.
func (n *Network) spelled(s *captured, heads []transport.Packet) (f *roce.Frame, ok bool) {
	if s.head == 0 {
		return n.frame(n.fronts(), &s.p), true
	}
	p, head := &s.p, &heads[s.head-1]
	toReceivers, _ := host.Ends(p.Opcode)
	src, dst := n.Hosts.Peers(p.QP)
	from, to := requesterQPN(p.QP), responderQPN(p.QP)
	if !toReceivers {
		src, dst, from, to = dst, src, to, from
	}
	f = &roce.Frame{Kind: roce.KindRoCEv2, BTH: roce.Header{PKey: roce.DefaultPKey, DestQP: to, PSN: p.PSN}}
	f.IP = roce.IP{TOS: p.TOS, Frag: 0x4000, TTL: 64 - p.Hops, Src: addrOf(src), Dst: addrOf(dst)}
	speller, ok := n.Hosts.Service(p.QP).Protocol.(transport.Speller)
	if !ok {
		return f, false
	}
	payload := speller.Spell(head, f, from, to)
	if f.IP.Version == 6 {
		overIPv6(f, src, dst)
	}
	if f.BTH.Opcode.IsMRCWrite() {
		f.BTH.RKey = n.Hosts.RKey()
	}
	roce.EV(head.EV).Put(&f.IP, &f.UDP)
	f.BTH.Pad = uint8(-payload & 3)
	f.Body = zeros[:payload+int(f.BTH.Pad)]
	return f, true
}

// overIPv6 gives a frame an IPv6 header, from one NIC to another.
func overIPv6(f *roce.Frame, src, dst int32) {
	f.IP.Version, f.IP.Frag, f.IP.Src, f.IP.Dst = 6, 0, addr6Of(src), addr6Of(dst)
}

// addr6Of returns a NIC's IPv6 address, a unique local one.
func addr6Of(nic int32) netip.Addr {
	b := addrOf(nic).As4()
	return netip.AddrFrom16([16]byte{0: 0xfd, 15: b[3], 14: b[2], 13: b[1], 12: b[0]})
}

// unspelled returns a frame of the packet's length without contents, and a comment that describes the packet.
func (n *Network) unspelled(b []byte, f *roce.Frame, p *fabric.Packet, head *transport.Packet) ([]byte, string) {
	comment := fmt.Sprintf("%v from %v to %v, connection %d, PSN %d", head.Kind, f.IP.Src, f.IP.Dst, p.QP, head.PSN)
	if head.Kind == transport.Data {
		comment += fmt.Sprintf(" of message %d, %d bytes at %d", head.Message, head.Payload, head.Offset)
	}
	if head.EV != 0 {
		comment += fmt.Sprintf(", EV %#x", head.EV)
	}
	for flag, what := range [...]string{"again", "asks", "last", "marked", "trimmed"} {
		if head.Flags>>flag&1 != 0 {
			comment += ", " + what
		}
	}
	b = append(append(b, f.Dst[:]...), f.Src[:]...)
	b = append(b, typeExperiment>>8, typeExperiment&0xff)
	return append(b, zeros[:int(p.Size)-roce.EthernetLen-roce.FCSLen]...), comment
}

package roce

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// Kind is the kind of a frame.
type Kind uint8

// Kinds of frames.
const (
	KindOther  Kind = iota
	KindRoCEv2      // BTH over UDP 4791
	KindRoCEv1      // BTH over a GRH, EtherType 0x8915
	KindPause       // classic pause or PFC, EtherType 0x8808
	KindLLDP        // EtherType 0x88cc
)

// EtherTypes.
const (
	TypeIPv4       = 0x0800
	TypeIPv6       = 0x86dd
	TypeVLAN       = 0x8100
	TypeQinQ       = 0x88a8
	TypeMACControl = 0x8808
	TypeRoCEv1     = 0x8915
	TypeLLDP       = 0x88cc
)

// MAC is an Ethernet address.
type MAC [6]byte

func (m MAC) String() string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5])
}

// Ethernet is the link header with up to two VLAN tags.
type Ethernet struct {
	Dst, Src MAC
	Tags     [2]VLAN
	NumTags  uint8
	Tagged   bool // CSIG follows the VLAN tags
	CSIG     CSIG
	Type     uint16 // EtherType after the tags
}

// VLAN is one 802.1Q (0x8100) or 802.1ad (0x88a8) tag.
type VLAN struct {
	TPID uint16
	TCI  uint16 // priority (3), drop eligible (1), VLAN identifier (12)
}

// IP is an IPv4 header, an IPv6 header, or RoCEv1's GRH, as sent.
type IP struct {
	Version  uint8 // 4 or 6; 0 when the frame has none
	TOS      uint8 // DSCP << 2 | ECN; the traffic class of IPv6
	Len      uint16
	ID       uint16 // IPv4
	Frag     uint16 // IPv4: flags and fragment offset; 0x4000 is "don't fragment"
	TTL      uint8
	Proto    uint8
	Checksum uint16 // IPv4
	Flow     uint32 // IPv6 flow label, 20 bits
	Src, Dst netip.Addr
	Options  []byte // IPv4
}

// UDP is the UDP header as sent.
type UDP struct{ SrcPort, DstPort, Len, Checksum uint16 }

// Frame is one decoded frame. Slices lie in the decoded input.
type Frame struct {
	Kind Kind
	Ethernet
	Tunnel bool // IP was received in another IPv6 header, along a path of segments (srv6.go)
	Outer  IP
	IP     IP
	UDP    UDP
	// Analyzed is true where IFA's headers, in IFA, are between IP and UDP and after UDP.
	Analyzed bool
	IFA      IFA
	BTH      Header
	MRC      MRC    // if BTH's opcode is one of MRC's
	Body     []byte // payload with its padding; for CNP the 16 reserved bytes
	ICRC     uint32

	Pause PauseFrame // KindPause
	LLDP  []byte     // KindLLDP: the TLVs, for DecodeLLDP
	Trail []byte     // bytes after the lengths in the headers, such as Ethernet padding

	// Exact is false if the IP length was zero and the packet's own size was used. Captures show such segments
	// before the NIC splits them.
	Exact bool
}

// Payload returns the message bytes, without padding.
func (f *Frame) Payload() []byte { return f.Body[:len(f.Body)-int(f.BTH.Pad)] }

// DSCP returns the differentiated services code point.
func (ip *IP) DSCP() uint8 { return ip.TOS >> 2 }

// ECN returns the two ECN bits; 3 is congestion experienced.
func (ip *IP) ECN() uint8 { return ip.TOS & 3 }

// Decode reads an Ethernet frame without FCS. On an error the fields decoded so far remain, and Kind is the last
// decoded layer.
func (f *Frame) Decode(b []byte) error {
	*f = Frame{}
	if len(b) < EthernetLen {
		return ErrTruncated
	}
	copy(f.Dst[:], b)
	copy(f.Src[:], b[6:])
	f.Type = binary.BigEndian.Uint16(b[12:])
	b = b[EthernetLen:]
	for f.Type == TypeVLAN || f.Type == TypeQinQ {
		if len(b) < VLANLen {
			return ErrTruncated
		}
		if int(f.NumTags) == len(f.Tags) {
			return ErrNotRoCE
		}
		f.Tags[f.NumTags] = VLAN{f.Type, binary.BigEndian.Uint16(b)}
		f.NumTags++
		f.Type = binary.BigEndian.Uint16(b[2:])
		b = b[VLANLen:]
	}
	if f.Type == TypeCSIG || f.Type == TypeCSIGWide {
		var err error
		if b, err = f.decodeCSIG(b); err != nil {
			return err
		}
	}
	switch f.Type {
	case TypeIPv4, TypeIPv6:
		return f.DecodeIP(b)
	case TypeRoCEv1:
		f.Kind = KindRoCEv1
		b, err := f.decode6(b)
		if err != nil {
			return err
		}
		return f.transport(b)
	case TypeMACControl:
		f.Kind = KindPause
		n, err := f.Pause.decode(b)
		f.Trail = b[n:]
		return err
	case TypeLLDP:
		f.Kind, f.LLDP = KindLLDP, b
		return nil
	}
	return ErrNotRoCE
}

// decodeCSIG reads a congestion signaling tag, whose EtherType is in f.Type, and the EtherType after it.
func (f *Frame) decodeCSIG(b []byte) ([]byte, error) {
	tag := [CSIGWideLen]byte{byte(f.Type >> 8), byte(f.Type)}
	n := CSIGLen
	if f.Type == TypeCSIGWide {
		n = CSIGWideLen
	}
	if len(b) < n {
		return nil, ErrTruncated
	}
	copy(tag[2:n], b)
	if !f.CSIG.decode(tag[:n]) {
		return nil, ErrTelemetry
	}
	f.Tagged, f.Type = true, binary.BigEndian.Uint16(b[n-2:])
	return b[n:], nil
}

// DecodeIP reads a packet that starts at its IPv4 or IPv6 header. The receiver may be a zero Frame.
func (f *Frame) DecodeIP(b []byte) error {
	if len(b) == 0 {
		return ErrTruncated
	}
	b, err := f.decodeTunnel(b)
	if err != nil {
		return err
	}
	trail := f.Trail
	switch b[0] >> 4 {
	case 4:
		b, err = f.decode4(b)
	case 6:
		b, err = f.decode6(b)
	default:
		return ErrNotRoCE
	}
	if err != nil {
		return err
	}
	if f.Tunnel {
		if len(f.Trail) > 0 {
			return ErrLength // bytes between the ends of the inner and the outer packet
		}
		f.Trail = trail
	}
	var udp, data []byte
	switch f.IP.Proto {
	case protoUDP:
		if len(b) < UDPLen {
			return ErrTruncated
		}
		udp, data = b[:UDPLen], b[UDPLen:]
	case ProtoIFA, ProtoIFAExperimental:
		if udp, data, err = f.decodeIFA(b); err != nil {
			return err
		}
	default:
		return ErrNotRoCE
	}
	f.UDP = UDP{binary.BigEndian.Uint16(udp), binary.BigEndian.Uint16(udp[2:]), binary.BigEndian.Uint16(udp[4:]),
		binary.BigEndian.Uint16(udp[6:])}
	if mrc := f.UDP.DstPort == MRCPortDefault && len(data) > 0 && Opcode(data[0]).IsMRC(); !mrc &&
		f.UDP.DstPort != Port {
		return ErrNotRoCE
	}
	f.Kind = KindRoCEv2
	if n := int(f.UDP.Len); n != 0 && n != UDPLen+len(data) {
		return ErrLength
	}
	return f.transport(data)
}

const protoUDP = 17

func (f *Frame) decode4(b []byte) ([]byte, error) {
	if len(b) < IPv4Len {
		return nil, ErrTruncated
	}
	head := int(b[0]&15) * 4
	if head < IPv4Len || head > len(b) {
		return nil, ErrLength
	}
	ip := &f.IP
	*ip = IP{Version: 4, TOS: b[1], Len: binary.BigEndian.Uint16(b[2:]), ID: binary.BigEndian.Uint16(b[4:]),
		Frag: binary.BigEndian.Uint16(b[6:]), TTL: b[8], Proto: b[9],
		Checksum: binary.BigEndian.Uint16(b[10:]),
		Src:      netip.AddrFrom4([4]byte(b[12:])), Dst: netip.AddrFrom4([4]byte(b[16:])),
		Options: b[IPv4Len:head]}
	if checksum(0, b[:head]) != 0xffff {
		return nil, ErrChecksum
	}
	n := int(ip.Len)
	if f.Exact = n != 0; !f.Exact {
		n = len(b)
	}
	if n < head || n > len(b) {
		return nil, ErrLength
	}
	if ip.Frag&0x3fff != 0 { // more fragments, or an offset
		return nil, ErrFragment
	}
	f.Trail = b[n:]
	return b[head:n], nil
}

func (f *Frame) decode6(b []byte) ([]byte, error) {
	if len(b) < IPv6Len {
		return nil, ErrTruncated
	}
	if b[0]>>4 != 6 {
		return nil, ErrVersion
	}
	w := binary.BigEndian.Uint32(b)
	ip := &f.IP
	*ip = IP{Version: 6, TOS: uint8(w >> 20), Flow: w & 0xfffff, Len: binary.BigEndian.Uint16(b[4:]),
		Proto: b[6], TTL: b[7],
		Src: netip.AddrFrom16([16]byte(b[8:])), Dst: netip.AddrFrom16([16]byte(b[24:]))}
	n := int(ip.Len)
	if f.Exact = n != 0; !f.Exact {
		n = len(b) - IPv6Len
	}
	if n > len(b)-IPv6Len {
		return nil, ErrLength
	}
	f.Trail = b[IPv6Len+n:]
	return b[IPv6Len : IPv6Len+n], nil
}

// transport decodes the BTH and the rest up to the ICRC.
func (f *Frame) transport(b []byte) error {
	n, err := f.DecodeHead(b)
	if err != nil {
		return err
	}
	if len(b) < n+ICRCLen {
		return ErrTruncated
	}
	f.Body = b[n : len(b)-ICRCLen]
	f.ICRC = WireICRC(b)
	if len(f.Body) < int(f.BTH.Pad) {
		f.Body = nil
		f.BTH.Pad = 0
		return ErrPad
	}
	return nil
}

// DecodeHead reads the BTH and the headers after it, and returns their length.
func (f *Frame) DecodeHead(b []byte) (int, error) {
	if len(b) > 0 && Opcode(b[0]).IsMRC() {
		return f.MRC.Decode(&f.BTH, b)
	}
	return f.BTH.Decode(b)
}

// AppendHead writes them.
func (f *Frame) AppendHead(b []byte) []byte {
	if f.BTH.Opcode.IsMRC() {
		return f.MRC.Append(&f.BTH, b)
	}
	return f.BTH.Append(b)
}

// HeadLen returns their length.
func (f *Frame) HeadLen() int {
	if f.BTH.Opcode.IsMRC() {
		return f.MRC.Size(&f.BTH)
	}
	return f.BTH.Size()
}

// checksum is the Internet checksum's one's complement sum of b (RFC 1071), folded to 16 bits and not inverted.
func checksum(sum uint32, b []byte) uint16 {
	for ; len(b) >= 2; b = b[2:] {
		sum += uint32(binary.BigEndian.Uint16(b))
	}
	if len(b) > 0 {
		sum += uint32(b[0]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}

// Append appends the frame with its fields unchanged.
func (f *Frame) Append(b []byte) []byte {
	b = append(b, f.Dst[:]...)
	b = append(b, f.Src[:]...)
	for _, t := range f.Tags[:f.NumTags] {
		b = binary.BigEndian.AppendUint16(b, t.TPID)
		b = binary.BigEndian.AppendUint16(b, t.TCI)
	}
	if f.Tagged {
		b = f.CSIG.append(b)
	}
	b = binary.BigEndian.AppendUint16(b, f.Type)
	switch f.Kind {
	case KindRoCEv2, KindRoCEv1:
		return f.AppendIP(b)
	case KindPause:
		b = f.Pause.append(b)
	case KindLLDP:
		b = append(b, f.LLDP...)
	}
	return append(b, f.Trail...)
}

// AppendIP writes the packet from its IP header (for RoCEv1 its GRH) on.
func (f *Frame) AppendIP(b []byte) []byte {
	if f.Tunnel {
		b = f.Outer.append(b)
	}
	b = f.IP.append(b)
	if f.Analyzed {
		b = f.IFA.appendHeader(b)
	}
	if f.Kind == KindRoCEv2 {
		b = f.UDP.append(b)
	}
	if f.Analyzed {
		b = f.IFA.appendMeta(b)
	}
	b = f.AppendHead(b)
	b = append(b, f.Body...)
	b = AppendICRC(b, f.ICRC)
	return append(b, f.Trail...)
}

func (u *UDP) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, u.SrcPort)
	b = binary.BigEndian.AppendUint16(b, u.DstPort)
	b = binary.BigEndian.AppendUint16(b, u.Len)
	return binary.BigEndian.AppendUint16(b, u.Checksum)
}

func (ip *IP) append(b []byte) []byte {
	if ip.Version == 6 {
		b = binary.BigEndian.AppendUint32(b, 6<<28|uint32(ip.TOS)<<20|ip.Flow&0xfffff)
		b = binary.BigEndian.AppendUint16(b, ip.Len)
		b = append(b, ip.Proto, ip.TTL)
		src, dst := ip.Src.As16(), ip.Dst.As16()
		return append(append(b, src[:]...), dst[:]...)
	}
	b = append(b, 4<<4|byte((IPv4Len+len(ip.Options))/4), ip.TOS)
	b = binary.BigEndian.AppendUint16(b, ip.Len)
	b = binary.BigEndian.AppendUint16(b, ip.ID)
	b = binary.BigEndian.AppendUint16(b, ip.Frag)
	b = append(b, ip.TTL, ip.Proto)
	b = binary.BigEndian.AppendUint16(b, ip.Checksum)
	src, dst := ip.Src.As4(), ip.Dst.As4()
	return append(append(append(b, src[:]...), dst[:]...), ip.Options...)
}

// Complete computes EtherType, IP version, protocol and lengths, the IPv4 header checksum and the ICRC from the other
// fields. The UDP checksum is not computed; RoCEv2 over IPv4 sends zero. Body must be padded to four bytes with the
// padding in BTH.Pad, as Pad does.
func (f *Frame) Complete() {
	var scratch [128]byte
	ib := f.HeadLen() + len(f.Body) + ICRCLen
	ip := &f.IP
	ip.Version = 6
	if f.Kind == KindRoCEv2 {
		ip.Proto = protoUDP
		if f.UDP.Len = uint16(ib + UDPLen); f.UDP.DstPort != MRCPortDefault || !f.BTH.Opcode.IsMRC() {
			f.UDP.DstPort = Port
		}
		ib += UDPLen
		f.Type = TypeIPv6
		if ip.Dst.Is4() {
			f.Type, ip.Version = TypeIPv4, 4
		}
		if f.Analyzed {
			ip.Proto, ib = ProtoIFA, ib+f.IFA.Len()
		}
	} else {
		f.Type, ip.Proto = TypeRoCEv1, 0x1b
	}
	if ip.Version == 6 {
		ip.Len = uint16(ib)
	} else {
		ip.Len, ip.Checksum = uint16(IPv4Len+len(ip.Options)+ib), 0
		ip.Checksum = ^checksum(0, ip.append(scratch[:0]))
	}
	f.ICRC = f.ComputeICRC()
}

// ComputeICRC returns the ICRC that the frame should have.
func (f *Frame) ComputeICRC() uint32 {
	var hs [60]byte
	var us [UDPLen]byte
	var bs [128]byte
	ip := f.Carried()
	head := ip.append(hs[:0])
	var udp []byte
	if f.Kind == KindRoCEv2 {
		udp = f.UDP.append(us[:0])
	}
	return MoreICRC(ICRC(head, udp, f.AppendHead(bs[:0])), f.Body)
}

// AppendUDP appends an Ethernet frame, without FCS, with a UDP datagram of any content. It fills in lengths,
// protocol, IPv4 header checksum and EtherType; the UDP checksum is zero.
func AppendUDP(b []byte, eth *Ethernet, ip *IP, src, dst uint16, data []byte) []byte {
	f := Frame{Ethernet: *eth, IP: *ip}
	f.IP.Src, f.IP.Dst, f.IP.Proto = ip.Src.Unmap(), ip.Dst.Unmap(), 17
	f.Type, f.IP.Version = TypeIPv6, 6
	n := UDPLen + len(data)
	if f.IP.Len = uint16(n); f.IP.Dst.Is4() {
		f.Type, f.IP.Version, f.IP.Len, f.IP.Checksum = TypeIPv4, 4, uint16(IPv4Len+len(ip.Options)+n), 0
	}
	b = f.Append(b)
	at := len(b)
	b = f.IP.append(b)
	if f.IP.Version == 4 {
		binary.BigEndian.PutUint16(b[at+10:], ^checksum(0, b[at:]))
	}
	u := UDP{SrcPort: src, DstPort: dst, Len: uint16(n)}
	return append(u.append(b), data...)
}

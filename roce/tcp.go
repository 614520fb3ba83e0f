package roce

import "encoding/binary"

// AppendTCP appends an Ethernet frame, without FCS, with a TCP segment. It fills in lengths, protocol, EtherType,
// the IPv4 header's checksum and the segment's checksum over its pseudo header (RFC 9293, 3.1).
func AppendTCP(b []byte, eth *Ethernet, ip *IP, segment []byte) []byte {
	const protoTCP = 6
	f := Frame{Ethernet: *eth, IP: *ip}
	f.IP.Proto, f.Type, f.IP.Version, f.IP.Len = protoTCP, TypeIPv6, 6, uint16(len(segment))
	if f.IP.Dst.Is4() {
		f.Type, f.IP.Version, f.IP.Len, f.IP.Checksum = TypeIPv4, 4, uint16(IPv4Len+len(segment)), 0
	}
	b = f.Append(b)
	at := len(b)
	b = f.IP.append(b)
	if f.IP.Version == 4 {
		binary.BigEndian.PutUint16(b[at+10:], ^checksum(0, b[at:]))
	}
	at = len(b)
	b = append(b, segment...)
	sum := uint32(checksum(protoTCP+uint32(len(segment)), append(ip.Src.AsSlice(), ip.Dst.AsSlice()...)))
	b[at+16], b[at+17] = 0, 0
	binary.BigEndian.PutUint16(b[at+16:], ^checksum(sum, b[at:]))
	return b
}

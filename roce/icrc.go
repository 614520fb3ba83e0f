package roce

import (
	"encoding/binary"
	"hash/crc32"
)

// icrcSeed is the CRC-32 of eight bytes of ones, which replace the local route header that RoCE does not have.
const icrcSeed = 0x2144df1c

// ICRC returns the invariant CRC (IBTA 7.8.1, annex A17.3.3) of a packet. ip is its IPv4 or IPv6 header (for RoCEv1
// its GRH), and udp is its UDP header (nil for RoCEv1). ib is everything from the BTH up to the ICRC. Fields that
// routers may change count as ones: type of service, TTL, header checksum, the IPv6 traffic class, flow label and
// hop limit, the UDP checksum, the BTH byte with the congestion bits, and telemetry. Other fields count as sent,
// including the IPv4 identification. On the wire the result is least significant byte first.
func ICRC(ip, udp, ib []byte) uint32 { return new(Summer).ICRC(ip, udp, ib) }

// Summer computes ICRCs without allocation. It holds the scratch space for headers with masked variant fields.
type Summer struct {
	buf [60 + UDPLen + BTHLen]byte // an IPv4 header has at most 60 bytes
}

// ICRC is the function of the same name.
func (s *Summer) ICRC(ip, udp, ib []byte) uint32 {
	b := append(s.buf[:0], ip...)
	if len(b) > 0 && b[0]>>4 == 6 {
		if len(b) >= IPv6Len {
			b[0], b[1], b[2], b[3] = b[0]|0x0f, 0xff, 0xff, 0xff
			b[7] = 0xff
		}
	} else if len(b) >= IPv4Len {
		b[1], b[8], b[10], b[11] = 0xff, 0xff, 0xff, 0xff
	}
	at := len(b)
	b = append(b, udp...)
	if len(udp) >= UDPLen {
		b[at+6], b[at+7] = 0xff, 0xff
	}
	at = len(b)
	n := min(BTHLen, len(ib))
	b = append(b, ib[:n]...)
	if n > 4 {
		b[at+4] = 0xff
	}
	sum := crc32.Update(icrcSeed, crc32.IEEETable, b)
	if at, m := masked(ib); m > 0 {
		sum = MoreICRC(MoreICRC(sum, ib[n:at]), ones[:m])
		n = at + m
	}
	return crc32.Update(sum, crc32.IEEETable, ib[n:])
}

// AppendICRC appends the ICRC in wire order.
func AppendICRC(b []byte, icrc uint32) []byte { return binary.LittleEndian.AppendUint32(b, icrc) }

// WireICRC reads the ICRC in the last four bytes of b.
func WireICRC(b []byte) uint32 { return binary.LittleEndian.Uint32(b[len(b)-ICRCLen:]) }

// MoreICRC continues an ICRC over the next part of a packet.
func MoreICRC(icrc uint32, part []byte) uint32 {
	if len(part) == 0 {
		return icrc
	}
	return crc32.Update(icrc, crc32.IEEETable, part)
}

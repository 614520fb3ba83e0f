package roce

import "fmt"

// EV is an entropy value of MRC: what chooses a packet's path. Its position in a packet is inferred from published
// summaries (mrcformat.go).
type EV uint32

// Bits of an EV that a packet can carry.
const (
	EVBits4 = 16 // over IPv4: the UDP source port
	EVBits6 = 32 // over IPv6: the flow label besides
)

// evFirstPort is the lowest source port that ordinary programs may use (RFC 6335: lower ports belong to the system).
const evFirstPort = 1024

// Put writes the value into the headers of an outgoing packet. Over IPv4 the high half is lost.
func (e EV) Put(ip *IP, udp *UDP) {
	udp.SrcPort = uint16(e)
	if ip.Version == 6 || ip.Version == 0 && !ip.Dst.Is4() {
		ip.Flow = uint32(e >> 16)
	}
}

// EVOf reads the entropy value of a packet.
func EVOf(ip *IP, udp *UDP) EV {
	if ip.Version == 6 {
		return EV(ip.Flow&0xffff)<<16 | EV(udp.SrcPort)
	}
	return EV(udp.SrcPort)
}

// CheckEV finds errors in a value that real sockets send. bits is the width in packets (EVBits4 or EVBits6).
func CheckEV(e EV, bits int) error {
	switch {
	case uint64(e)>>bits != 0:
		return fmt.Errorf("entropy value %#x does not fit the %d bits that a packet has for it", uint32(e), bits)
	case uint16(e) < evFirstPort:
		return fmt.Errorf("entropy value %#x would be sent from UDP port %d; those below %d are the system's",
			uint32(e), uint16(e), evFirstPort)
	}
	return nil
}

// Package roce holds the wire facts of RoCEv2: opcodes, header and frame
// sizes, acknowledgement syndromes, PSN arithmetic and the PFC frame.
//
// Sources: InfiniBand Architecture Specification volume 1 (IBTA) chapters 5 and
// 9 and annex A17 (RoCEv2); IEEE 802.1Q clause 36 for priority flow control.
package roce

import "fmt"

// Opcode is the BTH opcode: three bits of transport, five of operation.
type Opcode uint8

// Reliable connection opcodes (IBTA 9.2.1, table 38) and the congestion
// notification packet (annex A17.9.3).
const (
	SendFirst    Opcode = 0x00
	SendMiddle   Opcode = 0x01
	SendLast     Opcode = 0x02
	SendLastImm  Opcode = 0x03
	SendOnly     Opcode = 0x04
	SendOnlyImm  Opcode = 0x05
	WriteFirst   Opcode = 0x06
	WriteMiddle  Opcode = 0x07
	WriteLast    Opcode = 0x08
	WriteLastImm Opcode = 0x09
	WriteOnly    Opcode = 0x0a
	WriteOnlyImm Opcode = 0x0b
	ReadRequest  Opcode = 0x0c
	Acknowledge  Opcode = 0x11
	CNP          Opcode = 0x81
)

var opcodeNames = map[Opcode]string{
	SendFirst: "SEND First", SendMiddle: "SEND Middle", SendLast: "SEND Last",
	SendLastImm: "SEND Last Imm", SendOnly: "SEND Only", SendOnlyImm: "SEND Only Imm",
	WriteFirst: "WRITE First", WriteMiddle: "WRITE Middle", WriteLast: "WRITE Last",
	WriteLastImm: "WRITE Last Imm", WriteOnly: "WRITE Only", WriteOnlyImm: "WRITE Only Imm",
	ReadRequest: "READ Request", Acknowledge: "ACK", CNP: "CNP",
}

// String names the opcode as the specification does.
func (o Opcode) String() string {
	if s, ok := opcodeNames[o]; ok {
		return s
	}
	return fmt.Sprintf("opcode %#02x", uint8(o))
}

// HasRETH reports whether the RDMA extended transport header (remote address,
// rkey, length) follows the BTH.
func (o Opcode) HasRETH() bool {
	return o == WriteFirst || o == WriteOnly || o == WriteOnlyImm || o == ReadRequest
}

// HasImm reports whether immediate data follows the other headers.
func (o Opcode) HasImm() bool {
	return o == WriteLastImm || o == WriteOnlyImm || o == SendLastImm || o == SendOnlyImm
}

// Header and trailer sizes in bytes.
const (
	EthernetLen = 14
	IPv4Len     = 20
	UDPLen      = 8
	BTHLen      = 12
	RETHLen     = 16
	AETHLen     = 4
	ImmDtLen    = 4
	ICRCLen     = 4
	FCSLen      = 4
	CNPPadLen   = 16 // the reserved bytes of a CNP, annex A17.9.3

	// PreambleIFG is what a frame costs on the wire beside itself: preamble
	// and start delimiter (8) and the inter-frame gap (12), IEEE 802.3.
	PreambleIFG = 20

	// BaseLen is Ethernet to ICRC and FCS without extended headers: 62 bytes.
	BaseLen = EthernetLen + IPv4Len + UDPLen + BTHLen + ICRCLen + FCSLen

	AckLen = BaseLen + AETHLen   // 66
	CNPLen = BaseLen + CNPPadLen // 78
	PFCLen = 64                  // a MAC control frame is a minimum frame

	Port = 4791 // UDP destination port of RoCEv2
)

// DataLen returns the frame size, FCS included and preamble not, of a WRITE
// packet with the given payload; the payload is padded to four bytes.
func DataLen(op Opcode, payload int) int {
	n := BaseLen + (payload+3)&^3
	if op.HasRETH() {
		n += RETHLen
	}
	if op.HasImm() {
		n += ImmDtLen
	}
	return n
}

// Syndrome is the first byte of the AETH (IBTA 9.7.5.1.1).
type Syndrome uint8

// Syndromes; the low five bits of ACK and RNR carry a credit count or timer code.
const (
	Ack             Syndrome = 0x1f // ACK, credit count invalid: unlimited
	NakSequence     Syndrome = 0x60
	NakInvalid      Syndrome = 0x61
	NakRemoteAccess Syndrome = 0x62
	NakRemoteOp     Syndrome = 0x63
)

// IsNak reports a negative acknowledgement (type bits 011).
func (s Syndrome) IsNak() bool { return s&0xe0 == 0x60 }

// PSNMask keeps a packet sequence number in its 24 bits.
const PSNMask = 1<<24 - 1

// PSNDiff returns a-b in sequence space: positive when a is later. Two PSNs in
// flight must lie less than 2^23 apart (IBTA 9.7.2).
func PSNDiff(a, b uint32) int32 { return int32((a-b)<<8) >> 8 }

// Extend returns the 64-bit sequence number nearest to near whose low 24 bits
// are psn.
func Extend(psn uint32, near uint64) uint64 {
	return near + uint64(int64(PSNDiff(psn, uint32(near)&PSNMask)))
}

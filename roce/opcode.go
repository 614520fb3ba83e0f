// Package roce is the wire format of RoCEv2. It decodes and appends frames from Ethernet to the invariant CRC,
// priority flow control and classic pause, and LLDP with the DCBX TLVs. It also has MRC's headers, SRv6 around them
// (mrcformat.go cites the sources), and the PSN arithmetic of the transport.
//
// Decoding allocates nothing, keeps slices of its input, and bounds-checks every length. Appending writes the
// fields unchanged, so that decoded frames are reproduced byte for byte. Complete fills in lengths, checksums and
// the ICRC.
//
// Sources: InfiniBand Architecture Specification volume 1 (IBTA) chapters 5 and
// 9 and annexes A16 (RoCE) and A17 (RoCEv2); IEEE 802.3 annex 31B and 31D and
// 802.1Q clause 36 for pause; 802.1AB and 802.1Q annex D for LLDP and DCBX.
package roce

import (
	"fmt"
	"slices"
	"strings"

	"railyard/unit"
)

// Opcode is the BTH opcode: three bits of transport, five of operation.
type Opcode uint8

// Reliable connection opcodes (IBTA 9.2.1, table 38) and the congestion
// notification packet (annex A17.9.3).
const (
	SendFirst      Opcode = 0x00
	SendMiddle     Opcode = 0x01
	SendLast       Opcode = 0x02
	SendLastImm    Opcode = 0x03
	SendOnly       Opcode = 0x04
	SendOnlyImm    Opcode = 0x05
	WriteFirst     Opcode = 0x06
	WriteMiddle    Opcode = 0x07
	WriteLast      Opcode = 0x08
	WriteLastImm   Opcode = 0x09
	WriteOnly      Opcode = 0x0a
	WriteOnlyImm   Opcode = 0x0b
	ReadRequest    Opcode = 0x0c
	ReadRespFirst  Opcode = 0x0d
	ReadRespMiddle Opcode = 0x0e
	ReadRespLast   Opcode = 0x0f
	ReadRespOnly   Opcode = 0x10
	Acknowledge    Opcode = 0x11
	AtomicAck      Opcode = 0x12
	CompareSwap    Opcode = 0x13
	FetchAdd       Opcode = 0x14
	SendLastInv    Opcode = 0x16
	SendOnlyInv    Opcode = 0x17
	Flush          Opcode = 0x1c
	AtomicWrite    Opcode = 0x1d
	CNP            Opcode = 0x81
)

// Opcodes that Railyard defines in the manufacturer's range, 0xc0 to 0xff. A grant and a request carry a credit
// header: the total granted or requested since the connection began, in bytes on the wire.
const (
	CreditGrant   Opcode = 0xc0
	CreditRequest Opcode = 0xc1
)

// Transports: the upper three bits.
const (
	transportUC = 1
	transportRD = 2
	transportUD = 3
)

// ext is the set of headers and roles that belong to an opcode.
type ext uint16

const (
	extRETH ext = 1 << iota
	extAETH
	extImm
	extIETH
	extAtomic
	extAtomicAck
	extDETH
	extRDETH
	extFETH
	extEnds  // ends a message
	extSends // payload lands in a posted receive
	extCredit
	extKnown
	extMRC // MRC's own headers follow, which type MRC reads
)

var operations = [32]struct {
	name string
	ext  ext
}{
	SendFirst:      {"SEND First", extSends},
	SendMiddle:     {"SEND Middle", extSends},
	SendLast:       {"SEND Last", extSends | extEnds},
	SendLastImm:    {"SEND Last Imm", extSends | extEnds | extImm},
	SendOnly:       {"SEND Only", extSends | extEnds},
	SendOnlyImm:    {"SEND Only Imm", extSends | extEnds | extImm},
	WriteFirst:     {"WRITE First", extRETH},
	WriteMiddle:    {"WRITE Middle", 0},
	WriteLast:      {"WRITE Last", extEnds},
	WriteLastImm:   {"WRITE Last Imm", extEnds | extImm},
	WriteOnly:      {"WRITE Only", extRETH | extEnds},
	WriteOnlyImm:   {"WRITE Only Imm", extRETH | extEnds | extImm},
	ReadRequest:    {"READ Request", extRETH | extEnds},
	ReadRespFirst:  {"READ Response First", extAETH},
	ReadRespMiddle: {"READ Response Middle", 0},
	ReadRespLast:   {"READ Response Last", extAETH | extEnds},
	ReadRespOnly:   {"READ Response Only", extAETH | extEnds},
	Acknowledge:    {"ACK", extAETH},
	AtomicAck:      {"ATOMIC ACK", extAETH | extAtomicAck},
	CompareSwap:    {"CMP_SWAP", extAtomic | extEnds},
	FetchAdd:       {"FETCH_ADD", extAtomic | extEnds},
	SendLastInv:    {"SEND Last Inv", extSends | extEnds | extIETH},
	SendOnlyInv:    {"SEND Only Inv", extSends | extEnds | extIETH},
	Flush:          {"FLUSH", extFETH | extRETH | extEnds},
	AtomicWrite:    {"ATOMIC WRITE", extRETH | extEnds},
}

// extOf, names and extLens are indexed by the whole opcode; extLens holds BTHLen
// plus the extension headers.
var extOf, names, extLens = tables()

// mrcLens holds the length of the headers of MRC's opcodes, without TSETH.
var mrcLens = mrcTable()

func mrcTable() (lens [256]uint8) {
	for _, o := range mrcOps {
		for _, h := range mrcHeaders {
			if slices.Contains(o.Headers, h.Name) && h.Name != "TSETH" {
				lens[o.Op] += uint8(h.Len)
			}
		}
	}
	return lens
}

func tables() (exts [256]ext, names [256]string, lens [256]uint8) {
	for t, prefix := range []string{"", "UC ", "RD ", "UD "} {
		for i, o := range operations {
			low := Opcode(i)
			if o.name == "" || t == transportUC && low > WriteOnlyImm || t == transportUD &&
				low != SendOnly && low != SendOnlyImm {
				continue
			}
			e := o.ext | extKnown
			switch t {
			case transportUD:
				e |= extDETH
			case transportRD:
				e |= extRDETH
				if o.ext&extAETH == 0 && low != ReadRespMiddle {
					e |= extDETH
				}
			}
			opcode := t<<5 | i
			exts[opcode], names[opcode] = e, prefix+o.name
		}
	}
	exts[CNP], names[CNP] = extKnown, "CNP"
	exts[CreditGrant], names[CreditGrant] = extKnown|extCredit, "CREDIT grant"
	exts[CreditRequest], names[CreditRequest] = extKnown|extCredit, "CREDIT request"
	for _, o := range mrcOps {
		e := extKnown | extMRC
		if o.Op >= MRCWriteLast && o.Op <= MRCWriteOnlyImm {
			e |= extEnds
		}
		exts[o.Op], names[o.Op] = e, o.Name
	}
	for opcode, e := range exts {
		lens[opcode] = uint8(BTHLen + e.len())
	}
	return exts, names, lens
}

// String names the opcode as the specification does.
func (o Opcode) String() string {
	if s := names[o]; s != "" {
		return s
	}
	return fmt.Sprintf("opcode %#02x", uint8(o))
}

// Known reports whether the specification defines the opcode, or this package.
func (o Opcode) Known() bool { return extOf[o] != 0 }

// HasRETH reports whether the RDMA extended transport header (remote address,
// rkey, length) follows the BTH.
func (o Opcode) HasRETH() bool { return extOf[o]&extRETH != 0 }

// HasAETH reports whether the acknowledgement header follows the BTH.
func (o Opcode) HasAETH() bool { return extOf[o]&extAETH != 0 }

// HasImm reports whether immediate data follows the other headers.
func (o Opcode) HasImm() bool { return extOf[o]&extImm != 0 }

// HasIETH reports whether an rkey to invalidate follows the other headers.
func (o Opcode) HasIETH() bool { return extOf[o]&extIETH != 0 }

// IsAtomic reports a request with an AtomicETH.
func (o Opcode) IsAtomic() bool { return extOf[o]&extAtomic != 0 }

// IsSend reports a packet whose payload lands in a posted receive.
func (o Opcode) IsSend() bool { return extOf[o]&extSends != 0 }

// Ends reports whether the packet is the last, or the only one, of a message.
func (o Opcode) Ends() bool { return extOf[o]&extEnds != 0 }

// IsReadResponse reports one of the four READ response opcodes.
func (o Opcode) IsReadResponse() bool { return o >= ReadRespFirst && o <= ReadRespOnly }

// IsResponse reports whether a responder of a reliable connection sends the opcode.
func (o Opcode) IsResponse() bool { return o >= ReadRespFirst && o <= AtomicAck }

// Header and trailer sizes in bytes.
const (
	EthernetLen     = 14
	VLANLen         = 4
	IPv4Len         = 20
	IPv6Len         = 40
	GRHLen          = 40 // RoCEv1's global route header has the form of IPv6
	UDPLen          = 8
	BTHLen          = 12
	RETHLen         = 16
	AETHLen         = 4
	ImmDtLen        = 4
	IETHLen         = 4
	AtomicETHLen    = 28
	AtomicAckETHLen = 8
	DETHLen         = 8
	RDETHLen        = 4
	FETHLen         = 4
	CreditLen       = 8
	// after the AETH: how long the NIC delays packets that arrive now, in ns (Railyard's profile)
	FarDelayLen = 4
	ICRCLen     = 4
	FCSLen      = 4
	CNPPadLen   = 16 // the reserved bytes of a CNP, annex A17.9.3

	// PreambleIFG is the number of bytes between frames on the wire: preamble
	// and start delimiter (8) and the inter-frame gap (12), IEEE 802.3.
	PreambleIFG = 20

	// BaseLen is Ethernet to ICRC and FCS without extended headers: 62 bytes.
	BaseLen = EthernetLen + IPv4Len + UDPLen + BTHLen + ICRCLen + FCSLen

	AckLen = BaseLen + AETHLen   // 66
	CNPLen = BaseLen + CNPPadLen // 78

	CreditFrameLen = BaseLen + CreditLen // 70

	PFCLen = 64 // a MAC control frame is a minimum frame

	IPv6More = IPv6Len - IPv4Len // difference in length between frames over IPv6 and over IPv4

	Port = 4791 // UDP destination port of RoCEv2
)

// len returns the bytes of the extension headers.
func (e ext) len() int {
	n := 0
	for _, h := range [...]struct {
		ext ext
		len int
	}{{extRETH, RETHLen}, {extAETH, AETHLen}, {extImm, ImmDtLen}, {extIETH, IETHLen},
		{extAtomic, AtomicETHLen},
		{extAtomicAck, AtomicAckETHLen}, {extDETH, DETHLen}, {extRDETH, RDETHLen}, {extFETH, FETHLen},
		{extCredit, CreditLen}} {
		if e&h.ext != 0 {
			n += h.len
		}
	}
	return n
}

// DataLen returns the size of an untagged IPv4 frame with the given payload, with FCS and without preamble. The
// payload is padded to four bytes.
func DataLen(opcode Opcode, payload int) int {
	n := BaseLen + (payload+3)&^3
	if opcode.HasRETH() {
		n += RETHLen
	}
	if opcode.HasImm() {
		n += ImmDtLen
	}
	return n
}

// Syndrome is the first byte of the AETH (IBTA 9.7.5.1.1): three bits of type,
// five of credit count, timer code or NAK code.
type Syndrome uint8

// Syndromes.
const (
	Ack             Syndrome = 0x1f // ACK, credit count invalid: unlimited
	RNRNak          Syndrome = 0x20 // plus the timer code
	NakSequence     Syndrome = 0x60
	NakInvalid      Syndrome = 0x61
	NakRemoteAccess Syndrome = 0x62
	NakRemoteOp     Syndrome = 0x63
	NakInvalidRD    Syndrome = 0x64

	// Codes that IBTA reserves. Package rc defines their meaning between peers that agreed on selective repeat.
	NakTrimmedLast Syndrome = 0x7b
	NakTrimmed     Syndrome = 0x7c
	AckNamed       Syndrome = 0x7d
	NakMissing     Syndrome = 0x7e
	NakGap         Syndrome = 0x7f
)

// IsAck reports a positive acknowledgement (type bits 000).
func (s Syndrome) IsAck() bool { return s&0xe0 == 0 }

// IsNak reports a negative acknowledgement (type bits 011).
func (s Syndrome) IsNak() bool { return s&0xe0 == 0x60 }

// IsGood reports whether the answer reports no error: an acknowledgement of IBTA or of Railyard's profile.
func (s Syndrome) IsGood() bool { return s.IsAck() || s == AckNamed || s == NakGap }

// Names reports whether a negative acknowledgement lists the packets to retransmit and those to skip.
func (s Syndrome) Names() bool { return s == NakMissing || s.IsTrimmed() }

// IsTrimmed reports whether a switch trimmed the packet of a negative acknowledgement.
func (s Syndrome) IsTrimmed() bool { return s == NakTrimmed || s == NakTrimmedLast }

// IsRNR reports a receiver that was not ready (type bits 001).
func (s Syndrome) IsRNR() bool { return s&0xe0 == 0x20 }

// Code returns the low five bits.
func (s Syndrome) Code() uint8 { return uint8(s & 0x1f) }

// String spells the syndrome out.
func (s Syndrome) String() string {
	switch {
	case s == Ack:
		return "ACK"
	case s.IsAck():
		return fmt.Sprintf("ACK credits %d", s.Code())
	case s.IsRNR():
		return fmt.Sprintf("RNR NAK %v", RNRTimer(s.Code()))
	}
	switch s {
	case NakSequence:
		return "NAK PSN sequence error"
	case NakInvalid:
		return "NAK invalid request"
	case NakRemoteAccess:
		return "NAK remote access error"
	case NakRemoteOp:
		return "NAK remote operational error"
	case NakInvalidRD:
		return "NAK invalid RD request"
	case AckNamed:
		return "ACK of one packet"
	case NakTrimmedLast:
		return "NAK trimmed at the last hop"
	case NakTrimmed:
		return "NAK trimmed"
	case NakMissing:
		return "NAK packets missing"
	case NakGap:
		return "ACK before a gap"
	}
	return fmt.Sprintf("syndrome %#02x", uint8(s))
}

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

// rnrTimers are the times of the RNR NAK timer codes in units of 10 us (IBTA
// 9.7.5.2; docs/references.md, rc).
var rnrTimers = [32]int64{65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512,
	768, 1024, 1536,
	2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152}

// RNRTimer returns the requester's wait after an RNR NAK with this code: 10 us for code 1 up to 491.52 ms for code
// 31, and 655.36 ms for code 0.
func RNRTimer(code uint8) unit.Time { return unit.Time(rnrTimers[code&31]) * 10 * unit.Microsecond }

// String is one line for a reader of a capture.
func (f *Frame) String() string {
	switch f.Kind {
	case KindPause:
		return fmt.Sprintf("%v > %v %v", f.Src, f.Dst, &f.Pause)
	case KindLLDP:
		return fmt.Sprintf("%v > %v LLDP %d bytes", f.Src, f.Dst, len(f.LLDP))
	case KindRoCEv1, KindRoCEv2:
	default:
		return fmt.Sprintf("%v > %v type %#04x", f.Src, f.Dst, f.Type)
	}
	var b strings.Builder
	for _, t := range f.Tags[:f.NumTags] {
		fmt.Fprintf(&b, "vlan %d prio %d ", t.TCI&0xfff, t.TCI>>13)
	}
	if f.Tagged {
		fmt.Fprintf(&b, "%v ", &f.CSIG)
	}
	if f.Analyzed {
		fmt.Fprintf(&b, "%v ", &f.IFA)
	}
	if f.Tunnel {
		block, path := AppendSegments(nil, f.Outer.Dst)
		fmt.Fprintf(&b, "%v > %x by %x ", f.Outer.Src, block, path)
	}
	if f.Kind == KindRoCEv2 {
		fmt.Fprintf(&b, "%v.%d > %v ", f.IP.Src, f.UDP.SrcPort, f.IP.Dst)
	} else {
		fmt.Fprintf(&b, "%v > %v RoCEv1 ", f.IP.Src, f.IP.Dst)
	}
	fmt.Fprintf(&b, "dscp %d %s ", f.IP.DSCP(), [4]string{"Not-ECT", "ECT(1)", "ECT(0)", "CE"}[f.IP.ECN()])
	if f.BTH.Opcode.IsMRC() {
		b.WriteString(f.MRC.Text(&f.BTH))
	} else {
		b.WriteString(f.BTH.String())
	}
	if f.BTH.Opcode != CNP && len(f.Body) > 0 {
		fmt.Fprintf(&b, " payload %d", len(f.Payload()))
	}
	return b.String()
}

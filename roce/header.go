package roce

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Errors of decoding. They are constants, so rejecting a packet allocates nothing.
var (
	ErrTruncated = errors.New("packet is shorter than its headers announce")
	ErrOpcode    = errors.New("unknown BTH opcode")
	ErrVersion   = errors.New("transport header version is not 0")
	ErrPad       = errors.New("more padding than payload")
	ErrLength    = errors.New("a length field disagrees with the packet")
	ErrChecksum  = errors.New("IPv4 header checksum is wrong")
	ErrFragment  = errors.New("IP fragment: RoCEv2 is never fragmented")
	ErrNotRoCE   = errors.New("not a RoCE, pause or LLDP frame")
	ErrTelemetry = errors.New("malformed telemetry")
	ErrTLV       = errors.New("malformed LLDP TLV")
)

// Header is the base transport header and the extension headers that its
// opcode calls for (IBTA 9.2 to 9.3). Fields of absent headers are not touched
// by Decode and not written by Append.
//
// A CNP sets BECN (IBTA A17.9.3), although a source document sets FECN in it. A switch sets FECN for the receiver,
// and the receiver sets BECN for the sender.
type Header struct {
	Opcode    Opcode
	Solicited bool
	Migrated  bool  // the M bit: migration state
	Pad       uint8 // 0 to 3 bytes after the payload
	Version   uint8 // transport header version, four bits, 0
	PKey      uint16
	FECN      bool
	BECN      bool
	Resv6     uint8
	DestQP    uint32 // 24 bits
	AckReq    bool
	Resv7     uint8  // except for the bits of Telemetry
	PSN       uint32 // 24 bits

	VA   uint64 // RETH, AtomicETH
	RKey uint32 // RETH, AtomicETH
	Len  uint32 // RETH: DMA length in bytes

	Syndrome Syndrome // AETH
	MSN      uint32   // AETH, 24 bits

	Imm     uint32 // ImmDt, in the order of the wire
	InvKey  uint32 // IETH: the rkey to invalidate
	SwapAdd uint64 // AtomicETH: the value to swap in, or to add
	Compare uint64 // AtomicETH
	Orig    uint64 // AtomicAckETH: the value before
	QKey    uint32 // DETH
	SrcQP   uint32 // DETH: 24 bits below a reserved byte
	EECN    uint32 // RDETH: 24 bits below a reserved byte
	Flush   uint32 // FETH: placement and selectivity bits
	Credit  uint64 // credit header: total bytes on the wire, granted or requested

	Telemetry Telemetry // telemetry header after it, announced by the low bits of Resv7
	INT       INT
	Reflected CSIG
}

// DefaultPKey is the partition every RoCE port belongs to.
const DefaultPKey = 0xffff

// Size returns the bytes of the header with its extensions.
func (h *Header) Size() int { return int(extLens[h.Opcode]) + h.Telemetry.Len() }

// Decode reads the header at the start of b and returns its length. An unknown opcode or version is an error, and
// so is a packet that is too short for its header. MRC's opcodes count as unknown: type MRC reads those packets.
func (h *Header) Decode(b []byte) (n int, err error) {
	if err := h.DecodeBTH(b); err != nil {
		return 0, err
	}
	e := extOf[h.Opcode]
	n = int(extLens[h.Opcode])
	if len(b) < n {
		return 0, ErrTruncated
	}
	if e&^(extEnds|extSends|extKnown) != 0 {
		if e&extMRC != 0 {
			return 0, ErrOpcode
		}
		h.decodeExt(e, b[BTHLen:n])
	}
	if h.Telemetry != NoTelemetry {
		return h.decodeTelemetry(b, n)
	}
	return n, nil
}

// DecodeBTH reads only the base transport header, because a trimmed packet may have no more.
func (h *Header) DecodeBTH(b []byte) error {
	if len(b) < BTHLen {
		return ErrTruncated
	}
	h.Opcode = Opcode(b[0])
	h.Solicited, h.Migrated, h.Pad, h.Version = b[1]&0x80 != 0, b[1]&0x40 != 0, b[1]>>4&3, b[1]&15
	h.PKey = binary.BigEndian.Uint16(b[2:])
	q := binary.BigEndian.Uint32(b[4:])
	h.FECN, h.BECN, h.Resv6, h.DestQP = q>>31 != 0, q>>30&1 != 0, uint8(q>>24&0x3f), q&PSNMask
	s := binary.BigEndian.Uint32(b[8:])
	h.AckReq, h.Resv7, h.PSN = s>>31 != 0, uint8(s>>24&0x7f), s&PSNMask
	h.Telemetry, h.Resv7 = Telemetry(h.Resv7&telemetryBits), h.Resv7&^telemetryBits
	switch {
	case h.Version != 0:
		return ErrVersion
	case extOf[h.Opcode] == 0:
		return ErrOpcode
	}
	return nil
}

// decodeTelemetry decodes the header at n and returns its end.
func (h *Header) decodeTelemetry(b []byte, n int) (end int, err error) {
	if end = n + h.Telemetry.Len(); len(b) < end {
		return 0, ErrTruncated
	}
	if h.Telemetry == TelemetryINT {
		h.INT.decode(b[n:end])
	} else if !h.Reflected.decode(b[n:end]) || h.Reflected.Len() != end-n {
		return 0, ErrTelemetry
	}
	return end, nil
}

// decodeExt decodes the extension headers e in b, in the order of the wire: RDETH, DETH, then the headers of the
// operation.
func (h *Header) decodeExt(e ext, b []byte) {
	if e&extRDETH != 0 {
		h.EECN = binary.BigEndian.Uint32(b)
		b = b[RDETHLen:]
	}
	if e&extDETH != 0 {
		h.QKey, h.SrcQP = binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
		b = b[DETHLen:]
	}
	if e&extFETH != 0 {
		h.Flush = binary.BigEndian.Uint32(b)
		b = b[FETHLen:]
	}
	if e&extRETH != 0 {
		h.VA, h.RKey, h.Len = binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:]),
			binary.BigEndian.Uint32(b[12:])
		b = b[RETHLen:]
	}
	if e&extAtomic != 0 {
		h.VA, h.RKey = binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:])
		h.SwapAdd, h.Compare = binary.BigEndian.Uint64(b[12:]), binary.BigEndian.Uint64(b[20:])
		b = b[AtomicETHLen:]
	}
	if e&extAETH != 0 {
		a := binary.BigEndian.Uint32(b)
		h.Syndrome, h.MSN = Syndrome(a>>24), a&PSNMask
		b = b[AETHLen:]
	}
	if e&extAtomicAck != 0 {
		h.Orig = binary.BigEndian.Uint64(b)
		b = b[AtomicAckETHLen:]
	}
	if e&extImm != 0 {
		h.Imm = binary.BigEndian.Uint32(b)
		b = b[ImmDtLen:]
	}
	if e&extIETH != 0 {
		h.InvKey = binary.BigEndian.Uint32(b)
	}
	if e&extCredit != 0 {
		h.Credit = binary.BigEndian.Uint64(b)
	}
}

func bit(b bool, shift uint) uint32 {
	if b {
		return 1 << shift
	}
	return 0
}

// appendBTH writes the base transport header alone.
func (h *Header) appendBTH(b []byte, resv7 uint8) []byte {
	b = append(b, byte(h.Opcode), byte(bit(h.Solicited, 7)|bit(h.Migrated, 6))|h.Pad&3<<4|h.Version&15)
	b = binary.BigEndian.AppendUint16(b, h.PKey)
	b = binary.BigEndian.AppendUint32(b, bit(h.FECN, 31)|bit(h.BECN, 30)|uint32(h.Resv6&0x3f)<<24|h.DestQP&PSNMask)
	return binary.BigEndian.AppendUint32(b, bit(h.AckReq, 31)|uint32(resv7&0x7f)<<24|h.PSN&PSNMask)
}

// Append writes the header and its extensions to b. Values wider than their field are truncated.
func (h *Header) Append(b []byte) []byte {
	b = h.appendBTH(b, h.Resv7|uint8(h.Telemetry))
	e := extOf[h.Opcode]
	if e&^(extEnds|extSends|extKnown) != 0 {
		b = h.appendExt(e, b)
	}
	switch h.Telemetry {
	case NoTelemetry:
	case TelemetryINT:
		b = h.INT.append(b)
	default:
		b = h.Reflected.append(b)
	}
	return b
}

// appendExt writes the extension headers e.
func (h *Header) appendExt(e ext, b []byte) []byte {
	if e&extRDETH != 0 {
		b = binary.BigEndian.AppendUint32(b, h.EECN)
	}
	if e&extDETH != 0 {
		b = binary.BigEndian.AppendUint32(b, h.QKey)
		b = binary.BigEndian.AppendUint32(b, h.SrcQP)
	}
	if e&extFETH != 0 {
		b = binary.BigEndian.AppendUint32(b, h.Flush)
	}
	if e&(extRETH|extAtomic) != 0 {
		b = binary.BigEndian.AppendUint64(b, h.VA)
		b = binary.BigEndian.AppendUint32(b, h.RKey)
	}
	if e&extRETH != 0 {
		b = binary.BigEndian.AppendUint32(b, h.Len)
	}
	if e&extAtomic != 0 {
		b = binary.BigEndian.AppendUint64(b, h.SwapAdd)
		b = binary.BigEndian.AppendUint64(b, h.Compare)
	}
	if e&extAETH != 0 {
		b = binary.BigEndian.AppendUint32(b, uint32(h.Syndrome)<<24|h.MSN&PSNMask)
	}
	if e&extAtomicAck != 0 {
		b = binary.BigEndian.AppendUint64(b, h.Orig)
	}
	if e&extImm != 0 {
		b = binary.BigEndian.AppendUint32(b, h.Imm)
	}
	if e&extIETH != 0 {
		b = binary.BigEndian.AppendUint32(b, h.InvKey)
	}
	if e&extCredit != 0 {
		b = binary.BigEndian.AppendUint64(b, h.Credit)
	}
	return b
}

// String returns the header as a line for a reader of captures.
func (h *Header) String() string {
	s := fmt.Sprintf("%v QP %#06x PSN %d", h.Opcode, h.DestQP, h.PSN)
	e := extOf[h.Opcode]
	if e&(extRETH|extAtomic) != 0 {
		s += fmt.Sprintf(" va %#x rkey %#x", h.VA, h.RKey)
	}
	if e&extRETH != 0 {
		s += fmt.Sprintf(" len %d", h.Len)
	}
	switch {
	case h.Opcode == FetchAdd:
		s += fmt.Sprintf(" add %d", h.SwapAdd)
	case h.Opcode == CompareSwap:
		s += fmt.Sprintf(" compare %d swap %d", h.Compare, h.SwapAdd)
	}
	if e&extAETH != 0 {
		s += fmt.Sprintf(" %v MSN %d", h.Syndrome, h.MSN)
	}
	if e&extAtomicAck != 0 {
		s += fmt.Sprintf(" was %d", h.Orig)
	}
	if e&extImm != 0 {
		s += fmt.Sprintf(" imm %#x", h.Imm)
	}
	if e&extIETH != 0 {
		s += fmt.Sprintf(" invalidates %#x", h.InvKey)
	}
	if e&extCredit != 0 {
		s += fmt.Sprintf(" %d B in total", h.Credit)
	}
	if e&extDETH != 0 {
		s += fmt.Sprintf(" qkey %#x from QP %#06x", h.QKey, h.SrcQP&PSNMask)
	}
	for _, f := range []struct {
		on   bool
		name string
	}{{h.AckReq, "AckReq"}, {h.Solicited, "Solicited"}, {h.FECN, "FECN"}, {h.BECN && h.Opcode != CNP,
		"BECN"}} {
		if f.on {
			s += " " + f.name
		}
	}
	switch h.Telemetry {
	case NoTelemetry:
	case TelemetryINT:
		s += " " + h.INT.String()
	default:
		s += " reflects " + h.Reflected.String()
	}
	return s
}

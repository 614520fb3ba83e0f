package roce

import (
	"encoding/binary"
	"fmt"

	"railyard/unit"
)

// MRC holds the fields of MRC's own headers. BTH, RETH, AETH and immediate data are in a Header instead.
// mrcformat.go documents the layout. Fields of headers that the opcode does not call for are not touched by Decode
// and not written by Append.
type MRC struct {
	Again   bool // BTH: sent again
	Stamped bool // BTH: TSETH follows METH

	METH  METH
	TSETH TSETH
	SETH  SETH
	NETH  NETH
	PETH  PETH
	ERTH  ERTH
	EETH  EETH

	// reserved bits of the control header, in words of four bytes
	reserved  [SETHLen / 4]uint32
	reserving bool // any is set
}

// METH is the message header of a WRITE. Both numbers count modulo 2^16.
type METH struct {
	RQMSN uint16 // message number of the WRITE with immediate; unused in other packets
	MSN   uint16
}

// TSETH is a time stamp of the sender.
type TSETH struct {
	Stamp    uint16 // in 128 ns
	Own      bool   // tsr: the unit is the sender's own
	Format   uint8  // four bits, 1
	Reserved uint16 // eleven bits
}

// SETH is a SACK: the packets received, and the path of the packet that caused the SACK.
type SETH struct {
	Verdict    Verdict
	Probed     bool  // answers a probe: AckOffset is its identifier
	AckOffset  int16 // PSN that caused it, from Cumulative
	EV         EV    // entropy value of the received packet
	Source     uint16
	Dest       uint16
	Cumulative uint32 // all PSNs up to it have arrived, 24 bits
	CCType     uint8  // four bits, 0
	CCFlags    uint8  // four bits
	Range      uint8  // PSNs that the receiver tracks, in 128; 0: as agreed on
	Offset     int16  // PSN of the bitmap's lowest bit, from Cumulative
	Bitmap     uint64
	CC         CCState
}

// CCState is the part of a SACK for the congestion control.
type CCState struct {
	Stamp      uint16 // stamp copied from the packet that it answers
	OutOfOrder uint16 // packets, 15 bits
	Restore    bool   // the penalty ends
	Penalty    uint8  // reduction of the window that the receiver wants, 0–127
	Received   uint32 // received bytes in units of 256, 24 bits
}

// NETH is a NACK: one packet that was not accepted, and the reason.
type NETH struct {
	Reason  NackReason
	Vendor  uint8
	EV      EV // entropy value of the received packet
	Source  uint16
	Dest    uint16
	PSN     uint32 // 24 bits
	CCType  uint8  // four bits, NackCCType
	CCFlags uint8  // four bits
	Stamp   uint16 // the packet's
}

// NackCCType is the CC type of a NACK: its state is a time stamp alone.
const NackCCType = 2

// PETH is a probe of a connection: the answer is a SACK.
type PETH struct {
	Vendor uint8
	ID     uint16
	Source uint16
	Dest   uint16
	TSETH  TSETH
}

// ERTH is a request to an endpoint, outside all connections. Its identifier is the low 16 bits of the PSN.
type ERTH struct {
	Op     EndpointOp // two bits
	Vendor uint8
	Ports  uint32 // Port Status Update: bits of planes that lead to the sender
	TSETH  TSETH
}

// EETH answers one.
type EETH struct {
	Op    EndpointOp // two bits
	Stamp uint16     // of the request
}

// StampFormat is the value of TSETH.Format in sent packets.
const StampFormat = 1

// NewTSETH returns the stamp of a time.
func NewTSETH(now unit.Time) TSETH { return TSETH{Stamp: StampAt(now), Format: StampFormat} }

// StampAt converts a time to the unit of stamps.
func StampAt(now unit.Time) uint16 { return uint16(now / (MRCStampUnit * unit.Nanosecond)) }

// StampedAt returns the time of a stamp that is less than 8.39 ms before now.
func StampedAt(now unit.Time, stamp uint16) unit.Time {
	const step = MRCStampUnit * unit.Nanosecond
	return max(0, now/step-unit.Time(StampAt(now)-stamp)) * step
}

// AckPSN is the PSN of the packet that caused the SACK.
func (s *SETH) AckPSN() uint32 { return (s.Cumulative + uint32(int32(s.AckOffset))) & PSNMask }

// Base is the PSN of the bitmap's lowest bit.
func (s *SETH) Base() uint32 { return (s.Cumulative + uint32(int32(s.Offset))) & PSNMask }

// Has reports whether the SACK acknowledges a PSN.
func (s *SETH) Has(psn uint32) bool {
	if PSNDiff(psn, s.Cumulative) <= 0 {
		return true
	}
	d := PSNDiff(psn, s.Base())
	return d >= 0 && d < 64 && s.Bitmap>>d&1 != 0
}

// Upto returns the highest PSN that the SACK acknowledges.
func (s *SETH) Upto() uint32 {
	for i := int32(63); i >= 0; i-- {
		if psn := (s.Base() + uint32(i)) & PSNMask; s.Bitmap>>i&1 != 0 && PSNDiff(psn, s.Cumulative) > 0 {
			return psn
		}
	}
	return s.Cumulative
}

// mrcFlags are the bits of Resv7 that MRC has given names.
const (
	mrcAgain   = 0x20
	mrcStamped = 0x10
	mrcFlags   = mrcAgain | mrcStamped
)

// IsMRC reports an opcode of MRC.
func (o Opcode) IsMRC() bool { return extOf[o]&extMRC != 0 }

// IsMRCWrite reports a packet of MRC with payload.
func (o Opcode) IsMRCWrite() bool { return o >= MRCWriteFirst && o <= MRCWriteOnlyImm }

// HasMRCImm reports one with immediate data.
func (o Opcode) HasMRCImm() bool { return o == MRCWriteLastImm || o == MRCWriteOnlyImm }

// MRCLen returns the bytes from the BTH to the payload of a packet of MRC; stamped: with a TSETH.
func (o Opcode) MRCLen(stamped bool) int {
	n := int(mrcLens[o])
	if stamped && o.IsMRCWrite() {
		n += TSETHLen
	}
	return n
}

// Size returns the bytes of the headers.
func (m *MRC) Size(h *Header) int { return h.Opcode.MRCLen(m.Stamped) }

// Decode reads the headers of an MRC packet at the start of b and returns their length. BTH, RETH, AETH and
// immediate data go into h. A packet of another kind is ErrOpcode.
func (m *MRC) Decode(h *Header, b []byte) (n int, err error) {
	if err := h.DecodeBTH(b); err != nil {
		return 0, err
	}
	if !h.Opcode.IsMRC() {
		return 0, ErrOpcode
	}
	m.flags(h)
	n = m.Size(h)
	if len(b) < n {
		return 0, ErrTruncated
	}
	m.decode(h, b[BTHLen:n])
	return n, nil
}

// flags takes MRC's flags out of the reserved bits of a BTH.
func (m *MRC) flags(h *Header) {
	h.Resv7, h.Telemetry = h.Resv7|uint8(h.Telemetry), NoTelemetry // MRC has none
	m.Again, m.Stamped = h.Resv7&mrcAgain != 0, h.Resv7&mrcStamped != 0
	h.Resv7 &^= mrcFlags
}

// decode reads the headers after the BTH.
func (m *MRC) decode(h *Header, b []byte) {
	switch be := binary.BigEndian; h.Opcode {
	case MRCAck:
		h.decodeExt(extAETH, b)
	case MRCSack:
		m.keep(&reservedSETH, b)
		m.SETH.decode(b)
	case MRCNack:
		m.keep(&reservedNETH, b)
		m.NETH = NETH{Reason: NackReason(b[2]), Vendor: b[3], EV: EV(be.Uint32(b[4:])),
			Source: be.Uint16(b[8:]), Dest: be.Uint16(b[10:]), PSN: be.Uint32(b[12:]) & PSNMask,
			CCType: b[16] >> 4, CCFlags: b[16] & 15, Stamp: be.Uint16(b[18:])}
	case MRCProbe:
		m.keep(&reservedPETH, b)
		m.PETH = PETH{Vendor: b[3], ID: be.Uint16(b[4:]), Source: be.Uint16(b[8:]), Dest: be.Uint16(b[10:])}
		m.PETH.TSETH.decode(b[12:])
	case MRCEndpointRequest:
		m.keep(&reservedERTH, b)
		m.ERTH = ERTH{Op: EndpointOp(b[1] & 3), Vendor: b[3], Ports: be.Uint32(b[4:])}
		m.ERTH.TSETH.decode(b[12:])
	case MRCEndpointResponse:
		m.keep(&reservedEETH, b)
		m.EETH = EETH{Op: EndpointOp(b[1] >> 2 & 3), Stamp: be.Uint16(b[28:])}
	default:
		m.METH = METH{RQMSN: be.Uint16(b), MSN: be.Uint16(b[2:])}
		b = b[METHLen:]
		if m.Stamped {
			m.TSETH.decode(b)
			b = b[TSETHLen:]
		}
		h.decodeExt(mrcExt(h.Opcode), b)
	}
}

// mrcExt returns the extension headers of RC that a WRITE has.
func mrcExt(o Opcode) ext {
	if o.HasMRCImm() {
		return extRETH | extImm
	}
	return extRETH
}

func (t *TSETH) decode(b []byte) {
	w := binary.BigEndian.Uint32(b)
	*t = TSETH{Stamp: uint16(w >> 16), Own: w>>15&1 != 0, Reserved: uint16(w >> 4 & 0x7ff), Format: uint8(w & 15)}
}

func (t *TSETH) append(b []byte) []byte {
	return binary.BigEndian.AppendUint32(b,
		uint32(t.Stamp)<<16|bit(t.Own, 15)|uint32(t.Reserved&0x7ff)<<4|uint32(t.Format&15))
}

func (s *SETH) decode(b []byte) {
	be := binary.BigEndian
	*s = SETH{Verdict: Verdict(b[1] >> 5 & 3), Probed: b[1]&2 != 0, AckOffset: int16(be.Uint16(b[2:])),
		EV: EV(be.Uint32(b[4:])), Source: be.Uint16(b[8:]), Dest: be.Uint16(b[10:]),
		Cumulative: be.Uint32(b[12:]) & PSNMask, CCType: b[16] >> 4, CCFlags: b[16] & 15, Range: b[17],
		Offset: int16(be.Uint16(b[18:])), Bitmap: be.Uint64(b[20:]),
		CC: CCState{Stamp: be.Uint16(b[28:]), OutOfOrder: be.Uint16(b[30:]) & 0x7fff,
			Restore: b[32]&0x80 != 0, Penalty: b[32] & 0x7f, Received: be.Uint32(b[32:]) & 0xffffff}}
}

func (s *SETH) append(b []byte) []byte {
	be := binary.BigEndian
	b = append(b, 0, byte(s.Verdict&3)<<5|byte(bit(s.Probed, 1)))
	b = be.AppendUint16(b, uint16(s.AckOffset))
	b = be.AppendUint32(b, uint32(s.EV))
	b = be.AppendUint16(be.AppendUint16(b, s.Source), s.Dest)
	b = be.AppendUint32(b, s.Cumulative&PSNMask)
	b = append(b, s.CCType<<4|s.CCFlags&15, s.Range)
	b = be.AppendUint16(b, uint16(s.Offset))
	b = be.AppendUint64(b, s.Bitmap)
	b = be.AppendUint16(b, s.CC.Stamp)
	b = be.AppendUint16(b, s.CC.OutOfOrder&0x7fff)
	return be.AppendUint32(b, bit(s.CC.Restore, 31)|uint32(s.CC.Penalty&0x7f)<<24|s.CC.Received&0xffffff)
}

// Append appends the headers of an MRC packet to b, including its fields in h. Values wider than their field are
// truncated.
func (m *MRC) Append(h *Header, b []byte) []byte {
	at := len(b) + BTHLen
	b = h.appendBTH(b, h.Resv7&^mrcFlags|uint8(bit(m.Again, 5)|bit(m.Stamped, 4)))
	switch be := binary.BigEndian; h.Opcode {
	case MRCAck:
		return h.appendExt(extAETH, b)
	case MRCSack:
		b = m.SETH.append(b)
	case MRCNack:
		k := &m.NETH
		b = append(b, 0, 0, byte(k.Reason), k.Vendor)
		b = be.AppendUint32(b, uint32(k.EV))
		b = be.AppendUint16(be.AppendUint16(b, k.Source), k.Dest)
		b = be.AppendUint32(b, k.PSN&PSNMask)
		b = be.AppendUint16(append(b, k.CCType<<4|k.CCFlags&15, 0), k.Stamp)
	case MRCProbe:
		k := &m.PETH
		b = append(b, 0, 0, 0, k.Vendor)
		b = be.AppendUint32(b, uint32(k.ID)<<16)
		b = be.AppendUint16(be.AppendUint16(b, k.Source), k.Dest)
		b = k.TSETH.append(b)
	case MRCEndpointRequest:
		k := &m.ERTH
		b = append(b, 0, byte(k.Op&3), 0, k.Vendor)
		b = be.AppendUint64(b, uint64(k.Ports)<<32)
		b = k.TSETH.append(b)
	case MRCEndpointResponse:
		var zero [EETHLen]byte
		zero[1] = byte(m.EETH.Op&3) << 2
		be.PutUint16(zero[28:], m.EETH.Stamp)
		b = append(b, zero[:]...)
	default:
		b = be.AppendUint16(be.AppendUint16(b, m.METH.RQMSN), m.METH.MSN)
		if m.Stamped {
			b = m.TSETH.append(b)
		}
		return h.appendExt(mrcExt(h.Opcode), b)
	}
	if m.reserving {
		for i := range (len(b) - at) / 4 {
			w := b[at+4*i:]
			binary.BigEndian.PutUint32(w, binary.BigEndian.Uint32(w)|m.reserved[i])
		}
	}
	return b
}

// keep stores the reserved bits of a control header.
func (m *MRC) keep(mask *[SETHLen / 4]uint32, b []byte) {
	any := uint32(0)
	for i := range len(b) / 4 {
		m.reserved[i] = binary.BigEndian.Uint32(b[4*i:]) & mask[i]
		any |= m.reserved[i]
	}
	m.reserving = any != 0
}

// Reserved bits of control headers: bits that no field names. TSETH keeps its own value.
var (
	reservedSETH = reservedOf("SETH", SETHLen, 0)
	reservedNETH = reservedOf("NETH", NETHLen, 0)
	reservedPETH = reservedOf("PETH", PETHLen, TSETHLen)
	reservedERTH = reservedOf("ERTH", ERTHLen, TSETHLen)
	reservedEETH = reservedOf("EETH", EETHLen, 0)
)

func reservedOf(header string, n, stamp int) (mask [SETHLen / 4]uint32) {
	for i := range (n - stamp) / 4 {
		mask[i] = 1<<32 - 1
	}
	for _, f := range mrcFields {
		if f.Header == header {
			for i := f.At; i < f.At+f.Bits; i++ {
				mask[i/32] &^= 1 << (31 - i%32)
			}
		}
	}
	return mask
}

// String names the verdict as the specification does.
func (v Verdict) String() string { return named(verdictNames[:], "verdict", uint8(v)) }

// String names the reason as the specification does.
func (r NackReason) String() string { return named(reasonNames[:], "reason", uint8(r)) }

// String names the operation as the specification does.
func (o EndpointOp) String() string { return named(endpointNames[:], "operation", uint8(o)) }

func named(names []string, what string, n uint8) string {
	if int(n) < len(names) && names[n] != "" {
		return names[n]
	}
	return fmt.Sprintf("%s %d", what, n)
}

package roce

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"railyard/unit"
)

// Inband Flow Analyzer 2.0 (draft-kumar-ippm-ifa-08; docs/references.md, ifa) inserts a header of 4 bytes between
// the IP and the UDP header. After the UDP header it inserts a metadata header of 4 bytes with a stack, on which
// each switch pushes its metadata. The IP header counts these bytes and names protocol 131. UDP's length and the
// ICRC exclude them, because the terminating node removes them:
//
//	header           version 4 | GNS 4 | next protocol 8 | flags 8 | most words of metadata 8
//	metadata header  request vector 8 | action vector 8 | hop limit 8 | words of metadata 8
//
// GNS 15 leaves the metadata's format to each switch's LNS. LNS 1, which AOS-CX documents and Scapy decodes, has
// entries of 32 bytes; IFAHop is one. Railyard's NICs add both headers and no metadata, as HPCC's senders write no
// stamp. A receiver returns the stack in its acknowledgement with a hop limit of 0, so that switches do not extend
// it.

// IP protocols that announce the header: the draft's, and that of RFC 3692 for experiments, which deployed switches
// use (Broadcom, AOS-CX). Railyard writes the first and reads both.
const (
	ProtoIFA             = 131
	ProtoIFAExperimental = 253
)

// Lengths and limits. IFALen is the length of both headers, without metadata.
const (
	IFALen    = 4 + 4
	IFAHopLen = 32
	IFAHops   = 5 // number of switches whose metadata Railyard's senders request

	ifaVersion = 2
	ifaLocal   = 15 // GNS: each switch's LNS defines the format
	ifaLNS     = 1
	ifaAll     = 0xff // request vector
	ifaWord    = 4

	// IFACell is the unit of a queue's length: the bytes in which Tomahawk 3 to 5 give out packet memory.
	IFACell = 254

	// IFASentPeriod is the count of sent bytes after which it starts again.
	IFASentPeriod = 1 << 32
)

// ifaRates are the rates by their code. The draft has the first seven; 7 and 8 are Railyard's.
var ifaRates = []unit.Rate{10 * unit.Gbps, 25 * unit.Gbps, 40 * unit.Gbps, 50 * unit.Gbps, 100 * unit.Gbps,
	200 * unit.Gbps, 400 * unit.Gbps, 800 * unit.Gbps, 1600 * unit.Gbps}

// IFARate returns the code of a port's rate, 15 for a rate without one.
func IFARate(r unit.Rate) uint8 {
	if i := slices.Index(ifaRates, r); i >= 0 {
		return uint8(i)
	}
	return 15
}

// IFA is both headers and the metadata.
type IFA struct {
	GNS     uint8
	Next    uint8 // IP protocol of the next header
	Flags   uint8 // reserved 3 | metadata fragment | tail stamp | inband | turn around | checksum
	Max     uint8 // most words of metadata
	Request uint8
	Action  uint8
	Limit   uint8  // switches that may still add metadata
	Meta    []byte // the stack, newest first; in a decoded frame a slice of the input
}

// IFAHop is the metadata of one switch.
type IFAHop struct {
	LNS       uint8
	Device    uint32 // 20 bits
	TTL       uint8  // TTL of the packet as it came
	Rate      uint8  // code of the egress port's rate
	ECN       uint8  // 2 bits: congestion
	Queue     uint8  // 6 bits: number
	Egress    uint16
	Ingress   uint16
	Received  unit.Time // the switch's clock at arrival: whole nanoseconds, below 2^20 s
	Residence uint32    // ns from then until the frame starts
	Sent      uint32    // bytes that the egress port had sent, modulo IFASentPeriod
	Cells     uint16    // cells queued after the frame
	Reserved  uint32
}

// Len returns the bytes of both headers and the metadata.
func (a *IFA) Len() int { return IFALen + len(a.Meta) }

// Push adds a switch's metadata to the top of the stack and decrements the hop limit.
func (a *IFA) Push(h *IFAHop) {
	a.Meta = append(h.Append(make([]byte, 0, IFAHopLen+len(a.Meta))), a.Meta...)
	a.Limit--
}

// NewIFA returns the headers that a sender adds.
func NewIFA() IFA {
	return IFA{GNS: ifaLocal, Next: protoUDP, Max: IFAHops * IFAHopLen / ifaWord, Request: ifaAll, Limit: IFAHops}
}

// Hops returns the metadata of all switches, the oldest first; ok is false if some metadata has another format than
// LNS 1.
func (a *IFA) Hops() (hops []IFAHop, ok bool) {
	for b := a.Meta; len(b) > 0; b = b[IFAHopLen:] {
		if a.GNS != ifaLocal || b[0]>>4 != ifaLNS || len(b) < IFAHopLen {
			return nil, false
		}
		hops = append(hops, decodeIFAHop(b))
	}
	slices.Reverse(hops)
	return hops, true
}

// Append writes one switch's metadata.
func (h *IFAHop) Append(b []byte) []byte {
	seconds, ns := uint32(h.Received/unit.Second), uint32(h.Received%unit.Second/unit.Nanosecond)
	b = binary.BigEndian.AppendUint32(b, uint32(h.LNS&15)<<28|h.Device&0xfffff<<8|uint32(h.TTL))
	b = binary.BigEndian.AppendUint32(b,
		uint32(h.Rate&15)<<28|uint32(h.ECN&3)<<26|uint32(h.Queue&63)<<20|seconds&0xfffff)
	b = binary.BigEndian.AppendUint16(b, h.Egress)
	b = binary.BigEndian.AppendUint16(b, h.Ingress)
	b = binary.BigEndian.AppendUint32(b, ns)
	b = binary.BigEndian.AppendUint32(b, h.Residence)
	b = binary.BigEndian.AppendUint32(b, h.Sent)
	b = binary.BigEndian.AppendUint32(b, uint32(h.Cells))
	return binary.BigEndian.AppendUint32(b, h.Reserved)
}

// decodeIFAHop reads the metadata at the start of b, which must be long enough.
func decodeIFAHop(b []byte) IFAHop {
	who, how := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	return IFAHop{LNS: uint8(who >> 28), Device: who >> 8 & 0xfffff, TTL: uint8(who),
		Rate: uint8(how >> 28), ECN: uint8(how >> 26 & 3), Queue: uint8(how >> 20 & 63),
		Egress: binary.BigEndian.Uint16(b[8:]), Ingress: binary.BigEndian.Uint16(b[10:]),
		Received: unit.Time(how&0xfffff)*unit.Second +
			unit.Time(binary.BigEndian.Uint32(b[12:]))*unit.Nanosecond,
		Residence: binary.BigEndian.Uint32(b[16:]), Sent: binary.BigEndian.Uint32(b[20:]),
		Cells: binary.BigEndian.Uint16(b[26:]), Reserved: binary.BigEndian.Uint32(b[28:])}
}

// Speed returns the egress port's rate, 0 for a code without one.
func (h *IFAHop) Speed() unit.Rate {
	if int(h.Rate) < len(ifaRates) {
		return ifaRates[h.Rate]
	}
	return 0
}

// At returns the switch's clock when the frame started.
func (h *IFAHop) At() unit.Time { return h.Received + unit.Time(h.Residence)*unit.Nanosecond }

// Waiting returns the length of the queue after the frame, in whole cells.
func (h *IFAHop) Waiting() unit.Bytes { return unit.Bytes(h.Cells) * IFACell }

func (h *IFAHop) String() string {
	return fmt.Sprintf("device %d port %d > %d %v residence %d ns sent %d queue %d", h.Device, h.Ingress, h.Egress,
		h.Speed(), h.Residence, h.Sent, int64(h.Waiting()))
}

func (a *IFA) String() string {
	hops, ok := a.Hops()
	if !ok {
		return fmt.Sprintf("IFA GNS %d, %d bytes of metadata in a format other than LNS 1", a.GNS, len(a.Meta))
	}
	var b strings.Builder
	b.WriteString("IFA " + unit.Plural(len(hops), "hop"))
	for i := range hops {
		fmt.Fprintf(&b, ", %d: %v", i+1, &hops[i])
	}
	return b.String()
}

// appendHeader writes the header that precedes UDP's.
func (a *IFA) appendHeader(b []byte) []byte {
	return append(b, ifaVersion<<4|a.GNS&15, a.Next, a.Flags, a.Max)
}

// appendMeta writes the metadata header and the stack.
func (a *IFA) appendMeta(b []byte) []byte {
	b = append(b, a.Request, a.Action, a.Limit, uint8(len(a.Meta)/ifaWord))
	return append(b, a.Meta...)
}

// decodeIFA reads the header after the IP header, then UDP's header and the metadata. data is UDP's payload without
// the metadata, and udp is UDP's header.
func (f *Frame) decodeIFA(b []byte) (udp, data []byte, err error) {
	if len(b) < 4+UDPLen+4 {
		return nil, nil, ErrTruncated
	}
	a := &f.IFA
	const optional = 0x19 // a fragment's header, a stack at the packet's end, a checksum's header
	if *a = (IFA{GNS: b[0] & 15, Next: b[1], Flags: b[2], Max: b[3]}); b[0]>>4 != ifaVersion || a.Next != protoUDP ||
		a.Flags&optional != 0 {
		return nil, nil, ErrNotRoCE
	}
	udp, b = b[4:4+UDPLen], b[4+UDPLen:]
	a.Request, a.Action, a.Limit = b[0], b[1], b[2]
	n := 4 + int(b[3])*ifaWord
	if len(b) < n {
		return nil, nil, ErrTelemetry
	}
	f.Analyzed, a.Meta = true, b[4:n]
	return udp, b[n:], nil
}

// Carried returns the IP header of the packet that the terminating node of IFA forwards.
func (f *Frame) Carried() IP {
	ip := f.IP
	if f.Analyzed {
		ip.Proto, ip.Len = f.IFA.Next, ip.Len-uint16(f.IFA.Len())
	}
	return ip
}

package roce

import (
	"fmt"
	"strconv"
)

// This file defines the wire format of MRC that Railyard reads and writes, with the source of each fact. Only this
// file defines it. The codec (mrc.go) is tested against its list of fields, which also lists the reserved bits. The
// Wireshark dissector is generated from it (internal/capture).
//
// MRC, Multipath Reliable Connection, is the Open Compute Project's specification, revision 1.0 of 21 March 2026
// (OCP-MRC-1.0). The text of the specification was not available. Facts about the wire format come from programs
// that restate its tables and agree with one another (as of November 2026); no code was copied:
//
//	[K] OpenIxia/ixnetwork_restpy (Keysight), mrc*Header: order, names and values of all fields, opcodes
//	[C] anichol67/MRC-Client, core/mrc_headers.py: widths, with the numbers of the tables
//	[N] HanGuTalker/uet-simulator, src/mrc/model/mrc-header.h: sizes, reason codes, the bitmap's order
//	[P] exergy-connect/pcap-view, dissectors/mrc.js: widths, units, both UDP ports
//	[H] a testbench of an FPGA's receiver (ib_transport_protocol, mrc_headers.hpp; its repository was not
//	    named) that builds control packets field by field from the tables
//	[D] digests of the text, of which docs/references.md, mrc has one
//	[O] OCP's own interface of the same revision, opencomputeproject/OCP-Multipath-Reliable-Connection,
//	    mrc.h and mrc_ctl.h: what values count in and may be, no layout
//
//	opcodes       0xc0 + RC's operation for WRITE and ACK; 0xd8 and up for the rest       [K C N P]
//	BTH           bits 5 and 4 of byte 8: retransmission, TSETH present (tables 6-3, 6-4) [K C P]
//	order         BTH, METH, TSETH where announced, RETH in every WRITE, ImmDt, payload   [K C P D]
//	METH          table 6-8;  TSETH: 6-6, in units of 128 ns                              [K C N P]
//	SETH, CC_STATE tables 7-14, 7-12;  NETH: 7-16;  PETH: 7-18;  ERTH: 7-20;  EETH: 7-22  [K C N P H]
//	bitmap        bit 0 is the lowest and stands for PSN cumulative + offset              [N P]
//	reasons       table 7-3                                                               [C N P]
//	endpoint operations go to QP 0x2, their identifier is the PSN's low 16 bits           [C N H D]
//	PSN range     in units of 128 packets                                                 [O C P]
//	EV            structured: over flow label and UDP source port; or the port alone, on IPv4 and IPv6;
//	              or an SRv6 address                                                      [O D]
//
// Where sources differ, or are silent, this is our choice:
//
//   - The operation in EETH is at bits 3 and 2 of its second byte [P H]; [C] has it at bits 5 and 4.
//   - UDP port: 4791 as all of RoCEv2 [D]. The specification prints 4971 as the default [C N P], which may
//     be a slip of its authors'. Both are read, 4791 is written.
//   - The entropy value on IPv6: its low 16 bits are the UDP source port, its high 16 the low 16 of the flow
//     label, whose upper four bits are zero [D]; [C] has the halves the other way round. On IPv4 the source
//     port is all there is. An EV that sockets shall send is at least 1024 (see CheckEV).
//   - The two 16-bit contexts of SETH, NETH and PETH are the low bits of queue pair numbers, the first that
//     of the packet's sender [C]; [H] fills answers in the other way round. Nothing is decided by them here.
//   - A bit set in the port status mask says that its plane can be reached [N]. Plane 0 is bit 0; [O] counts
//     ports from 1 and does not say which bit is the first's.
//   - ICRC as RoCEv2's. In an SRv6 tunnel it covers the inner packet alone, as the NIC made it, because
//     switches rewrite the outer destination at each hop.
//   - Received bytes count payload in units of 256 [P], modulo 2^24.
//   - CC type 0 in a SACK says that CC_STATE has the form below [P]; NACKs carry 2, whose state is the time
//     stamp alone [C N]. Other types' states are not known, their eight bytes are kept as they are.

// Opcodes of MRC: opcodes with a counterpart in RC are RC's with the transport bits 110.
const (
	MRCWriteFirst       Opcode = 0xc6
	MRCWriteMiddle      Opcode = 0xc7
	MRCWriteLast        Opcode = 0xc8
	MRCWriteLastImm     Opcode = 0xc9
	MRCWriteOnly        Opcode = 0xca
	MRCWriteOnlyImm     Opcode = 0xcb
	MRCAck              Opcode = 0xd1 // with an AETH: messages that the responder has completed
	MRCEndpointRequest  Opcode = 0xd8
	MRCEndpointResponse Opcode = 0xd9
	MRCSack             Opcode = 0xdc
	MRCNack             Opcode = 0xdd
	MRCProbe            Opcode = 0xde
)

// Lengths of MRC's headers in bytes.
const (
	METHLen  = 4
	TSETHLen = 4
	SETHLen  = 36 // with CC_STATE, the 8 bytes at its end
	NETHLen  = 20
	PETHLen  = 16
	ERTHLen  = 16
	EETHLen  = 36
)

// What fields of MRC count in.
const (
	MRCStampUnit    = 128 // nanoseconds of a time stamp
	MRCRangeUnit    = 128 // packets of the PSN range
	MRCReceivedUnit = 256 // bytes received
	MRCEndpointQP   = 2   // destination queue pair of endpoint operations
	MRCPortDefault  = 4971
)

// MRCOp is one of MRC's opcodes with its headers between IP and payload, in order. TSETH is present if the BTH
// announces it.
type MRCOp struct {
	Op      Opcode
	Name    string
	Headers []string
}

// MRCOps lists MRC's opcodes.
func MRCOps() []MRCOp { return mrcOps }

var (
	mrcData    = []string{"BTH", "METH", "TSETH", "RETH"}
	mrcDataImm = append(mrcData[:4:4], "ImmDt")

	mrcOps = []MRCOp{
		{MRCWriteFirst, "MRC WRITE First", mrcData},
		{MRCWriteMiddle, "MRC WRITE Middle", mrcData},
		{MRCWriteLast, "MRC WRITE Last", mrcData},
		{MRCWriteLastImm, "MRC WRITE Last Imm", mrcDataImm},
		{MRCWriteOnly, "MRC WRITE Only", mrcData},
		{MRCWriteOnlyImm, "MRC WRITE Only Imm", mrcDataImm},
		{MRCAck, "MRC ACK", []string{"BTH", "AETH"}},
		{MRCEndpointRequest, "MRC Endpoint Request", []string{"BTH", "ERTH"}},
		{MRCEndpointResponse, "MRC Endpoint Response", []string{"BTH", "EETH"}},
		{MRCSack, "MRC SACK", []string{"BTH", "SETH"}},
		{MRCNack, "MRC NACK", []string{"BTH", "NETH"}},
		{MRCProbe, "MRC Probe", []string{"BTH", "PETH"}},
	}
)

// MRCHeader is one of MRC's headers.
type MRCHeader struct {
	Name, Title string
	Len         int // bytes
}

// MRCHeaders lists them.
func MRCHeaders() []MRCHeader { return mrcHeaders }

var mrcHeaders = []MRCHeader{
	{"BTH", "Base transport header", BTHLen},
	{"METH", "Message header", METHLen},
	{"TSETH", "Time stamp", TSETHLen},
	{"RETH", "RDMA header", RETHLen},
	{"ImmDt", "Immediate data", ImmDtLen},
	{"AETH", "ACK header", AETHLen},
	{"SETH", "SACK header with congestion state", SETHLen},
	{"NETH", "NACK header", NETHLen},
	{"PETH", "Probe header", PETHLen},
	{"ERTH", "Endpoint request", ERTHLen},
	{"EETH", "Endpoint response", EETHLen},
}

// MRCField is one field of a header of MRC.
type MRCField struct {
	Header, Name string
	At, Bits     int // first bit in the header, highest first; number of bits
	Signed, Hex  bool
	Doc          string
	Values       []string // by number; "" for none; nil: a plain number
}

// Value reads the field from the bytes of its header.
func (f *MRCField) Value(header []byte) (v uint64) {
	for b := f.At; b < f.At+f.Bits; b++ {
		v = v<<1 | uint64(header[b/8]>>(7-b%8)&1)
	}
	return v
}

// Show decodes the field from the bytes of its header.
func (f *MRCField) Show(header []byte) string {
	switch v := f.Value(header); {
	case f.Values != nil && v < uint64(len(f.Values)) && f.Values[v] != "":
		return f.Values[v]
	case f.Hex:
		return fmt.Sprintf("0x%0*x", (f.Bits+3)/4, v)
	case f.Signed:
		return strconv.Itoa(int(int16(v)))
	default:
		return strconv.FormatUint(v, 10)
	}
}

// MRCFields lists the fields of all these headers in the order of the wire. Bits that no field names are reserved:
// zero when sent, kept when received.
func MRCFields() []MRCField { return mrcFields }

var mrcFields = []MRCField{
	{Header: "BTH", Name: "opcode", At: 0, Bits: 8, Hex: true, Doc: "what the packet is part of"},
	{Header: "BTH", Name: "se", At: 8, Bits: 1, Doc: "solicited event"},
	{Header: "BTH", Name: "m", At: 9, Bits: 1, Doc: "migration state"},
	{Header: "BTH", Name: "pad", At: 10, Bits: 2, Doc: "bytes of padding after the payload"},
	{Header: "BTH", Name: "tver", At: 12, Bits: 4, Doc: "version of the transport header, 0"},
	{Header: "BTH", Name: "p_key", At: 16, Bits: 16, Hex: true, Doc: "partition"},
	{Header: "BTH", Name: "fecn", At: 32, Bits: 1, Doc: "forward congestion"},
	{Header: "BTH", Name: "becn", At: 33, Bits: 1, Doc: "backward congestion"},
	{Header: "BTH", Name: "dqp", At: 40, Bits: 24, Hex: true, Doc: "the queue pair that takes it"},
	{Header: "BTH", Name: "a", At: 64, Bits: 1, Doc: "the receiver shall answer"},
	{Header: "BTH", Name: "rtx", At: 66, Bits: 1, Doc: "retransmitted"},
	{Header: "BTH", Name: "tseth", At: 67, Bits: 1, Doc: "a time stamp follows"},
	{Header: "BTH", Name: "psn", At: 72, Bits: 24, Doc: "packet sequence number"},

	{Header: "METH", Name: "rqmsn", At: 0, Bits: 16, Doc: "number of the WRITE with immediate"},
	{Header: "METH", Name: "msn", At: 16, Bits: 16, Doc: "number of the message"},

	{Header: "TSETH", Name: "tx_timestamp", At: 0, Bits: 16, Doc: "when it was sent, in 128 ns"},
	{Header: "TSETH", Name: "tsr", At: 16, Bits: 1, Doc: "the stamp's unit is the sender's own"},
	{Header: "TSETH", Name: "ftype", At: 28, Bits: 4, Doc: "form of the stamp, 1"},

	{Header: "RETH", Name: "va", At: 0, Bits: 64, Hex: true, Doc: "where in the receiver's memory"},
	{Header: "RETH", Name: "r_key", At: 64, Bits: 32, Hex: true, Doc: "key of that memory region"},
	{Header: "RETH", Name: "dma_length", At: 96, Bits: 32, Doc: "bytes of the whole message"},

	{Header: "ImmDt", Name: "data", At: 0, Bits: 32, Hex: true, Doc: "for the receiver's completion"},

	{Header: "AETH", Name: "syndrome", At: 0, Bits: 8, Hex: true, Doc: "acknowledged, or why not"},
	{Header: "AETH", Name: "msn", At: 8, Bits: 24, Doc: "messages that are complete"},

	{Header: "SETH", Name: "m", At: 9, Bits: 2, Doc: "verdict on the path of the echoed EV", Values: verdictNames[:]},
	{Header: "SETH", Name: "pr", At: 14, Bits: 1, Doc: "answers a probe"},
	{Header: "SETH", Name: "ack_psn_offset", At: 16, Bits: 16, Signed: true,
		Doc: "PSN that caused it, from the cumulative; a probe's identifier in the answer to one"},
	{Header: "SETH", Name: "entropy", At: 32, Bits: 32, Hex: true, Doc: "EV of the packet that it acknowledges"},
	{Header: "SETH", Name: "spdcid", At: 64, Bits: 16, Hex: true, Doc: "sender's context"},
	{Header: "SETH", Name: "dpdcid", At: 80, Bits: 16, Hex: true, Doc: "receiver's context"},
	{Header: "SETH", Name: "cack_psn", At: 104, Bits: 24, Doc: "all PSNs up to it have arrived"},
	{Header: "SETH", Name: "cc_type", At: 128, Bits: 4, Doc: "form of the congestion state"},
	{Header: "SETH", Name: "cc_flags", At: 132, Bits: 4, Hex: true, Doc: "its flags"},
	{Header: "SETH", Name: "mpr", At: 136, Bits: 8, Doc: "PSN range that is tracked, in 128 packets"},
	{Header: "SETH", Name: "sack_offset", At: 144, Bits: 16, Signed: true,
		Doc: "PSN of the bitmap's bit 0, from the cumulative"},
	{Header: "SETH", Name: "sack_bitmap", At: 160, Bits: 64, Hex: true, Doc: "which PSNs have arrived"},
	{Header: "SETH", Name: "cc_tx_timestamp", At: 224, Bits: 16, Doc: "time stamp of the packet that it acknowledges"},
	{Header: "SETH", Name: "ooo_count", At: 241, Bits: 15, Doc: "packets out of order"},
	{Header: "SETH", Name: "restore_cwnd", At: 256, Bits: 1, Doc: "the penalty ends"},
	{Header: "SETH", Name: "rcv_cwnd_pen", At: 257, Bits: 7, Doc: "receiver's penalty on windows, of 127"},
	{Header: "SETH", Name: "rcvd_bytes", At: 264, Bits: 24, Doc: "received so far, in 256 bytes"},

	{Header: "NETH", Name: "nack_reason", At: 16, Bits: 8, Doc: "why", Values: reasonNames[:]},
	{Header: "NETH", Name: "vendor_info", At: 24, Bits: 8, Hex: true, Doc: "the vendor's own"},
	{Header: "NETH", Name: "entropy", At: 32, Bits: 32, Hex: true, Doc: "EV of the packet that it acknowledges"},
	{Header: "NETH", Name: "spdcid", At: 64, Bits: 16, Hex: true, Doc: "sender's context"},
	{Header: "NETH", Name: "dpdcid", At: 80, Bits: 16, Hex: true, Doc: "receiver's context"},
	{Header: "NETH", Name: "nack_psn", At: 104, Bits: 24, Doc: "PSN that did not make it"},
	{Header: "NETH", Name: "cc_type", At: 128, Bits: 4, Doc: "form of the congestion state"},
	{Header: "NETH", Name: "cc_flags", At: 132, Bits: 4, Hex: true, Doc: "its flags"},
	{Header: "NETH", Name: "tx_timestamp", At: 144, Bits: 16, Doc: "time stamp of the packet that it acknowledges"},

	{Header: "PETH", Name: "vendor_info", At: 24, Bits: 8, Hex: true, Doc: "the vendor's own"},
	{Header: "PETH", Name: "probe_id", At: 32, Bits: 16, Doc: "identifier, which the answer repeats"},
	{Header: "PETH", Name: "spdcid", At: 64, Bits: 16, Hex: true, Doc: "sender's context"},
	{Header: "PETH", Name: "dpdcid", At: 80, Bits: 16, Hex: true, Doc: "receiver's context"},
	{Header: "PETH", Name: "tx_timestamp", At: 96, Bits: 16, Doc: "when it was sent, in 128 ns"},
	{Header: "PETH", Name: "tsr", At: 112, Bits: 1, Doc: "the stamp's unit is the sender's own"},
	{Header: "PETH", Name: "ftype", At: 124, Bits: 4, Doc: "form of the stamp, 1"},

	{Header: "ERTH", Name: "op", At: 14, Bits: 2, Doc: "request", Values: endpointNames[:]},
	{Header: "ERTH", Name: "vendor_info", At: 24, Bits: 8, Hex: true, Doc: "the vendor's own"},
	{Header: "ERTH", Name: "port_status_mask", At: 32, Bits: 32, Hex: true,
		Doc: "planes by which the sender can be reached"},
	{Header: "ERTH", Name: "tx_timestamp", At: 96, Bits: 16, Doc: "when it was sent, in 128 ns"},
	{Header: "ERTH", Name: "tsr", At: 112, Bits: 1, Doc: "the stamp's unit is the sender's own"},
	{Header: "ERTH", Name: "ftype", At: 124, Bits: 4, Doc: "form of the stamp, 1"},

	{Header: "EETH", Name: "op", At: 12, Bits: 2, Doc: "what is answered", Values: endpointNames[:]},
	{Header: "EETH", Name: "tx_timestamp", At: 224, Bits: 16, Doc: "time stamp of the request"},
}

// Verdict is a receiver's verdict on the path of a packet: the field m.
type Verdict uint8

// Verdicts.
const (
	VerdictNone       Verdict = iota
	VerdictSkipOnce           // the packet had a congestion mark
	VerdictAlwaysSkip         // the path failed permanently
)

var verdictNames = [4]string{"NONE", "SKIP_ONCE", "ALWAYS_SKIP"}

// NackReason is the reason why a packet must be retransmitted, or will never be accepted (table 7-3).
type NackReason uint8

// Reasons.
const (
	NackTrimmed        NackReason = 0x01 // a switch removed its payload
	NackTrimmedLastHop NackReason = 0x02 // the last switch did: the receiver is busy, not the path
	NackNoBitmap       NackReason = 0x06 // the receiver cannot track the packet
	NackNoBuffer       NackReason = 0x07 // NO_PKT_BUFFER
	NackNoResource     NackReason = 0x0a
	NackOutOfWindow    NackReason = 0x0b // PSN_OOR_WINDOW: beyond the tracked range
	NackUnexpected     NackReason = 0x19 // UNEXP_EVENT: the connection is broken
)

var reasonNames = [26]string{NackTrimmed: "TRIMMED", NackTrimmedLastHop: "TRIMMED_LASTHOP",
	NackNoBitmap: "NO_BITMAP", NackNoBuffer: "NO_PKT_BUFFER", NackNoResource: "NO_RESOURCE",
	NackOutOfWindow: "PSN_OOR_WINDOW", NackUnexpected: "UNEXP_EVENT"}

// EndpointOp is an operation between endpoints without a connection.
type EndpointOp uint8

// Endpoint operations.
const (
	PortStatusUpdate EndpointOp = iota // the planes that lead to the sender
	EVProbe                            // does the path of this packet's EV work
)

var endpointNames = [4]string{"Port Status Update", "EV Probe"}

package mrc

import (
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// The codec turns a transport.Packet into MRC's headers and back. Values without a field are lost: PSNs beyond 24
// bits, message numbers beyond 16, stamps finer than 128 ns and older than 8.39 ms, byte counts finer than 256.
// MRC's headers do not carry planes, marks and trimming: ports and the IP header's ECN and DSCP do.
//
// Choices of Railyard: regions begin at address 0, so a packet's address is its position in the message. A driver
// with real memory adds the start. An immediate is the message's number; RQMSN is 0, because completions follow
// MSNs here.

// noStamp, in the flags of congestion state, marks an answer to a packet without a time stamp; a choice of Railyard.
const noStamp = 8

// Spell writes a packet's headers (transport.Speller).
func (m *maker) Spell(p *transport.Packet, f *roce.Frame, from, to uint32) (payload int) {
	if m.common.IPv6 {
		f.IP.Version = 6
	}
	f.BTH.DestQP = to
	Encode(p, &f.BTH, &f.MRC, uint16(from), uint16(to))
	if p.Kind != transport.Data {
		return 0
	}
	return int(p.Payload)
}

// Encode fills in a packet's headers: all of m, and of h opcode, PSN, flags and RETH. Endpoint operations use a
// queue pair of their own; from and to are the contexts of the other packets.
func Encode(p *transport.Packet, h *roce.Header, m *roce.MRC, from, to uint16) {
	*m = roce.MRC{Again: p.Flags&transport.Again != 0, Stamped: p.Flags&transport.Stamped != 0}
	h.Opcode, h.PSN, h.AckReq = Opcode(p), p.PSN&roce.PSNMask, p.Flags&transport.Asks != 0
	stamp := roce.NewTSETH(p.Sent)
	switch h.Opcode {
	case roce.MRCSack:
		m.Stamped = false
		m.SETH = sethOf(p, stamp.Stamp, from, to)
		h.PSN = m.SETH.Cumulative
	case roce.MRCNack:
		m.NETH = roce.NETH{Reason: roce.NackReason(p.Code), EV: roce.EV(p.EchoEV), Source: from, Dest: to,
			PSN: h.PSN, CCType: roce.NackCCType, CCFlags: unstamped(p), Stamp: stamp.Stamp}
		m.Stamped = false
	case roce.MRCProbe:
		m.PETH = roce.PETH{ID: uint16(p.PSN), Source: from, Dest: to, TSETH: stamp}
		m.Stamped, h.PSN = false, 0
	case roce.MRCEndpointRequest:
		m.ERTH = roce.ERTH{Op: roce.EVProbe, TSETH: stamp}
		if p.Kind == transport.Control {
			m.ERTH.Op, m.ERTH.Ports = roce.PortStatusUpdate, uint32(p.Bits[0])
		}
		m.Stamped, h.DestQP = false, roce.MRCEndpointQP
	case roce.MRCEndpointResponse:
		m.EETH = roce.EETH{Op: roce.EVProbe, Stamp: stamp.Stamp}
		if p.Code == AboutPorts {
			m.EETH.Op = roce.PortStatusUpdate
		}
		m.Stamped, h.DestQP = false, roce.MRCEndpointQP
	default:
		m.METH.MSN, m.TSETH = uint16(p.Message), stamp
		h.VA, h.Len, h.Imm = p.Offset, uint32(p.Bytes), p.Message
	}
}

// unstamped is noStamp if an answer echoes no stamp.
func unstamped(p *transport.Packet) uint8 {
	if p.Flags&transport.Stamped != 0 {
		return 0
	}
	return noStamp
}

// sethOf is a SACK, or the answer to a probe. Offsets have 16 bits: for a repeated packet farther back the SACK
// acknowledges only up to the cumulative PSN.
func sethOf(p *transport.Packet, stamp, from, to uint16) roce.SETH {
	cumulative := (p.Expect - 1) & roce.PSNMask
	k := roce.SETH{Verdict: roce.Verdict(p.Verdict), EV: roce.EV(p.EchoEV), Source: from, Dest: to,
		Cumulative: cumulative, CCFlags: unstamped(p), Range: uint8(p.Bits[1] / roce.MRCRangeUnit), Offset: 1,
		CC: roce.CCState{Stamp: stamp, OutOfOrder: uint16(min(p.Late, 1<<15-1)),
			Penalty: min(p.Penalty, 127), Received: uint32(p.Bytes/roce.MRCReceivedUnit) & 0xffffff}}
	if base := roce.PSNDiff(p.Base, cumulative); base == int32(int16(base)) {
		k.Offset, k.Bitmap = int16(base), p.Bits[0]
	}
	if p.Kind == transport.Answer {
		k.Probed, k.AckOffset = true, int16(uint16(p.PSN))
	} else if about := roce.PSNDiff(p.PSN, cumulative); about == int32(int16(about)) {
		k.AckOffset = int16(about)
	}
	return k
}

// Decode reads the headers of a packet that arrived at a time with a number of payload bytes; false for headers that
// MRC never sends. The caller sets EV, plane and the fields from the IP header; payload of a trimmed packet must be its
// original length.
func Decode(now unit.Time, h *roce.Header, m *roce.MRC, payload int, p *transport.Packet) bool {
	*p = transport.Packet{PSN: h.PSN}
	sent := func(stamp uint16) { p.Sent, p.Flags = roce.StampedAt(now, stamp), p.Flags|transport.Stamped }
	if h.AckReq {
		p.Flags |= transport.Asks
	}
	if m.Again {
		p.Flags |= transport.Again
	}
	switch h.Opcode {
	case roce.MRCSack:
		return decodeSack(p, &m.SETH, sent)
	case roce.MRCNack:
		k := &m.NETH
		p.Kind, p.Code, p.PSN, p.EchoEV = transport.Nack, uint8(k.Reason), k.PSN, uint32(k.EV)
		if k.CCFlags&noStamp == 0 {
			sent(k.Stamp)
		}
	case roce.MRCProbe:
		p.Kind, p.Code, p.PSN = transport.Probe, AboutConnection, uint32(m.PETH.ID)
		sent(m.PETH.TSETH.Stamp)
	case roce.MRCEndpointRequest:
		p.PSN &= 0xffff
		switch sent(m.ERTH.TSETH.Stamp); m.ERTH.Op {
		case roce.EVProbe:
			p.Kind, p.Code = transport.Probe, AboutEV
		case roce.PortStatusUpdate:
			p.Kind, p.Code, p.Bits[0] = transport.Control, AboutPorts, uint64(m.ERTH.Ports)
		default:
			return false
		}
	case roce.MRCEndpointResponse:
		p.PSN &= 0xffff
		p.Kind, p.Code = transport.Answer, AboutEV
		if sent(m.EETH.Stamp); m.EETH.Op == roce.PortStatusUpdate {
			p.Code = AboutPorts
		}
		return m.EETH.Op <= roce.EVProbe
	default:
		if !h.Opcode.IsMRCWrite() {
			return false
		}
		decodeWrite(h, m, payload, p)
		if m.Stamped {
			sent(m.TSETH.Stamp)
		}
	}
	return true
}

func decodeWrite(h *roce.Header, m *roce.MRC, payload int, p *transport.Packet) {
	p.Kind, p.Message, p.Payload = transport.Data, uint32(m.METH.MSN), uint32(payload)
	p.Offset, p.Bytes = h.VA, uint64(h.Len)
	if h.Opcode.Ends() {
		p.Flags |= transport.Last
	}
	if h.Opcode.HasMRCImm() {
		p.Flags |= transport.Tells
	}
}

func decodeSack(p *transport.Packet, k *roce.SETH, sent func(uint16)) bool {
	p.Kind, p.Verdict, p.EchoEV = transport.Ack, uint8(k.Verdict), uint32(k.EV)
	p.Expect, p.Base = (k.Cumulative+1)&roce.PSNMask, k.Base()
	p.Bits = [2]uint64{k.Bitmap, uint64(k.Range) * roce.MRCRangeUnit}
	if p.PSN = k.AckPSN(); k.Probed {
		p.Kind, p.Code, p.PSN = transport.Answer, AboutConnection, uint32(uint16(k.AckOffset))
	}
	if k.CCType != 0 { // of another vendor, in an unknown format
		return true
	}
	p.Late, p.Penalty = uint32(k.CC.OutOfOrder), k.CC.Penalty
	p.Bytes = uint64(k.CC.Received) * roce.MRCReceivedUnit
	if k.CCFlags&noStamp == 0 {
		sent(k.CC.Stamp)
	}
	return true
}

var _ transport.Speller = (*maker)(nil)

package rcudp

import (
	"net/netip"

	"railyard/mrc"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// The headers of MRC's packets (package roce) and the packets of its ends (package transport), from one to
// the other. PSNs on the wire begin where the ends have agreed, those of the ends at 0.

// headMRC fills in the headers of a packet; address, key, length and immediate of data are there already.
func (e *Endpoint) headMRC(c *Conn, p *transport.Packet, h *roce.Header, x *roce.MRC) {
	m := c.mrc
	h.Opcode, h.Migrated, h.PKey, h.DestQP = mrc.Opcode(p), true, roce.DefaultPKey, c.DestQPN
	switch h.Opcode {
	case roce.MRCSack:
		x.SETH = m.seth(c, p)
		h.PSN = x.SETH.Cumulative
	case roce.MRCNack:
		h.PSN = (p.PSN + m.theirs) & roce.PSNMask
		x.NETH = roce.NETH{Reason: roce.NackReason(p.Code), EV: roce.EV(p.EchoEV), Source: uint16(c.QPN),
			Dest: uint16(c.DestQPN), PSN: h.PSN, CCType: roce.NackCCType, Stamp: roce.StampAt(p.Sent)}
	case roce.MRCProbe:
		h.AckReq = true
		x.PETH = roce.PETH{ID: uint16(p.PSN), Source: uint16(c.QPN), Dest: uint16(c.DestQPN),
			TSETH: roce.NewTSETH(p.Sent)}
	case roce.MRCEndpointRequest:
		h.DestQP, h.PSN = roce.MRCEndpointQP, e.asked.note(c, p)
		x.ERTH = roce.ERTH{Op: roce.EVProbe, TSETH: roce.NewTSETH(p.Sent)}
		if p.Kind == transport.Control {
			x.ERTH.Op, x.ERTH.Ports = roce.PortStatusUpdate, uint32(p.Bits[0])
		}
	case roce.MRCEndpointResponse:
		h.DestQP, h.PSN = roce.MRCEndpointQP, p.PSN
		x.EETH = roce.EETH{Op: roce.EVProbe, Stamp: roce.StampAt(p.Sent)}
		if p.Code == mrc.AboutPorts {
			x.EETH.Op = roce.PortStatusUpdate
		}
	default:
		h.PSN, h.AckReq = (p.PSN+m.ours)&roce.PSNMask, p.Flags&transport.Asks != 0
		h.Pad = uint8(-p.Payload & 3)
		x.Again, x.Stamped = p.Flags&transport.Again != 0, true
		x.TSETH = roce.NewTSETH(p.Sent)
		x.METH.MSN = uint16(p.Message)
	}
}

// seth is the header of a SACK.
func (m *mrcEnds) seth(c *Conn, p *transport.Packet) roce.SETH {
	cumulative := p.Expect + m.theirs - 1
	s := roce.SETH{Verdict: roce.Verdict(p.Verdict), EV: roce.EV(p.EchoEV), Source: uint16(c.QPN),
		Dest: uint16(c.DestQPN), Cumulative: cumulative & roce.PSNMask, Range: uint8(p.Bits[1] / roce.MRCRangeUnit),
		Bitmap: p.Bits[0], Probed: p.Kind == transport.Answer, AckOffset: int16(p.PSN),
		CC: roce.CCState{Stamp: roce.StampAt(p.Sent), OutOfOrder: uint16(min(p.Late, 0x7fff)),
			Penalty: p.Penalty & 0x7f, Received: uint32(p.Bytes / roce.MRCReceivedUnit & 0xffffff)}}
	s.Offset = near(p.Base - p.Expect + 1)
	if !s.Probed {
		s.AckOffset = near(p.PSN - p.Expect + 1)
	}
	return s
}

// near is a distance between PSNs as the 16 bits that a SACK has for it.
func near(d uint32) int16 {
	return int16(min(max(int32(d<<8)>>8, -1<<15), 1<<15-1))
}

// inputMRC takes a datagram of MRC whose ICRC holds, or one that a switch has cut.
func (e *Endpoint) inputMRC(now unit.Time, src netip.AddrPort, tos uint8, plane uint8, b []byte, cut bool) {
	h, x := &e.in, &e.mrcHead
	n, err := x.Decode(h, b)
	switch {
	case err == roce.ErrTruncated:
		e.Count.Truncated++
		return
	case err != nil, !cut && (len(b)-n < int(h.Pad) || len(b)&3 != 0):
		e.Count.Malformed++
		return
	}
	if h.DestQP == roce.MRCEndpointQP {
		e.endpointMRC(now, src, plane)
		return
	}
	c := e.addressed(src)
	if c == nil {
		return
	}
	if c.mrc == nil {
		e.Count.Refused++
		return
	}
	p := &e.mrcIn
	if e.packetMRC(now, c.mrc, p, src, tos, plane); p.Flags&transport.Marked != 0 {
		e.Count.CE++
		c.CE++
	}
	switch {
	case h.Opcode.IsMRCWrite():
		if cut {
			e.Count.Trimmed++
			p.Flags |= transport.Trimmed
			if t := e.cfg.Trim; t.LastHop != t.DSCP && tos>>2 == t.LastHop {
				p.Flags |= transport.LastHop
			}
			p.Payload = min(uint32(c.cfg.MTU), h.Len)
			c.mrc.recv.Take(now, p)
			break
		}
		e.writeMRC(now, c, p, b[n:len(b)-int(h.Pad)])
	case cut:
		e.Count.Malformed++
	case p.Kind == transport.Probe:
		c.mrc.recv.Take(now, p)
	default:
		if p.Kind == transport.Nack {
			e.Count.NaksIn++
		}
		c.mrc.send.Take(now, p)
	}
	e.finished += c.drain()
}

// packetMRC is what the headers in e.in and e.mrcHead say.
func (e *Endpoint) packetMRC(now unit.Time, m *mrcEnds, p *transport.Packet, src netip.AddrPort, tos,
	plane uint8) {
	h, x := &e.in, &e.mrcHead
	*p = transport.Packet{Plane: plane, EV: uint32(src.Port()) | e.label<<16}
	if tos&3 == ce {
		p.Flags |= transport.Marked
	}
	echoed := ^uint32(0)
	if !e.cfg.Labels {
		echoed = 1<<roce.EVBits4 - 1 // the kernel may have given packets a label of its own
	}
	switch h.Opcode {
	case roce.MRCSack:
		s := &x.SETH
		p.Kind, p.Verdict, p.EchoEV, p.Penalty = transport.Ack, uint8(s.Verdict), uint32(s.EV)&echoed, s.CC.Penalty
		p.Expect = (s.Cumulative + 1 - m.ours) & roce.PSNMask
		p.Base, p.PSN = s.Base()-m.ours, s.AckPSN()-m.ours
		p.Bits = [2]uint64{s.Bitmap, uint64(s.Range) * roce.MRCRangeUnit}
		p.Late, p.Bytes = uint32(s.CC.OutOfOrder), uint64(s.CC.Received)*roce.MRCReceivedUnit
		if p.Sent = now - roce.SinceStamp(now, s.CC.Stamp); s.Probed {
			p.Kind, p.PSN = transport.Answer, uint32(uint16(s.AckOffset))
		}
	case roce.MRCNack:
		k := &x.NETH
		p.Kind, p.Code, p.EchoEV = transport.Nack, uint8(k.Reason), uint32(k.EV)&echoed
		p.PSN, p.Sent = k.PSN-m.ours, now-roce.SinceStamp(now, k.Stamp)
	case roce.MRCProbe:
		p.Kind, p.PSN, p.Sent = transport.Probe, uint32(x.PETH.ID), stamped(x.PETH.TSETH.Stamp)
	default:
		p.Kind, p.PSN, p.Message = transport.Data, (h.PSN-m.theirs)&roce.PSNMask, uint32(x.METH.MSN)
		p.Bytes = uint64(h.Len)
		if x.Stamped {
			p.Sent = stamped(x.TSETH.Stamp)
		}
		if x.Again {
			p.Flags |= transport.Again
		}
		if h.AckReq {
			p.Flags |= transport.Asks
		}
	}
}

// stamped is a stamp of the peer's clock as a time above zero, to be echoed.
func stamped(s uint16) unit.Time {
	return (1<<16 + unit.Time(s)) * roce.MRCStampUnit * unit.Nanosecond
}

// writeMRC takes a packet of data: its address must be one that the peer may write to, and a WRITE with
// immediate needs a receive.
func (e *Endpoint) writeMRC(now unit.Time, c *Conn, p *transport.Packet, body []byte) {
	h, m := &e.in, c.mrc
	p.Payload = uint32(len(body))
	switch op := h.Opcode; op {
	case roce.MRCWriteMiddle:
		p.Offset = uint64(c.cfg.MTU) // somewhere within
	case roce.MRCWriteLast, roce.MRCWriteLastImm:
		p.Offset = p.Bytes - uint64(len(body))
	}
	if op := h.Opcode; op != roce.MRCWriteFirst && op != roce.MRCWriteMiddle {
		p.Flags |= transport.Last
		if op.HasMRCImm() {
			p.Flags |= transport.Tells
		}
	}
	target, ok := c.mem.Target(h.RKey, h.VA, p.Payload)
	switch {
	case !ok && p.Payload > 0:
		e.Count.Refused++
		m.recv.Refuse(p, roce.NackUnexpected)
		c.kill(roce.NakRemoteAccess)
		return
	case p.Flags&transport.Tells != 0 && len(m.receives) <= len(m.told):
		e.Count.NotReady++
		m.recv.Refuse(p, roce.NackNoResource)
		return
	}
	if !m.recv.Take(now, p) {
		e.Count.Duplicates++
		return
	}
	copy(target, body)
	if p.Flags&transport.Tells != 0 {
		m.told[uint16(p.Message)] = immediate{h.Imm, int64(h.Len)}
	}
	if !c.greeted && c.OnEstablished != nil {
		c.greeted = true
		c.OnEstablished()
	}
}

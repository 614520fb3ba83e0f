package rcudp

import (
	"net/netip"

	"railyard/rc"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// A connection's Wire encodes the headers of MRC's packets; this file adds the parts that only sockets have. PSNs
// on the wire begin at an agreed value, and those of the ends at 0. Regions have addresses and keys.

// headMRC fills in the headers of a packet. r is the WRITE whose data it carries.
func (e *Endpoint) headMRC(c *Conn, p *transport.Packet, r *rc.Request, h *roce.Header, x *roce.MRC) {
	m, q := c.mrc, *p
	switch p.Kind {
	case transport.Data:
		q.PSN += m.ours
	case transport.Ack, transport.Nack:
		q.PSN += m.theirs
		q.Expect, q.Base = q.Expect+m.theirs, q.Base+m.theirs
	case transport.Answer:
		q.Expect, q.Base = q.Expect+m.theirs, q.Base+m.theirs
	case transport.Probe, transport.Control:
		if e.cfg.Carrier.Wire.Numbered(p) {
			q.PSN = e.asked.note(c, p)
		}
	}
	*h = roce.Header{Migrated: true, PKey: roce.DefaultPKey, DestQP: c.DestQPN}
	e.cfg.Carrier.Wire.Encode(&q, h, x, uint16(c.QPN), uint16(c.DestQPN))
	if p.Kind == transport.Data {
		h.VA, h.RKey, h.Imm, h.Pad = r.VA+p.Offset, r.RKey, r.Imm, uint8(-p.Payload&3)
	}
}

// inputMRC processes an MRC datagram with a valid ICRC, or one that a switch has trimmed.
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
	if c.now = now; c.mrc == nil {
		e.Count.Refused++
		return
	}
	p := &e.mrcIn
	if !e.packetMRC(now, c.mrc, p, src, tos, plane) {
		e.Count.Malformed++
		return
	}
	if p.Flags&transport.Marked != 0 {
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
			p.Payload, p.Offset = 0, 0
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

// packetMRC fills in a packet from the headers in e.in and e.mrcHead; false for packets that MRC does not support.
func (e *Endpoint) packetMRC(now unit.Time, m *mrcEnds, p *transport.Packet, src netip.AddrPort, tos,
	plane uint8) bool {
	if !e.cfg.Carrier.Wire.Decode(e.came, &e.in, &e.mrcHead, 0, p) {
		return false
	}
	p.Waited = now - e.came
	switch p.Kind {
	case transport.Data:
		p.PSN = (p.PSN - m.theirs) & roce.PSNMask
	case transport.Ack, transport.Nack:
		p.PSN = (p.PSN - m.ours) & roce.PSNMask
	}
	p.Expect, p.Base = (p.Expect-m.ours)&roce.PSNMask, (p.Base-m.ours)&roce.PSNMask
	if !e.cfg.Labels {
		p.EchoEV &= 1<<roce.EVBits4 - 1 // the kernel may have set another label
	}
	if p.Plane, p.EV = plane, uint32(src.Port())|e.label<<16; tos&3 == ce {
		p.Flags |= transport.Marked
	}
	return true
}

// writeMRC processes a data packet. The peer must be permitted to write to its address, and a WRITE with immediate
// needs a receive.
func (e *Endpoint) writeMRC(now unit.Time, c *Conn, p *transport.Packet, body []byte) {
	h, m := &e.in, c.mrc
	p.Payload, p.Offset = uint32(len(body)), 0
	switch h.Opcode { // the ends need its position in the message
	case roce.MRCWriteMiddle:
		p.Offset = uint64(c.cfg.MTU) // somewhere within
	case roce.MRCWriteLast, roce.MRCWriteLastImm:
		p.Offset = p.Bytes - uint64(len(body))
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

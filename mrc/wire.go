package mrc

import (
	"railyard/roce"
	"railyard/transport"
)

// What probes, their answers and control packets are about: Code of the packet.
const (
	AboutConnection = iota // PETH, answered by a SACK
	AboutEV                // ERTH: does this path work
	AboutPorts             // ERTH: Port Status Update
)

const (
	etherLen = 14 + 4 // with the FCS
	minFrame = 64
)

// Wire returns the length of a packet's frame, by the headers of package roce. Senders stamp all data.
func (m *maker) Wire(p *transport.Packet) int {
	n := etherLen + roce.IPv4Len + roce.UDPLen + roce.ICRCLen
	if m.common.IPv6 {
		n += roce.IPv6More
	}
	n += Opcode(p).MRCLen(p.Flags&transport.Stamped != 0 || p.Kind == transport.Data)
	if p.Kind == transport.Data && p.Flags&transport.Trimmed == 0 {
		n += int(p.Payload+3) &^ 3
	}
	return max(n, minFrame)
}

// Opcode is the one of a packet's BTH.
func Opcode(p *transport.Packet) roce.Opcode {
	switch p.Kind {
	case transport.Ack:
		return roce.MRCSack
	case transport.Nack:
		return roce.MRCNack
	case transport.Probe:
		if p.Code == AboutConnection {
			return roce.MRCProbe
		}
		return roce.MRCEndpointRequest
	case transport.Answer:
		if p.Code == AboutConnection {
			return roce.MRCSack
		}
		return roce.MRCEndpointResponse
	case transport.Data:
		return dataOpcode(p)
	}
	return roce.MRCEndpointRequest
}

func dataOpcode(p *transport.Packet) roce.Opcode {
	first, last := p.Offset == 0, p.Flags&transport.Last != 0
	switch tells := last && p.Flags&transport.Tells != 0; {
	case first && tells:
		return roce.MRCWriteOnlyImm
	case first && last:
		return roce.MRCWriteOnly
	case first:
		return roce.MRCWriteFirst
	case tells:
		return roce.MRCWriteLastImm
	case last:
		return roce.MRCWriteLast
	}
	return roce.MRCWriteMiddle
}

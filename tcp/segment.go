package tcp

import (
	"encoding/binary"

	"railyard/transport"
	"railyard/unit"
)

// Bits of a header's flags, and its options' kinds (RFC 9293, 3.1; RFC 7323; RFC 2018).
const (
	flagPush = 0x08
	flagAck  = 0x10
	flagEcho = 0x40 // ECE

	optionNothing = 1
	optionSack    = 5
	optionStamps  = 8
)

// Segment writes a packet's header with its options, in the direction to the receiver or back. at returns a
// packet's position in the byte stream, which begins at sequence number 0. The checksum is left zero. It returns
// the bytes of the following payload.
func (m *maker) Segment(b []byte, p *transport.Packet, at func(psn uint32) uint32, from, to uint16) ([]byte, int) {
	seq, ack, flags, options := uint32(0), uint32(0), byte(flagAck), 12
	if p.Kind == transport.Data {
		if seq = at(p.PSN); p.Flags&transport.Last != 0 {
			flags |= flagPush
		}
	} else {
		from, to, ack = to, from, at(p.Expect)
		if p.Flags&transport.Marked != 0 {
			flags |= flagEcho
		}
		if p.Bits != [2]uint64{} {
			options += sack
		}
	}
	b = binary.BigEndian.AppendUint16(b, from)
	b = binary.BigEndian.AppendUint16(b, to)
	b = binary.BigEndian.AppendUint32(b, seq)
	b = binary.BigEndian.AppendUint32(b, ack)
	b = append(b, byte((20+options)/4)<<4, flags)
	b = binary.BigEndian.AppendUint16(b, uint16(min(m.Window, 1<<16-1)))
	b = append(b, 0, 0, 0, 0) // checksum, urgent pointer
	b = append(b, optionNothing, optionNothing, optionStamps, 10)
	b = binary.BigEndian.AppendUint32(b, uint32(p.Sent/unit.Microsecond))
	b = binary.BigEndian.AppendUint32(b, 0)
	if options > 12 {
		b = m.blocks(b, p, at)
	}
	if p.Kind == transport.Data {
		return b, int(p.Payload)
	}
	return b, 0
}

// blocks writes the option of an acknowledgement that reports gaps: up to three runs of received packets.
func (m *maker) blocks(b []byte, p *transport.Packet, at func(psn uint32) uint32) []byte {
	start := len(b)
	b = append(b, optionNothing, optionNothing, optionSack, 2)
	has := func(i uint32) bool { return i < 128 && p.Bits[i/64]>>(i%64)&1 != 0 }
	for i := uint32(0); i < 128 && b[start+3] < 2+3*8; i++ {
		if !has(i) {
			continue
		}
		from := i
		for has(i) {
			i++
		}
		b = binary.BigEndian.AppendUint32(b, at(p.Base+from))
		b = binary.BigEndian.AppendUint32(b, at(p.Base+i))
		b[start+3] += 8
	}
	for len(b) < start+sack { // the end of the list
		b = append(b, 0)
	}
	return b
}

package sim

import (
	"cmp"
	"slices"

	"railyard/internal/fabric"
	"railyard/roce"
	"railyard/transport"
)

// Ports of captured TCP connections: the receiver's, and the first port of the senders.
const (
	tcpPort      = 5001
	tcpFirstPort = 32768
)

// segmented is a transport whose packets are TCP segments.
type segmented interface {
	Segment(b []byte, p *transport.Packet, at func(psn uint32) uint32, from, to uint16) ([]byte, int)
}

// streamMessage is the start of a message in its connection's stream: numbers of its first packet and first byte.
type streamMessage struct{ packet, byte uint64 }

// streams returns the starts of each connection's messages, in the order of posting, and the end of the last one.
func (n *Network) streams() map[int32][]streamMessage {
	all, mtu := map[int32][]streamMessage{}, uint64(n.Setup.Host.RC.MTU)
	for i := range n.Hosts.Messages {
		m := &n.Hosts.Messages[i]
		s := all[m.Conn]
		if len(s) == 0 {
			s = append(s, streamMessage{})
		}
		end := s[len(s)-1]
		end.packet += max(1, (uint64(m.Bytes)+mtu-1)/mtu)
		end.byte += uint64(m.Bytes)
		all[m.Conn] = append(s, end)
	}
	return all
}

// tcp spells a packet of kernel TCP out; false for packets of other transports.
func (c *Capture) tcp(b []byte, f *roce.Frame, p *fabric.Packet, head *transport.Packet) (frame []byte, comment string,
	ok bool) {
	n := c.run.Network
	maker, ok := n.Hosts.Service(p.QP).Protocol.(segmented)
	if !ok {
		return b, "", false
	}
	if c.streams == nil {
		c.streams = n.streams()
	}
	stream, mtu := c.streams[p.QP], uint64(n.Setup.Host.RC.MTU)
	at := func(psn uint32) uint32 {
		i, exact := slices.BinarySearchFunc(stream, uint64(psn),
			func(m streamMessage, p uint64) int { return cmp.Compare(m.packet, p) })
		if !exact {
			i--
		}
		return uint32(stream[i].byte + (uint64(psn)-stream[i].packet)*mtu)
	}
	segment, payload := maker.Segment(nil, head, at, tcpFirstPort+uint16(p.QP&0x3fff), tcpPort)
	if n.Setup.Host.IPv6 {
		src, dst := n.Hosts.Peers(p.QP)
		if head.Kind != transport.Data {
			src, dst = dst, src
		}
		overIPv6(f, src, dst)
	}
	b = roce.AppendTCP(b, &f.Ethernet, &f.IP, append(segment, zeros[:payload]...))
	for len(b) < int(p.Size)-roce.FCSLen { // Ethernet's padding
		b = append(b, 0)
	}
	if head.Flags&transport.Again != 0 {
		comment = "retransmission"
	}
	return b, comment, true
}

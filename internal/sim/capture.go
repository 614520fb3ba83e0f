package sim

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"railyard/internal/fabric"
	"railyard/internal/host"
	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// maxCaptured is the maximum number of packets of a capture: about 200 MB during a run.
const maxCaptured = 2_000_000

// Capture records what crosses some ports during a time window. Packets are stored in the simulator's form and
// encoded as frames at the end, with the headers, ICRC and zero payload that a NIC would send.
type Capture struct {
	Ports  []string // names, in the order of Frames' index
	Missed int64    // packets beyond the maximum of a capture

	run     *Run
	index   map[int32]int
	from    unit.Time
	to      unit.Time
	seen    []captured
	told    []fabric.Told      // telemetry of packets that have any
	heads   []transport.Packet // headers of protocols other than RC
	inner   []fabric.Packet    // packets inside a tunnel's packets
	streams map[int32][]streamMessage
}

// captured is one packet or, if Size is zero, one pause frame.
type captured struct {
	at    unit.Time
	iface int32
	out   bool
	told  int32         // index in Capture.told plus one; 0: none
	head  int32         // index in Capture.heads, plus 1; 0: none
	inner int32         // index in Capture.inner, plus 1; 0: none
	p     fabric.Packet // pause: Class is the priority, Len the quanta
}

// Capture records at ports such as "rail-1:Eth3" from one simulated time to another. Call it before Go.
func (r *Run) Capture(ports []string, from, to unit.Time) (*Capture, error) {
	c := &Capture{Ports: ports, run: r, index: map[int32]int{}, from: from, to: to}
	for i, name := range ports {
		l, node, ok := r.Graph.FindPort(name)
		if !ok {
			return nil, fmt.Errorf("no port %q in this fabric: %s", name, portsLike(r.Graph, name))
		}
		if link := r.Graph.Links[l]; r.Setup.Scheduled != nil && r.Graph.Nodes[link.A].Role != topo.Host &&
			r.Graph.Nodes[link.B].Role != topo.Host {
			return nil, fmt.Errorf("port %q is inside the scheduled fabric: there are cells and no packets; capture at ports to servers", name)
		}
		port := r.Port(l, node)
		if _, twice := c.index[port]; twice {
			return nil, fmt.Errorf("port %q is named twice", name)
		}
		c.index[port] = i
		r.Net.TapPort(port, true)
	}
	r.Net.Tap = func(at unit.Time, port int32, out bool, p *fabric.Packet) { c.take(at, port, out, p) }
	r.Net.TapPFC = func(at unit.Time, port int32, out bool, prio, quanta int) {
		c.take(at, port, out, &fabric.Packet{Class: uint8(prio), Len: uint32(quanta)})
	}
	return c, nil
}

// portsLike lists the available ports: of the named node, or of any.
func portsLike(g *topo.Graph, name string) string {
	node, _, _ := strings.Cut(name, ":")
	var of, any []string
	for l := range g.Links {
		for _, end := range []int{g.Links[l].A, g.Links[l].B} {
			e := g.End(l, end)
			if g.Nodes[end].Name == node {
				of = append(of, e)
			}
			if len(any) < 6 {
				any = append(any, e)
			}
		}
	}
	switch {
	case len(of) > 12:
		return fmt.Sprintf("%s has %s to %s", node, of[0], of[len(of)-1])
	case len(of) > 0:
		return fmt.Sprintf("%s has %s", node, strings.Join(of, ", "))
	}
	return fmt.Sprintf("ports are named like %s", strings.Join(any, ", "))
}

func (c *Capture) take(at unit.Time, port int32, out bool, p *fabric.Packet) {
	i, ok := c.index[port]
	if !ok || at < c.from || at > c.to {
		return
	}
	if len(c.seen) >= maxCaptured {
		c.Missed++
		return
	}
	s := captured{at: at, iface: int32(i), out: out, p: *p}
	if t := c.run.Net.Carried(); t != nil && p.Size > 0 {
		c.told = append(c.told, t.Copied())
		s.told = int32(len(c.told))
	}
	if t := c.run.Tunnel; t != nil && p.Payload > 0 {
		if pi := t.carried(p); pi >= 0 {
			c.inner = append(c.inner, c.run.Net.Packets[pi])
			s.inner = int32(len(c.inner))
		}
	}
	if _, ok := host.Ends(p.Opcode); ok && p.Size > 0 {
		c.heads = append(c.heads, *c.run.Net.CarriedHeaders())
		s.head = int32(len(c.heads))
	}
	c.seen = append(c.seen, s)
}

// Len returns how many frames were recorded.
func (c *Capture) Len() int { return len(c.seen) }

// Frames passes every frame on in the order of time, without FCS.
func (c *Capture) Frames(emit func(at unit.Time, iface int, out bool, frame []byte, comment string)) {
	slices.SortStableFunc(c.seen, func(a, b captured) int { return int(min(1, max(-1, a.at-b.at))) })
	ports := make([]int32, len(c.Ports))
	for port, i := range c.index {
		ports[i] = port
	}
	var buf []byte
	for i := range c.seen {
		s := &c.seen[i]
		src := ports[s.iface]
		dst := c.run.Net.Ports[src].Peer
		if !s.out {
			src, dst = dst, src
		}
		comment := ""
		if s.p.Size == 0 {
			q := [8]uint16{}
			q[s.p.Class] = uint16(s.p.Len)
			buf = roce.AppendPFC(buf[:0], macOf(src), 1<<s.p.Class, q)
		} else {
			f, spelled := c.run.spelled(s, c.heads)
			if s.told > 0 && s.p.Flags&fabric.FlagTrimmed == 0 {
				spell(f, &c.told[s.told-1])
			}
			f.Src, f.Dst = macOf(src), macOf(dst)
			switch {
			case !spelled:
				head, is := &c.heads[s.head-1], false
				if buf, comment, is = c.tcp(buf[:0], f, &s.p, head); !is {
					buf, comment = c.run.unspelled(buf, f, &s.p, head)
				}
			case s.p.Flags&fabric.FlagTrimmed != 0:
				buf, comment = cutShort(buf[:0], f, &s.p), "trimmed"
			default:
				if s.inner > 0 {
					c.run.encapsulate(f, &c.inner[s.inner-1])
				}
				f.Complete()
				if buf = f.Append(buf[:0]); s.p.Flags&fabric.FlagAgain != 0 {
					comment = "retransmission"
				}
			}
		}
		emit(s.at, int(s.iface), s.out, buf, comment)
	}
}

// cutShort reconstructs a trimmed packet: its first bytes, with the current lengths of IP and UDP. Its ICRC was trimmed
// with the payload.
func cutShort(b []byte, f *roce.Frame, p *fabric.Packet) []byte {
	left := int(p.Size) - roce.EthernetLen - roce.IPv4Len - roce.UDPLen - roce.FCSLen
	if f.IP.Version == 6 {
		left -= roce.IPv6More
	}
	data := append(f.AppendHead(nil), zeros[:left]...)[:left]
	return roce.AppendUDP(b, &f.Ethernet, &f.IP, f.UDP.SrcPort, roce.Port, data)
}

// spell writes a packet's telemetry into its frame: a header, IFA's headers, a tag or, in an acknowledgement, the
// tag of the acknowledged packet.
func spell(f *roce.Frame, t *fabric.Told) {
	switch {
	case t.Kind == roce.TelemetryIFA:
		f.Analyzed, f.IFA = true, roce.NewIFA()
		for _, hop := range t.Stack.Hops() {
			f.IFA.Push(&hop)
		}
		if f.BTH.Opcode == roce.Acknowledge {
			f.IFA.Limit = 0 // switches do not change the returned metadata
		}
	case t.Kind == roce.TelemetryINT:
		f.BTH.Telemetry, f.BTH.INT = t.Kind, t.INT
	case f.BTH.Opcode == roce.Acknowledge:
		f.BTH.Telemetry, f.BTH.Reflected = t.Kind, t.Tag
	default:
		f.Tagged, f.CSIG = true, t.Tag
	}
}

// macOf and addrOf number ports and NICs.
func macOf(port int32) roce.MAC {
	return roce.MAC{0x02, 0x52, byte(port >> 24), byte(port >> 16), byte(port >> 8), byte(port)}
}

func addrOf(nic int32) netip.Addr {
	n := nic + 1
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
}

// Queue pair numbers of a connection's two ends; 0 and 1 are reserved.
func requesterQPN(conn int32) uint32 { return (uint32(conn)*2 + result.FirstQPN) & roce.PSNMask }
func responderQPN(conn int32) uint32 { return requesterQPN(conn) + 1 }

// zeros is the payload of captured packets.
var zeros [1 << 14]byte

// frame spells a simulated packet of some hosts out.
func (n *Network) frame(hosts *host.Hosts, p *fabric.Packet) *roce.Frame {
	f := &roce.Frame{Kind: roce.KindRoCEv2}
	f.BTH = roce.Header{Opcode: p.Opcode, PKey: roce.DefaultPKey, PSN: p.PSN,
		AckReq:   p.Flags&fabric.FlagAckReq != 0,
		Migrated: true}
	h := &f.BTH
	switch {
	case p.Opcode == roce.CNP:
		*h = roce.Header{Opcode: p.Opcode, PKey: roce.DefaultPKey, BECN: true}
		f.Body = zeros[:roce.CNPPadLen]
	case p.Opcode == roce.Acknowledge:
		h.Syndrome, h.MSN, h.BECN = p.Synd, p.Len, p.Flags&fabric.FlagEcho != 0
		if hosts.Service(p.QP).FarEnd {
			f.Body = binary.BigEndian.AppendUint32(nil, uint32(p.VA))
		}
	case p.Opcode == roce.CreditGrant || p.Opcode == roce.CreditRequest:
		h.Credit = p.VA
	case p.Payload == 0 && p.Opcode > roce.AtomicWrite: // another control packet: its headers, then zeros
		f.Body = zeros[:int(p.Size)-roce.DataLen(p.Opcode, 0)-n.Setup.more()]
	default:
		h.VA, h.RKey, h.Len, h.Pad = p.VA, hosts.RKey(), p.Len, uint8(-int(p.Payload)&3)
		h.BECN = p.Flags&fabric.FlagEcho != 0
		f.Body = zeros[:int(p.Payload)+int(h.Pad)]
	}
	src := host.From(p)
	if src < 0 {
		src = direct(hosts, p, h)
	}
	f.IP = roce.IP{TOS: p.TOS, Frag: 0x4000, TTL: 64 - p.Hops, Src: addrOf(src), Dst: addrOf(p.Dst)}
	f.UDP.SrcPort = host.SourcePort(p.Hash)
	if n.Setup.Host.IPv6 {
		// a label of 20 bits and a port from the same digest, as Linux computes them for RoCEv2
		// (rdma_calc_flow_label, rdma_flow_label_to_udp_sport)
		overIPv6(f, src, p.Dst)
		f.IP.Flow = p.Hash & 0xfffff
	}
	return f
}

// direct writes the queue pair that a connection's packet is for and returns the NIC it is from.
func direct(hosts *host.Hosts, p *fabric.Packet, h *roce.Header) int32 {
	src, dst := hosts.Peers(p.QP)
	if p.Opcode == roce.CNP || p.Opcode == roce.Acknowledge || p.Dst != dst {
		h.DestQP = requesterQPN(p.QP)
		return dst
	}
	h.DestQP = responderQPN(p.QP)
	return src
}

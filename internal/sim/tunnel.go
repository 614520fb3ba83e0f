package sim

import (
	"fmt"
	"slices"

	"railyard/internal/engine"
	"railyard/internal/fabric"
	"railyard/internal/host"
	"railyard/internal/rng"
	"railyard/internal/scenario"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// kindEnter: A port, B packet: a packet of a NIC has arrived at its edge.
const kindEnter = host.KindEdge + 32

// Tunnel is the edge between a network's NICs and the fabric (docs/references.md, credit). The NICs' packets, of
// any transport, are queued there by destination and travel as payload of an RC queue pair between the two edges.
// That queue pair uses credit of the far edge and all paths, and its packets are trimmed and retransmitted if a
// queue is full. The far edge forwards them in the order of their arrival, unchanged except for their Ethernet
// header.
type Tunnel struct {
	net    *Network
	Edge   *host.Hosts
	inner  []int32   // by message of the edge: the packet inside
	sent   [][]int32 // by connection: its messages, each one packet
	first  []uint32  // by connection: its first PSN
	conns  map[[2]int32]int32
	nicOf  map[int32]int32 // by the edge's port to a NIC
	queued unit.Bytes
	// Peak is the most bytes that waited at the edges for credit and for acknowledgements.
	Peak unit.Bytes
}

// unframed is the bytes of an Ethernet frame that the tunnel does not carry.
const unframed = roce.EthernetLen + roce.FCSLen

// tunnel connects NICs by an edge: ports has by NIC the port to the fabric of each of its ports.
func (n *Network) tunnel(cfg *host.Config, ports [][]int32, inner [][][2]int32) {
	t := &Tunnel{net: n, Edge: host.NewEdge(n.Net, cfg), conns: map[[2]int32]int32{}, nicOf: map[int32]int32{}}
	var behind, wires []int32
	for i := range ports {
		t.Edge.AddNIC(ports[i], uint16(max(n.Paths.Locator[i], 0)))
		for k, p := range ports[i] {
			behind, wires = append(behind, inner[i][k][0]), append(wires, p)
			t.nicOf[inner[i][k][1]] = int32(i)
		}
	}
	t.Edge.Front(n.Hosts, behind, wires, kindEnter)
	t.Edge.OnDeliver, t.Edge.OnFail = t.leave, t.fail
	n.Tunnel = t
}

// handle runs an event of the edge.
func (t *Tunnel) handle(e *engine.Event) {
	if e.Kind() == kindEnter {
		t.enter(e.A, e.B)
		return
	}
	t.Edge.Handle(e)
}

// enter takes a packet from the NIC.
func (t *Tunnel) enter(port, pi int32) {
	p := &t.net.Net.Packets[pi]
	bytes := unit.Bytes(p.Size) - unframed
	c := t.conn(t.nicOf[port], p.Dst)
	m := t.Edge.Hand(c, bytes)
	for len(t.inner) <= int(m) {
		t.inner = append(t.inner, -1)
	}
	t.inner[m] = pi
	for len(t.sent) <= int(c) {
		t.sent = append(t.sent, nil)
	}
	t.sent[c] = append(t.sent[c], m)
	t.queued += bytes
	t.Peak = max(t.Peak, t.queued)
}

// leave passes a packet that has arrived to the NIC.
func (t *Tunnel) leave(m int32) {
	pi := t.inner[m]
	t.inner[m] = -1
	t.queued -= t.Edge.Messages[m].Bytes
	p := &t.net.Net.Packets[pi]
	t.net.Hosts.Rx(t.net.Hosts.Ports(p.Dst)[0], pi)
}

// fail does nothing, because the inner transport retransmits packets of a tunnel connection that gave up.
func (t *Tunnel) fail(int32, rc.Status) {}

// conn returns the connection between two NICs' edges, which the first packet sets up.
func (t *Tunnel) conn(src, dst int32) int32 {
	key := [2]int32{src, dst}
	c, ok := t.conns[key]
	if !ok {
		r := rng.New(t.net.Setup.Seed, fmt.Sprintf("tunnel/%d/%d", src, dst))
		hash, psn := uint32(r.Uint64()), uint32(r.Uint64())&roce.PSNMask
		c = t.Edge.Connect(0, src, dst, t.net.usable(src, dst), 0, hash, psn)
		t.conns[key] = c
		t.first = append(t.first, psn)
	}
	return c
}

// behind returns the edge's ports to NICs for its ports to the fabric.
func (n *Network) behind(nic int32, wires []int32) []int32 {
	if n.Tunnel == nil {
		return wires
	}
	var ports []int32
	for k, p := range n.Tunnel.Edge.Ports(nic) {
		if slices.Contains(wires, p) {
			ports = append(ports, n.Hosts.Ports(nic)[k])
		}
	}
	return ports
}

// inside connects a host to its own edge, by a link of a NIC port's rate and zero length, and returns the ports of
// the NIC and of the edge.
func inside(b *fabric.Builder, node int, rate unit.Rate, response unit.Time) [2]int32 {
	nic, edge := b.Connect(int32(node), int32(node), fabric.Link{Rate: rate, Response: response})
	return [2]int32{nic, edge}
}

// edge translates a plan's tunnel into hosts. Their packets travel as those of the inner NICs would: in their class
// and with their policy's source ports, which only the edge uses then.
func edge(p *scenario.Plan, behind *host.Config) *host.Config {
	t, of := p.Tunnel, &behind.Services[0]
	cfg := *behind
	cfg.RC, cfg.Latency, cfg.PCIe, cfg.Markings, cfg.Reorder = t.RC, 0, 0, nil, host.Reorder{}
	cfg.Services = []host.Service{{Name: "tunnel", DSCP: of.DSCP, Class: of.Class, CNPDSCP: of.CNPDSCP,
		CNPClass: of.CNPClass, AcksFirst: true, CC: t.CC.New(t.Values), Marks: t.CC.Marks,
		Credit: t.CC.Credit(t.Values)}}
	behind.SourcePorts, behind.Choose = 0, nil
	return &cfg
}

// carried returns the packet inside a tunnel packet, -1 once it has been forwarded.
func (t *Tunnel) carried(p *fabric.Packet) int32 {
	if p.QP < 0 || int(p.QP) >= len(t.sent) {
		return -1
	}
	sent := t.sent[p.QP]
	i := int((p.PSN - t.first[p.QP]) & roce.PSNMask)
	for i+roce.PSNMask+1 < len(sent) { // the newest of its number
		i += roce.PSNMask + 1
	}
	if i >= len(sent) {
		return -1
	}
	return t.inner[sent[i]]
}

// fronts are the hosts whose packets the fabric carries.
func (n *Network) fronts() *host.Hosts {
	if n.Tunnel != nil {
		return n.Tunnel.Edge
	}
	return n.Hosts
}

// encapsulate writes an RC packet, from its IP header on, as the payload of the tunnel's frame.
func (n *Network) encapsulate(f *roce.Frame, p *fabric.Packet) {
	if _, ok := host.Ends(p.Opcode); ok {
		return
	}
	in := n.frame(n.Hosts, p)
	in.Complete()
	body := in.AppendIP(nil)
	if pad := int(f.BTH.Pad); len(body)+pad == len(f.Body) {
		f.Body = append(body, zeros[:pad]...)
	}
}

// words describes the tunnel's activity, for a report's notes.
func (t *Tunnel) words() string {
	again := int64(0)
	for c := range t.Edge.Conns() {
		again += t.Edge.Retransmitted(int32(c))
	}
	return fmt.Sprintf("tunnel: edges carried %s between %s of NICs and retransmitted %d; at most %v were in edges",
		unit.Plural(int64(len(t.inner)), "packet"), unit.Plural(t.Edge.Conns(), "pair"), again, t.Peak)
}

package host

import (
	"slices"

	"railyard/internal/engine"
	"railyard/internal/fabric"
	"railyard/unit"
)

// An edge is a set of hosts between others and the fabric (Olteanu et al., NSDI 2022). Its NICs have the ports to
// the fabric; the NICs of the other hosts have ports to the edge. The edge carries the packets of those NICs as
// messages of its own connections, one for each pair of NICs and direction. These tunnels have their own congestion
// control, recovery and paths.

// KindEdge is the first kind of an edge's events: the hosts' kinds plus KindEdge less fabric.KindHost.
const KindEdge engine.Kind = 64

// NewEdge returns the hosts of an edge.
func NewEdge(net *fabric.Net, cfg *Config) *Hosts {
	h := New(net, cfg)
	h.base = KindEdge - fabric.KindHost
	return h
}

// Front gives an edge the ports to the fabric and connects the ports of its hosts to the edge. Port i of wires
// serves port i of ports, whose packets arrive at it as events of a kind.
func (h *Hosts) Front(behind *Hosts, ports, wires []int32, enters engine.Kind) {
	behind.wired = make([]int32, len(h.Net.Ports))
	for i := range behind.wired {
		behind.wired[i] = int32(i)
	}
	for i, p := range ports {
		behind.wired[p] = wires[i]
		h.Net.Ports[p].Arrive = uint8(enters)
		h.Net.Ports[wires[i]].Service = uint8(h.base + KindTx)
		h.Net.Ports[h.Net.Ports[wires[i]].Peer].Arrive = uint8(h.base + KindRx)
	}
}

// wire returns the port to the fabric for a NIC's port: the edge's port if there is an edge, else the port itself.
func (h *Hosts) wire(port int32) int32 {
	if h.wired == nil {
		return port
	}
	return h.wired[port]
}

// wires returns the ports to the fabric of several.
func (h *Hosts) wires(ports []int32) []int32 {
	if h.wired == nil {
		return ports
	}
	all := slices.Clone(ports)
	for i, p := range all {
		all[i] = h.wired[p]
	}
	return all
}

// reaches reports whether a port to the fabric belongs to a NIC.
func (h *Hosts) reaches(nic, port int32) bool {
	return slices.Contains(h.wires(h.nics[nic].ports), port)
}

// Hand posts bytes on connection c of an edge now, and returns the message's number.
func (h *Hosts) Hand(c int32, bytes unit.Bytes) int32 {
	h.Messages = append(h.Messages, Message{Conn: c, next: -1, Bytes: bytes, Posted: h.Net.Q.Now()})
	m := int32(len(h.Messages) - 1)
	h.post(m)
	return m
}

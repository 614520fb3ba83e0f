package host

import (
	"railyard/cc"
	"railyard/internal/engine"
	"railyard/internal/fabric"
	"railyard/roce"
	"railyard/unit"
)

// Receivers that grant credit. A sender whose congestion control needs credit sends a request. The receiver answers
// with grants at the pace of its line. Requests and grants are control packets and travel as CNPs do. A NIC is one
// receiver, independent of the port at which packets arrive. A bundle's ports together have the granted rate,
// because switches choose the port of a packet. If PCIe is slower than the ports, its rate applies.

// granter is the granter of a NIC.
type granter struct {
	cc.Granter
	conns []int32      // by flow
	ports []int32      // by flow: port of its last packet
	armed bool         // an event comes,
	habit engine.Habit // lane of an event with the delay of the one before
}

// join adds a connection to the granter of its receiver's NIC if its service uses one. Flows of a higher class are
// granted credit before others.
func (h *Hosts) join(c int32) {
	service := h.Service(c)
	if service.Credit.Packets == 0 {
		return
	}
	n := &h.nics[h.senders[c].dst]
	if n.granter == nil {
		n.granter = &granter{}
	}
	g := n.granter
	h.receivers[c].flow = g.Join(service.Credit, h.cfg.RC.Wire(), service.Class)
	if service.Credit.Pulls {
		for opcode := roce.Opcode(0); opcode <= maxData; opcode++ {
			if !opcode.IsResponse() {
				h.take[opcode] = (*Hosts).rxPulled
			}
		}
	}
	g.conns, g.ports = append(g.conns, c), append(g.ports, n.ports[0])
}

// ask sends a request for credit, if one is due.
func (h *Hosts) ask(c int32, s *sender) {
	total, ok := s.pace.Ask(h.Net.Q.Now(), s.qp.Backlog(s.pace.Ahead()))
	h.rearm(c, s)
	if ok {
		h.creditPacket(s.port, h.ToReceiver(c), c, roce.CreditRequest, total)
	}
}

func (h *Hosts) creditPacket(port int32, to Address, c int32, opcode roce.Opcode, total int64) {
	service := h.Service(c)
	h.Control(port, to, service.CNPClass, &fabric.Packet{Opcode: opcode,
		Size: uint16(roce.CreditFrameLen + h.ip), TOS: service.CNPDSCP << 2, VA: uint64(total)})
}

// rxRequest processes a request at the receiver.
func (h *Hosts) rxRequest(port int32, p *fabric.Packet) {
	nic := p.Dst
	g, flow := h.nics[nic].granter, h.receivers[p.QP].flow
	g.ports[flow] = port
	g.Asked(flow, int64(p.VA))
	h.grant(nic)
}

// Needs passes wire bytes to the granter of a connection's receiver before the sender requests credit for them.
// They are bytes lost on a port that will be retransmitted, or the next bytes.
func (h *Hosts) Needs(c, port int32, wire int64) {
	nic := h.senders[c].dst
	g, flow := h.nics[nic].granter, h.receivers[c].flow
	g.ports[flow] = port
	g.Needs(flow, wire)
	h.grant(nic)
}

// grant sends the grants that are due at a NIC.
func (h *Hosts) grant(nic int32) {
	n := &h.nics[nic]
	g, now := n.granter, h.Net.Q.Now()
	for g.NextAt() <= now {
		flow, total, _ := g.Next(now, h.intake(n))
		c := g.conns[flow]
		h.creditPacket(g.ports[flow], h.ToSender(c), c, roce.CreditGrant, total)
	}
	if at := g.NextAt(); at != unit.Never && !g.armed {
		g.armed = true
		g.habit.Push(h.Net.Q, n.element, at, h.base+KindGrant, nic, 0)
	}
}

// intake returns the rate that a NIC can receive now.
func (h *Hosts) intake(n *nic) (line unit.Rate) {
	for _, p := range n.ports {
		if l := h.Net.Link(p); l.Up {
			line += l.In() // they may exceed the NIC's sending rate
		}
	}
	if line == 0 { // the grant is lost, but will be repeated
		line = n.line
	}
	if n.slow {
		line = min(line, n.pcie)
	}
	return line
}

// rxGrant receives a grant for a sender: it may send more.
func (h *Hosts) rxGrant(_ int32, p *fabric.Packet) {
	c := p.QP
	s := &h.senders[c]
	if s.pace.Granted(h.Net.Q.Now(), int64(p.VA)) {
		h.ready(c, s)
	}
}

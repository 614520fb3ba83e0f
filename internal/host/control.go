package host

import (
	"fmt"

	"railyard/internal/fabric"
	"railyard/roce"
)

// Control packets are all packets of NICs besides data, such as acknowledgements, CNPs, probes, requests for credit
// and grants. All leave by Control, before data, each with the size, DSCP and class of its kind. Arriving ones are
// passed to the handler that is registered for their opcode. A new kind is
//
//   - an opcode: one that roce knows, or of the manufacturer's range, 0xc0 to 0xff (IBTA 9.2.1);
//   - a Taker, registered with Take or, when every run has it, with a line in takers;
//   - calls of Control wherever it is due: in the Taker of what it answers, or behind a timer.

// A Taker processes a packet whose last bit has arrived at one of its NIC's ports. The packet is freed when it
// returns. It is invalid after any packet was sent, which may move the slab.
type Taker func(h *Hosts, port int32, p *fabric.Packet)

// takers maps opcodes to handlers; the default is data.
func takers() (t [256]Taker) {
	for opcode := range t {
		t[opcode] = (*Hosts).rxData
		if roce.Opcode(opcode) > maxData {
			t[opcode] = unclaimed
		}
	}
	t[roce.Acknowledge] = (*Hosts).rxAck
	t[roce.CNP] = (*Hosts).rxCNP
	t[roce.CreditGrant] = (*Hosts).rxGrant
	t[roce.CreditRequest] = (*Hosts).rxRequest
	return t
}

// maxData is the last opcode of the reliable connection's (IBTA table 38).
const maxData = 0x1f

// unclaimed handles packets without a handler: a bug in the program.
func unclaimed(_ *Hosts, _ int32, p *fabric.Packet) {
	panic(fmt.Sprintf("host: nobody takes packets of opcode %#x", uint8(p.Opcode)))
}

// Take gives packets of an opcode to a Taker, at all NICs.
func (h *Hosts) Take(opcode roce.Opcode, t Taker) { h.take[opcode] = t }

// Address is the destination of a control packet: an end of a connection, or a NIC.
type Address struct {
	nic  int32
	loc  uint16
	hash uint32 // digest of the 5-tuple, for switches that hash
	qp   int32  // the connection; ^n: none, NIC n sends
}

// ToReceiver addresses the responder of a connection, for packets of its sender: a probe, a request for credit.
func (h *Hosts) ToReceiver(c int32) Address {
	s := &h.senders[c]
	return Address{s.dst, s.loc, h.tuple(s.hash, &s.turn), c}
}

// ToSender addresses the requester of a connection, for packets of its receiver: an acknowledgement, a CNP, a grant.
func (h *Hosts) ToSender(c int32) Address {
	r := &h.receivers[c]
	return Address{r.src, r.loc, h.tuple(r.hash, &r.turn), c}
}

// ToNIC addresses NIC dst, for packets of NIC src without a connection; dst finds the source by From.
func (h *Hosts) ToNIC(src, dst int32, hash uint32) Address {
	return Address{dst, h.nics[dst].loc, hash, ^src}
}

// From returns the NIC that sent a packet; -1 if only its connection determines the NIC.
func From(p *fabric.Packet) int32 {
	if p.QP < 0 {
		return ^p.QP
	}
	return -1
}

// Ports returns the ports of a NIC.
func (h *Hosts) Ports(nic int32) []int32 { return h.nics[nic].ports }

// Control sends a control packet from one of its NIC's ports, in a class of that port. The packet has its opcode,
// size, TOS and the fields of its kind; Control sets the address. An answer leaves by the port at which the request
// arrived; a sender's own packets leave by Port.
func (h *Hosts) Control(port int32, to Address, class uint8, what *fabric.Packet) {
	h.depart(port, to, class, h.Net.Alloc(), what)
}

// depart is Control for an already allocated place in the slab.
func (h *Hosts) depart(port int32, to Address, class uint8, pi int32, what *fabric.Packet) {
	net := h.Net
	p := &net.Packets[pi]
	*p = *what
	p.Dst, p.Loc, p.Hash, p.QP = to.nic, to.loc, to.hash, to.qp
	if p.Flags&fabric.FlagINT != 0 { // an answer carries the telemetry of the packet that it answers
		net.Echo(pi, h.inHand)
	}
	net.Injected++
	opcode := &net.Ports[port]
	now := net.Q.Now()
	if opcode.BusyUntil <= now && opcode.NonEmpty == 0 && opcode.Paused&(1<<class) == 0 && !opcode.Armed {
		p.Class = class
		net.Transmit(now, port, opcode, pi, p)
		return
	}
	net.Enqueue(port, pi, int(class))
	net.Kick(port, opcode)
}

package host

import (
	"railyard/internal/fabric"
	"railyard/roce"
	"railyard/unit"
)

// marked takes note of congestion experienced, and answers with a CNP when one is due: at once, or when the
// NIC has got that far. The interval counts from the marked packets that CNPs answer.
func (h *Hosts) marked(now unit.Time, port, c int32, r *receiver) {
	r.ce++
	s := &h.cfg.Services[r.service]
	r.marked = s.Marks
	if !s.CNPs || now-r.lastCNP < s.CNPGap {
		return
	}
	r.lastCNP = now
	if s.CNPDelay > 0 {
		element := h.nics[h.senders[c].dst].element
		h.Net.Q.Push(element, now+s.CNPDelay, KindCNP, c, port)
		return
	}
	h.notify(c, port)
}

// notify sends a connection's CNP by a port of its receiver.
func (h *Hosts) notify(c, port int32) {
	s := &h.cfg.Services[h.receivers[c].service]
	h.Count.CNPs++
	class, dscp := s.CNPClass, s.CNPDSCP
	if len(h.cfg.Markings) > 0 {
		if own := h.cfg.Markings[h.senders[c].dst].CNP; own != nil {
			class, dscp = own.Class, own.DSCP
		}
	}
	h.Control(port, h.ToSender(c), class,
		&fabric.Packet{Opcode: roce.CNP, Size: uint16(roce.CNPLen + h.ip), TOS: dscp << 2})
}

// Marking is the marking of packets by a NIC that differs from its services; nil:
// it does not.
type Marking struct{ Data, CNP *Mark }

// Mark is a DSCP and the NIC's class for it.
type Mark struct{ DSCP, Class uint8 }

// marks are the class and the type of service of what a NIC sends for a service.
func (h *Hosts) marks(nic int32, s *Service) (class, tos uint8) {
	if own := h.cfg.Markings[nic].Data; own != nil {
		return own.Class, own.DSCP<<2 | fabric.ECT0
	}
	return s.Class, s.tos()
}

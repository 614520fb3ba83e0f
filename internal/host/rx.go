package host

import (
	"math/bits"

	"railyard/cc"
	"railyard/entropy"
	"railyard/internal/fabric"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// Rx takes a packet whose last bit has arrived at a host port.
func (h *Hosts) Rx(port, pi int32) {
	p := &h.Net.Packets[pi]
	h.inHand = pi
	h.take[p.Opcode](h, port, p)
	h.Net.Free(pi)
}

// rxData is the responder and the notification point.
func (h *Hosts) rxData(port int32, p *fabric.Packet) {
	if p.Flags&fabric.FlagTrimmed != 0 {
		h.rxTrimmed(port, p)
		return
	}
	now := h.Net.Q.Now()
	c := p.QP
	r := &h.receivers[c]
	in := &h.scratch
	*in = rc.Packet{Opcode: p.Opcode, AckReq: p.Flags&fabric.FlagAckReq != 0, PSN: p.PSN,
		Payload: int32(p.Payload),
		RKey:    h.rkey, Len: p.Len, VA: p.VA}
	marked, told := p.TOS&3 == fabric.CE, p.Flags&fabric.FlagINT
	in.Marked = marked
	if p.Flags&fabric.FlagEcho != 0 {
		in.List = !h.cfg.Services[r.service].Credit.Pulls
	}
	dst := p.Dst
	a := &h.answer
	r.qp.Data(in, a)
	switch a.Verdict {
	case rc.Reordered, rc.OutOfOrder:
		h.Count.OutOfOrder++
		h.detour(now, dst, int(in.Payload), a.Verdict)
	case rc.Duplicate:
		h.Count.Duplicates++
	case rc.NoRoom:
		h.Count.OutOfOrder++
		h.Count.NoRoom++
	}
	if n := &h.nics[dst]; h.limited(n) {
		h.drain(now, port, n, dst, int(in.Payload))
	}
	if marked {
		h.marked(now, port, c, r)
	}
	if a.Reply {
		h.answers(port, c, r, told)
	}
	for range a.Delivered {
		h.delivered(now, c, &h.receivers[c], dst)
	}
}

// rxTrimmed processes the headers of a data packet whose payload a switch removed.
func (h *Hosts) rxTrimmed(port int32, p *fabric.Packet) {
	h.Count.Trimmed++
	c := p.QP
	r := &h.receivers[c]
	r.cut++
	marked := p.TOS&3 == fabric.CE
	r.qp.Trimmed(p.PSN, p.Flags&fabric.FlagLastHop != 0, &h.answer)
	if marked {
		h.marked(h.Net.Q.Now(), port, c, r)
	}
	if h.answer.Reply {
		h.answers(port, c, r, 0)
	}
	if h.answer.Verdict == rc.OutOfOrder && h.Service(c).Credit.Packets > 0 {
		h.Needs(c, port, h.cfg.RC.Wire())
	}
}

// answers sends the responder's packets. told is fabric.FlagINT if they return the telemetry of the current packet.
func (h *Hosts) answers(port, c int32, r *receiver, told uint8) {
	a := &h.answer
	h.Count.Acks++
	if a.Packet.Syndrome.IsNak() && !a.Packet.Syndrome.IsGood() {
		h.Count.Naks++
	}
	flags, size := told, uint16(roce.AckLen+h.ip)
	if told != 0 {
		size += uint16(h.Net.Told(h.inHand).Len())
	}
	service, far := &h.cfg.Services[r.service], uint64(0)
	if service.FarEnd {
		far = h.farDelay(h.senders[c].dst)
		size += roce.FarDelayLen
	}
	if r.marked {
		r.marked, flags = false, flags|fabric.FlagEcho
	}
	class, tos := service.acks()
	h.Control(port, h.ToSender(c), class,
		&fabric.Packet{Opcode: a.Packet.Opcode, Size: size, TOS: tos, Flags: flags,
			PSN: a.Packet.PSN, Synd: a.Packet.Syndrome, Len: a.Packet.MSN, VA: far})
}

// delivered finishes the oldest message of a connection, once the last piece of a message
// above 2 GiB is in.
func (h *Hosts) delivered(now unit.Time, c int32, r *receiver, dst int32) {
	m := h.senders[c].first
	if r.done >= 0 {
		m = h.Messages[r.done].next
	}
	if r.pieces++; !h.Messages[m].endsWith(r.pieces) {
		return
	}
	if r.done, r.pieces = m, 0; h.senders[c].ending != open && h.senders[c].last == m {
		r.qp.Close()
	}
	n := &h.nics[dst]
	h.Net.Announce(n.element, max(now, n.rxFree)+h.cfg.Latency, h.base+KindDeliver, m)
}

// endsWith reports whether a message has at most the given number of pieces.
func (m *Message) endsWith(pieces int32) bool { return unit.Bytes(pieces)*rc.MaxMessage >= m.Bytes }

// rxAck passes an acknowledgement to the requester, which moves the window and completes work requests.
func (h *Hosts) rxAck(_ int32, p *fabric.Packet) {
	now := h.Net.Q.Now()
	c := p.QP
	s := &h.senders[c]
	if s.ending == closed {
		return
	}
	in := &h.scratch
	*in = rc.Packet{Opcode: p.Opcode, Syndrome: p.Synd, PSN: p.PSN, MSN: p.Len, Marked: p.Flags&fabric.FlagEcho != 0}
	if in.Syndrome.IsNak() && !in.Syndrome.IsGood() {
		h.Count.NaksReceived++
	}
	n := s.qp.Acknowledged(now, in)
	for {
		if _, ok := s.qp.PopCompletion(); !ok {
			break
		}
	}
	if s.qp.State() == rc.Error {
		h.failed(c)
		return
	}
	s.paths.Answered(now, in, in.Marked)
	ack := cc.Ack{Bytes: unit.Bytes(n) * unit.Bytes(h.cfg.RC.MTU), Telemetry: h.heard(p)}
	if n > 0 && h.Service(c).FarEnd {
		ack.Far, ack.Hops = unit.Time(p.VA)*unit.Nanosecond, int(p.Hops)
	}
	if n > 0 && s.acknowledged(now, in, ack) {
		h.decide(c)
	}
	if p.Synd.IsTrimmed() {
		psn, _ := in.Missing()
		s.pace.Trimmed(psn)
	}
	switch p.Synd {
	case roce.NakSequence, roce.NakMissing:
		s.paths.Lost(now, in, entropy.Missing)
		s.pace.Lost(now, cc.LossNak, s.qp.InFlightBytes())
		h.decide(c)
	case roce.NakTrimmed:
		s.paths.Lost(now, in, entropy.Trimmed)
		s.pace.Lost(now, cc.LossTrimmed, s.qp.InFlightBytes())
		h.decide(c)
	case roce.NakTrimmedLast: // every path to the receiver ends in that queue
		s.pace.Lost(now, cc.LossTrimmedLast, s.qp.InFlightBytes())
		h.decide(c)
	}
	if s.ending == closing && s.qp.Idle() {
		h.close(c, s)
		return
	}
	if h.cfg.RC.Recovery == rc.Selective {
		h.watch(c, s)
	}
	h.ready(c, s)
}

// acknowledged passes newly acknowledged bytes to the controller; false: the controller does not use them.
func (s *sender) acknowledged(now unit.Time, p *rc.Packet, a cc.Ack) bool {
	una, _, _ := s.qp.Sequence()
	psn := una
	if about, ok := p.About(); ok {
		psn = about
	}
	a.InFlight, a.Marked = s.qp.InFlightBytes(), p.Marked
	return s.pace.Acknowledged(now, una, psn, a)
}

// farDelay returns the time from arrival now to a NIC's memory, in nanoseconds.
func (h *Hosts) farDelay(nic int32) uint64 {
	wait := max(0, h.nics[nic].rxFree-h.Net.Q.Now())
	return uint64(min(wait/unit.Nanosecond, 1<<32-1))
}

// rxCNP is the reaction point.
func (h *Hosts) rxCNP(_ int32, p *fabric.Packet) {
	if h.senders[p.QP].ending == closed {
		return
	}
	h.senders[p.QP].pace.Ctl.OnCNP(h.Net.Q.Now())
	h.decide(p.QP)
}

// drain models PCIe slower than the link. Arrived data wait in the NIC's buffer, and the NIC pauses its switch
// before the buffer overflows. If NICs share PCIe, their waiting bytes count as the NIC's own, so it pauses a
// little early.
func (h *Hosts) drain(now unit.Time, port int32, n *nic, id int32, payload int) {
	h.write(now, n, unit.Bytes(payload))
	h.fills(now, n, id)
}

// fills makes a NIC pause its switch when its buffer holds more than rx_xoff.
func (h *Hosts) fills(now unit.Time, n *nic, id int32) {
	if !n.pausing && !n.storming && unit.InTime(n.pcie, n.rxFree-now) > h.cfg.RxXOff {
		n.pausing = true
		h.each(n, (*fabric.Net).SendPause)
		h.Net.Q.Push(n.element, n.rxFree-unit.Serialize(h.cfg.RxXOn, n.pcie), h.base+KindDrain, id, 0)
	}
}

// drained resumes the switch, or waits longer when more had been in flight.
func (h *Hosts) drained(id int32) {
	n := &h.nics[id]
	now := h.Net.Q.Now()
	if at := n.rxFree - unit.Serialize(h.cfg.RxXOn, n.pcie); at > now {
		h.Net.Q.Push(n.element, at, h.base+KindDrain, id, 0)
		return
	}
	n.pausing = false
	if !n.storming {
		h.each(n, (*fabric.Net).SendResume)
	}
}

// Storm makes a NIC pause its switch continuously in all data classes, whatever its buffer holds, or ends that.
func (h *Hosts) Storm(nic int32, on bool) {
	n := &h.nics[nic]
	if n.storming = on; n.pausing && !on {
		return // the buffer is full: the NIC resumes once it has drained
	}
	h.each(n, func(net *fabric.Net, port int32, class int) { net.Storm(port, class, on) })
}

// each pauses or resumes a NIC's ports. PCIe has one queue for all services, so the pause applies to all classes of
// data.
func (h *Hosts) each(n *nic, do func(net *fabric.Net, port int32, class int)) {
	for _, port := range n.ports {
		for m := h.dataClasses(); m != 0; m &= m - 1 {
			do(h.Net, port, bits.TrailingZeros8(m))
		}
	}
}

// rxPulled receives data, or trimmed data, of connections whose receivers pull (NDP). Each arrival permits one more
// packet, in its turn. A sender marks the last packet before it has nothing more to send (FlagEcho; BECN on the
// wire). Once all data up to that packet have arrived, further pulls are useless, and the turn passes to other
// connections.
func (h *Hosts) rxPulled(port int32, p *fabric.Packet) {
	c := p.QP
	r := &h.receivers[c]
	if !h.cfg.Services[r.service].Credit.Pulls {
		h.rxData(port, p)
		return
	}
	if whole := p.Flags&fabric.FlagTrimmed == 0; whole {
		if last := p.Flags&fabric.FlagEcho != 0; last {
			r.final, r.ends = p.PSN, true
		} else if r.ends && roce.PSNDiff(p.PSN, r.final) > 0 {
			r.ends = false // there was more
		}
	}
	h.rxData(port, p) // rxData may move packets
	r = &h.receivers[c]
	if r.ends {
		if _, _, expect := r.qp.Sequence(); roce.PSNDiff(expect, r.final) > 0 {
			h.nics[h.senders[c].dst].granter.Drop(r.flow)
			return
		}
	}
	h.Needs(c, port, h.cfg.RC.Wire())
}

// marked records congestion experienced, and sends a CNP when one is due: at once, or when the NIC has processed
// the packet. The interval counts from the marked packets that CNPs answer.
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
		h.Net.Q.Push(element, now+s.CNPDelay, h.base+KindCNP, c, port)
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

// Marking describes how a NIC marks packets if that differs from its services; nil: it does not differ.
type Marking struct{ Data, CNP *Mark }

// Mark is a DSCP and the NIC's class for it.
type Mark struct{ DSCP, Class uint8 }

// marks returns the class and the type of service of a NIC's packets of a service.
func (h *Hosts) marks(nic int32, s *Service) (class, tos uint8) {
	if own := h.cfg.Markings[nic].Data; own != nil {
		return own.Class, own.DSCP<<2 | fabric.ECT0
	}
	return s.Class, s.tos()
}

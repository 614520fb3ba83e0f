package host

import (
	"math/bits"

	"railyard/cc"
	"railyard/entropy"
	"railyard/internal/engine"
	"railyard/internal/fabric"
	"railyard/internal/route"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// Send posts a write of bytes from one GPU to another on connection c, and returns the message's number. The NIC sees
// the work request Latency later.
func (h *Hosts) Send(c int32, bytes unit.Bytes, tag int64) int32 {
	now := h.Net.Q.Now()
	h.Messages = append(h.Messages, Message{Conn: c, next: -1, Bytes: bytes, Tag: tag, Posted: now})
	m := int32(len(h.Messages) - 1)
	h.Net.Q.Push(engine.OfRun, now+h.cfg.Latency, h.base+KindPost, m, 0)
	return m
}

// post passes a message to its queue pair, in pieces that the transport accepts.
func (h *Hosts) post(m int32) {
	msg := &h.Messages[m]
	if h.endsOf(msg.Conn) != nil {
		h.postTo(m)
		return
	}
	s := &h.senders[msg.Conn]
	if s.last >= 0 {
		h.Messages[s.last].next = m
	} else {
		s.first = m
	}
	s.last = m
	if !h.Net.Owns(h.Net.Ports[s.port].Node) { // another part's NIC sends it; one of this part may receive it
		return
	}
	if s.pace.Credited() && s.qp.Idle() {
		s.pace.Begin(h.Net.Q.Now())
	}
	left := int64(msg.Bytes)
	for first := true; first || left > 0; first = false {
		n := min(left, rc.MaxMessage)
		left -= n
		id := uint64(0) // pieces before the last one complete silently
		if left == 0 {
			id = uint64(m) + 1
		}
		// With a RETH in every packet only an immediate marks the end of a message.
		r := rc.Request{ID: id, RKey: h.rkey, Len: n}
		if h.cfg.RC.WriteOnly {
			r.Verb = rc.WriteImm
		}
		if err := s.qp.Post(&r); err != nil {
			if s.qp.State() != rc.Error { // otherwise the error is known already
				h.failed(msg.Conn)
			}
			return
		}
	}
	h.ready(msg.Conn, s)
}

// ready puts a sender with packets into its port's ring.
func (h *Hosts) ready(c int32, s *sender) {
	if s.pace.Credited() {
		h.ask(c, s)
	}
	if s.inRing || s.paceAt != unit.Never || !s.qp.Pending() {
		return
	}
	now := h.Net.Q.Now()
	if s.blocked() {
		s.stick(now)
		return
	}
	if s.stuck {
		s.unstick(now)
	}
	if s.pace.NextAt > now {
		h.wait(now, c, s)
		return
	}
	h.enring(c, s)
	if s.sprayed {
		for _, p := range h.nics[s.nic].ports {
			h.Net.Kick(p, &h.Net.Ports[p])
		}
		return
	}
	h.Net.Kick(s.port, &h.Net.Ports[s.port])
}

// asks reports whether congestion control needs an acknowledgement of the next packet. It does if its window
// requires one, or if no data follow before the receiver's next grant, which takes a turn of all senders to it.
func (s *sender) asks(wire int64) bool { return s.pace.Acked() && s.needs() || s.pace.Empties(wire) }

func (s *sender) needs() bool { return s.pace.Asks(s.qp.InFlightBytes()) && !s.qp.Resending() }

// blocked reports whether no packet may be sent: the window permits no new one, or there is no credit. Most senders
// have neither.
func (s *sender) blocked() bool { return s.pace.Bounded() && s.stopped() }

func (s *sender) stopped() bool { return s.full() || s.pace.Broke() }

// full reports whether the window blocks new packets; retransmissions may be sent, as rc permits.
func (s *sender) full() bool {
	return s.pace.Window > 0 && s.pace.Blocked(s.qp.InFlightBytes()) && !s.qp.PastWindow()
}

// tx serves a host port: control packets first, then the queue pairs in turn.
func (h *Hosts) tx(port int32) {
	net := h.Net
	now := net.Q.Now()
	tx := &net.Ports[port]
	if tx.BusyUntil > now {
		net.Q.Push(engine.Node(tx.Node), tx.BusyUntil, h.base+KindTx, port, 0)
		return
	}
	if elig := tx.NonEmpty &^ tx.Paused; elig != 0 {
		pi, p := net.Dequeue(now, port, tx, net.PickClass(port, elig))
		net.Transmit(now, port, tx, pi, p)
	} else if wait := h.sendData(now, port, tx); wait > now {
		net.Q.Push(engine.Node(tx.Node), wait, h.base+KindTx, port, 0)
		return
	} else if wait < 0 {
		tx.Armed = false
		return
	}
	tx = &net.Ports[port]
	if (tx.NonEmpty|h.rings.waiting[h.rings.owner[port]])&^tx.Paused != 0 {
		net.Q.PushAfter(engine.Node(tx.Node), tx.BusyUntil-now, h.base+KindTx, port, 0)
	} else {
		tx.Armed = false
	}
}

// sendData puts the next data packet that waits at a port on the wire. It returns now if it sent a packet, a later
// time for another try, or -1 if there is nothing to send.
func (h *Hosts) sendData(now unit.Time, port int32, tx *route.Port) unit.Time {
	own := h.rings.owner[port]
	for {
		ready := h.rings.waiting[own] &^ tx.Paused
		if ready == 0 {
			return -1
		}
		class, alone := bits.TrailingZeros8(ready), ready&(ready-1) == 0
		if !alone {
			class = h.pick(own, ready)
		}
		if h.lanes != nil && h.lanes.serves(&h.rings, port, class) {
			if at := h.sendCarried(now, port, tx, class); at >= 0 {
				return at
			}
			continue
		}
		r := &h.rings.all[h.rings.base[class]+own]
		c := r.head
		s := &h.senders[c]
		n := &h.nics[s.nic]
		if h.limited(n) {
			if at := h.fetchable(n); at > now {
				return at
			}
		}
		if s.blocked() || !s.qp.Next(now, &h.scratch) {
			if s.qp.Pending() {
				s.stick(now)
			}
			h.first(own, r, s)
			continue
		}
		if h.launch(now, port, tx, c, s, n) {
			h.turn(r, c, s)
		} else {
			h.first(own, r, s)
		}
		if !alone {
			h.pay(own, class)
		}
		return now
	}
}

// launch sends the packet in scratch and reports whether its sender may send again when the port is free.
func (h *Hosts) launch(now unit.Time, port int32, tx *route.Port, c int32, s *sender, n *nic) bool {
	rp := &h.scratch
	pi := h.Net.Alloc()
	p := &h.Net.Packets[pi]
	size := h.frame(rp.Opcode, int(rp.Payload))
	if s.extra > 0 {
		size += h.launches(s, pi, rp.PSN)
	}
	p.Dst, p.Loc, p.Size, p.Payload = s.dst, s.loc, uint16(size), uint16(rp.Payload)
	p.Opcode, p.TOS, p.Hash, p.QP, p.PSN = rp.Opcode, s.tos, h.tupleOf(now, s, rp.PSN), c, rp.PSN
	p.VA, p.Len = rp.VA, rp.Len
	wire := int64(size) + roce.PreambleIFG
	if !rp.AckReq && s.asks(wire) {
		s.qp.Ask(now, rp)
	}
	s.pace.Launched(now, rp.PSN, rp.AckReq, rp.Again)
	if rp.AckReq {
		p.Flags |= fabric.FlagAckReq
	}
	if rp.Again {
		p.Flags |= fabric.FlagAgain
		if rp.List && !s.pulled {
			p.Flags |= fabric.FlagEcho
		}
	}
	if s.pulled && !s.qp.Pending() {
		p.Flags |= fabric.FlagEcho
	}
	h.Net.Injected++
	h.Count.DataPackets++
	h.Count.DataBytes += int64(rp.Payload)
	h.Net.Transmit(now, port, tx, pi, p)
	if h.limited(n) {
		h.fetch(now, n, unit.Bytes(rp.Payload))
	}
	if h.cfg.RC.Timeout > 0 && (!s.timer || h.cfg.RC.Recovery == rc.Selective) {
		h.watch(c, s)
	}
	return h.pace(now, tx, c, s, wire)
}

// pace charges a sent packet to the congestion controller. It reports whether the sender's next packet may follow
// immediately; a paced one is woken later.
func (h *Hosts) pace(now unit.Time, tx *route.Port, c int32, s *sender, wire int64) bool {
	if s.pace.Spent(now, wire) {
		h.decide(c)
	}
	if s.pace.Rate < s.pace.Line {
		s.pace.Delay(now, wire, 0)
	}
	if s.pace.Credited() && s.pace.Charge(wire) {
		h.ask(c, s)
	}
	if !s.qp.Pending() {
		return false
	}
	if s.blocked() {
		s.stick(tx.BusyUntil)
		return false
	}
	if s.pace.NextAt > tx.BusyUntil {
		h.wait(tx.BusyUntil, c, s)
		return false
	}
	return true
}

// wait delays a sender until its pace allows the next packet. from is when its port would have been free, 0 if it
// already waits.
func (h *Hosts) wait(from unit.Time, c int32, s *sender) {
	s.held -= from
	s.paceAt = s.pace.NextAt
	h.Net.Q.Push(h.element(s), s.paceAt, h.base+KindPace, c, 0)
}

// element returns the element of a sender's NIC. It reads the port, which is closer in memory than the NIC.
func (h *Hosts) element(s *sender) engine.Element { return engine.Node(h.Net.Ports[s.port].Node) }

// decide reads a controller's decision.
func (h *Hosts) decide(c int32) {
	s := &h.senders[c]
	if s.pace.Decide(h.Net.Q.Now()) && h.OnRate != nil {
		h.OnRate(c, s.pace.Rate)
	}
	if h.cfg.RC.Named {
		s.qp.Window(uint64(s.pace.Window / s.pace.MTU))
	}
	if s.paceAt != unit.Never && s.pace.NextAt < s.paceAt {
		h.wait(0, c, s)
	}
	h.rearm(c, s)
}

// rearm sets a sender's timer to its pacer's timer.
func (h *Hosts) rearm(c int32, s *sender) {
	if s.pace.Timer != s.timerAt {
		s.timerAt = s.pace.Timer
		if s.timerAt == unit.Never {
			h.ccTimers.Disarm(c)
		} else {
			h.ccTimers.Arm(h.element(s), c, h.base+KindCC, s.timerAt)
		}
	}
}

// watch arms the event of a queue pair's timer, unless an earlier one is armed. Later times need no new event,
// because the event checks again when it fires. Acknowledgements therefore cost nothing.
func (h *Hosts) watch(c int32, s *sender) {
	at := s.qp.TimeoutAt()
	if at == unit.Never || s.timer && at >= s.watched {
		return
	}
	s.timer, s.watched = true, max(at, h.Net.Q.Now())
	h.Net.Q.Push(h.element(s), s.watched, h.base+KindTimeout, c, 0)
}

// timeout looks after the local ACK timeout.
func (h *Hosts) timeout(c int32) {
	now := h.Net.Q.Now()
	s := &h.senders[c]
	if !s.timer || now != s.watched {
		return // an earlier event has replaced it
	}
	s.timer = false
	if s.qp.TimeoutAt() <= now {
		before, early := s.qp.Timeouts, s.qp.EarlyTimeouts()
		s.qp.Timeout(now)
		late := s.qp.Timeouts - before
		h.Count.EarlyTimeouts += int64(s.qp.EarlyTimeouts() - early)
		h.Count.Timeouts += int64(late)
		if s.qp.State() == rc.Error {
			h.failed(c)
			return
		}
		if late > 0 || s.qp.Silent() {
			una, _, _ := s.qp.Sequence()
			s.paths.Heard(now, una, entropy.TimedOut)
		}
		if h.silent(now, c, s, late > 0); late > 0 {
			s.pace.Lost(now, cc.LossTimeout, s.qp.InFlightBytes())
			h.decide(c)
		}
		h.watch(c, s)
		h.ready(c, s)
		return
	}
	h.watch(c, s)
}

func (h *Hosts) failed(c int32) {
	h.Count.Failed++
	if h.OnFail != nil {
		comp, _ := h.senders[c].qp.PopCompletion()
		h.OnFail(c, comp.Status)
	}
}

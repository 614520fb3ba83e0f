package host

import (
	"fmt"
	"slices"

	"railyard/cc"
	"railyard/internal/engine"
	"railyard/internal/fabric"
	"railyard/rc"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// Connections of a service that names a protocol (package transport) are run here, not as RC's queue pairs. NICs,
// ports, classes and messages are those of RC; only the ends differ. A NIC's ports are its planes, all of them used
// by the connection. Data leave by the first idle port (lanes.go), after control packets.

// Opcodes from the manufacturer's range distinguish packets of protocols from RC's within the simulator. Their
// headers are stored separately (fabric.Net.Headers), and captures show the opcodes of their frames.
const (
	toReceiver roce.Opcode = 0xfe
	toSender   roce.Opcode = 0xff
)

// Ends reports whether a packet belongs to a protocol, and whether its receivers or its senders process it.
func Ends(opcode roce.Opcode) (toReceivers, ok bool) {
	return opcode == toReceiver, opcode == toReceiver || opcode == toSender
}

// ends are the two ends of a connection, by connection number; both are nil for RC. Fields of the sender belong to
// the node of its NIC, and fields of the receiver to the node of its own NIC. They are two cache lines, of which
// packets read the first (TestLines).
type ends struct {
	send   transport.Sender
	recv   transport.Receiver
	ticks  [2]unit.Time // times of the next event of the sender and of the receiver; unit.Never
	next   int32        // connection of the same peer: the last one's is the first
	lined  uint32       // planes in whose lanes it waits
	turn   uint8        // plane to be looked at first
	broken bool

	// messages by the transport's number, written as they are posted; a message in pieces occurs several times
	posted []int32
	again  int64      // packets sent again
	ce     int64      // packets that arrived marked,
	cut    int64      // and as headers
	done   unit.Bytes // bytes of messages that are completely in memory
	acked  int32      // messages that are acknowledged,
	came   int32      // messages that have arrived
}

// peerKey is the key of a NIC's transport.Peer: the other NIC, and the service.
type peerKey struct{ service, src, dst int32 }

// peer is a transport.Peer, with its connection that was set up last, -1 if all are closed.
type peer struct {
	transport.Peer
	last int32
}

// protocols allocates connections of protocols, if some service has one.
func (h *Hosts) protocols() {
	named := func(s Service) bool { return s.Protocol != nil }
	if !slices.ContainsFunc(h.cfg.Services, named) {
		return
	}
	if h.cfg.Bond == BondSpray {
		panic("host: a bundle that sprays has no planes")
	}
	h.Net.KeepHeaders()
	h.lanes = newLanes(len(h.Net.Ports))
	h.peers = map[peerKey]*peer{}
	h.hosts = map[engine.Element]*transport.Host{}
	h.take[toReceiver], h.take[toSender] = (*Hosts).rxForward, (*Hosts).rxBack
}

// endsOf returns a connection's ends, nil for RC.
func (h *Hosts) endsOf(c int32) *ends {
	if uint32(c) >= uint32(len(h.carried)) || h.carried[c].send == nil {
		return nil
	}
	return &h.carried[c]
}

// carry sets up a connection of a service with a protocol. Its packets may leave by all ports of the NIC.
func (h *Hosts) carry(service int, src, dst, tag int32, hash, psn uint32) int32 {
	c := int32(len(h.senders))
	n, sv := &h.nics[src], &h.cfg.Services[service]
	h.rings.use(sv.Class)
	h.lanes.use(h, sv.Class, n)
	h.lanes.use(h, sv.Class, &h.nics[dst])
	seed := uint64(hash)<<32 | uint64(psn)
	if sv.PlainEV {
		hash = 0 // a packet's digest is its entropy value
	}
	h.senders = append(h.senders, sender{service: uint8(service), class: sv.Class, tos: sv.tos(), tag: tag,
		next: -1, first: -1, last: -1, nic: src, dst: dst, hash: hash, loc: h.nics[dst].loc,
		port: n.ports[0], sprayed: len(n.ports) > 1, timerAt: unit.Never, paceAt: unit.Never})
	h.receivers = append(h.receivers, receiver{service: uint8(service), src: src, hash: hash, loc: n.loc,
		done: -1})
	h.ccTimers.Grow(len(h.senders))
	for len(h.carried) < len(h.senders) {
		h.carried = append(h.carried, ends{})
	}
	path := h.pathOf(c, sv.Protocol)
	key := peerKey{int32(service), src, dst}
	to, next := h.peers[key], c
	if to == nil {
		to = &peer{h.makerAt(service, src).Peer(path, seed), c}
		h.peers[key] = to
	} else if to.last >= 0 {
		next, h.carried[to.last].next = h.carried[to.last].next, c
	}
	to.last = c
	h.carried[c] = ends{send: to.Sender(seed), next: next,
		recv: h.makerAt(service, dst).Receiver(path, seed), ticks: [2]unit.Time{unit.Never, unit.Never}}
	h.lanes.join(c)
	h.tellPlanes(c)
	return c
}

// makerAt returns the maker of a service's ends at a NIC. If ends use the host's cores, each host has a maker.
func (h *Hosts) makerAt(service int, nic int32) transport.Maker {
	m := h.cfg.Services[service].Protocol
	hosted, ok := m.(transport.Hosted)
	if !ok {
		return m
	}
	of := h.nics[nic].element
	if h.hosts[of] == nil {
		h.hosts[of] = &transport.Host{}
	}
	return hosted.At(h.hosts[of])
}

// pathOf returns the path of a connection for a protocol: all planes together, and the time of a full packet and an
// answer on the first working plane.
func (h *Hosts) pathOf(c int32, m transport.Maker) cc.Path {
	s := &h.senders[c]
	n := &h.nics[s.nic]
	for _, p := range n.ports {
		if h.Net.Link(p).Up {
			s.port = p
			break
		}
	}
	mtu := h.cfg.RC.MTU
	data := m.Wire(&transport.Packet{Kind: transport.Data, Payload: uint32(mtu), Bytes: uint64(mtu)})
	rtt, hops := h.roundTrip(c, data, m.Wire(&transport.Packet{Kind: transport.Ack}), 0)
	return cc.Path{Line: n.line * unit.Rate(len(n.ports)), MTU: unit.Bytes(mtu), RTT: rtt, Hops: hops,
		CoreMarks: h.coreMarks(c)}
}

// Bound returns the maximum payload bytes that a connection ever has in flight and the round trip of a full packet
// on an idle path. The maximum is that of its transport's own window, independent of congestion control; 0: no
// limit.
func (h *Hosts) Bound(c int32) (most, own unit.Bytes, rtt unit.Time) {
	s := &h.senders[c]
	var limited any = s.pace.Ctl
	if e := h.endsOf(c); e != nil {
		limited, rtt = e.send, h.pathOf(c, h.Service(c).Protocol).RTT
	} else if rtt, _ = h.unloaded(c); h.cfg.RC.Recovery == rc.Selective {
		own = unit.Bytes(h.cfg.RC.Window * h.cfg.RC.MTU)
	}
	most = own
	if l, ok := limited.(cc.Limited); ok && (most == 0 || l.MostInFlight() < most) {
		most = l.MostInFlight()
	}
	if h.endsOf(c) != nil {
		own = most
	}
	return most, own, rtt
}

// Window returns the maximum payload bytes that an RC connection has in flight before the first is acknowledged,
// and the round trip of a full packet on an idle path. 0: no limit.
func (h *Hosts) Window(c int32) (most unit.Bytes, rtt unit.Time) {
	most, _, rtt = h.Bound(c)
	if w := h.senders[c].pace.Ctl.Decision().Window; w > 0 && (most == 0 || w < most) {
		most = w
	}
	return most, rtt
}

// Granted returns the share of its receiver's line rate that a connection's receiver grants as credit, 0 if it
// needs none. It also returns the wire bytes of a burst without credit. pulls reports that these bytes add to
// granted ones.
func (h *Hosts) Granted(c int32) (share float64, unasked unit.Bytes, pulls bool) {
	if t := h.Service(c).Credit; t.Packets > 0 {
		share, pulls = t.Share, t.Pulls
	}
	if x, ok := h.senders[c].pace.Ctl.(cc.Credited); ok && share > 0 {
		unasked = x.Credit().Unasked()
	}
	return share, unasked, pulls
}

// tellPlanes notifies new ends of the failed ports of their NICs.
func (h *Hosts) tellPlanes(c int32) {
	src, dst := h.Peers(c)
	for _, nic := range []int32{src, dst} {
		for _, p := range h.nics[nic].ports {
			if !h.Net.Link(p).Up {
				h.planeIs(c, nic, p, false)
			}
		}
	}
}

// PortIs records whether the cable of a port works: a NIC detects its own immediately. Ports of switches are
// ignored here.
func (h *Hosts) PortIs(port int32, up bool) {
	for c := range h.carried {
		if e := &h.carried[c]; e.send != nil {
			src, dst := h.Peers(int32(c))
			h.planeIs(int32(c), src, port, up)
			h.planeIs(int32(c), dst, port, up)
		}
	}
}

// planeIs notifies the ends of a connection at a NIC of the state of one of its ports.
func (h *Hosts) planeIs(c, nic, port int32, up bool) {
	plane := slices.Index(h.nics[nic].ports, port)
	if plane < 0 || !h.Net.Owns(h.Net.Ports[port].Node) {
		return
	}
	e, now := &h.carried[c], h.Net.Q.Now()
	if src, _ := h.Peers(c); src == nic {
		e.send.PlaneIs(now, plane, up)
		h.sent(now, c, e)
	} else {
		e.recv.PlaneIs(now, plane, up)
		h.received(now, c, e)
	}
}

// postTo passes a message to its connection's sender, in pieces that the transport accepts.
func (h *Hosts) postTo(m int32) {
	msg := &h.Messages[m]
	e := &h.carried[msg.Conn]
	pieces := max(1, (msg.Bytes+rc.MaxMessage-1)/rc.MaxMessage)
	for range pieces {
		e.posted = append(e.posted, m)
	}
	if pieces > 1 {
		if h.pieces == nil {
			h.pieces = map[int32]int{}
		}
		h.pieces[m] = int(pieces)
	}
	src, _ := h.Peers(msg.Conn)
	if !h.Net.Owns(h.Net.Ports[h.nics[src].ports[0]].Node) {
		return
	}
	now := h.Net.Q.Now()
	for left := int64(msg.Bytes); pieces > 0; pieces-- {
		n := min(left, rc.MaxMessage)
		left -= n
		if err := e.send.Post(now, transport.Request{ID: uint64(m) + 1, Bytes: n}); err != nil {
			h.broke(msg.Conn, e, rc.Flushed)
			return
		}
	}
	h.sent(now, msg.Conn, e)
}

// missing reports whether pieces of a message are still missing after the arrival of a piece.
func (h *Hosts) missing(m int32) bool {
	if h.Messages[m].Bytes <= rc.MaxMessage {
		return false
	}
	h.pieces[m]--
	return h.pieces[m] > 0
}

// rxForward passes a packet to a receiver.
func (h *Hosts) rxForward(port int32, p *fabric.Packet) {
	now, c := h.Net.Q.Now(), p.QP
	e, in := &h.carried[c], h.arrived(port, p)
	if in.Flags&transport.Marked != 0 {
		e.ce++
	}
	if in.Flags&transport.Trimmed != 0 {
		h.Count.Trimmed++
		e.cut++
	} else if n := &h.nics[p.Dst]; n.slow && in.Payload > 0 {
		h.drain(now, port, n, p.Dst, int(in.Payload))
	}
	e.recv.Take(now, in)
	h.received(now, c, e)
}

// rxBack passes a packet to a sender.
func (h *Hosts) rxBack(port int32, p *fabric.Packet) {
	now, c := h.Net.Q.Now(), p.QP
	e := &h.carried[c]
	e.send.Take(now, h.arrived(port, p))
	h.sent(now, c, e)
}

// arrived returns the current packet for its end, with the marks and trimming of the path.
func (h *Hosts) arrived(port int32, p *fabric.Packet) *transport.Packet {
	in := h.Net.Headers(h.inHand)
	in.Plane = h.lanes.plane[port]
	if p.TOS&3 == fabric.CE {
		in.Flags |= transport.Marked
	}
	if p.Flags&fabric.FlagTrimmed != 0 {
		if in.Flags |= transport.Trimmed; p.Flags&fabric.FlagLastHop != 0 {
			in.Flags |= transport.LastHop
		}
	}
	return in
}

// received processes the results of a receiver's call: complete messages, answers, its timer.
func (h *Hosts) received(now unit.Time, c int32, e *ends) {
	for {
		number, ok := e.recv.Arrived()
		if !ok {
			break
		}
		m := e.posted[number]
		if e.came++; h.senders[c].ending != open && int(e.came) == len(e.posted) {
			closeEnd(e.recv)
		}
		if h.missing(m) {
			continue
		}
		e.done += h.Messages[m].Bytes
		n := &h.nics[h.senders[c].dst]
		h.Net.Announce(n.element, max(now, n.rxFree)+h.cfg.Latency, h.base+KindDeliver, m)
	}
	for h.saying = (transport.Packet{}); e.recv.Say(now, &h.saying); h.saying = (transport.Packet{}) {
		r := &h.receivers[c]
		h.says(c, h.senders[c].dst, toSender, Address{r.src, r.loc, r.hash, c})
	}
	h.tickAt(c, e, 1, e.recv.At())
}

// sent processes the results of a sender's call: completions, control packets, its timer, its next data.
func (h *Hosts) sent(now unit.Time, c int32, e *ends) {
	for {
		done, ok := e.send.Completed()
		if !ok {
			break
		}
		if e.acked++; done.Status != rc.Success {
			h.broke(c, e, done.Status)
		}
	}
	for h.saying = (transport.Packet{}); e.send.Say(now, &h.saying); h.saying = (transport.Packet{}) {
		s := &h.senders[c]
		h.says(c, s.nic, toReceiver, Address{s.dst, s.loc, s.hash, c})
	}
	h.tickAt(c, e, 0, e.send.At())
	h.wake(now, c, e)
	h.refused(now, c, e)
	for o := e.next; o != c; { // its result may permit other connections to its peer to send
		other := &h.carried[o]
		h.tickAt(o, other, 0, other.send.At())
		h.wake(now, o, other)
		o = other.next
	}
	if s := &h.senders[c]; s.ending == closing && e.acked > 0 && int(e.acked) == len(e.posted) {
		h.part(c, e)
	}
}

// says sends a control packet of an end from its NIC.
func (h *Hosts) says(c, nic int32, opcode roce.Opcode, to Address) {
	what, service := &h.saying, h.Service(c)
	switch what.Kind {
	case transport.Ack:
		h.Count.Acks++
	case transport.Nack:
		h.Count.Acks++
		h.Count.Naks++
	}
	class, tos := service.acks()
	ports := h.nics[nic].ports
	if int(what.Plane) >= len(ports) {
		panic(fmt.Sprintf("host: %v packet for plane %d of %d", what.Kind, what.Plane, len(ports)))
	}
	to.hash ^= what.EV
	pi := h.Net.Alloc()
	*h.Net.Headers(pi) = *what
	h.depart(ports[what.Plane], to, class, pi, &fabric.Packet{Opcode: opcode, TOS: tos, PSN: what.PSN,
		Size: uint16(service.Protocol.Wire(what))})
}

// broke records, once, that a connection gave up.
func (h *Hosts) broke(c int32, e *ends, why rc.Status) {
	if e.broken {
		return
	}
	e.broken = true
	h.Count.Failed++
	if h.OnFail != nil {
		h.OnFail(c, why)
	}
}

// tickAt schedules an event for the time at which an end requests a call. A later time needs nothing: the event
// looks again.
func (h *Hosts) tickAt(c int32, e *ends, end int32, at unit.Time) {
	if at >= e.ticks[end] {
		return
	}
	e.ticks[end] = max(at, h.Net.Q.Now())
	src, dst := h.Peers(c)
	h.Net.Q.Push(h.nics[[2]int32{src, dst}[end]].element, e.ticks[end], h.base+KindTick, c, end)
}

// refused schedules a call of a sender at the time when it may send. Only a refused request makes the sender wait.
func (h *Hosts) refused(now unit.Time, c int32, e *ends) {
	if at := e.send.At(); at > now {
		h.tickAt(c, e, 0, at)
	}
}

// tick calls an end at its requested time, unless that time has changed.
func (h *Hosts) tick(c, end int32) {
	e, now := &h.carried[c], h.Net.Q.Now()
	if e.ticks[end] != now {
		return // an earlier event has replaced it
	}
	e.ticks[end] = unit.Never
	switch {
	case end == 1 && e.recv.At() <= now:
		e.recv.Tick(now)
		h.received(now, c, e)
	case end == 1:
		h.tickAt(c, e, end, e.recv.At())
	case e.send.At() <= now:
		e.send.Tick(now)
		h.sent(now, c, e)
	default:
		h.tickAt(c, e, end, e.send.At())
	}
}

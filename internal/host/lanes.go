package host

import (
	"railyard/internal/fabric"
	"railyard/internal/route"
	"railyard/transport"
	"railyard/unit"
)

// Senders of protocols are queued in lanes: one per class and port as RC's rings. One sender may be queued in the
// lanes of all its planes at the same time. It is queued in a lane if it could send now, and leaves the lane after
// an attempt in vain.
//
// A sender with room for one more packet would wake all idle ports for it. Only one of the waiting connections is
// therefore woken at a time. When its packet has left, the next one is woken, while the sender is ready.

// lanes holds the lanes of all ports.
type lanes struct {
	all    []ring
	base   [classes]int32 // first index of a class's lanes by port; below zero: no service uses the class
	next   []int32        // by connection and plane: next in the queue
	planes int32          // most that a NIC has
	plane  []uint8        // by port: index of its plane in its NIC
	rcTurn []uint8        // by port: classes in which an RC queue pair is next
}

func newLanes(ports int) *lanes {
	l := &lanes{plane: make([]uint8, ports), rcTurn: make([]uint8, ports), planes: 1}
	for c := range l.base {
		l.base[c] = -1
	}
	return l
}

// use allocates the lanes of a class for its first service, and stores the planes of a NIC.
func (l *lanes) use(h *Hosts, class uint8, n *nic) {
	for k, p := range n.ports {
		l.plane[p] = uint8(k)
	}
	if more := int32(len(n.ports)); more > l.planes {
		next := make([]int32, len(h.carried)*int(more))
		for c := range h.carried { // a waiting sender stays in the lane
			copy(next[int32(c)*more:], l.next[int32(c)*l.planes:int32(c+1)*l.planes])
		}
		l.planes, l.next = more, next
	}
	if l.base[class] < 0 {
		l.base[class] = int32(len(l.all))
		for range l.plane {
			l.all = append(l.all, ring{-1, -1})
		}
	}
}

// join allocates room for a connection.
func (l *lanes) join(c int32) {
	for int32(len(l.next)) < (c+1)*l.planes {
		l.next = append(l.next, -1)
	}
}

// waits reports whether a sender is in a class's lane at a port.
func (l *lanes) waits(port int32, class int) bool {
	return l.base[class] >= 0 && l.all[l.base[class]+port].head >= 0
}

// firstOf returns the first sender in a class's lane at a port, below zero for none.
func (l *lanes) firstOf(port int32, class int) int32 {
	if l.base[class] < 0 {
		return -1
	}
	return l.all[l.base[class]+port].head
}

// line appends a sender to a port's lane.
func (h *Hosts) line(c int32, e *ends, class uint8, port int32, plane uint8) {
	l := h.lanes
	e.lined |= 1 << plane
	l.next[c*l.planes+int32(plane)] = -1
	r := &l.all[l.base[class]+port]
	if r.tail >= 0 {
		l.next[r.tail*l.planes+int32(plane)] = c
	} else {
		r.head = c
		h.rings.waiting[port] |= 1 << class
	}
	r.tail = c
}

// unline removes the head of a port's lane.
func (h *Hosts) unline(e *ends, class uint8, port int32, plane uint8) {
	l := h.lanes
	r := &l.all[l.base[class]+port]
	if r.head = l.next[r.head*l.planes+int32(plane)]; r.head < 0 {
		r.tail = -1
		if b := h.rings.base[class]; b < 0 || h.rings.all[b+port].head < 0 {
			h.rings.waiting[port] &^= 1 << class
		}
	}
	e.lined &^= 1 << plane
}

// wake puts a sender into the lanes of the planes by which it could send now, and wakes one idle port.
func (h *Hosts) wake(now unit.Time, c int32, e *ends) {
	s := &h.senders[c]
	ports := h.nics[s.nic].ports
	woken := false
	for i := range len(ports) {
		plane := int(e.turn) + i
		if plane >= len(ports) {
			plane -= len(ports)
		}
		if e.lined&(1<<plane) != 0 {
			continue
		}
		port := ports[plane]
		tx := &h.Net.Ports[port]
		idle := !tx.Armed && tx.Paused&(1<<s.class) == 0
		if idle && woken || !e.send.Ready(now, plane) {
			continue
		}
		h.line(c, e, s.class, port, uint8(plane))
		if idle {
			h.Net.Kick(port, tx)
			woken = true
		}
	}
}

// sendCarried puts the next packet of a lane on the wire. It returns now if it sent a packet, a later time for
// another try, or -1 if no sender there had data.
func (h *Hosts) sendCarried(now unit.Time, port int32, tx *route.Port, class int) unit.Time {
	l := h.lanes
	r := &l.all[l.base[class]+port]
	plane := l.plane[port]
	for r.head >= 0 {
		c := r.head
		e, s := &h.carried[c], &h.senders[c]
		n := &h.nics[s.nic]
		if n.slow {
			if at := h.fetchable(n); at > now {
				return at
			}
		}
		h.unline(e, s.class, port, plane)
		size := h.launchCarried(now, port, tx, c, e, s)
		if size == 0 {
			h.refused(now, c, e)
			continue
		}
		if h.cfg.Strict&(1<<class) == 0 && h.cfg.Weights[class] > 0 {
			h.rings.deficit[h.rings.base[class]+port] -= int32(size)
		}
		if e.turn = plane + 1; int(e.turn) >= len(n.ports) {
			e.turn = 0
		}
		if e.send.Ready(now, int(plane)) {
			h.line(c, e, s.class, port, plane)
		}
		h.tickAt(c, e, 0, e.send.At())
		h.wake(now, c, e)
		return now
	}
	return -1
}

// launchCarried sends a sender's next packet and returns the bytes of its frame; 0: it has none.
func (h *Hosts) launchCarried(now unit.Time, port int32, tx *route.Port, c int32, e *ends, s *sender) int {
	pi := h.Net.Alloc()
	out := h.Net.Blank(pi)
	plane := h.lanes.plane[port]
	if !e.send.Next(now, int(plane), out) {
		h.Net.Free(pi)
		return 0
	}
	out.Plane = plane
	size := h.cfg.Services[s.service].Protocol.Wire(out)
	p := &h.Net.Packets[pi]
	p.Dst, p.Loc, p.Size, p.Payload = s.dst, s.loc, uint16(size), uint16(out.Payload)
	p.Opcode, p.TOS, p.QP, p.PSN = toReceiver, s.tos, c, out.PSN
	p.Hash = s.hash ^ out.EV // the 5-tuple with the entropy value in it, which switches hash
	if out.Flags&transport.Again != 0 {
		p.Flags |= fabric.FlagAgain
		e.again++
	}
	h.Net.Injected++
	h.Count.DataPackets++
	h.Count.DataBytes += int64(out.Payload)
	if n := &h.nics[s.nic]; n.slow {
		h.fetch(now, n, unit.Bytes(out.Payload))
	}
	h.Net.Transmit(now, port, tx, pi, p)
	return size
}

// serves reports whether a port serves a lane next, and not an RC queue pair. If both wait they take turns.
func (l *lanes) serves(rings *rings, port int32, class int) bool {
	if !l.waits(port, class) {
		return false
	}
	if base := rings.base[class]; base < 0 || rings.all[base+rings.owner[port]].head < 0 {
		return true
	}
	l.rcTurn[port] ^= 1 << class
	return l.rcTurn[port]&(1<<class) == 0
}

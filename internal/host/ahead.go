package host

import (
	"math/bits"
	"unsafe"

	"railyard/internal/cache"
	"railyard/internal/engine"
	"railyard/internal/fabric"
)

// An event's memory is found step by step: a packet names its connection, the connection its ends, and an end its
// peer. Each step reads the memory that the previous one has prefetched. It therefore runs some events later, and
// the event itself runs after all steps.

// coming is a ring of a few items that will be needed soon, in order of discovery.
type coming struct {
	ring [16]int32
	at   uint8
}

// see adds an item.
func (k *coming) see(x int32) {
	k.at++
	k.ring[k.at%uint8(len(k.ring))] = x
}

// seen returns the item discovered a given number of steps before the last one.
func (k *coming) seen(before uint8) int32 { return k.ring[(k.at-before)%uint8(len(k.ring))] }

// Steps, in events of a kind since one was seen. It runs aheadBy events of package engine after that.
const (
	stepEnds = 3 // a connection's ends, and a packet's headers
	stepEnd  = 6 // step of one of the ends
	stepPeer = 8 // memory that an end points to
	stepLast = 10
)

// widePorts is the number of ports from which queues are prefetched. Ports, queues and their packets are then
// several times the size of a second-level cache. Below it, most of the data is cached, and prefetching costs more
// than it saves.
const widePorts = 2048

// endLines is the number of cache lines of an end that are prefetched, for any protocol (mrc.TestLines).
const endLines = 8

// Far reports whether prefetching pays for every event: in large fabrics, and if protocols have ends of many lines.
// Otherwise prefetching for arrivals is enough (TouchNear). More costs a tenth of the speed at 128 hosts: the data
// are in the caches already.
func (h *Hosts) Far() bool { return h.wide || h.lanes != nil }

// TouchNear prefetches a packet that will soon arrive at a NIC, and the receiver of one that arrives earlier.
func (h *Hosts) TouchNear(e *engine.Event) {
	if e.Kind() != KindRx {
		return
	}
	h.Net.Touch(e)
	h.touchReceiver(h.arriving.seen(stepPeer - 1))
	h.arriving.see(e.B)
}

// touchReceiver prefetches the receiver of a packet: two lines of it are read.
func (h *Hosts) touchReceiver(pi int32) {
	if c := h.Net.Packets[pi].QP; uint32(c) < uint32(len(h.receivers)) {
		cache.Apart(unsafe.Pointer(&h.receivers[c]))
	}
}

// Touch prefetches the memory of a future event: the fabric's, that of a packet arriving at a NIC, or that of a
// packet to send.
func (h *Hosts) Touch(e *engine.Event) {
	switch e.Kind() {
	case fabric.KindArrive:
		h.Net.TouchPacket(e.B)
	case fabric.KindService:
		if h.wide {
			h.Net.TouchQueue(e.A)
		}
	case KindRx:
		h.Net.TouchPacket(e.B)
		h.arriving.see(e.B)
		if h.lanes != nil {
			h.touchArriving()
		} else {
			h.touchReceiver(h.arriving.seen(stepPeer))
		}
	case KindTx:
		if h.lanes != nil {
			h.touchLeaving(e.A)
		}
	}
}

// touchArriving prefetches for packets that arrive at ends of protocols.
func (h *Hosts) touchArriving() {
	k := &h.arriving
	if pi := k.seen(stepEnds); uint32(h.Net.Packets[pi].QP) < uint32(len(h.carried)) {
		h.Net.TouchHeaders(pi)
		cache.Line(unsafe.Pointer(&h.carried[h.Net.Packets[pi].QP]))
	}
	h.touchEnd(k.seen(stepEnd))
	h.touchBeyond(k.seen(stepPeer), false)
	h.touchBeyond(k.seen(stepLast), true)
}

// touchEnd prefetches the end of a packet.
func (h *Hosts) touchEnd(pi int32) {
	p := &h.Net.Packets[pi]
	if uint32(p.QP) >= uint32(len(h.carried)) {
		return
	}
	switch e := &h.carried[p.QP]; p.Opcode {
	case toReceiver:
		cache.Lines(dataOf(&e.recv), endLines)
	case toSender:
		cache.Lines(dataOf(&e.send), endLines)
	}
}

// touchBeyond prefetches the memory that the end of a packet points to.
func (h *Hosts) touchBeyond(pi int32, soon bool) {
	p := &h.Net.Packets[pi]
	if uint32(p.QP) >= uint32(len(h.carried)) {
		return
	}
	switch e := &h.carried[p.QP]; {
	case e.send == nil:
	case p.Opcode == toReceiver:
		e.recv.Touch(h.Net.Headers(pi), soon)
	case p.Opcode == toSender:
		e.send.Touch(h.Net.Headers(pi), soon)
	}
}

// touchLeaving is for the port that sends next.
func (h *Hosts) touchLeaving(port int32) {
	h.Net.TouchQueue(port)
	k, c := &h.leaving, int32(-1)
	if some := h.rings.waiting[port]; some != 0 {
		c = h.lanes.firstOf(port, bits.TrailingZeros8(some))
	}
	if k.see(c); c >= 0 {
		cache.Line(unsafe.Pointer(&h.carried[c]))
		cache.Line(unsafe.Pointer(&h.senders[c]))
	}
	if e := h.endsOf(k.seen(stepEnds)); e != nil {
		cache.Lines(dataOf(&e.send), endLines)
	}
	if e := h.endsOf(k.seen(stepEnd)); e != nil {
		e.send.Touch(nil, false)
	}
	if e := h.endsOf(k.seen(stepPeer)); e != nil {
		e.send.Touch(nil, true)
	}
}

// dataOf returns the address of the value in an interface.
func dataOf[T any](x *T) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(x))[1] }

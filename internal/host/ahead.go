package host

import (
	"math/bits"
	"unsafe"

	"railyard/internal/cache"
	"railyard/internal/engine"
	"railyard/internal/fabric"
)

// What an event needs is found step by step: a packet names its connection, that its ends, an end its peer.
// Each step reads what the one before has asked the caches for, so it comes some events later, and the event
// itself after all of them.

// coming is a few things that soon will be needed, by when they were seen: a ring.
type coming struct {
	ring [16]int32
	at   uint8
}

// see adds one.
func (k *coming) see(x int32) {
	k.at++
	k.ring[k.at%uint8(len(k.ring))] = x
}

// seen is the one that was seen so many before the last.
func (k *coming) seen(before uint8) int32 { return k.ring[(k.at-before)%uint8(len(k.ring))] }

// Steps, in events of a kind since one was seen. It comes aheadBy events of package engine after that.
const (
	stepEnds = 3 // a connection's ends, and a packet's headers
	stepEnd  = 6 // one of them itself
	stepPeer = 8 // what it knows that is not in it
	stepLast = 10
)

// widePorts is from how many ports on queues are asked for: with so many, ports, queues and the packets in
// them are several times what a second-level cache holds. Of fewer most is there, and asking costs more than
// it saves.
const widePorts = 2048

// endLines is the number of cache lines of an end that are prefetched, whatever the protocol (mrc.TestLines).
const endLines = 8

// Far reports whether every event is worth looking ahead: in large fabrics, and where protocols have ends of
// many lines. Else looking ahead at arrivals is enough (TouchNear), and more than that costs a tenth of the
// speed at 128 hosts: what is asked for is in the caches already.
func (h *Hosts) Far() bool { return h.wide || h.lanes != nil }

// TouchNear asks the caches for a packet that comes to a NIC soon, and for the receiver of one that comes
// sooner.
func (h *Hosts) TouchNear(e *engine.Event) {
	if e.Kind() != KindRx {
		return
	}
	h.Net.Touch(e)
	h.touchReceiver(h.arriving.seen(stepPeer - 1))
	h.arriving.see(e.B)
}

// touchReceiver asks for the receiver that a packet is for: two lines of it are read.
func (h *Hosts) touchReceiver(pi int32) {
	if c := h.Net.Packets[pi].QP; uint32(c) < uint32(len(h.receivers)) {
		cache.Apart(unsafe.Pointer(&h.receivers[c]))
	}
}

// Touch asks the caches for what a coming event is going to need: of the fabric's, of a packet that comes to
// a NIC, and of one that a NIC sends.
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

// touchArriving is for packets that come to ends of protocols.
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

// touchEnd asks for the end that a packet is for.
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

// touchBeyond asks for what the end that a packet is for will read beyond itself.
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

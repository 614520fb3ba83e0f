package mrc

import (
	"unsafe"

	"railyard/internal/cache"
	"railyard/transport"
)

// Touch prefetches the slots of the packet's PSN, or of the next packet to send, and the peer. soon prefetches the
// memory to which these refer.
func (s *Sender) Touch(p *transport.Packet, soon bool) {
	if soon {
		s.peer.touch(p)
		return
	}
	cache.Lines(unsafe.Pointer(s.peer), peerLines)
	if len(s.slots.ring) == 0 {
		return // no packet was sent, or the queue pair has failed
	}
	cache.Line(unsafe.Pointer(s.slots.at(s.slots.list[0].head))) // the first that may time out
	if p == nil {
		cache.Line(unsafe.Pointer(s.slots.at(s.next)))
	} else {
		psn := psn24(s.una, p.PSN)
		cache.Line(unsafe.Pointer(s.slots.at(psn - 3)))
		cache.Line(unsafe.Pointer(s.slots.at(psn - 1)))
		cache.Line(unsafe.Pointer(s.slots.at(psn + 1)))
	}
}

// peerLines is the number of lines that a peer has.
const peerLines = int(unsafe.Sizeof(Peer{})+63) / 64

// touch prefetches the entropy value of the next packet, or the state that processes an answer's signals.
func (p *Peer) touch(in *transport.Packet) {
	if in != nil {
		cache.Lines((*[2]unsafe.Pointer)(unsafe.Pointer(&p.pace.Ctl))[1], controllerLines)
		return
	}
	if of := &p.evs.planes[0]; int(of.turn) < len(of.active) {
		cache.Line(unsafe.Pointer(&of.active[of.turn]))
	}
}

// controllerLines is the number of cache lines of a congestion control that are prefetched: those of NSCC.
const controllerLines = 5

// Touch prefetches the bits of a packet.
func (r *Receiver) Touch(p *transport.Packet, soon bool) {
	if !soon {
		word, _ := r.at(psn24(r.expect, p.PSN))
		cache.Line(unsafe.Pointer(&r.came[word]))
		cache.Line(unsafe.Pointer(&r.reverse.evs[0]))
	}
}

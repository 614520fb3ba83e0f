package host

import "railyard/internal/engine"

// coming are the packets that are to arrive at NICs soon: each was asked for when it entered, and is in the
// caches when it leaves, so that the receiver that it names can be asked for.
type coming struct {
	packets [8]int32
	at      uint8
}

// Touch asks the caches for what a packet that will come to a NIC soon is going to need, and for the
// receiver of one that comes sooner.
func (h *Hosts) Touch(e *engine.Event) {
	if e.Kind() != KindRx {
		return
	}
	h.Net.Touch(e)
	k := &h.coming
	next := &k.packets[k.at%uint8(len(k.packets))]
	if h.lanes != nil {
		h.touchEnds(k.packets[(k.at+uint8(len(k.packets)/2))%uint8(len(k.packets))], *next)
	} else if c := h.Net.Packets[*next].QP; uint32(c) < uint32(len(h.receivers)) {
		prefetch(&h.receivers[c])
	}
	k.at++
	*next = e.B
}

// touchEnds asks for a packet's headers and the ends that it names, and for the end itself of one that comes
// sooner.
func (h *Hosts) touchEnds(later, sooner int32) {
	if c := h.Net.Packets[later].QP; uint32(c) < uint32(len(h.carried)) {
		h.Net.TouchHeaders(later)
		prefetchEnds(&h.carried[c])
	}
	p := &h.Net.Packets[sooner]
	if uint32(p.QP) >= uint32(len(h.carried)) {
		return
	}
	switch e := &h.carried[p.QP]; p.Opcode {
	case toReceiver:
		prefetchReceiver(e.recv)
	case toSender:
		prefetchSender(e.send)
	}
}

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
	next := &h.coming.packets[h.coming.at%uint8(len(h.coming.packets))]
	h.coming.at++
	if c := h.Net.Packets[*next].QP; uint32(c) < uint32(len(h.receivers)) {
		prefetch(&h.receivers[c])
	}
	*next = e.B
}

package host

import (
	"math/bits"
)

// Senders with packets wait in rings, one per class and port, and take turns packet by packet. A bundle that sprays
// has the rings of its first port for all of its ports.

// classes is the number of classes of a port: PFC priorities, and queues of a switch's port.
const classes = 8

type ring struct{ head, tail int32 }

// rings holds the rings of all ports.
type rings struct {
	all     []ring
	base    [classes]int32 // first index of a class's rings by port; below zero: no service uses the class
	waiting []uint8        // by port: classes whose ring is not empty
	owner   []int32        // by port: port whose rings it serves
	deficit []int32        // by (port, class): bytes that the class may still send in this turn
}

func newRings(ports int) (r rings) {
	r.waiting, r.owner = make([]uint8, ports), make([]int32, ports)
	for p := range r.owner {
		r.owner[p] = int32(p)
	}
	for c := range r.base {
		r.base[c] = -1
	}
	return r
}

// use allocates the rings of a class for its first service.
func (r *rings) use(class uint8) {
	if r.base[class] >= 0 {
		return
	}
	r.base[class] = int32(len(r.all))
	for range r.owner {
		r.all = append(r.all, ring{-1, -1})
	}
	r.deficit = append(r.deficit, make([]int32, len(r.owner))...)
}

// enring appends a sender to its ring.
func (h *Hosts) enring(c int32, s *sender) {
	s.inRing = true
	s.next = -1
	r := &h.rings.all[h.rings.base[s.class]+s.port]
	if r.tail >= 0 {
		h.senders[r.tail].next = c
	} else {
		r.head = c
		h.rings.waiting[s.port] |= 1 << s.class
	}
	r.tail = c
}

// first removes the head of a ring.
func (h *Hosts) first(port int32, r *ring, s *sender) {
	r.head = s.next
	if r.head < 0 {
		if r.tail = -1; h.lanes != nil && h.lanes.waits(port, int(s.class)) {
			s.inRing = false
			return
		}
		h.rings.waiting[port] &^= 1 << s.class
	}
	s.inRing = false
}

// turn moves the sender at the head of a ring to its end.
func (h *Hosts) turn(r *ring, c int32, s *sender) {
	if r.tail == c {
		return
	}
	r.head = s.next
	h.senders[r.tail].next = c
	s.next, r.tail = -1, c
}

// unring removes a sender from its ring, at any position.
func (h *Hosts) unring(c int32, s *sender) {
	r := &h.rings.all[h.rings.base[s.class]+s.port]
	if r.head == c {
		h.first(s.port, r, s)
		return
	}
	prev := r.head
	for h.senders[prev].next != c {
		prev = h.senders[prev].next
	}
	h.senders[prev].next = s.next
	if r.tail == c {
		r.tail = prev
	}
	s.inRing = false
}

// pick chooses among the waiting, unpaused classes of a port as a switch's port does: strict priority first, the
// highest number first, then by weight. A class of weight 0 is chosen only if no other can be. The size of a
// sender's packet is known only when it is built, so a class pays afterwards. It may send while it has no debt
// (surplus round robin; Adiseshu, Parulkar and Varghese 1996). If none may send, each earns its weight in shares of
// 256 bytes.
func (h *Hosts) pick(port int32, ready uint8) int {
	if s := ready & h.cfg.Strict; s != 0 {
		return classes - 1 - bits.LeadingZeros8(s)
	}
	weighted := uint8(0)
	for m := ready; m != 0; m &= m - 1 {
		if c := bits.TrailingZeros8(m); h.cfg.Weights[c] > 0 {
			weighted |= 1 << c
			if h.rings.deficit[h.rings.base[c]+port] > 0 {
				return c
			}
		}
	}
	if weighted == 0 {
		return classes - 1 - bits.LeadingZeros8(ready)
	}
	for m := weighted; m != 0; m &= m - 1 {
		c := bits.TrailingZeros8(m)
		h.rings.deficit[h.rings.base[c]+port] += int32(h.cfg.Weights[c]) * 256
	}
	return h.pick(port, weighted)
}

// pay charges the packet in scratch to a class that pick chose by its weight.
func (h *Hosts) pay(port int32, class int) {
	if h.cfg.Strict&(1<<class) == 0 && h.cfg.Weights[class] > 0 {
		size := h.frame(h.scratch.Opcode, int(h.scratch.Payload))
		h.rings.deficit[h.rings.base[class]+port] -= int32(size)
	}
}

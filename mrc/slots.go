package mrc

import "railyard/unit"

// slot is the state of a packet from its first transmission until it and all earlier packets are acknowledged.
type slot struct {
	sent       unit.Time
	prev, next uint32 // PSNs in the list that it is in
	message    uint32
	payload    uint32
	ev         uint16 // number in the profile
	plane      uint8
	in         uint8 // number of that list; noList: it has arrived
	tries      uint8 // number of its losses
	refused    bool  // the receiver had no room: its path is not to blame
}

// Lists of packets. Packets in flight wait for an answer in one list per number of tries, in the order of their
// transmission. The head of a list is the first that may time out.
const (
	waits  = 8 // lists of waiting packets
	lost   = waits
	lists  = waits + 1
	noList = lists
)

// list is one of these lists, linked by PSN.
type list struct{ head, tail uint32 }

// slots is a ring of packets by PSN that grows with the packets in flight.
type slots struct {
	ring     []slot
	open     []uint64 // a bit for each packet of the ring that is in a list: not known to have arrived
	nonEmpty uint16   // a bit for each list
	list     [lists]list
}

func (s *slots) at(psn uint32) *slot { return &s.ring[psn&uint32(len(s.ring)-1)] }

// opens returns the bits of 64 packets from a PSN on; the ring wraps.
func (s *slots) opens(psn uint32) uint64 {
	i, shift := psn/64, psn%64
	mask := uint32(len(s.open) - 1)
	return s.open[i&mask]>>shift | s.open[(i+1)&mask]<<(64-shift)
}

// hold allocates slots for n packets from una on.
func (s *slots) hold(una uint32, n int) {
	if n <= len(s.ring) {
		return
	}
	old := *s
	s.ring = make([]slot, max(64, 2*len(old.ring)))
	if words := len(s.ring) / 64; words <= cap(s.open) {
		s.open = s.open[:words]
		clear(s.open)
	} else {
		s.open = make([]uint64, words)
	}
	for i := range uint32(len(old.ring)) {
		if *s.at(una + i) = *old.at(una + i); s.at(una+i).in != noList {
			s.flip(una + i)
		}
	}
}

// flip notes that a packet has got into a list, or out.
func (s *slots) flip(psn uint32) { s.open[psn/64&uint32(len(s.open)-1)] ^= 1 << (psn % 64) }

// push appends a packet to a list.
func (s *slots) push(to uint8, psn uint32) {
	l, x := &s.list[to], s.at(psn)
	if x.in = to; s.nonEmpty>>to&1 == 0 {
		s.nonEmpty |= 1 << to
		l.head = psn
	} else {
		s.at(l.tail).next = psn
		x.prev = l.tail
	}
	l.tail = psn
	s.flip(psn)
}

// take removes a packet from its list.
func (s *slots) take(psn uint32) {
	x := s.at(psn)
	l := &s.list[x.in]
	switch {
	case l.head == l.tail:
		s.nonEmpty &^= 1 << x.in
	case psn == l.head:
		l.head = x.next
	case psn == l.tail:
		l.tail = x.prev
	default:
		s.at(x.prev).next, s.at(x.next).prev = x.next, x.prev
	}
	x.in = noList
	s.flip(psn)
}

// anyLost reports whether a packet waits for retransmission.
func (s *slots) anyLost() bool { return s.nonEmpty&(1<<lost) != 0 }

// waiting returns a bit for each list with waiting packets, by its number.
func (s *slots) waiting() uint16 { return s.nonEmpty &^ (1 << lost) }

// underWay reports whether a packet waits for its answer.
func (x *slot) underWay() bool { return x.in < waits }

// Close gives back the room for packets.
func (s *Sender) Close() { s.slots.ring, s.slots.open = nil, nil }

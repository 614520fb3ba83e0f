package mrc

import "railyard/unit"

// slot is what a sender remembers of a packet from when it first goes until all before it are acknowledged.
type slot struct {
	sent       unit.Time
	prev, next uint32 // PSNs in the list that it is in
	message    uint32
	ev         uint16 // number in the profile
	plane      uint8
	in         uint8 // number of that list; noList: it has come
	tries      uint8 // how often it was lost
	refused    bool  // the receiver had no room: its path is not to blame
}

// Lists of packets. Those that are under way wait for an answer in one list per number of tries, each in the
// order in which they went: the head of a list is the first that may time out.
const (
	waits  = 8 // lists of those that wait
	lost   = waits
	lists  = waits + 1
	noList = lists
)

// list is one of them, linked by PSN.
type list struct {
	head, tail uint32
	n          int
}

// slots is a ring of packets by PSN that grows to what is under way.
type slots struct {
	ring    []slot
	list    [lists]list
	waiting uint8 // a bit for each list that somebody waits in
}

func (s *slots) at(psn uint32) *slot { return &s.ring[psn&uint32(len(s.ring)-1)] }

// hold makes room for n packets from una on.
func (s *slots) hold(una uint32, n int) {
	if n <= len(s.ring) {
		return
	}
	old := *s
	s.ring = make([]slot, max(64, 2*len(old.ring)))
	for i := range uint32(len(old.ring)) {
		*s.at(una + i) = *old.at(una + i)
	}
}

// push puts a packet at the end of a list.
func (s *slots) push(to uint8, psn uint32) {
	l, x := &s.list[to], s.at(psn)
	if x.in = to; l.n == 0 {
		l.head = psn
	} else {
		s.at(l.tail).next = psn
		x.prev = l.tail
	}
	l.tail = psn
	if l.n++; to < waits {
		s.waiting |= 1 << to
	}
}

// take takes a packet out of its list.
func (s *slots) take(psn uint32) {
	x := s.at(psn)
	l := &s.list[x.in]
	switch {
	case l.n == 1:
	case psn == l.head:
		l.head = x.next
	case psn == l.tail:
		l.tail = x.prev
	default:
		s.at(x.prev).next, s.at(x.next).prev = x.next, x.prev
	}
	if l.n--; l.n == 0 && x.in < waits {
		s.waiting &^= 1 << x.in
	}
	x.in = noList
}

// underWay reports that a packet waits for its answer.
func (x *slot) underWay() bool { return x.in < waits }

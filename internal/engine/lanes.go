package engine

import (
	"math"
	"math/bits"

	"railyard/unit"
)

// A lane is a FIFO of events that were all pushed with the same delay. The clock only moves forward, so a lane is
// sorted by time by construction. It is sorted by element with few exceptions (slip). Pushing appends, popping
// takes the head, and memory is read in order. Frames of one size on links of one kind have one delay, so a few
// lanes hold almost all events of a fabric.
type lane struct {
	delay      unit.Time // noDelay until a delay is assigned
	ring       []Event   // power of two
	head, tail uint32
	lastAt     unit.Time // time of the last event
	lastKey    uint64
	slot       int32 // index of this lane
}

const (
	laneBits = 8 // slots; few are used, and only lanes with events are merged
	maxLanes = 1 << laneBits
	noDelay  = -unit.Never
)

// head orders the lanes by their first events.
type head struct {
	at   unit.Time
	key  uint64
	lane int32
}

func (a *head) before(b *head) bool { return a.at < b.at || a.at == b.at && a.key < b.key }

// sooner returns 1 if a fires before b, else 0, without a branch.
func (a *head) sooner(b *head) int {
	_, borrow := bits.Sub64(a.key, b.key, 0)
	_, borrow = bits.Sub64(uint64(a.at), uint64(b.at), borrow)
	return int(borrow)
}

// PushAfter schedules an event delay from now. It is the fast path for recurring delays; use Push for others.
func (q *Queue) PushAfter(from Element, delay unit.Time, kind Kind, a, b int32) {
	l := &q.lanes[slotOf(delay)]
	// the lane belongs to another delay, or is empty or full
	if l.delay != delay || l.tail-l.head-1 >= uint32(len(l.ring)-1) {
		q.pushLane(Event{At: q.now + delay, key: q.next(from, kind), A: a, B: b}, delay)
		return
	}
	at, key := q.now+delay, q.next(from, kind)
	l.ring[l.tail&uint32(len(l.ring)-1)] = Event{At: at, key: key, A: a, B: b}
	l.tail++
	if at == l.lastAt && key < l.lastKey {
		q.slip(l)
		return
	}
	l.lastAt, l.lastKey = at, key
}

// slotOf returns the primary slot of a delay. The lane is there or in slot^1.
func slotOf(delay unit.Time) uint64 { return uint64(delay) * 0x9e3779b97f4a7c15 >> (64 - laneBits) }

// pushLane is the slow path of PushAfter: it finds, creates or grows the lane and restores the order.
func (q *Queue) pushLane(e Event, delay unit.Time) {
	i := slotOf(delay)
	l := &q.lanes[i]
	if l.delay != delay {
		if i ^= 1; q.lanes[i].delay == delay {
			l = &q.lanes[i]
		} else if l = q.claim(i, delay); l == nil {
			e.At = max(e.At, q.now)
			q.wait(e)
			return
		} else if l == &q.lanes[i^1] {
			i ^= 1
		}
	}
	n := l.tail - l.head
	if n == uint32(len(l.ring)) {
		l.grow()
	}
	l.ring[l.tail&uint32(len(l.ring)-1)] = e
	l.tail++
	if n == 0 {
		q.enter(head{e.At, e.key, int32(i)})
	} else if e.At == l.lastAt && e.key < l.lastKey {
		q.slip(l)
		return
	}
	l.lastAt, l.lastKey = e.At, e.key
}

// maxSlip is the number of events of a lane that one event may pass.
const maxSlip = 64

// slip moves a lane's last event, which precedes the one before it, past all events that higher elements have
// pushed for that time. If nodes are in step these can be many. An event that would have to pass maxSlip or more
// goes into the wheel instead.
func (q *Queue) slip(l *lane) {
	ring, i := l.ring, l.tail-1
	mask := uint32(len(ring) - 1)
	to := &ring[i&mask]
	e := *to
	if i-l.head > maxSlip && e.before(&ring[(i-maxSlip)&mask]) {
		l.tail--
		q.wait(e)
		return
	}
	for ; i != l.head; i-- {
		p := &ring[(i-1)&mask]
		if p.At != e.At || p.key < e.key {
			*to = e
			return
		}
		*to = *p
		to = p
	}
	*to = e
	q.reenter(head{e.At, e.key, l.slot})
}

// claim returns slot i^1, or else i, for a delay; nil if both are used by other delays.
func (q *Queue) claim(i uint64, delay unit.Time) *lane {
	if delay < 0 {
		return nil
	}
	for _, j := range [2]uint64{i ^ 1, i} {
		if l := &q.lanes[j]; l.head == l.tail {
			l.delay = delay
			if l.ring == nil {
				l.ring = make([]Event, 256)
			}
			return l
		}
	}
	return nil
}

func (l *lane) grow() {
	ring := make([]Event, 2*len(l.ring))
	n := copy(ring, l.ring[l.head&uint32(len(l.ring)-1):])
	copy(ring[n:], l.ring[:l.head&uint32(len(l.ring)-1)])
	l.tail -= l.head
	l.head = 0
	l.ring = ring
}

// The heads of the lanes are merged: the first one is Queue.first, the rest form a binary heap. Frames of one time
// are consecutive in one lane, which stays first after one comparison.

// noLane is the lane of Queue.first when no lane has events: all events precede it.
const noLane = -1

// nobody is a head that sorts after every event. Queue.first holds it when all lanes are empty.
var nobody = head{unit.Never, math.MaxUint64, noLane}

// enter adds the head of a lane that was empty.
func (q *Queue) enter(k head) {
	if q.first.lane == noLane {
		q.first = k
		return
	}
	q.heap = append(q.heap, k)
	q.rise(k, len(q.heap)-1)
}

// reenter updates the position of a lane whose head now fires earlier.
func (q *Queue) reenter(k head) {
	if q.first.lane == k.lane {
		q.first = k
		return
	}
	i := 0
	for q.heap[i].lane != k.lane {
		i++
	}
	q.rise(k, i)
}

// rise moves k from slot i of the heap towards the root until its parent is not later.
func (q *Queue) rise(k head, i int) {
	if k.before(&q.first) {
		q.first, k = k, q.first
	}
	for i > 0 && k.before(&q.heap[(i-1)/2]) {
		q.heap[i] = q.heap[(i-1)/2]
		i = (i - 1) / 2
	}
	q.heap[i] = k
}

// replace puts k in place of the first element.
func (q *Queue) replace(k head) {
	if len(q.heap) == 0 || !q.heap[0].before(&k) {
		q.first = k
		return
	}
	q.sink(k)
}

// sink makes the heap's root the first element and inserts k below it. The earlier of two children is unpredictable
// if lanes are not in step, so it is computed without a branch.
func (q *Queue) sink(k head) {
	h := q.heap
	q.first = h[0]
	i, c := 0, 1
	for ; c+1 < len(h); c = 2*i + 1 {
		c += h[c+1].sooner(&h[c])
		if !h[c].before(&k) {
			h[i] = k
			return
		}
		h[i] = h[c]
		i = c
	}
	if c < len(h) && h[c].before(&k) {
		h[i] = h[c]
		i = c
	}
	h[i] = k
}

// leave removes the first element, whose lane is empty.
func (q *Queue) leave() {
	last := len(q.heap) - 1
	if last < 0 {
		q.first = nobody
		return
	}
	k := q.heap[last]
	q.heap = q.heap[:last]
	q.replace(k)
}

// popLane removes the earliest head of all lanes and advances the clock to it.
func (q *Queue) popLane() *Event {
	at := uint32(q.first.lane)
	if at >= maxLanes {
		return q.popOther()
	}
	q.popped++
	q.lane = uint8(at)
	l := &q.lanes[at]
	ring, i := l.ring, l.head
	mask := uint32(len(ring) - 1)
	l.head = i + 1
	e := &ring[i&mask]
	q.now = e.At
	if i+1 == l.tail {
		q.leave()
		return e
	}
	next := &ring[(i+1)&mask]
	k := head{next.At, next.key, int32(at)}
	if h := q.heap; len(h) > 0 && h[0].before(&k) {
		q.sink(k)
		return e
	}
	q.first = k // replace, without a call
	return e
}

// popOther is popLane for the case that the earliest lane is not of the ring's kind.
func (q *Queue) popOther() *Event {
	if q.first.lane == noLane {
		return nil
	}
	q.popped++
	return q.popLate()
}

// aheadBy is the number of events by which Ahead precedes Pop.
const aheadBy = 12

// Ahead returns an event that will fire soon in the lane of the last popped event. It returns an event that has
// fired, or none, if the lane is short. The run loop prefetches the event's memory.
func (q *Queue) Ahead() *Event {
	l := &q.lanes[q.lane]
	return &l.ring[(l.head+aheadBy)&uint32(len(l.ring)-1)]
}

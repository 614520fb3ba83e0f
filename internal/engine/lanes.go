package engine

import "railyard/unit"

// A lane is a FIFO of events that were all pushed with the same delay. The
// clock only moves forward, so a lane is sorted by time by construction, and by
// element with few exceptions (slip): pushing appends, popping takes the head,
// and memory is read in order. Frames of one size on links of one kind have one
// delay, so almost every event of a fabric runs in one of a few lanes.
type lane struct {
	delay      unit.Time // noDelay before there is one
	ring       []Event   // power of two
	head, tail uint32
	lastAt     unit.Time // of the last event
	lastKey    uint64
	slot       int32 // its own number
}

const (
	laneBits = 8 // slots; few are ever used, and only those with events are merged
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

// PushAfter schedules an event delay from now. It is the fast way for delays
// that come again and again; others go to Push.
func (q *Queue) PushAfter(from Element, delay unit.Time, kind Kind, a, b int32) {
	l := &q.lanes[slotOf(delay)]
	n := l.tail - l.head
	at, key := q.now+delay, q.next(from, kind)
	if l.delay != delay || n == 0 || n == uint32(len(l.ring)) {
		q.pushLane(Event{At: at, key: key, A: a, B: b}, delay)
		return
	}
	l.ring[l.tail&uint32(len(l.ring)-1)] = Event{At: at, key: key, A: a, B: b}
	l.tail++
	if at == l.lastAt && key < l.lastKey {
		q.slip(l)
		return
	}
	l.lastAt, l.lastKey = at, key
}

// slotOf is where the lane of a delay is, unless it is in the slot beside.
func slotOf(delay unit.Time) uint64 { return uint64(delay) * 0x9e3779b97f4a7c15 >> (64 - laneBits) }

// pushLane does what PushAfter leaves: lanes that are to be found, or made, entered in the heap,
// enlarged, or not in order by appending.
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

// maxSlip is how many events of a lane one may pass.
const maxSlip = 64

// slip lets a lane's last event, which comes before the one ahead of it, pass all those that higher
// elements have pushed for the same instant. Where nodes are in step those can be many; one that
// would have to pass maxSlip or more waits in the wheel instead.
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

// claim takes slot i^1, or else i, for a delay; nil when both serve others.
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

// The heap of the lanes' heads has a root with one child: the children of i are 2i and 2i+1, and 0's is
// 1 alone. Frames of one instant come one after another from one lane, which stays the root after one
// comparison.

// enter adds the head of a lane that was empty to the heap.
func (q *Queue) enter(k head) {
	q.heap = append(q.heap, k)
	q.rise(k, len(q.heap)-1)
}

// reenter tells the heap that a lane's head comes sooner.
func (q *Queue) reenter(k head) {
	i := 0
	for q.heap[i].lane != k.lane {
		i++
	}
	q.rise(k, i)
}

// rise puts k at i or above.
func (q *Queue) rise(k head, i int) {
	for i > 0 && k.before(&q.heap[i/2]) {
		q.heap[i] = q.heap[i/2]
		i /= 2
	}
	q.heap[i] = k
}

// replace puts k in place of the heap's root.
func (q *Queue) replace(k head) {
	h := q.heap
	if len(h) < 2 || !h[1].before(&k) {
		h[0] = k
		return
	}
	q.sink(k)
}

// sink makes its child the root and puts k below.
func (q *Queue) sink(k head) {
	h := q.heap
	h[0] = h[1]
	i := 1
	for {
		c := 2 * i
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1].before(&h[c]) {
			c++
		}
		if !h[c].before(&k) {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = k
}

// aheadBy is how many events in advance of its turn Ahead shows one.
const aheadBy = 12

// popLane takes the head of the lane at the heap's root and moves the clock to it.
func (q *Queue) popLane() *Event {
	q.popped++
	h := q.heap
	at := h[0].lane
	if at == lateLane {
		return q.popLate()
	}
	l := &q.lanes[at]
	ring, i, left := l.ring, l.head, l.tail-l.head
	mask := uint32(len(ring) - 1)
	l.head = i + 1
	e := &ring[i&mask]
	q.now = e.At
	if left == 1 {
		q.leave()
		return e
	}
	if left > aheadBy+1 {
		q.Ahead = &ring[(i+1+aheadBy)&mask]
	}
	next := &ring[(i+1)&mask]
	k := head{next.At, next.key, at}
	if len(h) < 2 || !h[1].before(&k) { // replace, without a call
		h[0] = k
		return e
	}
	q.sink(k)
	return e
}

// leave takes the heap's top away, whose lane is empty.
func (q *Queue) leave() {
	last := len(q.heap) - 1
	k := q.heap[last]
	q.heap = q.heap[:last]
	if last > 0 {
		q.replace(k)
	}
}

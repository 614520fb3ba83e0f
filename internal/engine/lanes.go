package engine

import "railyard/unit"

// A lane is a FIFO of events that were all pushed with the same delay. The
// clock only moves forward, so a lane is sorted by construction: pushing
// appends, popping takes the head, and memory is read in order. Frames of one
// size on links of one kind have one delay, so almost every event of a fabric
// runs in one of a few lanes.
type lane struct {
	delay      unit.Time
	ring       []Event // power of two
	head, tail uint32
}

const (
	laneBits = 8 // slots; few are ever used, and only those with events are merged
	maxLanes = 1 << laneBits
)

// key orders the heads of lanes.
type key struct {
	at   unit.Time
	seq  uint64
	lane int32
}

func (a *key) before(b *key) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// PushAfter schedules an event delay from now. It is the fast way for delays
// that come again and again; others go to Push.
func (q *Queue) PushAfter(delay unit.Time, kind Kind, a, b int32) {
	i := uint64(delay) * 0x9e3779b97f4a7c15 >> (64 - laneBits)
	l := &q.lanes[i]
	if l.delay != delay || l.ring == nil {
		if i ^= 1; q.lanes[i].delay == delay && q.lanes[i].ring != nil {
			l = &q.lanes[i]
		} else if l = q.claim(i, delay); l == nil {
			q.Push(q.now+delay, kind, a, b)
			return
		} else if l == &q.lanes[i^1] {
			i ^= 1
		}
	}
	q.seq++
	q.pending++
	if l.tail-l.head == uint32(len(l.ring)) {
		l.grow()
	}
	at := q.now + delay
	l.ring[l.tail&uint32(len(l.ring)-1)] = Event{At: at, seq: q.seq<<8 | uint64(kind), A: a, B: b}
	if l.head == l.tail {
		q.enter(key{at, q.seq<<8 | uint64(kind), int32(i)})
	}
	l.tail++
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

// enter adds the head of a lane that was empty to the heap.
func (q *Queue) enter(k key) {
	q.heap = append(q.heap, k)
	i := len(q.heap) - 1
	for i > 0 {
		p := (i - 1) / 2
		if !k.before(&q.heap[p]) {
			break
		}
		q.heap[i] = q.heap[p]
		i = p
	}
	q.heap[i] = k
}

// sink puts k in place of the heap's top.
func (q *Queue) sink(k key) {
	h := q.heap
	i := 0
	for {
		c := 2*i + 1
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

// popLane takes the head of the lane at the heap's top.
func (q *Queue) popLane() *Event {
	l := &q.lanes[q.heap[0].lane]
	mask := uint32(len(l.ring) - 1)
	e := &l.ring[l.head&mask]
	l.head++
	q.Ahead = nil
	if l.tail-l.head > aheadBy {
		q.Ahead = &l.ring[(l.head+aheadBy)&mask]
	}
	if l.head != l.tail {
		next := &l.ring[l.head&mask]
		q.sink(key{next.At, next.seq, q.heap[0].lane})
		return e
	}
	last := len(q.heap) - 1
	k := q.heap[last]
	q.heap = q.heap[:last]
	if last > 0 {
		q.sink(k)
	}
	return e
}

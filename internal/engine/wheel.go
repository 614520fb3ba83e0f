package engine

import (
	"math/bits"
	"slices"

	"railyard/unit"
)

// Kind is the kind of an event; the owner of the run loop dispatches on it.
type Kind uint8

// Event is a future event: a kind and two operands. The meaning of the operands depends on the kind (a port and a
// packet, a queue pair and a generation). It has 24 bytes, since a large fabric streams millions of them through
// the caches.
type Event struct {
	At   unit.Time
	key  uint64 // element << 46 | sequence << 8 | kind
	A, B int32
}

// The sequence belongs to the queue, not to the element. The order does not differ, because all events of an
// element are pushed on one queue. No counter per element is needed. It wraps after 2^38 events, nine hours at 8
// million a second. Two events of one time and one element across the wrap would be swapped.
const (
	kindBits     = 8
	sequenceBits = 38
	elementShift = kindBits + sequenceBits

	// MaxElements is the number of elements that a queue can address, the run included.
	MaxElements = 1 << (64 - elementShift)
)

// Element is the originator of an event: the run itself, or a node of the network.
type Element int32

// OfRun is the element of events without a node: the executor, the sampler, link failures. Its events precede all
// others of the same time.
const OfRun Element = 0

// Node is the element of a node.
func Node(n int32) Element { return Element(n + 1) }

// Kind is the kind of the event.
func (e *Event) Kind() Kind { return Kind(e.key) }

// before is the order of events.
func (e *Event) before(o *Event) bool { return e.At < o.At || e.At == o.At && e.key < o.key }

// next makes the key of the next event of an element.
func (q *Queue) next(from Element, kind Kind) uint64 {
	q.seq += 1 << kindBits
	return uint64(from)<<elementShift | q.seq&(1<<elementShift-1) | uint64(kind)
}

type node struct {
	Event
	next int32
}

const (
	level0Bits = 14 // buckets in the finest wheel
	upBits     = 8  // slots in each coarser one
	nUp        = 5
	nil32      = int32(-1)
)

type list struct{ head, tail int32 }

// Queue is the event queue. The zero value is not usable; call New.
type Queue struct {
	now    unit.Time
	shift  uint   // a finest bucket spans 1<<shift picoseconds
	bucket uint64 // number of the bucket being drained
	cur    []Event
	pos    int
	nodes  []node
	free   int32
	wheel  int       // number of events in the wheel
	nextAt unit.Time // no event in an unopened bucket is earlier
	l0     []list
	l0bits []uint64
	up     [nUp][1 << upBits]list
	upbits [nUp][(1 << upBits) / 64]uint64
	popped uint64
	left   int    // events made for other queues, minus the events that those made for this one
	seq    uint64 // events pushed, << kindBits
	lanes  [maxLanes]lane
	late   late
	first  head   // head of the lanes
	heap   []head // the others
	lane   uint8  // popped from last
	fired  uint64 // key of the last event returned by Before
}

// New returns an empty queue at time zero whose finest buckets span 1<<shift
// picoseconds. A handful of events per bucket is best: 8 (256 ps) suits about
// a thousand busy links, 6 ten times that. The choice changes speed, never order.
func New(shift uint) *Queue {
	q := &Queue{shift: shift, free: nil32,
		l0:     make([]list, 1<<level0Bits),
		l0bits: make([]uint64, (1<<level0Bits)/64)}
	for i := range q.l0 {
		q.l0[i] = list{nil32, nil32}
	}
	for l := range q.up {
		for i := range q.up[l] {
			q.up[l][i] = list{nil32, nil32}
		}
	}
	for i := range q.lanes {
		q.lanes[i].delay, q.lanes[i].slot = noDelay, int32(i)
	}
	q.lanes[0].ring = make([]Event, 256) // for Ahead while there are no lanes
	q.cur = make([]Event, 0, 64)
	q.first, q.heap = nobody, make([]head, 0, maxLanes)
	return q
}

// Reserve allocates memory for n waiting events, so that the slab is not copied while it grows.
func (q *Queue) Reserve(n int) {
	if n > cap(q.nodes) {
		q.nodes = append(make([]node, 0, n), q.nodes...)
	}
}

// Now returns the time of the event popped last.
func (q *Queue) Now() unit.Time { return q.now }

// Len returns how many events wait.
func (q *Queue) Len() int { return int(q.seq>>kindBits-q.popped) - q.left }

// Popped returns how many events have fired.
func (q *Queue) Popped() uint64 { return q.popped }

// Push schedules an event. A time in the past is a bug of the caller. The event fires immediately, so that the
// order stays intact.
func (q *Queue) Push(from Element, at unit.Time, kind Kind, a, b int32) {
	q.wait(Event{At: max(at, q.now), key: q.next(from, kind), A: a, B: b})
}

// wait puts an event into the wheel.
func (q *Queue) wait(e Event) {
	if q.wheel == 0 { // empty wheel: advance to the lanes
		q.bucket = max(q.bucket, uint64(q.now)>>q.shift)
		q.nextAt = unit.Never
	}
	q.wheel++
	d := uint64(e.At) >> q.shift
	if d <= q.bucket {
		q.pushCurrent(e)
		return
	}
	q.nextAt = min(q.nextAt, unit.Time(d<<q.shift))
	n := q.free
	if n == nil32 {
		q.nodes = append(q.nodes, node{})
		n = int32(len(q.nodes) - 1)
	} else {
		q.free = q.nodes[n].next
	}
	q.nodes[n] = node{e, nil32}
	q.link(n, d)
}

// link appends node n, due in bucket d, to a list relative to the current bucket. The list is in the finest wheel
// if both share an epoch, else in the coarser wheel of the highest digit in which they differ.
func (q *Queue) link(n int32, d uint64) {
	x := (d ^ q.bucket) >> level0Bits
	var l *list
	if x == 0 {
		i := d & (1<<level0Bits - 1)
		l = &q.l0[i]
		q.l0bits[i>>6] |= 1 << (i & 63)
	} else {
		lev := (63 - bits.LeadingZeros64(x)) / upBits
		i := (d >> (level0Bits + upBits*uint(lev))) & (1<<upBits - 1)
		l = &q.up[lev][i]
		q.upbits[lev][i>>6] |= 1 << (i & 63)
	}
	if l.tail == nil32 {
		l.head = n
	} else {
		q.nodes[l.tail].next = n
	}
	l.tail = n
}

// pushCurrent inserts into the bucket being drained.
func (q *Queue) pushCurrent(e Event) {
	i := len(q.cur)
	for least := max(q.pos, i-maxSlip); i > least && e.before(&q.cur[i-1]); {
		i--
	}
	if i > q.pos && i == len(q.cur)-maxSlip && e.before(&q.cur[i-1]) {
		q.wheel--
		q.pushLate(e)
		return
	}
	// a bucket ahead of the clock is never empty
	if fired := q.pos; len(q.cur) == cap(q.cur) && 2*fired > len(q.cur) {
		q.cur = q.cur[:copy(q.cur, q.cur[fired:])]
		q.pos, i = 0, i-fired
	}
	q.cur = append(q.cur, e)
	copy(q.cur[i+1:], q.cur[i:])
	q.cur[i] = e
}

// Elsewhere returns an event for another queue, with its position among the events of its element.
func (q *Queue) Elsewhere(from Element, at unit.Time, kind Kind, a, b int32) Event {
	q.left++
	return Event{At: at, key: q.next(from, kind), A: a, B: b}
}

// Insert adds an event that another queue's Elsewhere has returned. Its time must not be in the past.
func (q *Queue) Insert(e Event) {
	if e.At < q.now {
		panic("engine: an event of another queue comes too late")
	}
	q.left--
	q.wait(e)
}

// Next removes the next event and advances the clock to it; nil if none waits. The event is valid until the next
// push.
func (q *Queue) Next() *Event {
	top := q.first.at
	if q.nextAt <= top && q.pos == len(q.cur) && q.wheel > 0 {
		q.advance(uint64(top) >> q.shift)
	}
	if q.pos < len(q.cur) {
		e := &q.cur[q.pos]
		if e.At < top || e.At == top && e.key < q.first.key {
			q.pos++
			q.wheel--
			q.popped++
			q.now = e.At
			return e
		}
	}
	return q.popLane()
}

// Pop is Next by value.
func (q *Queue) Pop() (e Event, ok bool) {
	if n := q.Next(); n != nil {
		return *n, true
	}
	return Event{}, false
}

// advance loads the next non-empty bucket into cur unless it starts after limit.
func (q *Queue) advance(limit uint64) {
	q.cur = q.cur[:0]
	q.pos = 0
	for {
		if i := nextBit(q.l0bits, int(q.bucket&(1<<level0Bits-1))); i >= 0 {
			b := q.bucket&^(1<<level0Bits-1) | uint64(i)
			if b > limit {
				q.nextAt = unit.Time(b << q.shift)
				return
			}
			q.bucket = b
			q.load(i)
			q.nextAt = unit.Time(b << q.shift)
			return
		}
		if !q.cascade(limit) {
			return
		}
	}
}

// fewEvents of a bucket are sorted on insertion.
const fewEvents = 16

// load copies bucket i, sorted, into cur.
func (q *Queue) load(i int) {
	n := q.l0[i].head
	q.l0[i] = list{nil32, nil32}
	q.l0bits[i>>6] &^= 1 << (i & 63)
	for n != nil32 {
		nd := &q.nodes[n]
		next := nd.next
		e := nd.Event
		nd.next = q.free
		q.free = n
		q.cur = append(q.cur, e)
		j := len(q.cur) - 1
		if j > fewEvents { // sorted below
			n = next
			continue
		}
		for j > 0 && e.before(&q.cur[j-1]) {
			q.cur[j] = q.cur[j-1]
			j--
		}
		q.cur[j] = e
		n = next
	}
	if len(q.cur) > fewEvents+1 {
		slices.SortFunc(q.cur, compare)
	}
}

func compare(a, b Event) int {
	if a.before(&b) {
		return -1
	}
	return 1
}

// cascade enters the next occupied slot of the lowest coarser wheel, unless it starts after limit. It distributes
// the slot's events to finer wheels.
func (q *Queue) cascade(limit uint64) bool {
	for lev := 0; lev < nUp; lev++ {
		shift := level0Bits + upBits*uint(lev)
		at := int(q.bucket>>shift) & (1<<upBits - 1)
		i := nextBit(q.upbits[lev][:], at)
		if i < 0 {
			continue
		}
		b := q.bucket>>(shift+upBits)<<(shift+upBits) | uint64(i)<<shift
		if b > limit {
			q.nextAt = unit.Time(b << q.shift)
			return false
		}
		q.bucket = b
		n := q.up[lev][i].head
		q.up[lev][i] = list{nil32, nil32}
		q.upbits[lev][i>>6] &^= 1 << (i & 63)
		for n != nil32 {
			next := q.nodes[n].next
			q.nodes[n].next = nil32
			q.link(n, uint64(q.nodes[n].At)>>q.shift)
			n = next
		}
		return true
	}
	return false
}

// nextBit returns the first set bit at or after from, or -1.
func nextBit(words []uint64, from int) int {
	w := from >> 6
	x := words[w] >> (from & 63)
	if x != 0 {
		return from + bits.TrailingZeros64(x)
	}
	for w++; w < len(words); w++ {
		if words[w] != 0 {
			return w<<6 + bits.TrailingZeros64(words[w])
		}
	}
	return -1
}

package fluid

import (
	"cmp"

	"railyard/unit"
)

// Heap is a priority queue whose keys are in the elements. Replays push and pop a hundred thousand times, and
// comparison by a method took most of that time. Each element has four below it.
type Heap[K cmp.Ordered, V any] []Entry[K, V]

// Entry is an element. The one with the least At leaves first, of several the one with the least Then.
type Entry[K cmp.Ordered, V any] struct {
	At   K
	Then int64
	Of   V
}

func (e *Entry[K, V]) before(o *Entry[K, V]) bool {
	return e.At < o.At || e.At == o.At && e.Then < o.Then
}

// Push adds an element.
func (h *Heap[K, V]) Push(at K, then int64, of V) {
	x := Entry[K, V]{at, then, of}
	*h = append(*h, x)
	s := *h
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !x.before(&s[up]) {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = x
}

// Pop removes the first element.
func (h *Heap[K, V]) Pop() Entry[K, V] {
	s := *h
	top, last := s[0], len(s)-1
	x := s[last]
	s = s[:last]
	*h = s
	i := 0
	for {
		first := 4*i + 1
		if first >= last {
			break
		}
		low := first
		for k := first + 1; k < min(first+4, last); k++ {
			if s[k].before(&s[low]) {
				low = k
			}
		}
		if !s[low].before(&x) {
			break
		}
		s[i] = s[low]
		i = low
	}
	if last > 0 {
		s[i] = x
	}
	return top
}

// Bells is a queue of timers: timers of one time fire in the order in which they were pushed. Pushes in order of
// time need no search. The zero value has none.
type Bells[V any] struct {
	heap  Heap[unit.Time, V]
	lane  []Entry[unit.Time, V] // in order
	next  int                   // of lane
	order int64
}

// Push adds what rings at a time.
func (b *Bells[V]) Push(at unit.Time, of V) {
	b.order++
	if b.next == len(b.lane) || len(b.lane) == cap(b.lane) && b.next > len(b.lane)/2 {
		b.lane, b.next = b.lane[:copy(b.lane, b.lane[b.next:])], 0
	}
	if n := len(b.lane); n == 0 || b.lane[n-1].At <= at {
		b.lane = append(b.lane, Entry[unit.Time, V]{at, b.order, of})
		return
	}
	b.heap.Push(at, b.order, of)
}

// Len returns how many there are.
func (b *Bells[V]) Len() int { return len(b.heap) + len(b.lane) - b.next }

// First returns when the first one rings; unit.Never without any.
func (b *Bells[V]) First() unit.Time {
	if first := b.Peek(); first != nil {
		return first.At
	}
	return unit.Never
}

// Peek returns the one that rings first, nil without any.
func (b *Bells[V]) Peek() *Entry[unit.Time, V] {
	switch {
	case b.inLane():
		return &b.lane[b.next]
	case len(b.heap) > 0:
		return &b.heap[0]
	}
	return nil
}

// inLane reports whether the first timer is in the lane.
func (b *Bells[V]) inLane() bool {
	return b.next < len(b.lane) && (len(b.heap) == 0 || b.lane[b.next].before(&b.heap[0]))
}

// Pop takes away the one that rings first.
func (b *Bells[V]) Pop() Entry[unit.Time, V] {
	if b.inLane() {
		b.next++
		return b.lane[b.next-1]
	}
	return b.heap.Pop()
}

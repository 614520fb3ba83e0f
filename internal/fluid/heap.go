package fluid

import "cmp"

// Heap is a priority queue whose keys lie in the elements: replays push and pop a hundred thousand times, and comparing
// by a method took most of that. Each element has four below it.
type Heap[K cmp.Ordered, V any] []Entry[K, V]

// Entry is an element: the one with the least At leaves first, of several the one with the least Then.
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

// Pop takes away the element that comes first.
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

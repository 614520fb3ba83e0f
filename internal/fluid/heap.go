package fluid

// Ordered is an element of a heap: an element that comes before another leaves it first.
type Ordered[T any] interface{ Before(T) bool }

// Heap is a binary heap without interfaces in its elements: replays push and pop a hundred thousand times.
type Heap[T Ordered[T]] []T

// Push adds an element.
func (h *Heap[T]) Push(x T) {
	*h = append(*h, x)
	s := *h
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if !s[i].Before(s[up]) {
			break
		}
		s[i], s[up] = s[up], s[i]
		i = up
	}
}

// Pop takes away the element that comes first.
func (h *Heap[T]) Pop() T {
	s := *h
	top, last := s[0], len(s)-1
	s[0] = s[last]
	s = s[:last]
	for i := 0; ; {
		low := 2*i + 1
		if low >= last {
			break
		}
		if low+1 < last && s[low+1].Before(s[low]) {
			low++
		}
		if !s[low].Before(s[i]) {
			break
		}
		s[i], s[low] = s[low], s[i]
		i = low
	}
	*h = s
	return top
}

package engine

import (
	"slices"
	"testing"

	"railyard/unit"
)

// TestEach wants every waiting event once, whichever part of the queue it is in, and none that has fired.
func TestEach(t *testing.T) {
	t.Parallel()
	q := New(8)
	for i := range int32(300) {
		q.PushAfter(Node(i%7), 1000, 1, i, 0)
		q.Push(Node(i%5), unit.Time(i)*unit.Time(i)*unit.Microsecond, 1, 300+i, 0)
	}
	fired := map[int32]bool{}
	for range 200 {
		e, _ := q.Pop()
		fired[e.A] = true
		q.Push(Node(e.A), q.Now(), 1, 1000+e.A, 0) // for the bucket that is drained
	}
	var waits []int32
	q.Each(func(e *Event) { waits = append(waits, e.A) })
	if len(waits) != q.Len() {
		t.Errorf("%d events of %d", len(waits), q.Len())
	}
	slices.Sort(waits)
	if len(slices.Compact(slices.Clone(waits))) != len(waits) {
		t.Error("an event comes twice")
	}
	for _, a := range waits {
		if fired[a] {
			t.Errorf("event %d has fired", a)
		}
	}
}

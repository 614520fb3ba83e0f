package engine

import (
	"slices"
	"testing"

	"railyard/unit"
)

// TestEach expects every waiting event once, in whichever part of the queue it is, and none that has fired.
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
		q.Push(Node(e.A), q.Now(), 1, 1000+e.A, 0) // into the bucket that is being drained
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

// TestBucketAhead expects a queue that has opened the bucket of a far event to release the memory of earlier events
// that have fired.
func TestBucketAhead(t *testing.T) {
	t.Parallel()
	q := New(8)
	q.Push(OfRun, unit.Second, 1, 0, 0)
	q.When()
	for i := range int32(10000) {
		at := unit.Time(i) * unit.Nanosecond
		q.Push(Node(i%3), at+1, 1, i, 0)
		q.Push(Node(i%5), at, 1, i, 0)
		for range 2 {
			if e, _ := q.Pop(); e.A != i {
				t.Fatalf("event %d instead of %d", e.A, i)
			}
		}
	}
	if e, _ := q.Pop(); e.At != unit.Second || q.Len() != 0 {
		t.Errorf("the last event is at %v, and %d wait", e.At, q.Len())
	}
	if cap(q.cur) > 1000 {
		t.Errorf("room for %d events", cap(q.cur))
	}
}

package engine

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"railyard/internal/rng"
	"railyard/unit"

	"pgregory.net/rapid"
)

type refEvent struct {
	at   unit.Time
	from Element
	seq  int
	a    int32
}
type refHeap []refEvent

func (h refHeap) Len() int { return len(h) }
func (h refHeap) Less(i, j int) bool {
	a, b := &h[i], &h[j]
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.from, b.from), cmp.Compare(a.seq, b.seq)) < 0
}
func (h refHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *refHeap) Push(x any)   { *h = append(*h, x.(refEvent)) }
func (h *refHeap) Pop() any     { o := *h; x := o[len(o)-1]; *h = o[:len(o)-1]; return x }

// The queue fires in the order (time, element, sequence) of a plain heap. Delays are from zero to hours, pushes and
// pops alternate, and very many elements push for one time in any order.
func TestOrderMatchesHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := New(uint(rapid.IntRange(0, 12).Draw(t, "shift")))
		var ref refHeap
		seq := 0
		elements := rapid.SampledFrom([]int32{1, 3, 1000, MaxElements - 1}).Draw(t, "elements")
		order := rng.New(uint64(rapid.IntRange(0, 1<<20).Draw(t, "seed")), "elements")
		push := func(d int64) {
			at := q.Now() + unit.Time(d)
			from := Element(order.Intn(int(elements)))
			if d&1 == 0 {
				q.PushAfter(from, unit.Time(d), 1, int32(seq), 0)
			} else {
				q.Push(from, at, 1, int32(seq), 0)
			}
			heap.Push(&ref, refEvent{at, from, seq, int32(seq)})
			seq++
		}
		n := rapid.IntRange(1, 200).Draw(t, "steps")
		for range n {
			for range rapid.IntRange(0, 3).Draw(t, "pushes") {
				shift := rapid.IntRange(0, 50).Draw(t, "scale")
				d := rapid.Int64Range(0, 1<<shift).Draw(t, "delay")
				if rapid.Bool().Draw(t, "usual") { // delays that repeat share a lane
					d = []int64{0, 84, 1640, 83160, 1083160, 8_000_000_000}[d%6]
				}
				for range rapid.SampledFrom([]int{1, 1, 1, 5, 300}).Draw(t, "in step") {
					push(d)
				}
			}
			if rapid.Bool().Draw(t, "pop") && ref.Len() > 0 {
				want := heap.Pop(&ref).(refEvent)
				got, ok := q.Pop()
				if !ok || got.A != want.a || got.At != want.at {
					t.Fatalf("popped %+v, want %+v", got, want)
				}
			}
		}
		for ref.Len() > 0 {
			want := heap.Pop(&ref).(refEvent)
			if got, ok := q.Pop(); !ok || got.A != want.a || got.At != want.at {
				t.Fatalf("popped %+v, want %+v", got, want)
			}
		}
		if _, ok := q.Pop(); ok || q.Len() != 0 {
			t.Fatal("events left over")
		}
	})
}

func source(e Event) Element { return Element(e.key >> elementShift) }

// An event keeps its element and its kind, at the bounds of both.
func TestEventKeepsSourceAndKind(t *testing.T) {
	q := New(8)
	for _, from := range []Element{OfRun, Node(0), 1000, MaxElements - 1} {
		for _, k := range []Kind{0, 1, 255} {
			q.Push(from, 0, k, 7, -7)
			if e, _ := q.Pop(); source(e) != from || e.Kind() != k || e.A != 7 || e.B != -7 {
				t.Errorf("kind %d of %d became %d of %d with %d, %d", k, from, e.Kind(), source(e), e.A, e.B)
			}
		}
	}
	if size := unsafe.Sizeof(Event{}); size != 24 {
		t.Errorf("an event has %d bytes, want 24", size)
	}
}

// A wrap of the sequence does not change the element.
func TestSequenceBeginsAnew(t *testing.T) {
	q := New(8)
	q.seq = 1<<elementShift - 1<<kindBits
	for i := range int32(3) {
		q.Push(5, unit.Time(i), 2, i, 0)
	}
	for i := range int32(3) {
		if e, _ := q.Pop(); e.A != i || source(e) != 5 || e.Kind() != 2 {
			t.Errorf("popped %d: kind %d of %d", e.A, e.Kind(), source(e))
		}
	}
}

func TestTimerCancelByGeneration(t *testing.T) {
	q := New(8)
	tm := NewTimers(q, 2)
	tm.Arm(1, 0, 1, 100)
	tm.Arm(1, 0, 1, 50) // replaces the first
	tm.Arm(1, 1, 1, 70)
	tm.Disarm(1)
	var live []unit.Time
	for e, ok := q.Pop(); ok; e, ok = q.Pop() {
		if tm.Live(&e) {
			live = append(live, e.At)
		}
	}
	if len(live) != 1 || live[0] != 50 {
		t.Fatalf("live timers fired at %v, want [50]", live)
	}
}

func TestNoAllocationPerEvent(t *testing.T) {
	q := New(8)
	r := rng.New(1, "alloc")
	for range 1000 {
		q.Push(1, unit.Time(r.Intn(1_100_000)), 1, 0, 0)
	}
	for range 100_000 { // reach the peak of the slab
		e, _ := q.Pop()
		q.Push(1, e.At+unit.Time(r.Intn(1_100_000)), 1, 0, 0)
	}
	got := testing.AllocsPerRun(1000, func() {
		e, _ := q.Pop()
		q.Push(1, e.At+unit.Time(r.Intn(1_100_000)), 1, 0, 0)
	})
	if got != 0 {
		t.Fatalf("%v allocations per event, want none", got)
	}
}

// BenchmarkPushPop measures one event through the queue: in the wheel with random delays, and in lanes with four
// delays that repeat, as those of frames do.
func BenchmarkPushPop(b *testing.B) {
	for name, n := range map[string]int{"1k": 1000, "20k": 20_000, "200k": 200_000} {
		b.Run("wheel/"+name, func(b *testing.B) {
			q := New(8)
			r := rng.New(1, "bench")
			for range n {
				q.Push(1, unit.Time(r.Intn(1_100_000)), 1, 0, 0)
			}
			b.ReportAllocs()
			for b.Loop() {
				e, _ := q.Pop()
				q.Push(1, e.At+1_000_000+unit.Time(e.At&0xffff), 1, 0, 0)
			}
		})
		b.Run("lanes/"+name, func(b *testing.B) {
			q := New(8)
			delays := [4]unit.Time{1_083_160, 83_160, 1_001_720, 1_083_480}
			for i := range n {
				q.PushAfter(1, delays[i&3], 1, int32(i), 0)
			}
			b.ReportAllocs()
			for b.Loop() {
				e := q.Next()
				a := e.A
				q.PushAfter(1, delays[a&3], 1, a, 0)
			}
		})
	}
}

// An event from another queue is ordered among the events of its element and of others, and each queue counts its
// events.
func TestInsertKeepsTheOrder(t *testing.T) {
	here, there := New(8), New(8)
	first := there.Elsewhere(4, 100, 1, 0, 0)
	second := there.Elsewhere(4, 100, 1, 1, 0)
	here.Push(5, 100, 1, 2, 0)
	here.Insert(second)
	here.PushAfter(3, 100, 1, 3, 0)
	here.Insert(first)
	if here.Len() != 4 || there.Len() != 0 {
		t.Errorf("%d and %d events wait, want 4 and 0", here.Len(), there.Len())
	}
	var got []int32
	for e, ok := here.Pop(); ok; e, ok = here.Pop() {
		got = append(got, e.A)
	}
	if want := []int32{3, 0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("fired in the order %v, want %v", got, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("an event of the past was taken")
		}
	}()
	here.Insert(there.Elsewhere(4, 99, 1, 0, 0))
}

// BenchmarkInStep measures one of many events that different elements push for one time, in any order.
func BenchmarkInStep(b *testing.B) {
	for _, n := range []int{100, 1000, 30_000} {
		order := make([]int, n)
		r := rng.New(1, "in step")
		r.Perm(order)
		for name, delay := range map[string]unit.Time{"now": 0, "later": 1_083_160} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				q := New(8)
				for i := 0; b.Loop(); i++ {
					q.PushAfter(Element(order[i%n]), delay, 1, 0, 0)
					if i%n == n-1 {
						for range n {
							q.Next()
						}
					}
				}
			})
		}
	}
}

// Ahead returns the event that fires N later, or a harmless one if there is none.
func TestAhead(t *testing.T) {
	q := New(8)
	if e := q.Ahead(); e == nil || *e != (Event{}) {
		t.Errorf("an empty queue shows %v", e)
	}
	for i := range int32(aheadBy + 5) {
		q.PushAfter(OfRun, 100, 0, i, 0)
	}
	for i := range int32(5) {
		if e := q.Next(); e.A != i {
			t.Fatalf("event %d fired, want %d", e.A, i)
		}
		if e := q.Ahead(); i < 4 && e.A != i+1+aheadBy {
			t.Errorf("behind event %d Ahead shows %d", i, e.A)
		}
	}
}

package engine

import (
	"slices"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// waiting is an event in the reference list, with all fields, in the order of pushes.
type waiting struct {
	at   unit.Time
	from Element
	id   int32
	slot int32 // slot of a timer; -1: none
}

// first removes the event that fires next from a list: the earliest, of the lowest element, pushed first.
func first(list []waiting) (waiting, []waiting) {
	at := 0
	for i, w := range list {
		if w.at < list[at].at || w.at == list[at].at && w.from < list[at].from {
			at = i
		}
	}
	w := list[at]
	return w, slices.Delete(list, at, at+1)
}

// Timers are armed, armed again, disarmed or left alone, among events of lanes and of the wheel. They fire exactly
// when a plain list of armed timers says, in its order, and each event fires once.
func TestTimersMatchList(t *testing.T) {
	const timer, plain = 1, 2
	rapid.Check(t, func(t *rapid.T) {
		q := New(uint(rapid.IntRange(0, 10).Draw(t, "shift")))
		q.Reserve(rapid.SampledFrom([]int{0, 1, 64}).Draw(t, "room"))
		tm := NewTimers(q, 2)
		slots := int32(rapid.IntRange(1, 6).Draw(t, "slots"))
		tm.Grow(int(slots))
		var list []waiting
		disarm := func(slot int32) {
			list = slices.DeleteFunc(list, func(w waiting) bool { return w.slot == slot })
		}
		pushed := int32(0)
		fire := func() {
			for {
				e, ok := q.Pop()
				if !ok {
					if len(list) > 0 {
						t.Fatalf("the queue is empty, %d should fire", len(list))
					}
					return
				}
				if e.Kind() == timer && !tm.Live(&e) {
					continue // cancelled
				}
				if len(list) == 0 {
					t.Fatalf("%+v fires, nothing is armed", e)
				}
				var want waiting
				want, list = first(list)
				if e.At != want.at || source(e) != want.from || e.Kind() == timer != (want.slot >= 0) ||
					e.Kind() == timer && e.A != want.slot || e.Kind() == plain && e.A != want.id {
					t.Fatalf("%+v fires, want %+v", e, want)
				}
				if e.Kind() == timer {
					tm.Disarm(e.A) // the timer has fired
				}
				return
			}
		}
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			from := Element(rapid.Int32Range(0, 4).Draw(t, "element"))
			delay := unit.Time(rapid.SampledFrom([]int64{0, 1, 255, 256, 84_000, 1_083_160, 1 << 40}).Draw(t,
				"delay"))
			slot := rapid.Int32Range(0, slots-1).Draw(t, "slot")
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				tm.Disarm(slot)
				disarm(slot)
			case 1, 2:
				disarm(slot)
				tm.Arm(from, slot, timer, q.Now()+delay)
				list = append(list, waiting{q.Now() + delay, from, 0, slot})
				pushed++
			case 3:
				q.PushAfter(from, delay, plain, pushed, 0)
				list = append(list, waiting{q.Now() + delay, from, pushed, -1})
				pushed++
			case 4:
				q.Push(from, q.Now()+delay, plain, pushed, 0)
				list = append(list, waiting{q.Now() + delay, from, pushed, -1})
				pushed++
			default:
				fire()
			}
			if q.Len()+int(q.Popped()) != int(pushed) {
				t.Fatalf("%d wait and %d have fired of %d", q.Len(), q.Popped(), pushed)
			}
		}
		for len(list) > 0 || q.Len() > 0 {
			fire()
		}
	})
}

// Two queues that exchange events fire the events of one queue, in the same order, whichever of the two creates an
// element's events.
func TestTwoQueuesMatchOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		both := [2]*Queue{New(8), New(8)}
		var want [2][]waiting
		n := rapid.IntRange(1, 60).Draw(t, "events")
		for id := range int32(n) {
			from := Element(rapid.Int32Range(0, 5).Draw(t, "element"))
			at := unit.Time(rapid.SampledFrom([]int64{0, 100, 300, 5000, 1 << 33}).Draw(t, "at"))
			made, fires := both[from&1], rapid.IntRange(0, 1).Draw(t, "fires on")
			if made == both[fires] {
				made.Push(from, at, 1, id, 0)
			} else {
				both[fires].Insert(made.Elsewhere(from, at, 1, id, 0))
			}
			want[fires] = append(want[fires], waiting{at, from, id, -1})
		}
		for i, q := range both {
			if q.Len() != len(want[i]) {
				t.Fatalf("queue %d holds %d, want %d", i, q.Len(), len(want[i]))
			}
			for len(want[i]) > 0 {
				var w waiting
				w, want[i] = first(want[i])
				if e, ok := q.Pop(); !ok || e.A != w.id || e.At != w.at || q.Now() != w.at {
					t.Fatalf("queue %d fires %+v at %v, want %+v", i, e, q.Now(), w)
				}
			}
		}
	})
}

// There are more delays than lanes, and a lane grows its ring twice while its head moves. Events without a lane go
// into the wheel, and the order stays that of a sorted list.
func TestLanesRunOut(t *testing.T) {
	q := New(8)
	var list []waiting
	push := func(delay unit.Time) {
		id := int32(len(list))
		q.PushAfter(Element(id%7), delay, 1, id, 0)
		list = append(list, waiting{delay, Element(id % 7), id, -1})
	}
	for d := range unit.Time(3 * maxLanes) {
		push(1000 + 37*d)
		push(2000)
	}
	used := 0
	for i := range q.lanes {
		if q.lanes[i].delay != noDelay {
			used++
		}
	}
	if used == 0 || q.wheel == 0 {
		t.Fatalf("%d lanes and %d events in the wheel: both should be used", used, q.wheel)
	}
	slices.SortStableFunc(list, func(a, b waiting) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return int(a.from - b.from)
	})
	for i, w := range list {
		if e, ok := q.Pop(); !ok || e.A != w.id || e.At != w.at {
			t.Fatalf("event %d is %+v, want %+v", i, e, w)
		}
	}
	for i := range int32(1000) { // two in, one out: the ring becomes full at any position of its head
		q.PushAfter(1, 2000, 1, 2*i, 0)
		q.PushAfter(1, 2000, 1, 2*i+1, 0)
		if e, ok := q.Pop(); !ok || e.A != i {
			t.Fatalf("the lane's event %d is %+v", i, e)
		}
	}
	for i := int32(1000); i < 2000; i++ {
		if e, ok := q.Pop(); !ok || e.A != i {
			t.Fatalf("the lane's event %d is %+v", i, e)
		}
	}
	if e, ok := q.Pop(); ok {
		t.Errorf("%+v is left over", e)
	}
}

// Events with a time in the past or a negative delay fire now, before later events.
func TestThePastIsNow(t *testing.T) {
	q := New(8)
	q.Push(1, 5000, 1, 0, 0)
	q.Pop()
	q.Push(1, 7000, 1, 3, 0)
	q.Push(1, 100, 1, 1, 0)
	q.PushAfter(1, -400, 1, 2, 0)
	for i := int32(1); i <= 3; i++ {
		e, ok := q.Pop()
		if want := map[bool]unit.Time{true: 7000, false: 5000}[i == 3]; !ok || e.A != i || e.At != want {
			t.Errorf("event %d is %+v at %v, want it at %v", i, e, e.At, want)
		}
	}
}

// TestLanesTakeWhatIsToCome puts each delay from zero on into its own lane, and events in the past into the wheel.
// Lanes are sorted because the clock only moves forward.
func TestLanesTakeWhatIsToCome(t *testing.T) {
	q := New(8)
	for _, delay := range []unit.Time{-1, -1000, -unit.Second} {
		if q.PushAfter(1, delay, 1, 0, 0); q.first.lane != noLane {
			t.Errorf("a delay of %d is in a lane", delay)
		}
	}
	for n, delay := range []unit.Time{0, 1, 2, 1000} {
		for range 3 {
			q.PushAfter(1, delay, 1, 0, 0)
		}
		used := 0
		for i := range q.lanes {
			if l := &q.lanes[i]; l.head != l.tail {
				used++
			}
		}
		if used != n+1 {
			t.Errorf("%d lanes have events of %d delays", used, n+1)
		}
	}
}

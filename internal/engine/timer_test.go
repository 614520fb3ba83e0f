package engine

import (
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// Events pushed through a Habit fire as if pushed with Push, for any delays; recurring delays use a lane.
func TestHabit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := New(8), New(8)
		var h Habit
		for range rapid.IntRange(1, 200).Draw(t, "events") {
			delay := rapid.SampledFrom([]unit.Time{0, 7, 7, 7, 1000, 1000, 5_000_000, -3}).Draw(t, "delay")
			from := Element(rapid.IntRange(0, 5).Draw(t, "from"))
			h.Push(a, from, a.Now()+delay, 1, int32(delay), 0)
			b.Push(from, b.Now()+delay, 1, int32(delay), 0)
			for range rapid.IntRange(0, 2).Draw(t, "pops") {
				x, ok := a.Pop()
				if y, too := b.Pop(); x != y || ok != too {
					t.Fatalf("%v of the one and %v of the other", x, y)
				}
			}
		}
		for b.Len() > 0 {
			x, _ := a.Pop()
			if y, _ := b.Pop(); x != y {
				t.Fatalf("%v of the one and %v of the other", x, y)
			}
		}
		if a.Len() != 0 {
			t.Fatalf("%d events are left", a.Len())
		}
	})
	q := New(8)
	var h Habit
	for range 10 {
		h.Push(q, OfRun, 50, 1, 0, 0)
	}
	if q.wheel != 1 {
		t.Errorf("%d of ten events with one delay are in the wheel, want the first", q.wheel)
	}
}

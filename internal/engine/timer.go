package engine

import "railyard/unit"

// Timers cancels by generation. Arming or disarming a slot makes earlier events of that slot stale, and Live
// distinguishes a stale event from the armed one. No search or removal is needed, so a cancellation costs one
// increment.
type Timers struct {
	q     *Queue
	gen   []int32
	habit Habit
}

// NewTimers returns n disarmed timer slots on queue q.
func NewTimers(q *Queue, n int) *Timers { return &Timers{q: q, gen: make([]int32, n)} }

// Grow makes sure slot numbers below n exist.
func (t *Timers) Grow(n int) {
	for len(t.gen) < n {
		t.gen = append(t.gen, 0)
	}
}

// Arm schedules an event (kind, slot) at time at and cancels the slot's
// earlier one.
func (t *Timers) Arm(from Element, slot int32, kind Kind, at unit.Time) {
	t.gen[slot]++
	t.habit.Push(t.q, from, at, kind, slot, t.gen[slot])
}

// Disarm cancels the slot's event, if any.
func (t *Timers) Disarm(slot int32) { t.gen[slot]++ }

// Live reports whether e is the event its slot is armed for.
func (t *Timers) Live(e *Event) bool { return t.gen[e.A] == e.B }

// Habit pushes events that mostly have the delay of the previous one. Recurring delays use a lane; a delay that occurs
// once uses the wheel, so that no lane is created for it.
type Habit struct{ delay unit.Time }

// Push is the queue's.
func (h *Habit) Push(q *Queue, from Element, at unit.Time, kind Kind, a, b int32) {
	delay := at - q.now
	if delay == h.delay {
		q.PushAfter(from, delay, kind, a, b)
		return
	}
	h.delay = delay
	q.Push(from, at, kind, a, b)
}

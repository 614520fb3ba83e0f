package engine

import "railyard/unit"

// A network in parts has a queue for each, which run the events of a window of time before their parts exchange
// events. What happened in one window is put in order by when, and by the place of the event among those of its
// instant.

// When returns the time of the next event, unit.Never where none waits.
func (q *Queue) When() unit.Time {
	top := q.first.at
	if q.nextAt <= top && q.pos == len(q.cur) && q.wheel > 0 {
		q.advance(uint64(top) >> q.shift)
	}
	if q.pos < len(q.cur) {
		return min(q.cur[q.pos].At, q.first.at)
	}
	return q.first.at
}

// Before is Next for events before a time: nil where the next one comes later.
func (q *Queue) Before(t unit.Time) *Event {
	top := q.first.at
	if q.nextAt <= top && q.pos == len(q.cur) && q.wheel > 0 {
		q.advance(uint64(top) >> q.shift)
	}
	if q.pos < len(q.cur) {
		e := &q.cur[q.pos]
		if e.At < top || e.At == top && e.key < q.first.key {
			if e.At >= t {
				return nil
			}
			q.pos++
			q.wheel--
			q.popped++
			q.now, q.fired = e.At, e.key
			return e
		}
	}
	if top >= t {
		return nil
	}
	q.fired = q.first.key
	return q.popLane()
}

// Place is the place of the event that Before has returned among those of its instant, whichever queue they are in: its
// element, and there the order in which the element pushed them. Events of the run itself have none that other queues
// share.
func (q *Queue) Place() uint64 { return q.fired >> kindBits }

// From returns the element that pushed an event.
func (e *Event) From() Element { return Element(e.key >> elementShift) }

// Stand sets the clock of a queue that runs no more, and how many events have fired in all.
func (q *Queue) Stand(now unit.Time, popped uint64) { q.now, q.popped = now, popped }

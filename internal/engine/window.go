package engine

import "railyard/unit"

// A network in parts has a queue for each part. The queues run the events of a window of time, and then the parts
// exchange events. The events of one window are sorted by time, then by their place among the events of that time.

// When returns the time of the next event, or unit.Never if the queue is empty.
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

// Before is Next for events before a time; nil if the next event is later.
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

// Place returns the place of the last event returned by Before among the events of its time over all queues. The
// place is its element, then the order in which the element pushed them. Events of the run itself have none that
// other queues share.
func (q *Queue) Place() uint64 { return q.fired >> kindBits }

// From returns the element that pushed an event.
func (e *Event) From() Element { return Element(e.key >> elementShift) }

// Stand sets the clock of a finished queue and the total number of fired events.
func (q *Queue) Stand(now unit.Time, popped uint64) { q.now, q.popped = now, popped }

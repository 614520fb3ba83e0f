package engine

// Events pushed into the bucket being drained must pass the later ones. If many nodes push for one time, each event
// could have to pass all others. Such events are in a heap of their own. Its first event is merged with the heads
// of the lanes like one more lane.

// late is the heap of such events.
type late []Event

// lateLane is the number of that heap among the lanes.
const lateLane = maxLanes

// pushLate adds an event.
func (q *Queue) pushLate(e Event) {
	q.late = append(q.late, e)
	h := q.late
	i := len(h) - 1
	for i > 0 && e.before(&h[(i-1)/2]) {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = e
	switch k := (head{e.At, e.key, lateLane}); {
	case len(h) == 1:
		q.enter(k)
	case i == 0:
		q.reenter(k)
	}
}

// popLate takes the first event.
func (q *Queue) popLate() *Event {
	h := q.late
	last := len(h) - 1
	first, e := h[0], h[last]
	i := 0
	for {
		c := 2*i + 1
		if c >= last {
			break
		}
		if c+1 < last && h[c+1].before(&h[c]) {
			c++
		}
		if !h[c].before(&e) {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = e
	h[last] = first // the caller may read it until the next push
	q.late = h[:last]
	q.now = first.At
	if last > 0 {
		q.replace(head{h[0].At, h[0].key, lateLane})
	} else {
		q.leave()
	}
	return &h[last]
}

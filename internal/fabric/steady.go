package fabric

import (
	"railyard/internal/engine"
	"railyard/unit"
)

// Queued calls f for the packets that wait at a port, class by class, in their order.
func (n *Net) Queued(port int32, f func(p *Packet)) {
	for class, m := 0, n.Ports[port].NonEmpty; m != 0; class, m = class+1, m>>1 {
		if m&1 == 0 {
			continue
		}
		q := &n.classes[n.slot(port, class)]
		for i := q.head; ; i = n.Packets[i].next {
			if f(&n.Packets[i]); i == q.tail {
				break
			}
		}
	}
}

// Stale reports whether an event does nothing while no port is paused. Its timer was stopped or armed again, or it
// is a watchdog's.
func (n *Net) Stale(e *engine.Event) bool {
	switch e.Kind() {
	case KindPoll:
		return true
	case KindRefresh:
		return !n.refresh.Live(e)
	case KindExpire:
		return !n.expire.Live(e)
	}
	return false
}

// Quiet reports whether no port is paused.
func (n *Net) Quiet() bool {
	for i := range n.Ports {
		if n.Ports[i].Paused != 0 {
			return false
		}
	}
	return true
}

// Draw returns the number that the switch of a port draws next, 0 at a host.
func (n *Net) Draw(port int32) uint64 {
	sw := &n.Sw[n.Ports[port].Node]
	if sw.Spec == nil {
		return 0
	}
	s := sw.stream
	return s.Uint64()
}

// Averages reports that marks depend on averages of queues, which move with time.
func (n *Net) Averages() bool { return n.averages != nil }

// Waited is a copy of a wait table's counts, by row.
type Waited []struct {
	total   unit.Time
	samples int32
}

// Mark returns the table's current counts; it reuses the memory of an earlier mark.
func (t *WaitTable) Mark(room Waited) Waited {
	room = room[:0]
	for i := range t.rows {
		room = append(room, struct {
			total   unit.Time
			samples int32
		}{t.rows[i].Total, t.rows[i].Samples})
	}
	return room
}

// Repeat adds the counts since a mark n more times.
func (t *WaitTable) Repeat(since Waited, times int64) {
	for i := range t.rows {
		r := &t.rows[i]
		total, samples := r.Total, r.Samples
		if i < len(since) {
			total, samples = total-since[i].total, samples-since[i].samples
		}
		r.Total, r.Samples = r.Total+total*unit.Time(times), r.Samples+samples*int32(times)
	}
}

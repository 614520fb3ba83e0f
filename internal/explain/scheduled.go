package explain

import (
	"railyard/internal/queue"
	"railyard/roce"
	"railyard/unit"
)

// crossing is the minimum time of a frame from its VOQ to its egress port, over the stages of links inside a scheduled
// fabric: the request and the grant, forth and back, and its cells in parallel. A fabric node passes a burst on once it
// has its first cell, as package fabric does.
func crossing(s *queue.Scheduled, inside []stage, size unit.Bytes) (t unit.Time) {
	if len(inside) == 0 {
		return 0 // the egress port is on the same switch
	}
	side := int64(max(1, inside[0].side))
	burst := unit.Bytes((s.Cells(size)+side-1)/side) * s.Cell
	first, last := unit.Time(0), unit.Time(0) // of its cells
	for i := range inside {
		l := &inside[i]
		cell, all := unit.Serialize(s.Cell, l.rate), unit.Serialize(burst, l.rate)
		t += 2*unit.Serialize(s.Message, l.rate) + l.hop + l.back
		start := max(first, last+cell-all)
		first, last = start+cell+l.hop, start+all+l.hop
	}
	return t + last
}

// crosses removes the links inside a scheduled fabric from a path. The result is the sender's and the receiver's link,
// with the crossing time between them.
func (x *idealizer) crosses(path []stage) (ends []stage, cross func(unit.Bytes) unit.Time) {
	s := x.r.plan.Scheduled
	if s == nil || len(path) < 2 {
		return path, nil
	}
	last := len(path) - 1
	return []stage{path[0], path[last]}, func(size unit.Bytes) unit.Time { return crossing(s, path[1:last], size) }
}

// carries returns the rate of a link inside a scheduled fabric for full packets, after the overhead of cells.
func (r *reading) carries(rate unit.Rate) unit.Rate {
	s := r.plan.Scheduled
	if s == nil {
		return rate
	}
	frame := unit.Bytes(roce.DataLen(roce.WriteMiddle, int(r.seen.Rules.MTU)) + r.seen.Rules.More)
	return unit.Rate(float64(rate) * (float64(frame+roce.PreambleIFG) / s.Load(frame)))
}

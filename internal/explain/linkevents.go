package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"railyard/internal/result"
	"railyard/internal/scenario"
)

// linkEvents tells what has happened to cables and what they are part of until now, in the order of time. A
// switch with all of its cables is one line.
func (r *reading) linkEvents() (all []result.LinkEvent) {
	before := map[int]scenario.LinkEvent{}
	by := map[string]int{} // of this moment: its place
	for _, e := range r.plan.Events {
		if e.At > r.seen.At {
			break
		}
		l := &r.graph.Links[e.Link]
		was, ok := before[e.Link]
		if !ok {
			was = scenario.LinkEvent{Up: true, Rate: l.Rate, Back: l.Rate, BER: l.BER}
		}
		before[e.Link] = e
		if n := len(all); n > 0 && all[n-1].At != int64(e.At) {
			clear(by)
		}
		row := result.LinkEvent{At: int64(e.At), Change: r.changed(&was, &e), Link: r.cable(e.Link)}
		if e.Heard {
			row.Routes = int64(e.At + e.Converge)
		}
		if e.Noticed {
			row.Ends = int64(e.At + e.Detect)
		}
		if e.By != "" {
			if i, seen := by[e.By]; seen {
				all[i].Cables++
				continue
			}
			by[e.By] = len(all)
			row.Link, row.Cables, row.Change = e.By, 1, r.changedAll(&was, &e)
		}
		all = append(all, row)
	}
	for _, s := range r.plan.Storms {
		change := "sends PFC pauses continuously"
		if !s.On {
			change = "stops sending PFC pauses"
		}
		all = append(all, result.LinkEvent{At: int64(s.At), Link: "NIC " + r.graph.NICName(s.NIC),
			Change: change})
	}
	all = slices.DeleteFunc(all, func(e result.LinkEvent) bool { return e.At > int64(r.seen.At) })
	slices.SortStableFunc(all, func(a, b result.LinkEvent) int { return cmp.Compare(a.At, b.At) })
	return all
}

// changed says what an event changes: "down", "up, 50Gbps", "bit error rate 1e-09".
func (r *reading) changed(was, e *scenario.LinkEvent) string {
	var parts []string
	switch {
	case e.Toggles && e.Up:
		parts = append(parts, "up")
	case e.Toggles:
		parts = append(parts, "down")
	}
	l := &r.graph.Links[e.Link]
	switch {
	case e.Rate == was.Rate && e.Back == was.Back:
	case e.Rate == e.Back:
		parts = append(parts, e.Rate.Show())
	case e.Rate != was.Rate:
		parts = append(parts, fmt.Sprintf("%s from %s", e.Rate.Show(), r.graph.End(e.Link, l.A)))
	}
	if e.Back != was.Back && e.Rate != e.Back {
		parts = append(parts, fmt.Sprintf("%s from %s", e.Back.Show(), r.graph.End(e.Link, l.B)))
	}
	if e.BER != was.BER {
		parts = append(parts, fmt.Sprintf("bit error rate %g", e.BER))
	}
	return strings.Join(parts, ", ")
}

// changedAll is changed for a thing of several cables, by the first of them.
func (r *reading) changedAll(was, e *scenario.LinkEvent) string {
	if e.Rate != e.Back {
		return "other rates in one direction"
	}
	return r.changed(was, e)
}

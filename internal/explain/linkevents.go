package explain

import (
	"cmp"
	"slices"

	"railyard/internal/result"
	"railyard/internal/scenario"
)

// linkEvents lists the events of links and components until now in order of time, and the ones still to come. A switch
// with all of its cables is one line.
func (r *reading) linkEvents() (all, later []result.LinkEvent) {
	before := map[int]scenario.LinkEvent{}
	by := map[string]int{} // events of the current time: their place
	for _, e := range r.plan.Events {
		was, ok := before[e.Link]
		if !ok {
			was.LinkState = scenario.AsBuilt(&r.graph.Links[e.Link])
		}
		before[e.Link] = e
		if n := len(all); n > 0 && all[n-1].At != int64(e.At) {
			clear(by)
		}
		row := result.LinkEvent{At: int64(e.At), Change: e.Describe(r.graph, &was), Link: r.cable(e.Link)}
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
	for _, i := range r.plan.Incidents {
		if component, change, _ := i.Describe(r.graph); component != "" {
			all = append(all, result.LinkEvent{At: int64(i.When()), Link: component, Change: change})
		}
	}
	slices.SortStableFunc(all, func(a, b result.LinkEvent) int { return cmp.Compare(a.At, b.At) })
	now := slices.IndexFunc(all, func(e result.LinkEvent) bool { return e.At > int64(r.seen.At) })
	if now < 0 {
		return all, nil
	}
	return all[:now:now], all[now:]
}

// changedAll describes an event of a component with several links, by the first of them.
func (r *reading) changedAll(was, e *scenario.LinkEvent) string {
	if e.Rate != e.Back {
		return "other rates in one direction"
	}
	return e.Describe(r.graph, was)
}

package explain

import (
	"fmt"
	"strings"

	"railyard/internal/result"
	"railyard/internal/scenario"
)

// linkEvents tells what has happened to cables until now, in the order of time.
func (r *reading) linkEvents() (all []result.LinkEvent) {
	before := map[int]scenario.LinkEvent{}
	for _, e := range r.plan.Events {
		if e.At > r.seen.At {
			break
		}
		l := &r.graph.Links[e.Link]
		was, ok := before[e.Link]
		if !ok {
			was = scenario.LinkEvent{Up: true, Rate: l.Rate, BER: l.BER}
		}
		before[e.Link] = e
		row := result.LinkEvent{At: int64(e.At), Change: changed(&was, &e),
			Link: r.graph.End(e.Link, l.A) + " – " + r.graph.End(e.Link, l.B)}
		if e.Heard {
			row.Routes = int64(e.At + e.Converge)
		}
		all = append(all, row)
	}
	return all
}

// changed says what an event changes: "down", "up, 50Gbps", "bit error rate 1e-09".
func changed(was, e *scenario.LinkEvent) string {
	var parts []string
	switch {
	case e.Toggles && e.Up:
		parts = append(parts, "up")
	case e.Toggles:
		parts = append(parts, "down")
	}
	if e.Rate != was.Rate {
		parts = append(parts, e.Rate.String())
	}
	if e.BER != was.BER {
		parts = append(parts, fmt.Sprintf("bit error rate %g", e.BER))
	}
	return strings.Join(parts, ", ")
}

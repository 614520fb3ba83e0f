package explain

import (
	"railyard/internal/scenario"
	"railyard/unit"
)

// lives is what the plan's events make of the links: the events of each that has any.
type lives map[int][]scenario.LinkEvent

func newLives(p *scenario.Plan) lives {
	l := lives{}
	for _, e := range p.Events {
		l[e.Link] = append(l[e.Link], e)
	}
	return l
}

// best returns the highest rate that a link has at any time.
func (r *reading) best(link int) (rate unit.Rate) {
	events := r.lives[link]
	if len(events) == 0 || !events[0].FromStart() {
		rate = r.graph.Links[link].Rate
	}
	for _, e := range events {
		rate = max(rate, e.Rate)
	}
	return rate
}

// rate returns that of a port's link.
func (r *reading) rate(port int32) unit.Rate { return r.best(int(r.seen.Ports[port].Link)) }

// varies reports that a link has another rate at some time.
func (r *reading) varies(link int) bool {
	best := r.best(link)
	for _, e := range r.lives[link] {
		if e.Rate != best {
			return true
		}
	}
	return false
}

// gone lists the links that are broken all the time, as routes know from the start, and reports
// whether others break or come back.
func (l lives) gone() (gone map[int]bool, others bool) {
	gone = map[int]bool{}
	for link, events := range l {
		for i, e := range events {
			switch {
			case !e.Toggles:
			case i == 0 && e.FromStart() && !e.Up:
				gone[link] = true
			default:
				delete(gone, link)
				others = true // the order in which links are looked at does not count
			}
		}
	}
	return gone, others
}

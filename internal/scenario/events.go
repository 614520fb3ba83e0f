package scenario

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/internal/field"
	"railyard/unit"
)

// LinkEvent is a moment at which a cable changes, in both directions at once. It holds all of the
// cable's state from then on, what stays as it was too.
type LinkEvent struct {
	Link     int
	At       unit.Time
	Up       bool
	Converge unit.Time // from At until routes know whether the cable works
	Heard    bool      // they come to know it: it works no less and no more until then
}

// FromStart reports whether a run begins with the event behind it, and with routes that know it.
func (e *LinkEvent) FromStart() bool { return e.At == 0 && e.Converge == 0 }

// failures turns links that break into events: one when a link breaks, one when it is back.
func (p *resolver) failures() error {
	for i, f := range p.File.Failures {
		key := fmt.Sprintf("failures[%d].link", i)
		l, _, ok := p.Graph.FindPort(f.Link)
		if !ok {
			return field.New(key, "there is no port %q; ports are named like %s",
				f.Link, p.Graph.End(0, p.Graph.Links[0].B))
		}
		if f.Until > 0 && f.Until <= f.At {
			return field.New(fmt.Sprintf("failures[%d].until", i),
				"%v is not after at, %v; 0s: the link stays broken", f.Until, f.At)
		}
		for k, earlier := range p.File.Failures[:i] {
			if l2, _, _ := p.Graph.FindPort(earlier.Link); l2 == l &&
				(earlier.Until == 0 || f.At < earlier.Until+earlier.Converge) {
				return field.New(key,
					"%s is a port of the cable that failures[%d] breaks; before it breaks again it must be "+
						"back (until) and converged", f.Link, k)
			}
		}
		p.Events = append(p.Events, LinkEvent{Link: l, At: f.At, Converge: f.Converge})
		if f.Until > 0 {
			p.Events = append(p.Events, LinkEvent{Link: l, At: f.Until, Converge: f.Converge, Up: true})
		}
	}
	return p.inTime()
}

// inTime sorts the events, finds which of them routes come to know, and refuses a fabric that they
// would cut in two.
func (p *resolver) inTime() error {
	slices.SortStableFunc(p.Events, func(a, b LinkEvent) int { return cmp.Compare(a.At, b.At) })
	next := map[int]unit.Time{} // by link: when it breaks or comes back next
	down := map[int]bool{}
	for i, e := range slices.Backward(p.Events) {
		again, ok := next[e.Link]
		p.Events[i].Heard = !ok || e.At+e.Converge < again
		next[e.Link] = e.At
		if p.Events[i].Heard && !e.Up {
			down[e.Link] = true
		}
	}
	if len(down) > 0 {
		if err := p.Graph.CheckConnected(p.Graph.Route(down)); err != nil {
			return field.New("failures", "with these links down %v", err)
		}
	}
	return nil
}

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
	Rate     unit.Rate
	BER      float64
	Toggles  bool      // it breaks the cable or makes it work
	Converge unit.Time // from At until routes know that
	Heard    bool      // they come to know it: until then nothing toggles the cable again
}

// FromStart reports whether a run begins with the event behind it, and with routes that know it.
func (e *LinkEvent) FromStart() bool { return e.At == 0 && (e.Converge == 0 || !e.Toggles) }

// change is what a scenario says of an event: nil leaves as it was.
type change struct {
	link         int
	at, converge unit.Time
	up           *bool
	rate         *unit.Rate
	ber          *float64
	key          string // of what asks for it
}

// linkEvents resolves what cables go through: failures, which are the short way to say that one
// breaks and comes back, and events.
func (p *resolver) linkEvents() error {
	if len(p.File.Failures)+len(p.File.Events) == 0 {
		return nil
	}
	ports := p.cables()
	changes, err := p.failures(ports)
	if err != nil {
		return err
	}
	more, err := p.changes(ports, changes)
	if err != nil {
		return err
	}
	changes = append(changes, more...)
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	p.inTime(changes)
	p.parted()
	return nil
}

// cables is which cable a port's name means.
type cables map[string]int

func (p *resolver) cables() cables {
	of := make(cables, 2*len(p.Graph.Links))
	for i, l := range p.Graph.Links {
		of[p.Graph.End(i, l.A)], of[p.Graph.End(i, l.B)] = i, i
	}
	return of
}

// cable finds the cable at a port that a key names.
func (p *resolver) cable(ports cables, key, name string) (link int, err error) {
	l, ok := ports[name]
	if !ok {
		return 0, field.New(key, "there is no port %q; ports are named like %s", name,
			p.Graph.End(0, p.Graph.Links[0].B))
	}
	return l, nil
}

func (p *resolver) failures(ports cables) (changes []change, err error) {
	no, yes := false, true
	last := map[int]int{} // by link: its failure before
	for i, f := range p.File.Failures {
		name := fmt.Sprintf("failures[%d]", i)
		l, err := p.cable(ports, name+".link", f.Link)
		if err != nil {
			return nil, err
		}
		if f.Until > 0 && f.Until <= f.At {
			return nil, field.New(name+".until", "%v is not after at, %v; 0s: the link stays broken",
				f.Until, f.At)
		}
		if k, again := last[l]; again {
			if e := &p.File.Failures[k]; e.Until == 0 || f.At < e.Until+e.Converge {
				return nil, field.New(name+".link", "%s is a port of the cable that failures[%d] breaks; "+
					"before it breaks again it must be back (until) and converged", f.Link, k)
			}
		}
		last[l] = i
		changes = append(changes, change{link: l, at: f.At, converge: f.Converge, up: &no, key: name})
		if f.Until > 0 {
			changes = append(changes, change{link: l, at: f.Until, converge: f.Converge, up: &yes, key: name})
		}
	}
	return changes, nil
}

// changes reads the events; failures are there already.
func (p *resolver) changes(ports cables, failures []change) (changes []change, err error) {
	type moment struct {
		link int
		at   unit.Time
	}
	taken := map[moment]string{}
	for _, c := range failures {
		taken[moment{c.link, c.at}] = c.key
	}
	for i, e := range p.File.Events {
		name := fmt.Sprintf("events[%d]", i)
		l, err := p.cable(ports, name+".link", e.Link)
		if err != nil {
			return nil, err
		}
		if by, ok := taken[moment{l, e.At}]; ok {
			return nil, field.New(name+".at", "%s changes that cable at %v already", by, e.At)
		}
		taken[moment{l, e.At}] = name
		if e.Up == nil && e.Rate == nil && e.BER == nil {
			return nil, field.New(name, "changes nothing; accepted: up, rate and bit_error_rate, one or more")
		}
		if cable := p.Graph.Links[l].Rate; e.Rate != nil && *e.Rate > cable {
			return nil, field.New(name+".rate", "%v is above the %v of the cable at %s",
				*e.Rate, cable, e.Link)
		}
		changes = append(changes, change{l, e.At, e.Converge, e.Up, e.Rate, e.BER, name})
	}
	return changes, nil
}

// inTime plays changes through in the order of time: what each cable is after each of them, and
// what routes come to know. One that leaves a cable as it is becomes a note and no event.
func (p *resolver) inTime(changes []change) {
	state := map[int]LinkEvent{}
	for _, c := range changes {
		s, ok := state[c.link]
		if !ok {
			l := &p.Graph.Links[c.link]
			s = LinkEvent{Link: c.link, Up: true, Rate: l.Rate, BER: l.BER}
		}
		was := s
		if s.At, s.Converge, s.Toggles = c.at, c.converge, false; c.up != nil {
			s.Toggles, s.Up = s.Up != *c.up, *c.up
		}
		if c.rate != nil {
			s.Rate = *c.rate
		}
		if c.ber != nil {
			s.BER = *c.ber
		}
		if !s.Toggles && s.Rate == was.Rate && s.BER == was.BER {
			p.note("%s changes nothing: its cable is so at %v already", c.key, c.at)
			continue
		}
		state[c.link] = s
		p.Events = append(p.Events, s)
	}
	next := map[int]unit.Time{} // by link: when it breaks or comes back next
	for i := len(p.Events) - 1; i >= 0; i-- {
		if e := &p.Events[i]; e.Toggles {
			again, ok := next[e.Link]
			e.Heard = !ok || e.At+e.Converge < again
			next[e.Link] = e.At
		}
	}
}

// maxCuts is how many sets of cables are looked at one by one.
const maxCuts = 64

// parted notes that routes are cut in two at some time: who is cut off long enough is lost, which ends
// the job (result.Outcome).
func (p *resolver) parted() {
	heard := slices.DeleteFunc(slices.Clone(p.Events), func(e LinkEvent) bool { return !e.Heard })
	down := map[int]bool{}
	for _, e := range heard {
		if !e.Up {
			down[e.Link] = true
		}
	}
	if len(down) == 0 {
		return
	}
	err := p.Graph.CheckConnected(down)
	if err == nil {
		return // not even with all of them down
	}
	slices.SortStableFunc(heard, func(a, b LinkEvent) int {
		return cmp.Compare(a.At+a.Converge, b.At+b.Converge)
	})
	clear(down)
	seen := map[string]bool{}
	for i, e := range heard {
		if down[e.Link] = true; e.Up {
			delete(down, e.Link)
		}
		if i+1 < len(heard) && heard[i+1].At+heard[i+1].Converge == e.At+e.Converge {
			continue // more is known at the same moment
		}
		if set := fmt.Sprint(down); !seen[set] { // fmt sorts maps
			if seen[set] = true; len(seen) <= maxCuts {
				err = p.Graph.CheckConnected(down)
			} // else by all of them together
			if err != nil {
				p.note("from %v on, as far as routes know, %v: who waits for those longer than the "+
					"transport's retries take ends the job", e.At+e.Converge, err)
				return
			}
		}
	}
}

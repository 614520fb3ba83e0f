package scenario

import (
	"fmt"
	"slices"

	"railyard/internal/field"
	"railyard/unit"
)

// change is the state set at a time; a nil value does not change.
type change struct {
	what      *thing
	at, until unit.Time // until: the end of the period in which no other change of the target may occur
	detect    *unit.Time
	converge  unit.Time // behind that
	up        *bool
	kinds     []eventKind // kinds of its event
	key, of   string      // key, and the target's state before the change
	later     bool        // whether it is a repetition, after the first time of its event
}

var yes, no = true, false

// timing is the delays until ends and routes learn of a change.
func (p *resolver) timing(c *change, detect, converge *unit.Time) {
	r := &p.File.Fabric.Routing
	if c.detect = r.Detect; detect != nil {
		c.detect = detect
	}
	if c.converge = r.Converge; converge != nil {
		c.converge = *converge
	}
}

func (p *resolver) failures(t *things) (changes []change, err error) {
	last := map[int]int{} // by link: its previous failure
	back := map[int]unit.Time{}
	for i, f := range p.File.Failures {
		name := fmt.Sprintf("failures[%d]", i)
		th, err := t.link(name+".link", f.Link)
		if err != nil {
			return nil, err
		}
		if f.Until > 0 && f.Until <= f.At {
			return nil, field.New(name+".until", "%v is not after at, %v; 0s: the link stays broken", f.Until, f.At)
		}
		if k, again := last[th.links[0]]; again {
			if e := &p.File.Failures[k]; e.Until == 0 || f.At < back[th.links[0]] {
				return nil, field.New(name+".link", "%s is a port of the cable that failures[%d] breaks; before it breaks again it must be back (until) and converged", f.Link, k)
			}
		}
		c := change{what: th, at: f.At, up: &no, key: name}
		p.timing(&c, nil, f.Converge)
		last[th.links[0]] = i
		back[th.links[0]] = f.Until + c.known()
		if changes = append(changes, c); f.Until > 0 {
			c.at, c.up, c.later = f.Until, &yes, true
			changes = append(changes, c)
		}
	}
	return changes, nil
}

// known returns the delay until all routes have converged after a change.
func (c *change) known() unit.Time {
	if c.detect != nil {
		return *c.detect + c.converge
	}
	return c.converge
}

// maxMoments limits the changes of all events, cable by cable.
const maxMoments = 1_000_000

// changes reads the events.
func (p *resolver) changes(t *things) (changes []change, err error) {
	moments := 0
	for i := range p.File.Events {
		e, name := &p.File.Events[i], fmt.Sprintf("events[%d]", i)
		if aside, err := p.aside(name, e); err != nil {
			return nil, err
		} else if aside {
			continue
		}
		th, err := t.find(name, e)
		if err != nil {
			return nil, err
		}
		if err := p.accepts(name, e, th); err != nil {
			return nil, err
		}
		c := change{what: th, at: e.At, until: e.At, kinds: e.kinds(), key: name}
		p.timing(&c, e.Detect, e.Converge)
		more := e.expand(c)
		if moments += len(more) * len(th.links); moments > maxMoments {
			return nil, field.New(name, "all events up to here make more than %d changes of cables", maxMoments)
		}
		changes = append(changes, more...)
	}
	return changes, nil
}

// aside resolves an event of a kind that changes no component, and reports whether it is one.
func (p *resolver) aside(key string, e *Event) (bool, error) {
	for _, k := range e.kinds() {
		if k, ok := k.(asideKind); ok && len(asks(k, true)) > 0 {
			return true, k.resolve(p, key, e)
		}
	}
	return false, nil
}

// longestRun is the latest time of an event.
const longestRun = 86400 * unit.Second

// apart rejects overlapping changes of one target: two at one time, one while it flaps or boots, any of a server
// that has failed.
func (p *resolver) apart(changes []change) error {
	of := map[string][]*change{}
	gone := map[int]*change{} // by node
	for i := range changes {
		c := &changes[i]
		key := c.what.key()
		if c.what.kind == "link" {
			key = fmt.Sprint("link ", c.what.links[0])
		}
		if c.what.kind == "server" {
			gone[c.what.node] = c
		}
		for _, o := range of[key] {
			if o.key == c.key || c.at > max(o.at, o.until) || o.at > max(c.at, c.until) {
				continue
			}
			if c.at == o.at && c.of == "" && o.of == "" {
				what := "that cable"
				if c.what.kind != "link" {
					what = c.what.String()
				}
				return field.New(c.key+".at", "%s changes %s at %v already", o.key, what, c.at)
			}
			if o.of == "" || c.of != "" && c.until < o.until {
				o, c = c, o
			}
			return p.during(c, o)
		}
		of[key] = append(of[key], c)
	}
	for i := range changes {
		c := &changes[i]
		if g := gone[c.what.node]; g != nil && c.what.kind == "nic" && c.at >= g.at {
			return field.New(c.key+".at", "%s is gone since %v (%s)", g.what, g.at, g.key)
		}
	}
	return nil
}

// during refuses a change while another is in progress.
func (p *resolver) during(c, other *change) error {
	until := fmt.Sprintf(" until %v", other.until)
	if other.until == unit.Never {
		until = " for good"
	}
	return field.New(c.key+".at", "at %v %s %s%s (%s)", c.at, other.what, other.of, until, other.key)
}

// held is the set of targets that keep a link down.
type held map[int][]string

// set adds or removes a target, and returns whether none is left.
func (h held) set(link int, key string, up bool) bool {
	if h[link] = slices.DeleteFunc(h[link], func(k string) bool { return k == key }); !up {
		h[link] = append(h[link], key)
	}
	return len(h[link]) == 0
}

// inTime applies the changes in order of time. It determines the state of each link after each of them, and when
// routes learn of it. A cable works if no component of which it is part is down. A change without effect becomes a
// note and no event.
func (p *resolver) inTime(changes []change) error {
	state, holders := map[int]LinkEvent{}, held{}
	type since struct {
		at  unit.Time
		key string
	}
	down := map[string]since{} // targets other than links
	for i := range changes {
		c := &changes[i]
		if c.up != nil && c.what.kind != "link" {
			was, is := down[c.what.key()]
			if *c.up != is && *c.up {
				return field.New(c.key+".up", "%s is up already at %v", c.what, c.at)
			}
			if is && !*c.up {
				return field.New(c.key+".at", "%s is down already since %v (%s)", c.what, was.at, was.key)
			}
			if delete(down, c.what.key()); !*c.up {
				down[c.what.key()] = since{c.at, c.key}
			}
		}
		changed := false
		if c.what.kind == "nvswitch" {
			if err := p.chipTurns(c); err != nil {
				return err
			}
			changed = true
		}
		for _, k := range c.kinds {
			if k, ok := k.(incidentKind); ok && len(asks(k, true)) > 0 {
				more := k.incidents(p, c.what, c.at)
				p.Incidents, changed = append(p.Incidents, more...), changed || len(more) > 0
			}
		}
		for k, link := range c.what.links {
			s, was := p.after(c, k, state, holders)
			if s.LinkState == was.LinkState {
				continue
			}
			state[link], changed = s, true
			p.Events = append(p.Events, s)
		}
		if !changed && c.what.kind == "circuit" {
			continue // links of a failed component
		}
		if !changed && c.what.kind == "link" {
			p.note("%s changes nothing: its cable is so at %v already", c.key, c.at)
		} else if !changed {
			p.note("%s changes nothing: %s is so at %v already", c.key, c.what, c.at)
		}
	}
	p.hear()
	return nil
}

// after returns the state of one of the links after a change, and its previous state.
func (p *resolver) after(c *change, i int, state map[int]LinkEvent, holders held) (s, was LinkEvent) {
	link := c.what.links[i]
	l := &p.Graph.Links[link]
	s, ok := state[link]
	if !ok {
		s = LinkEvent{Link: link, LinkState: AsBuilt(l)}
	}
	was = s
	s.At, s.Converge, s.Toggles, s.By = c.at, c.known(), false, c.what.by()
	if s.Detect, s.Noticed = 0, c.detect != nil; s.Noticed {
		s.Detect = *c.detect
	}
	if c.up != nil {
		key := c.what.key()
		if c.what.kind == "link" {
			key = "link"
		}
		up := holders.set(link, key, *c.up)
		s.Toggles, s.Up = s.Up != up, up
	}
	for _, k := range c.kinds {
		if k, ok := k.(linkKind); ok {
			k.alter(&s.LinkState, l, c.what.near[i])
		}
	}
	return s, was
}

// hear finds the events that link ends and routes detect: those of sufficient duration.
func (p *resolver) hear() {
	next := map[int]unit.Time{} // by link: time of its next failure or recovery
	for i := len(p.Events) - 1; i >= 0; i-- {
		e := &p.Events[i]
		if !e.Toggles {
			e.Noticed = false
			continue
		}
		again, ok := next[e.Link]
		e.Heard = !ok || e.At+e.Converge < again
		e.Noticed = e.Noticed && !e.Up && e.Detect < e.Converge && (!ok || e.At+e.Detect < again)
		next[e.Link] = e.At
	}
}

package scenario

import (
	"fmt"
	"slices"

	"railyard/internal/field"
	"railyard/unit"
)

// change is what a scenario says of a moment: nil leaves as it was.
type change struct {
	what      *thing
	at, until unit.Time // until: what else of the same thing may not come before
	detect    *unit.Time
	converge  unit.Time // behind that
	up, storm *bool
	rate      *unit.Rate
	share     *float64
	direction string
	ber       *float64
	key, of   string // of what asks for it, and what that does to the thing until then
	later     bool   // not the first moment of its event
}

var yes, no = true, false

// timing is when ends and routes come to know of something.
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
	last := map[int]int{} // by link: its failure before
	back := map[int]unit.Time{}
	for i, f := range p.File.Failures {
		name := fmt.Sprintf("failures[%d]", i)
		th, err := t.link(name+".link", f.Link)
		if err != nil {
			return nil, err
		}
		if f.Until > 0 && f.Until <= f.At {
			return nil, field.New(name+".until", "%v is not after at, %v; 0s: the link stays broken",
				f.Until, f.At)
		}
		if k, again := last[th.links[0]]; again {
			if e := &p.File.Failures[k]; e.Until == 0 || f.At < back[th.links[0]] {
				return nil, field.New(name+".link", "%s is a port of the cable that failures[%d] breaks; "+
					"before it breaks again it must be back (until) and converged", f.Link, k)
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

// known is how long all routes take to know of a change.
func (c *change) known() unit.Time {
	if c.detect != nil {
		return *c.detect + c.converge
	}
	return c.converge
}

// maxMoments bounds what events come to, cable by cable.
const maxMoments = 1_000_000

// changes reads the events.
func (p *resolver) changes(t *things) (changes []change, err error) {
	moments := 0
	for i := range p.File.Events {
		e, name := &p.File.Events[i], fmt.Sprintf("events[%d]", i)
		if e.Stuck != nil {
			if err := p.jammed(name, e); err != nil {
				return nil, err
			}
			continue
		}
		th, err := t.find(name, e)
		if err != nil {
			return nil, err
		}
		if err := p.accepts(name, e, th); err != nil {
			return nil, err
		}
		c := change{what: th, at: e.At, until: e.At, up: e.Up, storm: e.Storm, rate: e.Rate, share: e.Share,
			direction: e.Direction, ber: e.BER, key: name}
		p.timing(&c, e.Detect, e.Converge)
		more := c.expand(e)
		if moments += len(more) * len(th.links); moments > maxMoments {
			return nil, field.New(name, "all events up to here come to more than %d changes of cables",
				maxMoments)
		}
		changes = append(changes, more...)
	}
	return changes, nil
}

// expand makes moments of an event that is a coming and going.
func (c change) expand(e *Event) (all []change) {
	one := func(at unit.Time, up *bool) {
		m := c
		m.at, m.up, m.later = at, up, len(all) > 0
		if m.later {
			m.rate, m.share, m.ber, m.storm = nil, nil, nil, nil
		}
		all = append(all, m)
	}
	switch {
	case e.Flap != nil:
		duty := e.Flap.Duty
		if duty == 0 {
			duty = 50
		}
		down := max(1, min(e.Flap.Period-1, unit.Time(float64(e.Flap.Period)*duty/100)))
		c.until = e.At + unit.Time(e.Flap.Count-1)*e.Flap.Period + down
		c.of = "flaps"
		for k := range e.Flap.Count {
			at := e.At + unit.Time(k)*e.Flap.Period
			one(at, &no)
			one(at+down, &yes)
		}
	case e.Boot != nil:
		c.until, c.of = e.At+*e.Boot, "boots"
		one(e.At, &no)
		one(c.until, &yes)
	case c.what.kind == "server":
		c.until, c.of = unit.Never, "is gone"
		one(e.At, c.up)
	default:
		one(e.At, c.up)
	}
	return all
}

// accepts refuses what a thing cannot go through.
func (p *resolver) accepts(name string, e *Event, th *thing) error {
	comes := 0
	for _, said := range []bool{e.Up != nil, e.Flap != nil, e.Boot != nil} {
		if said {
			comes++
		}
	}
	changes := e.Rate != nil || e.Share != nil || e.BER != nil || e.Storm != nil
	switch {
	case comes == 0 && !changes:
		return field.New(name, "changes nothing; accepted: up, flap, boot, storm, rate, rate_share and "+
			"bit_error_rate, one or more")
	case comes > 1:
		return field.New(name, "has several of up, flap and boot; accepted: one of them")
	case e.Rate != nil && e.Share != nil:
		return field.New(name+".rate_share", "is given beside rate; accepted: one of them")
	case e.Direction != "" && e.Direction != "both" && e.Rate == nil && e.Share == nil:
		return field.New(name+".direction", "is that of a new rate, and there is none")
	case e.Direction != "" && e.Direction != "both" && p.Scheduled != nil:
		return field.New(name+".direction", "cables of a scheduled fabric have one rate in both directions")
	case e.Boot != nil && th.kind != "switch" && th.kind != "ocs":
		return field.New(name+".boot", "only switches boot, not %s", th)
	case e.Storm != nil && th.kind != "nic":
		return field.New(name+".storm", "only a NIC pauses for ever, not %s; name a nic", th)
	case e.Storm != nil && !p.pauses():
		return field.New(name+".storm", "no class is lossless here: nobody heeds pauses")
	case th.kind == "server" && (e.Up == nil || *e.Up || changes):
		return field.New(name, "a server can only go down, for good (up: false): its processes do not come "+
			"back in a run; for less name its nic")
	}
	if e.Flap != nil {
		if end := float64(e.At) + float64(e.Flap.Period)*float64(e.Flap.Count); end > float64(longestRun) {
			return field.New(name+".flap", "goes on beyond %v", longestRun)
		}
	}
	if e.Rate == nil {
		return nil
	}
	for i, l := range th.links {
		if cable := p.Graph.Links[l].Rate; *e.Rate > cable {
			return field.New(name+".rate", "%v is above the %v of the cable at %s",
				*e.Rate, cable, p.Graph.End(l, th.near[i]))
		}
	}
	return nil
}

// pauses reports whether there are classes that pauses protect.
func (p *resolver) pauses() bool {
	for c := range p.Spec.Queues {
		if p.Spec.Queues[c].Lossless {
			return true
		}
	}
	return false
}

// longestRun is the last moment that an event may name.
const longestRun = 86400 * unit.Second

// apart refuses changes of one thing that overlap: two at one moment, one while it flaps or boots, any
// of a server that is gone.
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

// during refuses a change while another goes on.
func (p *resolver) during(c, other *change) error {
	until := fmt.Sprintf(" until %v", other.until)
	if other.until == unit.Never {
		until = " for good"
	}
	return field.New(c.key+".at", "at %v %s %s%s (%s)", c.at, other.what, other.of, until, other.key)
}

// held is who holds a cable down.
type held map[int][]string

// set lets a thing hold a cable down, or no more, and returns whether nobody does.
func (h held) set(link int, key string, up bool) bool {
	if h[link] = slices.DeleteFunc(h[link], func(k string) bool { return k == key }); !up {
		h[link] = append(h[link], key)
	}
	return len(h[link]) == 0
}

// inTime plays changes through in the order of time: what each cable is after each of them, and
// what routes come to know. A cable works when nothing that it is part of is down. What leaves all as it is
// becomes a note and no event.
func (p *resolver) inTime(changes []change) error {
	state, holders := map[int]LinkEvent{}, held{}
	type since struct {
		at  unit.Time
		key string
	}
	down := map[string]since{} // things beside cables
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
		changed := p.others(c)
		for k, link := range c.what.links {
			s, was := p.after(c, k, state, holders)
			if !s.Toggles && s.Rate == was.Rate && s.Back == was.Back && s.BER == was.BER {
				continue
			}
			state[link], changed = s, true
			p.Events = append(p.Events, s)
		}
		if !changed && c.what.kind == "circuit" {
			continue // of what is down as a whole
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

// storm takes down that a NIC begins to pause for ever, or ends, if it does not already.
func (p *resolver) storm(nic int, c *change) bool {
	was := false
	for _, s := range p.Storms {
		if s.NIC == nic {
			was = s.On
		}
	}
	if was != *c.storm {
		p.Storms = append(p.Storms, Storm{NIC: nic, At: c.at, On: *c.storm})
	}
	return was != *c.storm
}

// others takes down what a change is to others than cables.
func (p *resolver) others(c *change) (some bool) {
	for i := 0; c.storm != nil && i < max(len(c.what.ports), 1); i++ {
		nic := c.what.nic
		if len(c.what.ports) > 0 {
			nic = c.what.ports[i]
		}
		some = p.storm(nic, c) || some
	}
	if c.what.kind == "server" {
		p.Deaths = append(p.Deaths, Death{Host: slices.Index(p.Graph.Hosts, c.what.node), At: c.at})
		some = true
	}
	return some
}

// after is what one of the cables is behind a change, and what it was.
func (p *resolver) after(c *change, k int, state map[int]LinkEvent, holders held) (s, was LinkEvent) {
	link := c.what.links[k]
	l := &p.Graph.Links[link]
	s, ok := state[link]
	if !ok {
		s = LinkEvent{Link: link, Up: true, Rate: l.Rate, Back: l.Rate, BER: l.BER}
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
	rate := c.rate
	if c.share != nil {
		r := max(1, unit.Rate(float64(l.Rate)**c.share))
		rate = &r
	}
	if rate != nil {
		out, in := &s.Rate, &s.Back
		if c.what.near[k] != l.A {
			out, in = in, out
		}
		if c.direction != "in" {
			*out = *rate
		}
		if c.direction != "out" {
			*in = *rate
		}
	}
	if c.ber != nil {
		s.BER = *c.ber
	}
	return s, was
}

// hear finds out of which events the ends of cables and the routes come to know: those that last.
func (p *resolver) hear() {
	next := map[int]unit.Time{} // by link: when it breaks or comes back next
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

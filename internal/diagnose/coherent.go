package diagnose

import (
	"fmt"
	"slices"

	"railyard/internal/counters"
	"railyard/internal/field"
	"railyard/unit"
)

// coherence is the evidence whether two snapshots are of one device: the change of each counter between them.
type coherence struct {
	both     int      // devices with two
	contrary []string // their counters moved forward and backward at the same time, as those of two devices do
	turned   []string // all that moved ran backward, by little, and no clock explains it
	moved    int      // some counter did
	example  string
	at, late *counters.Snapshot // the snapshots of the first of contrary and of turned
}

// large is a counter value that takes long to reach: a cleared counter is below it.
const large = 1_000_000

// look processes a device's snapshots.
func (c *coherence) look(name string, s *span) error {
	if err := oneSystem(name, s.early, s.late); err != nil {
		return err
	}
	if !s.two() {
		return nil
	}
	c.both++
	cleared, contrary := 0, 0 // ports
	back, on, near := 0, 0, true
	example, at := "", (*counters.Snapshot)(nil)
	all := s.latest()
	for _, now := range all {
		was := s.was(now)
		if was == nil {
			continue
		}
		for k := range now.Ports {
			p := &now.Ports[k]
			old := was.Find(p.Name)
			if old == nil {
				continue
			}
			b, o, text, close := moved(old, p)
			back, on, near = back+b, on+o, near && close
			switch {
			case b > 0 && o > 0:
				if contrary++; contrary == 1 {
					example, at = fmt.Sprintf("%s %s: %s", name, p.Name, text), now.Snapshot
				}
			case b > 0:
				cleared++
			}
		}
	}
	from, to := s.clocks()
	switch {
	case contrary > 0 && contrary >= cleared:
		c.contrary = append(c.contrary, name)
		if c.at == nil {
			c.example, c.at = example, at
		}
	case back > 1 && on == 0 && near && !(from.Is && to.Is):
		c.turned = append(c.turned, name)
		if c.late == nil {
			c.late = all[0].Snapshot
		}
	}
	if back+on > 0 {
		c.moved++
	}
	return nil
}

// moved counts large counters of a port that ran backward without a wrap, and others that ran forward. near reports
// whether the former did by less than half.
func moved(was, is *counters.Port) (back, on int, example string, near bool) {
	var old []*counters.Count
	was.Each(func(_ string, c *counters.Count, _ bool) { old = append(old, c) })
	i, b, o := 0, "", ""
	near = true
	is.Each(func(name string, c *counters.Count, gauge bool) {
		w := old[i]
		i++
		switch {
		case gauge || !c.Is || !w.Is || w.V < large || c.V == w.V:
		case c.V > w.V:
			on++
			o = fmt.Sprintf("%s went from %d to %d", name, w.V, c.V)
		case c.Bits == 32 && w.V >= 1<<31 && c.V < 1<<31 || w.V>>63 == 1 && c.V>>63 == 0: // a wrap
		default:
			back++
			b = fmt.Sprintf("%s from %d back to %d", name, w.V, c.V)
			near = near && c.V > w.V/2
		}
	})
	return back, on, o + " while " + b, near
}

// oneSystem refuses outputs of two operating systems under one name.
func oneSystem(name string, early, late []*moment) error {
	var first *counters.Snapshot
	system := ""
	for _, m := range slices.Concat(early, late) {
		for i := range m.parts {
			s := &m.parts[i]
			f := counters.Find(s.Format)
			if f == nil || f.System == "" || f.System == "host" || s.Kind == counters.Host {
				continue
			}
			if system == "" {
				first, system = s, f.System
			} else if f.System != system {
				return &field.Error{File: s.File, Line: s.Line, Col: 1, Msg: fmt.Sprintf(
					"is output of %s, and %s:%d is output of %s, both of device %s: a switch runs one system; pass the outputs of one switch, or of one run", f.System,
					first.File, first.Line, system, name)}
			}
		}
	}
	return nil
}

// check refuses two snapshots that cannot be of the same devices in this order, if that holds for most.
func (c *coherence) check() error {
	e := &field.Error{}
	switch {
	case 2*len(c.contrary) > c.both:
		e.File, e.Msg = c.at.File, fmt.Sprintf("is not a later snapshot of the earlier one: on %s of %s some counters grew and others shrank (%s), so they belong to two devices or two runs", some(c.contrary), unit.Plural(c.both, "device"), c.example)
		return e
	case c.moved > 0 && len(c.turned) == c.moved && len(c.contrary) == 0:
		e.File, e.Msg = c.late.File, fmt.Sprintf("is earlier than the first snapshot: every changed counter of %s shrank by less than half; swap the snapshots, or run `date +%%s.%%N` before each round of commands to record their order", some(c.turned))
		return e
	}
	return nil
}

// doubts reports whether a device's two snapshots contradict each other, if those of most do not.
func (c *coherence) doubts(name string) bool { return slices.Contains(c.contrary, name) }

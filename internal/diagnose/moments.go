package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"railyard/internal/counters"
)

// moment is a device's outputs at one time: of one round of commands.
type moment struct {
	at    counters.Moment
	parts []counters.Snapshot
	typed map[output][]string // commands that printed it
	order int
}

// output is a port in a format.
type output struct{ format, port string }

// shows reports whether the moment has a port in a format by the same command. Without a prompt the command is not
// known, and may be the same.
func (m *moment) shows(s *counters.Snapshot, port string) bool {
	return slices.ContainsFunc(m.typed[output{s.Format, port}], func(c string) bool {
		return c == "" || s.Command == "" || sameCommand(c, s.Command)
	})
}

// repeats reports whether an output begins another moment: the same command has already printed one of its ports or, if
// the clock was read since, any command of that format has. Commands that share a format, as show interfaces and show
// interfaces ethernet3, are of one round.
func (m *moment) repeats(s *counters.Snapshot, clock bool) bool {
	return slices.ContainsFunc(s.Ports, func(p counters.Port) bool {
		return clock && m.typed[output{s.Format, p.Name}] != nil || m.shows(s, p.Name)
	})
}

// sameCommand compares commands word by word; words may be shortened: sh int is show interface.
func sameCommand(a, b string) bool {
	words := func(s string) []string { return strings.Fields(strings.TrimPrefix(s, "sudo ")) }
	return slices.EqualFunc(words(a), words(b), func(x, y string) bool {
		return strings.HasPrefix(x, y) || strings.HasPrefix(y, x)
	})
}

func (m *moment) add(s *counters.Snapshot) {
	if s.At.Is && (!m.at.Is || len(s.Ports) == 0) {
		m.at = s.At
	}
	for i := range s.Ports {
		k := output{s.Format, s.Ports[i].Name}
		m.typed[k] = append(m.typed[k], s.Command)
	}
	m.parts = append(m.parts, *s)
}

// rounds sorts outputs by device, and those of one device into moments: by the clock if all show it, else in their
// order. A repeated command begins the next moment, with the clock that was read last. A clock alone begins none: it
// may be read before each command, or behind a round.
func rounds(all []counters.Snapshot) (names []string, of map[string][]*moment) {
	of = map[string][]*moment{}
	clocks := map[string]*counters.Snapshot{} // read, and not yet assigned to a moment
	for i := range all {
		s := &all[i]
		l, clock := of[s.Device], clocks[s.Device]
		if l == nil {
			names = append(names, s.Device)
			l = []*moment{{typed: map[output][]string{}}}
		}
		last := l[len(l)-1]
		switch {
		case len(s.Ports) == 0 && s.At.Is && last.at.Is && len(last.typed) > 0:
			clocks[s.Device] = s
		case last.repeats(s, clock != nil):
			last = &moment{typed: map[output][]string{}, order: len(l)}
			if clock != nil {
				last.add(clock)
				delete(clocks, s.Device)
			}
			l = append(l, last)
			last.add(s)
		default:
			last.add(s)
		}
		of[s.Device] = l
	}
	for _, l := range of {
		if slices.ContainsFunc(l, func(m *moment) bool { return !m.at.Is }) {
			continue
		}
		slices.SortStableFunc(l, func(a, b *moment) int { return cmp.Compare(a.at.Sub(b.at), 0) })
		for i, m := range l {
			m.order = i
		}
	}
	return names, of
}

// span is the time between a device's early and late moments; they are equal if one set of outputs has both, and then
// each output is compared with those of the moments before its own.
type span struct {
	early, late []*moment
	one         bool
	shown       map[output][]shown // in early, in order
}

// shown is a port of an output.
type shown struct {
	order int
	of    *counters.Snapshot
	port  *counters.Port
}

// newSpan returns the span of a device; early is nil if late has all moments.
func newSpan(early, late []*moment) *span {
	s := &span{early: early, late: late, one: early == nil, shown: map[output][]shown{}}
	if s.one {
		s.early = late[:len(late)-1]
	}
	for _, m := range s.early {
		for i := range m.parts {
			of := &m.parts[i]
			for k := range of.Ports {
				at := output{of.Format, of.Ports[k].Name}
				s.shown[at] = append(s.shown[at], shown{m.order, of, &of.Ports[k]})
			}
		}
	}
	return s
}

// two reports whether there are two moments.
func (s *span) two() bool { return len(s.early) > 0 }

// clocks are the first time of the early moments and the last time of the late ones.
func (s *span) clocks() (from, to counters.Moment) {
	for _, m := range slices.Backward(s.early) {
		if m.at.Is {
			from = m.at
		}
	}
	for _, m := range s.late {
		if m.at.Is {
			to = m.at
		}
	}
	return from, to
}

// latest is an output of the late moments, restricted to ports that no later one shows by the same command.
type latest struct {
	*counters.Snapshot
	of  *moment
	old bool // later outputs differ
}

// latest returns the outputs of the last moment, then those that only earlier moments have.
func (s *span) latest() (out []latest) {
	for k, m := range slices.Backward(s.late) {
		for i := range m.parts {
			p := latest{&m.parts[i], m, k < len(s.late)-1}
			if p.old {
				left := m.parts[i]
				left.Ports = slices.DeleteFunc(slices.Clone(left.Ports), func(x counters.Port) bool {
					return slices.ContainsFunc(s.late[k+1:], func(n *moment) bool { return n.shows(&left, x.Name) })
				})
				if p.Snapshot = &left; len(left.Ports) == 0 {
					continue
				}
			}
			out = append(out, p)
		}
	}
	return out
}

// was returns the first value of each counter in earlier outputs of the same format, for the ports of an output. It is
// nil if they have none of them.
func (s *span) was(now latest) *counters.Snapshot {
	var out *counters.Snapshot
	for i := range now.Ports {
		all := s.shown[output{now.Format, now.Ports[i].Name}]
		if s.one {
			all = slices.DeleteFunc(slices.Clone(all), func(x shown) bool { return x.order >= now.of.order })
		}
		if len(all) == 0 {
			continue
		}
		if out == nil {
			of := *all[0].of
			out = &of
			out.Ports = make([]counters.Port, 0, len(now.Ports))
		}
		p := *all[len(all)-1].port
		for _, x := range slices.Backward(all[:len(all)-1]) {
			p.Take(x.port)
		}
		out.Ports = append(out.Ports, p)
	}
	return out
}

// read combines the counters of a device's moments. between reports whether some device has two moments: then values of
// devices with one cover all time and have no difference.
func (f *Fabric) read(name string, s *span, between bool) error {
	d := f.device(name)
	d.Seen, d.Two, d.Once = true, s.two(), between && !s.two()
	if from, to := s.clocks(); d.Two && from.Is && to.Is {
		d.Over, d.stamped = to.Sub(from), true
	}
	d.netdev = map[string]string{}
	all := s.latest()
	for _, now := range all {
		for k := range now.Ports {
			if p := &now.Ports[k]; p.NetDev != "" {
				d.netdev[p.Name] = p.NetDev
			}
		}
	}
	for _, now := range all {
		f.describe(d, now.Snapshot)
		was := s.was(now)
		if was == nil && !between {
			f.attach(d, nil, now, now.Snapshot)
			continue
		}
		if was == nil {
			if d.Two && len(now.Ports) > 0 {
				f.note("%s: %s is only in the %s snapshot and has no difference", name, now.Format,
					map[bool]string{false: "second", true: "first"}[now.old])
			}
			grew := *now.Snapshot
			grew.Ports = slices.Clone(now.Ports)
			for k := range grew.Ports {
				grew.Ports[k].Uncount()
			}
			f.attach(d, nil, now, &grew)
			continue
		}
		diff, err := counters.Delta(*was, *now.Snapshot)
		if err != nil {
			return err
		}
		for _, n := range diff.Notes {
			f.note("%s:%d: %s", n.File, n.Line, n.Text)
		}
		f.attach(d, was, now, &diff.Snapshot)
	}
	f.recall(d, s.early)
	f.vanished(name, s, all)
	if d.Two {
		f.lacking(d, s)
	}
	return nil
}

// recall adds the early moments to the ports of a device, and its kind if the late ones do not show it.
func (f *Fabric) recall(d *Device, early []*moment) {
	for _, m := range slices.Backward(early) {
		for i := range m.parts {
			if d.Kind == Unknown {
				f.describe(d, &m.parts[i])
			}
			for k := range m.parts[i].Ports {
				p := &m.parts[i].Ports[k]
				to := d.port(cmp.Or(d.netdev[p.Name], p.Name))
				to.before = append(to.before, p)
			}
		}
	}
}

// vanished notes ports that only the early moments have in a format that the late ones have.
func (f *Fabric) vanished(name string, s *span, late []latest) {
	formats, now := map[string]bool{}, map[output]bool{}
	for _, l := range late {
		formats[l.Format] = true
		for i := range l.Ports {
			now[output{l.Format, l.Ports[i].Name}] = true
		}
	}
	for _, m := range s.early {
		for i := range m.parts {
			for k := range m.parts[i].Ports {
				p, of := &m.parts[i].Ports[k], &m.parts[i]
				if formats[of.Format] && !now[output{of.Format, p.Name}] {
					f.note("%s:%d: %s %s is not in the second snapshot", of.File, p.Line, name, p.Name)
				}
			}
		}
	}
}

// noteMoments lists the devices with one moment only, or with two without a time, or with the same twice.
func (f *Fabric) noteMoments() {
	var once, timeless, twice []string
	differs := false
	two := slices.ContainsFunc(f.Devices, func(d *Device) bool { return d.Two })
	for _, d := range f.Devices {
		switch {
		case d.Seen && !d.Two:
			once = append(once, d.Name)
		case d.Seen && d.stamped && d.Over <= 0:
			twice = append(twice, d.Name)
		case d.Seen && d.Over <= 0:
			timeless = append(timeless, d.Name)
		}
		differs = differs || d.Two && (d.Over > 0 || d.moved())
	}
	if two && !differs {
		f.open("both snapshots have identical counters: take the second one later")
		return
	}
	if len(twice) > 0 {
		f.note("%s: the same time stamp in both snapshots, so no rates per second", some(twice))
	}
	if len(timeless) > 0 {
		f.note("%s: no time stamps, so no rates per second (run `date +%%s.%%N`, or `show clock` of NX-OS and EOS, before each round of commands)", some(timeless))
	}
	if len(once) > 0 && two {
		f.note("%s: one snapshot only, while other devices have two; its counters are not used", some(once))
	} else if len(once) > 0 {
		f.note("%s: one snapshot only: events may be long past; rates and current changes are unknown", some(once))
	}
}

// moved reports whether a counter of a device grew between its moments.
func (d *Device) moved() (some bool) {
	for _, p := range d.Ports {
		for _, x := range p.parts {
			x.grew.Each(func(_ string, c *counters.Count, gauge bool) { some = some || !gauge && c.Is && c.V > 0 })
		}
	}
	return some
}

// describe stores an output's description of the device.
func (f *Fabric) describe(d *Device, s *counters.Snapshot) {
	fm := counters.Find(s.Format)
	switch {
	case fm != nil && fm.System == "": // a clock, which all devices have
		return
	case s.Kind == counters.Host:
		d.Kind = Host
	case d.Kind == Unknown:
		d.Kind = Switch
	}
	if fm != nil && d.System == "" {
		d.System = fm.System
	}
}

// attach adds an output's data to ports. The counters of an RDMA device belong to its interface.
func (f *Fabric) attach(d *Device, was *counters.Snapshot, now latest, grew *counters.Snapshot) {
	for i := range now.Ports {
		p := &now.Ports[i]
		name := p.Name
		if to := d.netdev[name]; to != "" {
			name = to
		}
		x := part{file: now.File, now: p, grew: &grew.Ports[i], old: now.old}
		if was != nil {
			x.was = was.Find(p.Name)
		}
		to := d.port(name)
		to.parts = append(to.parts, x)
	}
}

func (f *Fabric) note(format string, args ...any) { once(&f.Notes, fmt.Sprintf(format, args...)) }

// open adds what cannot be decided.
func (f *Fabric) open(format string, args ...any) { once(&f.Open, fmt.Sprintf(format, args...)) }

func once(to *[]string, s string) {
	if !slices.Contains(*to, s) {
		*to = append(*to, s)
	}
}

package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/internal/counters"
)

// moment is what one device said at one time: the outputs of one round of commands.
type moment struct {
	at    counters.Moment
	parts []counters.Snapshot
	seen  map[[2]string]bool // format and port that are in it
	order int
}

// takes reports whether an output can be of this moment: none of its ports has been shown
// in its format before, and the clock was not read twice.
func (m *moment) takes(s *counters.Snapshot) bool {
	if len(s.Ports) == 0 && s.At.Is && m.at.Is {
		return false
	}
	for i := range s.Ports {
		if m.seen[[2]string{s.Format, s.Ports[i].Name}] {
			return false
		}
	}
	return true
}

func (m *moment) add(s *counters.Snapshot) {
	if s.At.Is && (!m.at.Is || len(s.Ports) == 0) {
		m.at = s.At
	}
	for i := range s.Ports {
		m.seen[[2]string{s.Format, s.Ports[i].Name}] = true
	}
	m.parts = append(m.parts, *s)
}

// rounds sorts outputs by device, and those of one device into moments: a command that is
// typed again begins the next one.
func rounds(all []counters.Snapshot) (names []string, of map[string][]*moment) {
	of = map[string][]*moment{}
	for i := range all {
		s := &all[i]
		l := of[s.Device]
		if l == nil {
			names = append(names, s.Device)
		}
		if n := len(l); n == 0 || !l[n-1].takes(s) {
			l = append(l, &moment{seen: map[[2]string]bool{}, order: n})
		}
		l[len(l)-1].add(s)
		of[s.Device] = l
	}
	return names, of
}

// ends are the first and the last moment of a device, by the clock where all of them say
// it, else as they came. Both are the same where there is only one.
func ends(l []*moment) (first, last *moment) {
	timed := !slices.ContainsFunc(l, func(m *moment) bool { return !m.at.Is })
	if timed {
		l = slices.Clone(l)
		slices.SortStableFunc(l, func(a, b *moment) int { return cmp.Compare(a.at.Sub(b.at), 0) })
	}
	return l[0], l[len(l)-1]
}

// read puts the counters of a device's moments side by side. Where some device has two, between says so: the
// values of those that have one are of all time and have no difference.
func (f *Fabric) read(name string, first, last *moment, between bool) error {
	d := f.device(name)
	d.Seen, d.Two, d.Once = true, first != last, between && first == last
	if d.Two && first.at.Is && last.at.Is {
		d.Over = last.at.Sub(first.at)
	}
	matched := map[int]bool{}
	d.netdev = map[string]string{}
	for i := range last.parts {
		for k := range last.parts[i].Ports {
			if p := &last.parts[i].Ports[k]; p.NetDev != "" {
				d.netdev[p.Name] = p.NetDev
			}
		}
	}
	for i := range last.parts {
		now := &last.parts[i]
		f.describe(d, now)
		was := partner(first, now, matched, d.Two)
		if was == nil && !between {
			f.attach(d, nil, now, now)
			continue
		}
		if was == nil {
			if d.Two && len(now.Ports) > 0 {
				f.note("%s: %s is only in the second snapshot and has no difference", name, now.Format)
			}
			grew := *now
			grew.Ports = slices.Clone(now.Ports)
			for k := range grew.Ports {
				grew.Ports[k].Uncount()
			}
			f.attach(d, nil, now, &grew)
			continue
		}
		diff, err := counters.Delta(*was, *now)
		if err != nil {
			return err
		}
		for _, n := range diff.Notes {
			f.note("%s:%d: %s", n.File, n.Line, n.Text)
		}
		f.attach(d, was, now, &diff.Snapshot)
	}
	return nil
}

// noteMoments says of which devices there is one moment only, or two without a time.
func (f *Fabric) noteMoments() {
	var once, timeless []string
	two := slices.ContainsFunc(f.Devices, func(d *Device) bool { return d.Two })
	for _, d := range f.Devices {
		switch {
		case d.Seen && !d.Two:
			once = append(once, d.Name)
		case d.Seen && d.Over <= 0:
			timeless = append(timeless, d.Name)
		}
	}
	if len(timeless) > 0 {
		f.note("%s: no time stamps, so no rates per second (run `date +%%s.%%N` before each round of commands)", some(timeless))
	}
	if len(once) > 0 && two {
		f.note("%s: one snapshot only, while other devices have two; its counters are not used", some(once))
	} else if len(once) > 0 {
		f.note("%s: one snapshot only: events may be long past; rates and current changes are unknown", some(once))
	}
}

// partner is the same output at the first moment: of the same format with a port in common.
func partner(first *moment, now *counters.Snapshot, taken map[int]bool, two bool) *counters.Snapshot {
	if !two || len(now.Ports) == 0 {
		return nil
	}
	for i := range first.parts {
		was := &first.parts[i]
		if taken[i] || was.Format != now.Format || !common(was, now) {
			continue
		}
		taken[i] = true
		return was
	}
	return nil
}

func common(a, b *counters.Snapshot) bool {
	for i := range b.Ports {
		if a.Find(b.Ports[i].Name) != nil {
			return true
		}
	}
	return false
}

// describe takes over what an output tells of the device itself.
func (f *Fabric) describe(d *Device, s *counters.Snapshot) {
	if s.Kind == counters.Host {
		d.Kind = Host
	} else if d.Kind == Unknown {
		d.Kind = Switch
	}
	if fm := counters.Find(s.Format); fm != nil && fm.System != "" && d.System == "" {
		d.System = fm.System
	}
}

// attach gives ports what an output says of them. What an RDMA device counts belongs to
// its interface.
func (f *Fabric) attach(d *Device, was, now, grew *counters.Snapshot) {
	for i := range now.Ports {
		p := &now.Ports[i]
		name := p.Name
		if to := d.netdev[name]; to != "" {
			name = to
		}
		x := part{file: now.File, now: p, grew: &grew.Ports[i]}
		if was != nil {
			x.was = was.Find(p.Name)
		}
		to := d.port(name)
		to.parts = append(to.parts, x)
	}
}

func (f *Fabric) note(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if !slices.Contains(f.Notes, s) {
		f.Notes = append(f.Notes, s)
	}
}

package diagnose

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"railyard/internal/counters"
	"railyard/unit"
)

// Incomplete is a device some of whose counters have no difference between the snapshots, so that a fault of it may be
// missed.
type Incomplete struct {
	Device string   `json:"device"`
	Why    string   `json:"why"`               // of the device as a whole, and of its counters
	File   string   `json:"file,omitempty"`    // that lacks them
	Ports  []string `json:"ports,omitempty"`   // that lack counters
	Lacks  []string `json:"missing,omitempty"` // kinds of counters; empty: all
}

// Unread is a file of a snapshot that is empty, truncated or no text.
type Unread struct{ File, Why string }

// String returns the device, and why it is incomplete.
func (x Incomplete) String() string { return x.Device + ": " + x.Why }

// kinds are words for counters by the beginnings of their names.
var kinds = []struct{ begin, word string }{
	{"crc", "CRC errors"}, {"symbol", "symbol errors"}, {"uncorrected", "FEC errors"}, {"in errors", "input errors"},
	{"out errors", "output errors"}, {"in discards", "input discards"}, {"out discards", "output discards"},
	{"rx pfc", "PFC pauses received"}, {"tx pfc", "PFC pauses sent"}, {"rx pause duration", "pause time"},
	{"tx pause duration", "pause time"}, {"rx pause", "802.3x pauses"}, {"tx pause", "802.3x pauses"},
	{"queue", "queue counters"}, {"group", "ingress counters by class"}, {"giants", "frames longer than the MTU"},
	{"no route", "packets without a route"}, {"flaps", "link failures"}, {"pci", "PCIe counters"},
	{"rx ", "packets and bytes received"}, {"tx ", "packets and bytes sent"},
}

// roceCounters is the kind of all counters that no other begins.
const roceCounters = "RoCE counters"

// kindOf returns the word for a counter, and its place in a list.
func kindOf(counter string) (int, string) {
	for i, k := range kinds {
		if strings.HasPrefix(counter, k.begin) {
			return i, k.word
		}
	}
	return len(kinds), roceCounters
}

// compared is the counters of a port that the early moments show, the late ones, and both with a difference.
type compared struct {
	early, late, differ []bool
}

// note adds the counters that a port shows.
func note(to *[]bool, p *counters.Port) {
	i := 0
	p.Each(func(_ string, n *counters.Count, _ bool) {
		if len(*to) == i {
			*to = append(*to, false)
		}
		(*to)[i] = (*to)[i] || n.Is
		i++
	})
}

// lacking adds a device whose counters are not all in both moments.
func (f *Fabric) lacking(d *Device, s *span) {
	of := map[string]*compared{}
	var names []string
	netdev := maps.Clone(d.netdev)
	at := func(p *counters.Port) *compared {
		name := cmp.Or(netdev[p.Name], p.Name)
		if of[name] == nil {
			of[name] = &compared{}
			names = append(names, name)
		}
		return of[name]
	}
	early := func(visit func(*counters.Port)) {
		for _, m := range s.early {
			for i := range m.parts {
				for k := range m.parts[i].Ports {
					visit(&m.parts[i].Ports[k])
				}
			}
		}
	}
	early(func(p *counters.Port) {
		if p.NetDev != "" {
			netdev[p.Name] = p.NetDev
		}
	})
	early(func(p *counters.Port) { note(&at(p).early, p) })
	file := ""
	for _, p := range d.Ports {
		for _, x := range p.parts {
			c := at(x.now)
			note(&c.late, x.now)
			note(&c.differ, x.grew)
			file = cmp.Or(file, x.file)
		}
	}
	var first, second, both missing
	for _, name := range names {
		c := of[name]
		none := !slices.Contains(c.late, true)
		i := 0
		new(counters.Port).Each(func(counter string, _ *counters.Count, gauge bool) {
			was, is := i < len(c.early) && c.early[i], i < len(c.late) && c.late[i]
			if differ := i < len(c.differ) && c.differ[i]; !differ {
				switch {
				case was && !is:
					second.add(name, counter, none)
				case is && !was && !gauge:
					first.add(name, counter, len(c.early) == 0 || !slices.Contains(c.early, true))
				case was && is && !gauge:
					both.add(name, counter, false)
				}
			}
			i++
		})
	}
	if len(first.ports)+len(second.ports)+len(both.ports) == 0 {
		return
	}
	x := Incomplete{Device: d.Name, File: file}
	var why []string
	for _, m := range []struct {
		of   *missing
		text string
	}{{&second, "the later snapshot lacks "}, {&first, "the earlier snapshot lacks "}, {&both, "not comparable: "}} {
		if len(m.of.ports) > 0 {
			why = append(why, m.text+m.of.text(len(names)))
			x.Ports = append(x.Ports, m.of.ports...)
			x.Lacks = append(x.Lacks, m.of.words()...)
		}
	}
	x.Why = strings.Join(why, "; ")
	slices.Sort(x.Ports)
	x.Ports = slices.Compact(x.Ports)
	f.Incomplete = append(f.Incomplete, x)
}

// missing is the counters that one snapshot of a device lacks.
type missing struct {
	ports []string
	whole int // ports of which it has none
	kinds map[int]string
}

func (m *missing) add(port, counter string, none bool) {
	if n := len(m.ports); n == 0 || m.ports[n-1] != port {
		m.ports = append(m.ports, port)
		if none {
			m.whole++
		}
	}
	if m.kinds == nil {
		m.kinds = map[int]string{}
	}
	i, word := kindOf(counter)
	m.kinds[i] = word
}

// words returns the kinds of counters, once each.
func (m *missing) words() (out []string) {
	for _, k := range slices.Sorted(maps.Keys(m.kinds)) {
		if !slices.Contains(out, m.kinds[k]) {
			out = append(out, m.kinds[k])
		}
	}
	return out
}

// text lists the counters, and the ports of a device that has several.
func (m *missing) text(ports int) string {
	words := some(m.words())
	if m.whole == len(m.ports) {
		words = "all counters"
	}
	if ports > 1 {
		words += " of " + some(m.ports)
	}
	return words
}

// unread adds devices that only one snapshot has, and files that could not be read.
func (f *Fabric) unread(in Input) {
	at := func(name string) *Incomplete {
		i := slices.IndexFunc(f.Incomplete, func(x Incomplete) bool { return x.Device == name })
		if i < 0 {
			f.Incomplete = append(f.Incomplete, Incomplete{Device: name})
			i = len(f.Incomplete) - 1
		}
		return &f.Incomplete[i]
	}
	for _, d := range f.Devices {
		if d.Two && d.stamped && d.Over <= 0 && !d.moved() && len(f.Open) == 0 {
			at(d.Name).Why = "both snapshots are the same, with one time stamp"
		}
		if d.Once {
			why := map[bool]string{true: "one snapshot only", false: "the later snapshot has no counters"}
			at(d.Name).Why = why[d.Seen]
		}
	}
	for _, u := range in.Unread {
		x := at(counters.DeviceOf(u.File))
		x.Why, x.File = strings.TrimPrefix(x.Why+"; "+u.Why, "; "), u.File
	}
	slices.SortStableFunc(f.Incomplete, func(a, b Incomplete) int { return strings.Compare(a.Device, b.Device) })
}

// Missed returns how many devices are incomplete, as a phrase; "" for none.
func (r *Report) Missed() string {
	if len(r.Incomplete) == 0 {
		return ""
	}
	return unit.Plural(len(r.Incomplete), "device") + " incomplete"
}

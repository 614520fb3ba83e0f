package counters

import (
	"fmt"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

// Note is a remark on read or compared data.
type Note struct {
	File string
	Line int
	Text string
}

// Diff is the difference of two snapshots of one device. Its Snapshot holds the differences, with the lines of the
// later one; gauges are the later ones.
type Diff struct {
	Snapshot
	Took  Said[unit.Time] // time between the readings if both have a time
	Notes []Note
}

// Delta returns the counts between two snapshots of a device. A counter that one of them lacks has no difference
// and is absent from the result. A wrapped counter continued. Another one that decreases was cleared in between,
// and only its value since then is known, which a note states.
func Delta(before, after Snapshot) (Diff, error) {
	if before.Device != after.Device {
		return Diff{}, &field.Error{File: after.File, Line: after.Line, Msg: fmt.Sprintf("is of %s, and %s is of %s: what one device counted is the difference of two snapshots of its own", after.Device,
			before.File, before.Device)}
	}
	d := Diff{Snapshot: after}
	d.Ports = append([]Port(nil), after.Ports...)
	d.took(&before, &after)
	earlier := make(map[string]*Port, len(before.Ports))
	for i := range before.Ports {
		earlier[before.Ports[i].Name] = &before.Ports[i]
	}
	for i := range d.Ports {
		p := &d.Ports[i]
		was := earlier[p.Name]
		if was == nil {
			was = &Port{}
			d.note(p.Line, "%s %s is not in the first snapshot: its counters have no difference", d.Device, p.Name)
		}
		delete(earlier, p.Name)
		d.less(p, was)
	}
	for i := range before.Ports {
		if p := &before.Ports[i]; earlier[p.Name] == p {
			d.Notes = append(d.Notes, Note{before.File, p.Line, fmt.Sprintf("%s %s is not in the second snapshot", d.Device, p.Name)})
		}
	}
	return d, nil
}

func (d *Diff) note(line int, format string, args ...any) {
	d.Notes = append(d.Notes, Note{d.File, line, fmt.Sprintf(format, args...)})
}

// took sets the time between the two.
func (d *Diff) took(before, after *Snapshot) {
	switch took := after.At.Sub(before.At); {
	case !before.At.Is || !after.At.Is:
	case took < 0:
		d.note(after.At.Line, "%s: the second snapshot was taken before the first: are they the wrong way round?", d.Device)
	default:
		d.Took = Said[unit.Time]{V: took, Line: after.At.Line, Is: true}
	}
}

// less subtracts a port's earlier counters.
func (d *Diff) less(p, was *Port) {
	var old []*Count
	was.Each(func(_ string, c *Count, _ bool) { old = append(old, c) })
	went := p.wentOn(old)
	i, cleared, alone, doubted := 0, 0, 0, 0
	first, missing := "", ""
	p.Each(func(name string, c *Count, gauge bool) {
		o := old[i]
		i++
		switch {
		case gauge || !c.Is:
		case !o.Is: // the value covers the whole uptime and is not a difference
			if *c = (Count{}); alone == 0 {
				missing = name
			}
			alone++
		case c.V >= o.V:
			c.V -= o.V
		case c.Bits == 32 && wrapped(o.V, c.V):
			c.V += 1<<32 - o.V
		case o.V>>63 == 1 && c.V>>63 == 0: // 64 bits are full: none counts so much again
			c.V -= o.V
		case went != "" || truncates(o.V, c.V): // not cleared, so one of the two values is wrong
			if doubted++; doubted == 1 {
				first = fmt.Sprintf("%s ran back from %d to %d", name, o.V, c.V)
			}
			*c = Count{}
		default: // count since the last clear
			if cleared++; cleared == 1 {
				first = fmt.Sprintf("%s ran back from %d to %d", name, o.V, c.V)
			}
		}
	})
	more := func(n int) string {
		if n > 1 {
			return fmt.Sprintf(", and %d more", n-1)
		}
		return ""
	}
	if alone > 0 && was.Name != "" {
		d.note(p.Line, "%s %s: the first snapshot does not show %s%s: no difference", d.Device, p.Name, missing,
			more(alone))
	}
	if doubted > 0 {
		why := "the first digits of the earlier number, as of a truncated line"
		if went != "" {
			why = went + " did not run back, so the counters were not cleared"
		}
		d.note(p.Line, "%s %s: %s%s; %s: no difference", d.Device, p.Name, first, more(doubted), why)
	}
	if cleared > 0 {
		d.note(p.Line, "%s %s was cleared or restarted in between: %s%s; counts since then are used", d.Device, p.Name, first, more(cleared))
	}
}

// truncates reports whether a number is the first two or more digits of an earlier one, as in a truncated line.
func truncates(was, is uint64) bool {
	return is > 9 && strings.HasPrefix(strconv.FormatUint(was, 10), strconv.FormatUint(is, 10))
}

// wentOn returns a counter of a port that grew since earlier ones, from a value that a cleared counter does not reach
// soon, or whose value of three digits or more is the same. An output whose counters were cleared has none.
func (p *Port) wentOn(old []*Count) (name string) {
	const soon = 1_000_000
	i := 0
	p.Each(func(n string, c *Count, gauge bool) {
		if o := old[i]; !gauge && c.Is && o.Is && (c.V > o.V && o.V >= soon || c.V == o.V && c.V > 99) {
			name = n
		}
		i++
	})
	return name
}

// wrapped reports whether a counter of 32 bits overflowed rather than being cleared: it was in its upper half and
// is in its lower one.
func wrapped(was, is uint64) bool { return was < 1<<32 && was >= 1<<31 && is < 1<<31 }

package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"railyard/internal/swconf"
)

// Grade is what a finding is: a fault, or congestion, which a fabric has without one.
type Grade uint8

// Grades.
const (
	Fault Grade = iota
	Congestion
)

func (g Grade) String() string { return [...]string{"fault", "congestion"}[g] }

// MarshalText is its word.
func (g Grade) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// Sure is how sure a finding is.
type Sure uint8

// How sure: an output or a configuration says it and the counters agree; the counters can
// hardly be explained otherwise; they fit, and so they do to something else.
const (
	Proven Sure = iota
	Likely
	Possible
)

func (s Sure) String() string { return [...]string{"proven", "likely", "possible"}[s] }

// MarshalText is its word.
func (s Sure) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Evidence is a line of an output or of a configuration that a finding rests on.
type Evidence struct {
	File    string  `json:"file,omitempty"`
	Line    int     `json:"line,omitempty"`
	Device  string  `json:"device"`
	Port    string  `json:"port,omitempty"`
	Counter string  `json:"counter,omitempty"`
	Before  *uint64 `json:"before,omitempty"`
	After   *uint64 `json:"after,omitempty"`
	Grew    *uint64 `json:"grew,omitempty"`
	PerSec  float64 `json:"per_second,omitempty"`
	Says    string  `json:"says,omitempty"` // in words, where it is no counter
}

// same reports the same counter of the same line.
func (e Evidence) same(o Evidence) bool {
	return e.File == o.File && e.Line == o.Line && e.Device == o.Device && e.Port == o.Port && e.Counter == o.Counter
}

// Step is the next command to type.
type Step struct {
	Device  string `json:"device"`
	Command string `json:"command"`
	Why     string `json:"why"`
}

// Finding is a cause that was found, and who.
type Finding struct {
	Cause    string     `json:"cause"`
	Grade    Grade      `json:"grade"`
	Sure     Sure       `json:"sure"`
	Device   string     `json:"device"` // the culprit
	Port     string     `json:"port,omitempty"`
	Peer     string     `json:"peer,omitempty"` // at the other end, where the culprit is a cable
	Class    int        `json:"class"`          // priority; -1: of none
	Says     string     `json:"says"`
	Why      string     `json:"why"` // the mechanism
	Fix      string     `json:"fix"`
	Evidence []Evidence `json:"evidence"`
	Next     []Step     `json:"next"`

	harm float64 // share of the pauses or losses that it explains
	rank int     // of its cause in the registry
}

// Cause is one way in which a fabric is broken, with the mechanism by which it shows.
type Cause struct {
	Name  string
	About string
	By    []string // counters and states that decide it, as its evidence names them
	find  func(f *Fabric, c *Cause) []Finding
	state bool // it rests on what is, not on what was counted
}

// causes in the order in which they count where two explain as much as surely: what is
// broken itself before what is set wrong, and that before what only suffers.
var causes = []*Cause{&lossyCable, &flapping, &uplinkDown, &slowLink, &miscabled, &mtuDrops, &pfcOff,
	&linkPause, &storm, &slowReceiver, &wrongClass, &cnpClass, &ecnOff, &xoffLow, &headroomSmall,
	&pauseRing, &polarised, &incast}

// Causes lists them.
func Causes() []*Cause { return causes }

// at begins a finding at a port.
func (c *Cause) at(p *Port, class int, sure Sure, format string, args ...any) Finding {
	x := Finding{Cause: c.Name, Sure: sure, Device: p.On.Name, Port: p.Name, Class: class,
		Says: fmt.Sprintf(format, args...)}
	if p.Peer != nil {
		x.Peer = p.Peer.String()
	}
	return x
}

// on begins a finding at a whole device.
func (c *Cause) on(d *Device, class int, sure Sure, format string, args ...any) Finding {
	return Finding{Cause: c.Name, Sure: sure, Device: d.Name, Class: class, Says: fmt.Sprintf(format, args...)}
}

// show adds readings to the evidence, those that are shown.
func (x *Finding) show(rs ...Reading) {
	for _, r := range rs {
		if !r.Is {
			continue
		}
		after, grew := r.Now, r.Grew
		e := Evidence{File: r.File, Line: r.Line, Device: r.Port.On.Name, Port: r.Port.Name, Counter: r.Name,
			After: &after, Grew: &grew, PerSec: math.Round(r.PerSecond()*10) / 10}
		if r.Two {
			was := r.Was
			e.Before = &was
		}
		if slices.ContainsFunc(x.Evidence, e.same) { // one port may begin several things
			continue
		}
		x.Evidence = append(x.Evidence, e)
	}
}

// showSome adds those readings that counted anything.
func (x *Finding) showSome(rs ...Reading) {
	for _, r := range rs {
		if r.Some() {
			x.show(r)
		}
	}
}

// tell adds a line of an output that is no counter.
func (x *Finding) tell(p *Port, file string, line int, format string, args ...any) {
	x.Evidence = append(x.Evidence, Evidence{File: file, Line: line, Device: p.On.Name, Port: p.Name,
		Says: fmt.Sprintf(format, args...)})
}

// cite adds a line of a configuration, or that it has none.
func (x *Finding) cite(d *Device, at swconf.Place, format string, args ...any) {
	file := at.File
	if file == "" && d.Config != nil {
		file = d.Config.File
	}
	x.Evidence = append(x.Evidence, Evidence{File: file, Line: at.Line, Device: d.Name,
		Says: fmt.Sprintf(format, args...)})
}

// Find runs all causes and ranks what they found: faults before congestion, what is surer
// first, then what explains more.
func (f *Fabric) Find() (out []Finding) {
	for i, c := range causes {
		for _, x := range c.find(f, c) {
			x.rank = i
			if !c.state {
				x.stale()
			}
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Grade, b.Grade), cmp.Compare(a.Sure, b.Sure), cmp.Compare(b.harm, a.harm),
			cmp.Compare(a.rank, b.rank))
	})
	return out
}

// stale makes a finding that rests on counters of one moment alone no more than possible:
// they may be of long ago. What is said of a state counts as it is.
func (x *Finding) stale() {
	counted := false
	for _, e := range x.Evidence {
		if counted = counted || e.Counter != ""; e.Before != nil {
			return
		}
	}
	if counted {
		x.Sure = Possible
		x.Says += " (one snapshot only: possibly long ago)"
	}
}

// share is a part of a whole, 0 where there is none.
func share(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return min(1, float64(part)/float64(whole))
}

// allPauses returns how many pauses were sent in the fabric, allLosses how many packets were
// lost in it, by the counters of where they were lost.
func (f *Fabric) allPauses() (n uint64) {
	for i := range f.Pauses {
		n += f.Pauses[i].Frames()
	}
	return n
}

func (f *Fabric) allLosses() (n uint64) {
	f.ports(func(p *Port) { n += p.lost() })
	return n
}

// lost returns how many packets a port lost. Drops of a class are in the whole port's too, so
// that the larger counts.
func (p *Port) lost() uint64 {
	in, out := uint64(0), uint64(0)
	for k := range 8 {
		in += p.read(refused(k)).Grew
		out += p.read(dropped(k)).Grew
	}
	return max(in, p.read(inDiscards).Grew) + max(out, p.read(outDiscards).Grew) +
		max(p.read(crc).Grew, p.read(inErrors).Grew)
}

package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"railyard/internal/swconf"
)

// Grade is the kind of a finding: a fault, or congestion, which a healthy fabric also has.
type Grade uint8

// Grades.
const (
	Fault Grade = iota
	Congestion
)

func (g Grade) String() string { return [...]string{"fault", "congestion"}[g] }

// MarshalText is its word.
func (g Grade) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// Sure is the confidence of a finding.
type Sure uint8

// Confidence levels: an output or a configuration states it and the counters agree; the counters have hardly another
// explanation; they fit, and so does another cause.
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
	Grew    *uint64 `json:"grew,omitempty"` // absent for a gauge
	Unit    string  `json:"unit,omitempty"` // of a gauge: B or %
	PerSec  float64 `json:"per_second,omitempty"`
	Says    string  `json:"says,omitempty"` // text, if it is not a counter
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
	Peer     string     `json:"peer,omitempty"` // at the other end, if the culprit is a link
	Class    int        `json:"class"`          // priority; -1: of none
	Says     string     `json:"says"`
	Why      string     `json:"why"` // the mechanism
	Fix      string     `json:"fix"`
	Evidence []Evidence `json:"evidence"`
	Next     []Step     `json:"next"`

	sound bool    // congestion of working components
	harm  float64 // share of the pauses or losses that the finding explains
	rank  int     // of its cause in the registry

	unread bool // no input shows the state at the other end
}

// Cause is one kind of fault in a fabric, with the mechanism of its symptoms.
type Cause struct {
	Name  string
	About string
	By    []string // counters and states that decide it, as its evidence names them
	find  func(f *Fabric, c *Cause) []Finding
	state bool // it rests on a state, not on counters
}

// causes in order of precedence among equally strong findings: broken components precede wrong settings, and those
// precede victims.
var causes = []*Cause{&deviceDown, &lossyCable, &flapping, &uplinkDown, &slowLink, &miscabled, &mtuDrops, &pfcOff,
	&linkPause, &storm, &slowReceiver, &wrongClass, &cnpClass, &ecnOff, &xoffLow, &headroomSmall,
	&pauseRing, &polarised, &unevenUplinks, &incast}

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

// on starts a finding at a whole device.
func (c *Cause) on(d *Device, class int, sure Sure, format string, args ...any) Finding {
	return Finding{Cause: c.Name, Sure: sure, Device: d.Name, Class: class, Says: fmt.Sprintf(format, args...)}
}

// show adds the readings that outputs show to the evidence.
func (x *Finding) show(rs ...Reading) {
	for _, r := range rs {
		if !r.Is {
			continue
		}
		after, grew := r.Now, r.Grew
		e := Evidence{File: r.File, Line: r.Line, Device: r.Port.On.Name, Port: r.Port.Name, Counter: r.Name,
			After: &after, Grew: &grew, Unit: r.Unit, PerSec: math.Round(r.PerSecond()*10) / 10}
		if r.Unit != "" {
			e.Grew = nil
		}
		if r.Two {
			was := r.Was
			e.Before = &was
		}
		if slices.ContainsFunc(x.Evidence, e.same) { // one port may cause several findings
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

// tell adds a line of an output that is not a counter.
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

// Find runs all causes and ranks their findings: faults before congestion, then by confidence, then by what they
// explain.
func (f *Fabric) Find() (out []Finding) {
	for i, c := range causes {
		for _, x := range c.find(f, c) {
			x.rank = i
			if !c.state {
				x.stale()
			}
			f.dispute(&x)
			if x.sound && len(f.Incomplete) == 0 {
				x.Fix += ". Nothing needs repair"
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

// stale lowers a finding that rests only on counters of a single time to possible: the events may be old. Findings
// about a state are not lowered.
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

// share returns a part of a whole, 0 if the whole is 0.
func share(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return min(1, float64(part)/float64(whole))
}

// allPauses returns the number of pauses sent in the fabric, allLosses the number of packets lost in it, by the
// counters at the place of the loss.
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

// lost returns how many packets a port lost. Drops of a class are also in the whole port's counter, so the larger one
// counts.
func (p *Port) lost() uint64 {
	in, out := uint64(0), uint64(0)
	for k := range 8 {
		in += p.read(refused(k)).Grew
		out += p.read(dropped(k)).Grew
	}
	return max(in, p.read(inDiscards).Grew) + max(out, p.read(outDiscards).Grew) +
		max(p.read(crc).Grew, p.read(inErrors).Grew)
}

package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"railyard/internal/counters"
	"railyard/unit"
)

// Report is a diagnosis: its findings, and their basis.
type Report struct {
	Findings []Finding  `json:"findings"`
	Pauses   []Edge     `json:"pauses"`
	Drops    []Drop     `json:"drops"`
	Compared []Compared `json:"compared,omitempty"`
	Devices  int        `json:"devices"`
	Ports    int        `json:"ports"`
	Notes    []string   `json:"notes"`

	// Incomplete are devices whose faults may be missed: some of their counters have no difference.
	Incomplete []Incomplete `json:"incomplete,omitempty"`

	// Undecided is why neither a fault nor congestion, or no congestion next to the faults, is found or excluded, and
	// the missing output.
	Undecided string `json:"undecided,omitempty"`
}

// Edge is a PFC pause relation: From pauses To.
type Edge struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	Class  int     `json:"class"`
	Frames uint64  `json:"frames"`
	PerSec float64 `json:"per_second,omitempty"`
	Begins bool    `json:"begins"` // pauses begin there
}

// Drop is a port's lost packets of a class, or those not counted by class.
type Drop struct {
	Port     string `json:"port"`
	Class    int    `json:"class"` // -1: the counter is of no class
	Lossless bool   `json:"lossless"`
	Ingress  bool   `json:"ingress"`
	Packets  uint64 `json:"packets"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// Diagnose returns the findings.
func Diagnose(in Input) (*Report, error) {
	f, err := Gather(in)
	if err != nil {
		return nil, err
	}
	r := &Report{Findings: f.Find(), Pauses: f.edges(), Drops: f.drops(), Compared: f.compare(),
		Incomplete: f.Incomplete}
	open := f.Open
	if len(r.Findings)+len(r.Drops) == 0 {
		if f.oldDrops(); len(open) > 0 {
			r.Undecided, open = open[0], open[1:]
		}
	}
	if faults := r.Faults(); faults > 0 && faults == len(r.Findings) && len(open) > 0 {
		r.Undecided, open = open[0], open[1:]
	}
	r.Notes = append(f.Notes, open...)
	for _, d := range f.Devices {
		if d.Seen {
			r.Devices++
		}
	}
	f.ports(func(*Port) { r.Ports++ })
	return r, nil
}

// Faults returns how many findings are faults.
func (r *Report) Faults() (n int) {
	for i := range r.Findings {
		if r.Findings[i].Grade == Fault {
			n++
		}
	}
	return n
}

// edges is the graph of pauses: those that begin somewhere first, then by how many.
func (f *Fabric) edges() (out []Edge) {
	begins := func(x *Pause) bool {
		return slices.ContainsFunc(f.Chains, func(c Chain) bool { return c.Root == x.From.On && c.Class == x.Class })
	}
	for i := range f.Pauses {
		x := &f.Pauses[i]
		out = append(out, Edge{x.From.String(), x.To.String(), x.Class, x.Frames(),
			math.Round(x.PerSecond()*10) / 10, begins(x)})
	}
	slices.SortStableFunc(out, func(a, b Edge) int {
		if a.Begins != b.Begins {
			return map[bool]int{true: -1, false: 1}[a.Begins]
		}
		return cmp.Compare(b.Frames, a.Frames)
	})
	return out
}

// drops returns losses by class, and ports' losses beyond that, sorted.
func (f *Fabric) drops() (out []Drop) {
	f.ports(func(p *Port) {
		for _, in := range []bool{true, false} {
			of, whole := dropped, outDiscards
			if in {
				of, whole = refused, inDiscards
			}
			some := uint64(0)
			for k := range counters.Priorities {
				r := p.read(of(k))
				if some += r.Grew; r.Some() {
					out = append(out, Drop{p.String(), k, f.Lossless>>k&1 == 1, in, r.Grew, r.File, r.Line})
				}
			}
			if r := p.read(whole); r.Grew > some {
				out = append(out, Drop{p.String(), -1, false, in, r.Grew - some, r.File, r.Line})
			}
		}
	})
	slices.SortStableFunc(out, func(a, b Drop) int { return cmp.Compare(b.Packets, a.Packets) })
	return out
}

// oldDrops notes what ports lost before the first snapshot.
func (f *Fabric) oldDrops() {
	var most Reading
	ports := map[*Port]bool{}
	f.ports(func(p *Port) {
		for _, m := range []meter{inDiscards, outDiscards} {
			if r := p.read(m); r.Two && r.Was > 0 {
				if ports[p] = true; r.Was > most.Was {
					most = r
				}
			}
		}
	})
	if most.Is {
		f.note("%s counted discards before the first snapshot and none since; highest: %v, %s %d (%s:%d)",
			unit.Plural(len(ports), "port"), most.Port, most.Name, most.Was, most.File, most.Line)
	}
}

// Compared is a counter next to a simulation of the same fabric, both as rates.
type Compared struct {
	Port      string  `json:"port"`
	Counter   string  `json:"counter"`
	Seen      float64 `json:"seen_per_second"`
	Simulated float64 `json:"simulated_per_second"`
}

// compare compares pauses, marks and drops with the simulated ones and returns the largest differences, up to a
// readable number.
func (f *Fabric) compare() (out []Compared) {
	f.ports(func(p *Port) {
		if p.told == nil || p.toldT <= 0 || p.On.Over <= 0 {
			return
		}
		for k := range counters.Priorities {
			for _, m := range []meter{txPFC(k), rxPFC(k), marked(k), dropped(k), refused(k)} {
				r, told := p.read(m), m.of(p.told)
				if !r.Is || !told.Is {
					continue
				}
				x := Compared{p.String(), m.name, r.PerSecond(), float64(told.V) / p.toldT.Seconds()}
				if x.Seen != x.Simulated {
					out = append(out, x)
				}
			}
		}
	})
	slices.SortStableFunc(out, func(a, b Compared) int { return cmp.Compare(b.apart(), a.apart()) })
	return out[:min(len(out), 12)]
}

// apart is by how much two rates differ, in powers: none against many differs most.
func (c *Compared) apart() float64 { return math.Abs(math.Log((c.Seen + 1) / (c.Simulated + 1))) }

// String returns an evidence as a line: the counter, its values and rate, then its source. Values of more than five
// digits are only in JSON if the rate is known.
func (e Evidence) String() string {
	s := e.Device
	if e.Port != "" {
		s += " " + e.Port
	}
	rate := ""
	if e.PerSec > 0 {
		rate = Short(e.PerSec)
		if strings.Contains(e.Counter, "bytes") {
			rate += "B"
		}
		rate += "/s"
	}
	switch {
	case e.Counter == "":
		s += ": " + e.Says
	case e.Unit != "":
		s += ": " + e.Counter + ": " + e.gauge()
	case e.Before == nil:
		s += fmt.Sprintf(": %s: %d", e.Counter, *e.After)
	case *e.After-*e.Before != *e.Grew: // it wrapped, or was cleared
		s += fmt.Sprintf(": %s: %d → %d (+%d)", e.Counter, *e.Before, *e.After, *e.Grew)
	case *e.Before > 99_999 && *e.Grew == 0:
		s += ": " + e.Counter + ": unchanged"
	case *e.Before > 99_999 && rate != "":
		s += ": " + e.Counter + ": " + rate
		rate = ""
	default:
		s += fmt.Sprintf(": %s: %d → %d", e.Counter, *e.Before, *e.After)
	}
	if rate != "" {
		s += ", " + rate
	}
	switch {
	case e.File != "" && e.Line > 0:
		s += fmt.Sprintf(" (%s:%d)", e.File, e.Line)
	case e.File != "":
		s += " (" + e.File + ")"
	}
	return s
}

// gauge returns the value of a gauge, behind the earlier one if it rose in between.
func (e Evidence) gauge() string {
	show := func(v uint64) string {
		if e.Unit == "B" {
			return unit.Bytes(min(v, math.MaxInt64)).Show()
		}
		return fmt.Sprintf("%d %s", v, e.Unit)
	}
	if e.Before != nil && *e.Before < *e.After {
		return show(*e.Before) + " → " + show(*e.After)
	}
	return show(*e.After)
}

// Short returns a number of three significant digits with an SI prefix: "28.7 k".
func Short(v float64) string {
	for _, s := range []struct {
		of   float64
		unit string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= s.of*0.9995 { // three digits of 999.9 are 1k
			return fmt.Sprintf("%.3g %s", v/s.of, s.unit)
		}
	}
	return fmt.Sprintf("%.3g", v)
}

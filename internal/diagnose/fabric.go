package diagnose

import (
	"slices"

	"railyard/internal/counters"
	"railyard/internal/swconf"
	"railyard/unit"
)

// Kind is the kind of a device.
type Kind uint8

// Kinds. An unknown device is known only from the other end of a link.
const (
	Unknown Kind = iota
	Switch
	Host
)

func (k Kind) String() string { return [...]string{"device", "switch", "host"}[k] }

// Fabric is the combination of counters, cables and configurations.
type Fabric struct {
	Devices    []*Device
	Notes      []string     // checks that are impossible, with the reasons
	Open       []string     // what speaks of congestion or a fault and cannot be decided, with the missing output
	Incomplete []Incomplete // devices some of whose counters have no difference
	Lossless   uint8        // bitmap of paused priorities
	CNP        int          // the queue that CNPs belong into, -1: not known
	Pauses     []Pause
	Chains     []Chain

	byName  map[string]*Device
	strayed []strayed                     // ports that are connected differently from the plan
	planned int                           // ports whose peer is both planned and reported by LLDP
	mtu     unit.Bytes                    // of most switch ports, computed once
	speeds  map[[2]Kind]map[unit.Rate]int // number of ports by speed, by the kinds of their ends

	fallen   []outage // devices and modules whose links all went down; nil: not looked for
	byOutage map[*Port]bool
}

// Device is a switch or a host, or a device that is known only from a link to it.
type Device struct {
	Name    string
	Kind    Kind
	System  string         // whose outputs: nxos, eos, sonic, host; "" not known
	Config  *swconf.Config // nil
	Texts   *swconf.Host   // of a host: its configuration; nil
	Seen    bool           // it has counters
	Two     bool           // counters at two times
	Once    bool           // counters at one time only, while other devices have two
	Over    unit.Time      // between them; 0: not known
	stamped bool           // both have a time
	Ports   []*Port
	byName  map[string]*Port
	netdev  map[string]string // of RDMA devices: the interfaces that they belong to
}

// Port is an end of a cable, or of none.
type Port struct {
	On               *Device
	Name             string
	Peer             *Port
	Says             *swconf.Port // in the configuration; nil
	QoS              *swconf.QoS  // in force on it; nil
	saysPFC, saysMTU *swconf.Port // whose PFC and MTU count: its own or its port channel's; nil
	Rate             unit.Rate    // of the cable, from the list of cables
	parts            []part
	before           []*counters.Port // all of the earlier snapshot's outputs of it, the last ones first
	told             *counters.Port   // of a simulation of the same fabric; nil
	toldT            unit.Time        // and its duration
}

// part is one output's data of a port at both times, with the differences.
type part struct {
	file           string
	was, now, grew *counters.Port // was is nil with a single snapshot
	old            bool           // outputs of a later time differ
}

// String returns the port's name in reports: leaf1 Ethernet1/3.
func (p *Port) String() string {
	if p.Name == "" {
		return p.On.Name
	}
	return p.On.Name + " " + p.Name
}

// Seen reports whether there are counters of it.
func (p *Port) Seen() bool { return len(p.parts) > 0 }

// Reading is a counter: its value before and after, and the difference.
type Reading struct {
	Port     *Port
	Name     string
	Was, Now uint64
	Grew     uint64
	Unit     string // of a gauge: B or %; Grew is its later value
	Is       bool   // the outputs show it
	Two      bool   // at both times
	File     string
	Line     int
}

// Some reports whether it has counted anything.
func (r Reading) Some() bool { return r.Is && r.Grew > 0 }

// None reports that it is shown and has counted nothing.
func (r Reading) None() bool { return r.Is && r.Grew == 0 }

// PerSecond returns the rate of its growth, 0 if the interval is unknown or it is a gauge.
func (r Reading) PerSecond() float64 {
	if over := r.Port.On.Over; r.Two && over > 0 && r.Unit == "" {
		return float64(r.Grew) / over.Seconds()
	}
	return 0
}

// meter is one of a port's counters.
type meter struct {
	name string
	of   func(*counters.Port) *counters.Count
	unit string // of a gauge
}

// read is a counter of a port, from the first output that shows it.
func (p *Port) read(m meter) Reading {
	r := Reading{Port: p, Name: m.name}
	for _, x := range p.parts {
		c := m.of(x.grew)
		if !c.Is {
			continue
		}
		now := m.of(x.now)
		r = Reading{Port: p, Name: m.name, Unit: m.unit, Now: now.V, Grew: c.V, Is: true, File: x.file, Line: now.Line}
		if x.was != nil {
			was := m.of(x.was)
			r.Was, r.Two = was.V, was.Is
		}
		return r
	}
	return r
}

// lacks reports whether one snapshot shows one of some counters of a port, and the difference is not known: it may have
// counted, and a cause that it would exclude is not found.
func (p *Port) lacks(all ...meter) bool {
	return slices.ContainsFunc(all, func(m meter) bool {
		return !p.read(m).Is && (slices.ContainsFunc(p.before, func(x *counters.Port) bool { return m.of(x).Is }) ||
			slices.ContainsFunc(p.parts, func(x part) bool { return m.of(x.now).Is && (p.On.Two || p.On.Once) }))
	})
}

// lacks reports whether some port of a device lacks one of some counters: then what the device counted is not known.
func (d *Device) lacks(all ...meter) bool {
	return slices.ContainsFunc(d.Ports, func(p *Port) bool { return p.lacks(all...) })
}

// said returns a non-counter value of a port from the last output that shows it; those of the last time are first.
func said[T any](p *Port, of func(*counters.Port) *counters.Said[T]) (v T, file string, line int, ok bool) {
	for _, x := range p.parts {
		if s := of(x.now); s.Is && !(ok && x.old) {
			v, file, line, ok = s.V, x.file, s.Line, true
		}
	}
	return v, file, line, ok
}

// earlier is the same at the first time.
func earlier[T any](p *Port, of func(*counters.Port) *counters.Said[T]) (v T, ok bool) {
	for _, x := range p.parts {
		if x.was != nil && of(x.was).Is {
			v, ok = of(x.was).V, true
		}
	}
	for _, x := range p.before {
		if s := of(x); !ok && s.Is {
			v, ok = s.V, true
		}
	}
	return v, ok
}

func speedOf(p *counters.Port) *counters.Said[unit.Rate] { return &p.Speed }
func upOf(p *counters.Port) *counters.Said[bool]         { return &p.Up }
func mtuOf(p *counters.Port) *counters.Said[unit.Bytes]  { return &p.MTU }
func utilOf(p *counters.Port) *counters.Said[float64]    { return &p.TxUtil }
func pfcOf(p *counters.Port) *counters.Said[bool]        { return &p.PFC }
func priosOf(p *counters.Port) *counters.Said[uint8]     { return &p.Lossless }

// Speed returns a port's speed: from its output, else its configuration, else the cable.
func (p *Port) Speed() unit.Rate {
	if v, _, _, ok := said(p, speedOf); ok && v > 0 {
		return v
	}
	if p.Says != nil && p.Says.Speed.Is() {
		return p.Says.Speed.V
	}
	if p.Rate > 0 {
		return p.Rate
	}
	if p.Peer != nil && p.Peer.Seen() {
		if v, _, _, ok := said(p.Peer, speedOf); ok {
			return v
		}
	}
	return 0
}

// load returns a queue's share of a port's line rate, between 0 and 1; -1 if unknown.
func (p *Port) load(r Reading) float64 {
	s, over := p.Speed(), p.On.Over
	if s == 0 || over == 0 || !r.Is || !r.Two {
		return -1
	}
	return float64(r.Grew) / float64(unit.InTime(s, over))
}

// sends returns the share of its line rate that a port sends: by its bytes, else as its output states it; -1 if
// unknown.
func (p *Port) sends() float64 {
	l := p.load(p.sent())
	if v, _, _, ok := said(p, utilOf); l < 0 && ok {
		return v
	}
	return l
}

// Device returns a device by its name, or nil.
func (f *Fabric) Device(name string) *Device { return f.byName[name] }

// Port returns a port by its name, or nil.
func (d *Device) Port(name string) *Port { return d.byName[name] }

func (f *Fabric) device(name string) *Device {
	d := f.byName[name]
	if d == nil {
		d = &Device{Name: name, byName: map[string]*Port{}}
		f.byName[name] = d
		f.Devices = append(f.Devices, d)
	}
	return d
}

func (d *Device) port(name string) *Port {
	p := d.byName[name]
	if p == nil {
		p = &Port{On: d, Name: name}
		d.byName[name] = p
		d.Ports = append(d.Ports, p)
	}
	return p
}

// ports visits all ports with counters.
func (f *Fabric) ports(visit func(*Port)) {
	for _, d := range f.Devices {
		for _, p := range d.Ports {
			if p.Seen() {
				visit(p)
			}
		}
	}
}

// classes visits the paused priorities.
func (f *Fabric) classes(visit func(k int)) {
	for k := range counters.Priorities {
		if f.Lossless>>k&1 == 1 {
			visit(k)
		}
	}
}

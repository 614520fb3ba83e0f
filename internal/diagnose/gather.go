package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/counters"
	"railyard/internal/field"
	"railyard/internal/swconf"
	"railyard/unit"
)

// Input is the input of a diagnosis. Only counters are needed.
type Input struct {
	Before    []counters.Snapshot // outputs of the first time; nil: After has both
	After     []counters.Snapshot
	Unread    []Unread         // files of them
	Cables    *cabling.Cabling // besides LLDP in the outputs
	Configs   []*swconf.Config
	Hosts     []*swconf.Host      // servers' own configurations
	CNPDSCP   int                 // 0: not known
	Simulated []counters.Snapshot // counters of a simulation of the fabric, from zero
	SimTook   unit.Time
}

// Gather puts an input together.
func Gather(in Input) (*Fabric, error) {
	f := &Fabric{byName: map[string]*Device{}, CNP: -1}
	if err := f.counters(in); err != nil {
		return nil, err
	}
	if err := f.counted(in.After); err != nil {
		return nil, err
	}
	f.unread(in)
	f.cables(in.Cables)
	f.simulate(in.Simulated, in.SimTook)
	f.configure(in)
	f.refuse()
	f.unseen()
	f.unheard()
	f.hosts(in.Hosts)
	f.lossless()
	f.findPauses()
	f.findChains()
	f.missing()
	return f, nil
}

// counted refuses outputs none of which has a counter: a table of names, or one truncated after its heading, is no
// evidence of a healthy fabric.
func (f *Fabric) counted(after []counters.Snapshot) error {
	for _, s := range after {
		for i := range s.Ports {
			some := false
			s.Ports[i].Each(func(_ string, c *counters.Count, _ bool) { some = some || c.Is })
			if some {
				return nil
			}
		}
	}
	e := &field.Error{Msg: "no port counters in the input"}
	if len(after) > 0 {
		e.File = after[0].File
	}
	return e
}

// counters reads the counters of all devices at both times.
func (f *Fabric) counters(in Input) error {
	names, later := rounds(in.After)
	var earlier map[string][]*moment
	if in.Before != nil {
		var others []string
		if others, earlier = rounds(in.Before); others != nil {
			for _, n := range others {
				if later[n] == nil {
					f.note("%s is only in the first snapshot and is not diagnosed", n)
				}
			}
		}
	}
	if len(in.Before) > 0 && !slices.ContainsFunc(names, func(n string) bool { return earlier[n] != nil }) {
		return &field.Error{File: in.Before[0].File,
			Msg: fmt.Sprintf("is of %s, and the later snapshot is of %s: no device is in both",
				some(slices.Sorted(maps.Keys(earlier))), some(names))}
	}
	turned := 0
	spans := make([]*span, len(names))
	var whole coherence
	for i, n := range names {
		spans[i] = newSpan(nil, later[n])
		if in.Before != nil {
			spans[i] = newSpan(append([]*moment{}, earlier[n]...), later[n])
		}
		if from, to := spans[i].clocks(); from.Is && to.Is && to.Sub(from) < 0 {
			spans[i] = newSpan(later[n], earlier[n])
			turned++
		}
		if err := whole.look(n, spans[i]); err != nil {
			return err
		}
	}
	if err := whole.check(); err != nil {
		return err
	}
	between := false
	for i, n := range names {
		between = between || spans[i].two() && !whole.doubts(n)
	}
	for i, n := range names {
		if whole.doubts(n) {
			f.note("%s: between the snapshots some counters of a port grew and others shrank, as of two devices or runs; the earlier snapshot is not used", n)
			spans[i] = newSpan(nil, spans[i].late[len(spans[i].late)-1:])
		}
		if err := f.read(n, spans[i], between); err != nil {
			return err
		}
	}
	for _, n := range slices.Sorted(maps.Keys(earlier)) {
		if later[n] == nil {
			f.device(n).Once = true
			f.recall(f.device(n), earlier[n])
		}
	}
	f.noteMoments()
	if turned > 0 {
		f.note("according to the clocks of %s the snapshots were swapped; they are read in the order of time", unit.Plural(turned, "device"))
	}
	return nil
}

// some are the first names of a list, and how many more.
func some(names []string) string {
	const most = 6
	if n := len(names); n > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n-most)
	}
	return strings.Join(names, ", ")
}

// configure adds the configurations of devices and ports.
func (f *Fabric) configure(in Input) {
	for _, c := range in.Configs {
		d := f.byName[c.Name()]
		if d == nil {
			if c.Hostname.V == "" {
				f.note("%s contains no hostname and is not used", c.File)
			}
			continue
		}
		if was := d.Config; was != nil && was.OS == c.OS && was.File != c.File {
			f.note("two configurations of %s: %s is used, %s is not; name one of them", d.Name, c.File, was.File)
		}
		d.Config = c
		if d.System == "" {
			d.System = string(c.OS)
		}
		for _, p := range d.Ports {
			p.configure(c)
		}
		if c.QoS == nil {
			continue
		}
		q, _ := c.Typical()
		dscp := in.CNPDSCP
		if dscp == 0 {
			dscp = 48
		}
		if s := q.DSCP[dscp]; s.Is() && f.CNP < 0 {
			f.CNP = int(s.V)
		}
	}
}

// configure adds the interfaces whose settings apply to a port.
func (p *Port) configure(c *swconf.Config) {
	p.Says = c.Port(p.Name)
	for _, q := range c.Ports {
		if p.Says == nil && canon(q.Name) == canon(p.Name) {
			p.Says = q
		}
	}
	p.QoS = c.QoS
	if p.Says == nil {
		return
	}
	act := c.Acting(p.Says)
	p.saysPFC, p.saysMTU = act.PFC, act.MTU
	if act.QoS.QoS != nil {
		p.QoS = act.QoS.QoS
	}
}

// simulate adds the counters of a simulation, and takes unknown cables from it.
func (f *Fabric) simulate(all []counters.Snapshot, took unit.Time) {
	if all == nil {
		return
	}
	met := 0
	for i := range all {
		d := f.byName[all[i].Device]
		if d == nil {
			continue
		}
		for k := range all[i].Ports {
			told := &all[i].Ports[k]
			p := d.find(told.Name)
			if p == nil {
				continue
			}
			met++
			if told.Peer.Is() {
				f.plan(p, f.called(told.Peer.Device), told.Peer.Port, "the scenario")
			}
			if p.told, p.toldT = told, took; told.Peer.Is() && p.Peer == nil {
				f.join(p, f.called(told.Peer.Device), told.Peer.Port, 0)
			}
		}
	}
	if met == 0 {
		f.note("no port of the outputs is in the scenario, where devices have other names (%s)",
			all[0].Device)
	}
}

// lossless finds the priorities that PFC is meant for: by configurations, else by what
// ports run, else by the pauses that were sent.
func (f *Fabric) lossless() {
	for _, d := range f.Devices {
		for _, p := range d.Ports {
			for k := range counters.Priorities {
				if p.QoS != nil && p.QoS.Queues[k].Pause.Is() {
					f.Lossless |= 1 << p.QoS.Queues[k].Pause.V
				}
			}
		}
	}
	if f.Lossless == 0 {
		f.ports(func(p *Port) {
			if m, _, _, ok := said(p, priosOf); ok {
				f.Lossless |= m
			}
		})
	}
	said := f.Lossless != 0
	f.ports(func(p *Port) {
		for k := range counters.Priorities {
			for _, m := range []meter{rxPFC(k), txPFC(k), detected(k)} {
				if r := p.read(m); r.Some() && (r.Two || !said) { // else it may be of long ago
					f.Lossless |= 1 << k
				}
			}
		}
	})
	if f.Lossless == 0 {
		f.note("the lossless priorities are unknown: no output and no configuration contains them")
		f.ports(f.unprotected)
	}
}

// unprotected notes a host that sends all of its data in class 0 while the lossless classes are unknown: it may be
// intended.
func (f *Fabric) unprotected(p *Port) {
	if p.On.Kind != Host || p.data(0, txBytes, txPackets).Grew == 0 {
		return
	}
	shown := false
	for k := 1; k < counters.Priorities; k++ {
		r := p.read(txBytes(k))
		if shown = shown || r.Is; r.Grew > 0 {
			return
		}
	}
	if !shown {
		return
	}
	f.note("%v sends all of its data in class 0, the default class, which has PFC only if configured", p)
}

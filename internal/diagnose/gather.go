package diagnose

import (
	"fmt"
	"maps"
	"regexp"
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
	for n := range earlier {
		if later[n] == nil {
			f.device(n).Once = true
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

var (
	letters = regexp.MustCompile(`^[A-Za-z]+`)
	mac     = regexp.MustCompile(`(?i)^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$|^([0-9a-f]{4}\.){2}[0-9a-f]{4}$`)
)

// canon is a name of an interface as vendors shorten it: Eth1/3, Et3 and Ethernet1/3 begin
// with one word.
func canon(name string) string {
	name = strings.ToLower(name)
	if head := letters.FindString(name); len(head) >= 2 && strings.HasPrefix("ethernet", head) {
		return "ethernet" + name[len(head):]
	}
	return name
}

// find is the port of a name, however short.
func (d *Device) find(name string) *Port {
	if p := d.byName[name]; p != nil {
		return p
	}
	for _, p := range d.Ports {
		if canon(p.Name) == canon(name) {
			return p
		}
	}
	for _, p := range d.Ports { // SONiC announces the front panel labels
		for _, x := range p.parts {
			if name != "" && x.now.Alias == name {
				return p
			}
		}
	}
	return nil
}

// called is the device that a neighbour names, with or without its domain.
func (f *Fabric) called(name string) *Device {
	if d := f.byName[name]; d != nil {
		return d
	}
	short, _, _ := strings.Cut(name, ".")
	if d := f.byName[short]; d != nil {
		return d
	}
	for _, d := range f.Devices {
		if s, _, _ := strings.Cut(d.Name, "."); strings.EqualFold(s, short) {
			return d
		}
	}
	return f.device(name)
}

// cables connects ports: by LLDP in the outputs first, then by the list.
func (f *Fabric) cables(c *cabling.Cabling) {
	for _, d := range f.Devices {
		for _, p := range d.Ports {
			for _, x := range p.parts {
				n := x.now.Peer
				if !n.Is() {
					continue
				}
				if to := f.called(n.Device); to != d {
					f.join(p, to, n.Port, 0)
				} else {
					f.note("%s:%d: %v receives LLDP of %s itself (port %s): a loop cable, or a second device of that name; the link is not used", x.file, n.Line,
						p, d.Name, n.Port)
				}
			}
		}
	}
	if c == nil {
		return
	}
	for i := range c.Nodes {
		d := f.called(c.Nodes[i].Name)
		if d.Kind == Unknown {
			d.Kind = [...]Kind{Unknown, Host, Switch}[c.Nodes[i].Kind]
		}
	}
	for _, x := range c.Cables {
		a, b := f.called(c.Nodes[x.A.Node].Name), f.called(c.Nodes[x.B.Node].Name)
		p := a.find(x.A.Port)
		if p != nil {
			f.plan(p, b, x.B.Port, "the list of cables")
		}
		if q := b.find(x.B.Port); q != nil {
			f.plan(q, a, x.A.Port, "the list of cables")
		}
		if p == nil {
			if q := b.find(x.B.Port); q != nil {
				f.join(q, a, x.A.Port, x.Rate)
				continue
			}
			p = a.port(x.A.Port)
		}
		f.join(p, b, x.B.Port, x.Rate)
	}
}

// join connects a port with another device's, unless they are connected. A host may announce its port by a MAC address:
// then it is its only port, or the one that its own LLDP output connects.
func (f *Fabric) join(p *Port, d *Device, name string, rate unit.Rate) {
	if p.Peer != nil {
		if p.Rate == 0 {
			p.Rate, p.Peer.Rate = rate, rate
		}
		return
	}
	q := d.find(name)
	if q == nil && (name == "" || mac.MatchString(name)) {
		for _, x := range d.Ports {
			if n := x.neighbour(); n.Is() && f.called(n.Device) == p.On && canon(n.Port) == canon(p.Name) {
				q = x
			}
		}
		if q == nil && len(d.Ports) == 1 {
			q = d.Ports[0]
		}
	}
	if q == nil {
		q = d.port(name)
	}
	if q.Peer != nil && q.Peer != p {
		f.note("%v and another port both report neighbor %v (the other port: %v): one LLDP table is outdated", p, q, q.Peer)
		return
	}
	p.Peer, q.Peer = q, p
	p.Rate, q.Rate = max(p.Rate, rate), max(q.Rate, rate)
}

func (p *Port) neighbour() counters.Peer {
	for _, x := range p.parts {
		if x.now.Peer.Is() {
			return x.now.Peer
		}
	}
	return counters.Peer{}
}

// unseen adds an unnamed peer to ports with pauses, or with a storm seen by a watchdog, whose cable is unknown, so that
// the pauses have a source. A host's received traffic is counted by its switch, if there are outputs of switches.
func (f *Fabric) unseen() {
	lost := 0
	switches := slices.ContainsFunc(f.Devices, func(d *Device) bool { return d.Kind == Switch && d.Seen })
	tables := map[*Device]bool{} // switches whose own LLDP table was read
	f.ports(func(p *Port) {
		if p.On.Kind == Switch && p.neighbour().Is() {
			tables[p.On] = true
		}
	})
	f.ports(func(p *Port) {
		if p.Peer != nil {
			return
		}
		got, sent := p.read(allRxPFC).Grew, p.read(allTxPFC).Grew
		for k := range counters.Priorities {
			got, sent = got+p.read(rxPFC(k)).Grew+p.read(detected(k)).Grew, sent+p.read(txPFC(k)).Grew
		}
		if sent > 0 || got > 0 && !(switches && p.On.Kind == Host) {
			d := &Device{Name: "neighbor of " + p.String(), byName: map[string]*Port{}}
			if p.On.Kind == Switch && len(tables) > 0 && !tables[p.On] {
				d.Kind = Switch // it may be one: its table would say
			}
			p.Peer = &Port{On: d, Peer: p}
			lost++
		}
	})
	if lost > 0 {
		f.note("no neighbor known for %s with pauses: add the outputs of show lldp neighbors, or --cabling", unit.Plural(lost, "port"))
	}
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

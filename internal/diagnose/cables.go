package diagnose

import (
	"regexp"
	"slices"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/counters"
	"railyard/unit"
)

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

// called is the device that a neighbour names, with or without its domain; known is nil if there is none.
func (f *Fabric) called(name string) *Device {
	if d := f.known(name); d != nil {
		return d
	}
	return f.device(name)
}

func (f *Fabric) known(name string) *Device {
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
	return nil
}

// cables connects ports: by LLDP in the outputs first, then by the list. Tables of both ends that agree precede those
// of one end, and these precede the earlier snapshot's.
func (f *Fabric) cables(c *cabling.Cabling) {
	f.agreed()
	f.claimed(func(p *Port) []counters.Peer {
		var now []counters.Peer
		for _, x := range p.parts {
			if n := x.now.Peer; n.Is() && f.called(n.Device) == p.On {
				f.note("%s:%d: %v receives LLDP of %s itself (port %s): a loop cable, or a second device of that name; the link is not used", x.file, n.Line,
					p, p.On.Name, n.Port)
			} else if n.Is() {
				now = append(now, n)
			}
		}
		return now
	})
	f.claimed((*Port).heard)
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
	f.rates(c)
}

// rates gives links between two devices the rate that the list of cables has between them, if it is one: the list may
// name ports as another system does.
func (f *Fabric) rates(c *cabling.Cabling) {
	of := map[[2]*Device][]unit.Rate{}
	for _, x := range c.Cables {
		a, b := f.called(c.Nodes[x.A.Node].Name), f.called(c.Nodes[x.B.Node].Name)
		of[[2]*Device{a, b}] = append(of[[2]*Device{a, b}], x.Rate)
		of[[2]*Device{b, a}] = append(of[[2]*Device{b, a}], x.Rate)
	}
	f.ports(func(p *Port) {
		if p.Peer == nil || p.Rate > 0 {
			return
		}
		all := of[[2]*Device{p.On, p.Peer.On}]
		if slices.Sort(all); len(all) > 0 && all[0] == all[len(all)-1] {
			p.Rate, p.Peer.Rate = all[0], all[0]
		}
	})
}

// agreed connects ports whose LLDP tables name each other, in the same snapshot or not.
func (f *Fabric) agreed() {
	for _, d := range f.Devices {
		for _, p := range d.Ports {
			for _, n := range p.neighbours() {
				to := f.known(n.Device)
				if to == nil || to == d || p.Peer != nil {
					continue
				}
				names := func(n counters.Peer) bool { return f.known(n.Device) == d && d.find(n.Port) == p }
				if q := f.end(p, to, n.Port); q != nil && slices.ContainsFunc(q.neighbours(), names) {
					f.join(p, to, n.Port, 0)
				}
			}
		}
	}
}

// claimed connects ports with the neighbours that one end names: those whose ports are known first.
func (f *Fabric) claimed(of func(p *Port) []counters.Peer) {
	for _, known := range []bool{true, false} {
		for _, d := range slices.Clone(f.Devices) {
			for _, p := range slices.Clone(d.Ports) {
				for _, n := range of(p) {
					to := f.called(n.Device)
					if to != d && (!known || len(to.Ports) == 0 || f.end(p, to, n.Port) != nil) {
						f.join(p, to, n.Port, 0)
					}
				}
			}
		}
	}
}

// end returns the port of a device that LLDP names at a port, or nil. A host may announce its port by a MAC address:
// then it is its only port, or the one that its own LLDP output connects.
func (f *Fabric) end(p *Port, d *Device, name string) *Port {
	q := d.find(name)
	if q != nil || name != "" && !mac.MatchString(name) {
		return q
	}
	for _, x := range d.Ports {
		for _, n := range x.neighbours() {
			if f.known(n.Device) == p.On && canon(n.Port) == canon(p.Name) {
				q = x
			}
		}
	}
	if q == nil && len(d.Ports) == 1 {
		q = d.Ports[0]
	}
	return q
}

// join connects a port with another device's, unless they are connected.
func (f *Fabric) join(p *Port, d *Device, name string, rate unit.Rate) {
	if p.Peer != nil {
		if p.Rate == 0 {
			p.Rate, p.Peer.Rate = rate, rate
		}
		return
	}
	q := f.end(p, d, name)
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

// neighbours are a port's by LLDP: those of its latest outputs, then the earlier snapshot's.
func (p *Port) neighbours() (all []counters.Peer) {
	for _, x := range p.parts {
		if x.now.Peer.Is() {
			all = append(all, x.now.Peer)
		}
	}
	return append(all, p.heard()...)
}

// heard are those of the earlier snapshot.
func (p *Port) heard() (all []counters.Peer) {
	for _, x := range p.before {
		if x.Peer.Is() {
			all = append(all, x.Peer)
		}
	}
	return all
}

// unseen adds an unnamed peer to ports with pauses, or with a storm seen by a watchdog, whose cable is unknown, so that
// the pauses have a source. A host's received traffic is counted by its switch, if there are outputs of switches.
func (f *Fabric) unseen() {
	lost := 0
	switches := slices.ContainsFunc(f.Devices, func(d *Device) bool { return d.Kind == Switch && d.Seen })
	tables := map[*Device]bool{} // switches whose own LLDP table was read
	f.ports(func(p *Port) {
		if p.On.Kind == Switch && len(p.neighbours()) > 0 {
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
			switch all := p.neighbours(); {
			case len(all) > 0: // whose port is not known
				d.Kind = f.called(all[0].Device).Kind
			case p.On.Kind == Switch && len(tables) > 0 && !tables[p.On]:
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

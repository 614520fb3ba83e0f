package diagnose

import (
	"slices"

	"railyard/internal/counters"
	"railyard/internal/swconf"
	"railyard/unit"
)

// pfcOff is a link of which one end pauses and the other ignores it, or one end that never pauses though it drops a
// class that it should protect. It differs from too little headroom: there the peer is paused and stops, too late. Here
// the peer counts no pause, or none was sent before packets were dropped.
var pfcOff = Cause{Name: "pfc-off", About: "PFC is off at one end of a cable", find: findPFCOff, state: true,
	By: []string{"pauses sent", "pauses received", "µs paused", "packets dropped", "input discards",
		"PFC of the port"}}

func findPFCOff(f *Fabric, c *Cause) (out []Finding) {
	for _, d := range f.Devices {
		for _, p := range d.Ports {
			if p.Peer == nil || f.byName[p.Peer.On.Name] == p.Peer.On && d.Name > p.Peer.On.Name {
				continue // each link once; an unidentified neighbor is not a device of f
			}
			f.classes(func(k int) {
				for _, end := range []*Port{p, p.Peer} {
					if x, ok := f.off(c, end, k); ok {
						out = append(out, x)
						break
					}
				}
			})
		}
	}
	return ofDevices(f, out)
}

// ofDevices makes one finding of several ports of a device: it is the device then, and not
// the cables.
func ofDevices(f *Fabric, all []Finding) []Finding {
	count, unread := map[string]int{}, map[string]int{}
	for _, x := range all {
		key := sprintf("%s %d", x.Device, x.Class)
		if count[key]++; x.unread {
			unread[key]++
		}
	}
	out := together(all)
	for i := range out {
		x := &out[i]
		cabled := 0
		for _, p := range f.byName[x.Device].Ports {
			if p.Peer != nil {
				cabled++
			}
		}
		key := sprintf("%s %d", x.Device, x.Class)
		if n := count[key]; n > 1 {
			x.Says = sprintf("PFC of priority %d is off at %d of %s of %s", x.Class, n, unit.Plural(cabled, "cabled port"), x.Device)
			switch m := unread[key]; m {
			case 0:
				x.Says += ", and on at the other ends"
			case n:
				x.Says += "; no output or configuration shows its state at the other ends"
			default:
				x.Says += sprintf(", and on at %d of the other ends; no output or configuration shows its state at the rest", n-m)
			}
		}
	}
	return out
}

// off finds an end at which PFC is off, or appears to be, while the other has it on.
func (f *Fabric) off(c *Cause, p *Port, k int) (Finding, bool) {
	far := p.Peer
	says, file, line, isOff := p.runs(k)
	_, _, _, farOff := far.runs(k)
	ignored := far.read(txPFC(k)).Some() && p.deaf(k)
	silent := f.silent(p, k)
	if isOff && (farOff || far.ranOff(k)) || !(isOff || ignored || silent) {
		return Finding{}, false
	}
	harmed := far.lossAt(k).Grew + p.lossAt(k).Grew
	sure := Likely
	if isOff && (ignored || silent || harmed > 0 || far.read(txPFC(k)).Some()) {
		sure = Proven
	} else if isOff && !far.Seen() && far.Says == nil {
		sure = Possible // the other end's state is unknown
		if !p.read(rxPFC(k)).Some() && !p.unlike(k) {
			return Finding{}, false // nor that it would pause that priority
		}
	}
	x := c.at(p, k, sure, "PFC of priority %d is off at %v and on at %v", k, p, far)
	if x.unread = !far.on(k); x.unread {
		x.Says = sprintf("PFC of priority %d is off at %v; no output or configuration shows its state at %v", k, p, far)
	}
	switch {
	case !isOff && ignored:
		x.Says = sprintf("%v ignores the pauses of %v in priority %d", p, far, k)
	case !isOff:
		x.Says = sprintf("%v drops packets of priority %d and never pauses %v", p, k, far)
	}
	if isOff {
		x.tell(p, file, line, "%s", says)
	}
	x.show(far.read(txPFC(k)), p.read(rxPFC(k)), p.read(rxDur(k)), far.lossAt(k), p.read(txPFC(k)), p.lossAt(k))
	x.Why = "a port that ignores pauses sends until the headroom of its peer is full; a port that never pauses drops when its buffer is full. Both lose packets of a lossless class"
	x.Fix = "enable PFC of this priority at both ends, statically rather than by DCBX"
	x.next(p, askState, "state of PFC")
	x.next(p, askConfig, "policy applied to the port")
	x.harm = share(harmed, f.allLosses())
	if !isOff { // by counters, not by configuration
		x.stale()
	}
	return x, true
}

// runs reports whether a port's output, or its configuration, shows that it does not pause a priority.
func (p *Port) runs(k int) (says, file string, line int, off bool) {
	if on, file, line, ok := said(p, pfcOf); ok && !on {
		return "PFC is not operational", file, line, true
	}
	if m, file, line, ok := said(p, priosOf); ok && m>>k&1 == 0 {
		return sprintf("PFC runs for %s", bitmap(m)), file, line, true
	}
	if n := p.nic(); n != nil {
		if m, at, said := n.Paused(); said && m>>k&1 == 0 {
			if n.PFC[k].Is() {
				at = n.PFC[k].At
			}
			return sprintf("PFC of %s is on for %s", n.Title(), bitmap(m)), at.File, at.Line, true
		}
	}
	if p.Says == nil || p.QoS == nil || p.Says.Down.V {
		return "", "", 0, false
	}
	if mode := p.saysPFC.PFC; mode.V == swconf.PFCOff {
		at := mode.At
		if at.Line == 0 {
			at = p.Says.At
		}
		return "no priority-flow-control on this interface", at.File, at.Line, true
	}
	return "", "", 0, false
}

// on reports whether a port's outputs or configuration show that it pauses a priority, or its peer counts its pauses.
func (p *Port) on(k int) bool {
	prios, _, _, listed := said(p, priosOf)
	if !listed {
		prios, listed = earlier(p, priosOf)
	}
	runs, _, _, shown := said(p, pfcOf)
	if !shown {
		runs, shown = earlier(p, pfcOf)
	}
	configured := p.Says != nil && p.QoS != nil && !p.Says.Down.V && p.saysPFC.PFC.V != swconf.PFCOff
	paused, _, known := uint8(0), swconf.Place{}, false
	if n := p.nic(); n != nil {
		paused, _, known = n.Paused()
	}
	return listed && prios>>k&1 == 1 || !listed && shown && runs || known && paused>>k&1 == 1 || configured ||
		p.read(txPFC(k)).Some() || p.Peer != nil && p.Peer.read(rxPFC(k)).Some()
}

// ranOff reports whether the earlier snapshot shows that a port does not pause a priority, and the later one lacks it.
func (p *Port) ranOff(k int) bool {
	on, was := earlier(p, pfcOf)
	prios, were := earlier(p, priosOf)
	_, _, _, is := said(p, pfcOf)
	_, _, _, are := said(p, priosOf)
	return was && !is && !on || were && !are && prios>>k&1 == 0
}

// unlike reports a port that does not pause a priority which most other ports of its switch do.
func (p *Port) unlike(k int) bool {
	on := 0
	for _, q := range p.On.Ports {
		if m, _, _, ok := said(q, priosOf); ok && q != p {
			on += 2*int(m>>k&1) - 1
		}
	}
	return on > 0
}

// bitmap is priorities in words.
func bitmap(m uint8) string {
	s := ""
	for k := range counters.Priorities {
		if m>>k&1 == 1 {
			s += sprintf(", %d", k)
		}
	}
	if s == "" {
		return "no priority"
	}
	if m&(m-1) == 0 {
		return "priority " + s[2:]
	}
	return "priorities " + s[2:]
}

// deaf reports whether a port continues to send when its peer pauses it: it counts no pause, or some and no paused
// time. If that time is not counted, the peer loses more per pause than can be in flight while one takes effect, which
// is the maximum of a port that obeys.
func (p *Port) deaf(k int) bool {
	n := p.read(rxPFC(k))
	if p.lacks(rxPFC(k)) || p.lacks(rxDur(k)) {
		return false
	}
	if n.None() || n.Some() && p.read(rxDur(k)).None() &&
		(p.leastStop(k, n) >= 2*unit.Microsecond || p.Peer.lossAt(k).Some()) {
		return true
	}
	prios, _, _, says := said(p, priosOf)
	if !says {
		prios, says = earlier(p, priosOf)
	}
	if p.read(rxDur(k)).Some() || says && prios>>k&1 == 1 {
		return false // it stopped, or runs PFC: the losses are due to headroom, on a long link
	}
	lost, paused, need := p.Peer.read(refused(k)), p.Peer.read(txPFC(k)), unit.Bytes(0)
	bytes, packets := p.Peer.read(rxBytes(k)), p.Peer.read(rxPackets(k))
	if !bytes.Is {
		bytes, packets = p.read(txBytes(k)), p.read(txPackets(k))
	}
	if need, _ = p.Peer.needs(k); need == 0 || !lost.Some() || !paused.Some() || !packets.Some() {
		return false
	}
	each := float64(bytes.Grew) / float64(packets.Grew)
	return float64(lost.Grew)*each/float64(paused.Grew) > float64(need)
}

// leastStop is the minimum time for which n pauses stop a port that obeys: a pause and its resume are apart by at least
// a frame, which must leave the pausing queue. Counters of time have microseconds, so that a few short pauses show as
// none.
func (p *Port) leastStop(k int, pauses Reading) unit.Time {
	s, bytes, packets := p.Speed(), p.read(txBytes(k)), p.read(txPackets(k))
	if s == 0 || packets.Grew == 0 {
		return 0
	}
	return unit.Time(pauses.Grew/2) * unit.Serialize(unit.Bytes(bytes.Grew/packets.Grew), s)
}

// silent reports a port that drops a class at its ingress and never pauses, though others
// pause that class: PFC sends its pause before the first packet is lost.
func (f *Fabric) silent(p *Port, k int) bool {
	return p.On.Kind == Switch && p.read(refused(k)).Some() && p.read(txPFC(k)).None() &&
		slices.ContainsFunc(f.Pauses, func(x Pause) bool { return x.Class == k })
}

// lossAt returns a port's losses of a class at its ingress, where its pauses protect: by class, else of the whole port.
func (p *Port) lossAt(k int) Reading {
	if r := p.read(refused(k)); r.Is {
		return r
	}
	if p.On.Kind == Switch {
		return p.read(inDiscards)
	}
	return Reading{Port: p}
}

package diagnose

import (
	"railyard/internal/queue"
	"railyard/unit"
	"slices"
)

// headroomSmall is a port that pauses its peer, whose peer stops, and which drops all the same: the data in flight at
// the pause did not fit. It differs from PFC that is off at the peer: the peer counts the pauses. It differs from a
// storm: the watchdog drops at the egress and reports it. From MTU and cables: those lose without any pause.
var headroomSmall = Cause{Name: "headroom-small", About: "the headroom of a lossless class is too small", find: findHeadroom,
	By: []string{"packets dropped", "input discards", "pauses sent", "pauses received",
		"peak bytes in the headroom"}}

func findHeadroom(f *Fabric, c *Cause) (out []Finding) {
	f.ports(func(p *Port) {
		if p.On.Kind != Switch {
			return
		}
		f.classes(func(k int) {
			if x, ok := f.overflows(c, p, k); ok {
				out = append(out, x)
			}
		})
	})
	return together(out)
}

// together merges the findings of several ports of a device, whose MTU, PFC and buffers have one configuration: the
// first, with the others' first lines.
func together(all []Finding) (out []Finding) {
	at := map[string]int{}
	for _, x := range all {
		key := sprintf("%s %s %d", x.Cause, x.Device, x.Class)
		i, ok := at[key]
		if !ok {
			at[key] = len(out)
			out = append(out, x)
			continue
		}
		one := &out[i]
		if one.Port != "" {
			one.Says = sprintf("%s, also at other ports of %s", one.Says, x.Device)
		}
		one.Port, one.Peer = "", ""
		one.Sure, one.harm = min(one.Sure, x.Sure), min(1, one.harm+x.harm)
		one.Evidence = append(one.Evidence, x.Evidence[0])
	}
	return out
}

// overflows finds a port that lost packets of a class that it had paused.
func (f *Fabric) overflows(c *Cause, p *Port, k int) (x Finding, ok bool) {
	lost, sent := p.lossAt(k), p.read(txPFC(k))
	if !lost.Some() || !sent.Some() || p.On.stormed(k) || p.read(giants).Some() || p.lacks(giants) ||
		p.On.lacks(detected(k), flushed(k)) {
		return x, false
	}
	sure := Likely
	if p.Peer != nil {
		if p.Peer.deaf(k) || p.Peer.lacks(rxPFC(k), rxDur(k)) {
			return x, false // it does not stop, or may not
		}
		if _, _, _, off := p.Peer.runs(k); off {
			return x, false
		}
	}
	has, at := p.headroom(k)
	need, why := p.needs(k)
	if p.read(refused(k)).Is && (has == 0 || has < need) {
		sure = Proven
	}
	if p.Peer != nil && (p.Peer.On.Once || p.Peer.Seen() && !p.Peer.read(rxPFC(k)).Is) {
		sure = Possible // whether the peer stops is missing
	}
	x = c.at(p, k, sure, "%v drops in the lossless priority %d although it pauses %s, which reacts", p, k, farOf(p))
	x.show(lost, sent, p.read(headroomPeak(k)))
	if p.Peer != nil {
		x.show(p.Peer.read(rxPFC(k)))
	}
	if has > 0 {
		x.cite(p.On, at.At, "headroom %v; %s needs %v", has, why, need)
	}
	x.Why = "until a pause takes effect, packets arrive that were on the cable, in transmission, or sent during the response time of the peer; headroom below this sum drops them"
	x.Fix = "headroom for the length and rate of this cable" + map[bool]string{true: sprintf(": at least %v",
		need)}[need > 0]
	x.next(p, askHeadroom, "drops and peak headroom")
	x.next(p, askConfig, "lossless buffer of the port")
	x.harm = share(lost.Grew, f.allLosses())
	return x, true
}

// stormed reports that a watchdog dropped: drops of the class are its doing.
func (d *Device) stormed(k int) bool {
	return slices.ContainsFunc(d.Ports, func(p *Port) bool {
		return p.read(detected(k)).Some() || p.read(flushed(k)).Some()
	})
}

// headroom returns the configured headroom of a port's class, 0 if it is not set.
func (p *Port) headroom(k int) (unit.Bytes, place) {
	if p.QoS == nil || !p.QoS.Queues[k].PG.Is() {
		return 0, place{}
	}
	g := p.QoS.Queues[k].PG
	at := g.V.HeadAt
	if at.Line == 0 {
		at = g.At
	}
	return g.V.Headroom, place{at}
}

// needs returns the minimum headroom of a port from its speed, its configured cable length, and the time that IEEE
// 802.3 gives the peer to react.
func (p *Port) needs(k int) (unit.Bytes, string) {
	s := p.Speed()
	mtu, _, _ := p.mtu()
	if s == 0 || mtu == 0 {
		return 0, "it is not set what"
	}
	mm, cable := int64(0), "a cable of no length"
	if p.Says != nil && p.Says.CableMM.Is() {
		mm = p.Says.CableMM.V
		cable = sprintf("a cable of %g m", float64(mm)/1000)
	}
	prop := unit.Time(float64(mm) / 1000 / 1.98e8 * float64(unit.Second))
	return queue.Headroom(s, prop, queue.Response(s), 0, mtu), sprintf("%s at %v with frames of %d", cable, s, mtu)
}

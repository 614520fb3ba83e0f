package diagnose

import (
	"railyard/internal/counters"
	"railyard/internal/swconf"
)

// place is the position of a configuration's setting.
type place struct{ At swconf.Place }

// ecnOff is a switch that pauses and marks nothing. ECN should slow senders down before a queue is so long that PFC
// must stop them, so a switch that pauses has marked before. It differs from an xOFF that is too low: with ECN off the
// queue exceeds the length at which others mark; with a low xOFF it never reaches it. Configurations decide; without
// them the longest queue does, if the output shows it. With WRED on and ECN off, it drops packets that it should mark,
// before any pause; otherwise a lossless class loses packets at an egress only by a watchdog.
var ecnOff = Cause{Name: "ecn-off", About: "a switch sends pauses and no ECN marks", find: findECNOff,
	By: []string{"packets marked", "packets sent", "peak bytes queued", "packets dropped", "pauses sent"}}

func findECNOff(f *Fabric, c *Cause) (out []Finding) {
	meant := f.meantFor()
	for k := range counters.Priorities {
		if meant>>k&1 == 0 {
			continue
		}
		for _, d := range f.Devices {
			if d.Kind != Switch || !d.Seen {
				continue
			}
			m := f.marking(d, k)
			if x, ok := f.earlyDrops(c, d, k, m); ok {
				out = append(out, x)
				continue
			}
			if x, ok := f.overdue(c, d, k, m); ok {
				out = append(out, x)
				continue
			}
			if !m.shown || m.marks > 0 || m.pauses == 0 && !m.off || f.Lossless>>k&1 == 0 {
				continue
			}
			x := f.unmarked(c, d, k, m)
			if x.Says != "" {
				out = append(out, x)
			}
		}
	}
	return out
}

// earlyDrops finds a switch that drops RoCE at its egress and marks none: WRED without ECN or, in a class without
// pauses, a full queue that marked nothing. A port that is down or whose MTU is too small drops, too.
func (f *Fabric) earlyDrops(c *Cause, d *Device, k int, m marking) (x Finding, ok bool) {
	var worst Reading
	lost := uint64(0)
	for _, p := range d.Ports {
		r := p.read(dropped(k))
		up, _, _, known := said(p, upOf)
		if !r.Some() || !r.Two || known && !up || p.read(flaps).Some() || p.read(giants).Some() ||
			p.paused(k) || p.read(outErrors).Some() {
			continue
		}
		if lost += r.Grew; r.Grew > worst.Grew {
			worst = r
		}
	}
	if !m.shown || m.marks > 0 || lost == 0 || d.stormed(k) || f.small(worst.Port) ||
		d.lacks(detected(k), flushed(k)) || worst.Port.lacks(flaps, giants, outErrors, rxPFC(k)) {
		return x, false
	}
	sure := Possible
	if f.Lossless>>k&1 == 1 || m.off {
		sure = Likely
	}
	x = c.on(d, k, sure, "%s drops class %d at egress without ECN marks: WRED drops instead of marking",
		d.Name, k)
	if m.off {
		x.cite(d, m.at, "queue %d has no WRED with ECN", k)
	}
	x.show(worst, worst.Port.read(marked(k)), worst.Port.read(txPackets(k)))
	x.Why = "WRED without ECN drops packets of the lossless class before PFC pauses; go-back-N retransmits everything after each drop"
	x.Fix = "enable ECN in the WRED profile of the lossless queue (random-detect ... ecn), and ECT on the hosts"
	x.next(worst.Port, askMarks, "WRED, ECN and marks of the queue")
	x.next(worst.Port, askConfig, "policy applied to the port")
	x.harm = share(lost, f.allLosses())
	return x, true
}

// enough is the expected number of marks of a queue at which zero marks are not chance: their probability is below 1 in
// 20,000 (a Poisson's at 10).
const enough = 10

// overdue finds a switch that never pauses and should have marked: its queue was longer than one that another switch
// marked, and that switch would have marked many of as many packets.
func (f *Fabric) overdue(c *Cause, d *Device, k int, m marking) (x Finding, ok bool) {
	if !m.shown || m.marks > 0 || m.pauses > 0 || !m.longest.Some() || m.has && !m.off || d.lacks(txPFC(k)) {
		return x, false
	}
	least, by := -1.0, Reading{}
	f.ports(func(p *Port) {
		r, n, l := p.read(marked(k)), p.read(txPackets(k)), p.read(peak(k))
		if p.On == d || p.On.Kind != Switch || r.Grew < enough/2 || n.Grew == 0 || !l.Some() ||
			l.Now > m.longest.Now {
			return
		}
		if s := float64(r.Grew) / float64(n.Grew); least < 0 || s < least {
			least, by = s, r
		}
	})
	sent := uint64(0)
	for _, p := range d.Ports {
		if least >= 0 && p.read(peak(k)).Now >= by.Port.read(peak(k)).Now {
			sent += p.read(txPackets(k)).Grew
		}
	}
	if least*float64(sent) < enough {
		return x, false
	}
	x = c.on(d, k, Likely, "%s marks none of %d packets with longer queues than %v, which marks %.2f %%", d.Name, sent, by.Port, 100*least)
	if m.off {
		x.cite(d, m.at, "queue %d has no WRED with ECN", k)
	}
	x.show(m.longest, m.longest.Port.read(marked(k)), by, by.Port.read(peak(k)))
	x.Why = "an unmarked queue grows until PFC pauses it; its senders receive no CNPs"
	x.Fix = "configure WRED with ECN on the lossless queue, as on the other switches"
	x.next(m.longest.Port, askMarks, "WRED, ECN and marks of the queue")
	x.next(m.longest.Port, askConfig, "policy applied to the port")
	return x, true
}

// small reports a port whose MTU is smaller than others'.
func (f *Fabric) small(p *Port) bool {
	mine, _, _ := p.mtu()
	return mine > 0 && mine < f.usualMTU()
}

// marking is a switch's reaction to the congestion of a class.
type marking struct {
	shown         bool   // its outputs have counters of marks, and both snapshots those of all ports
	marks, pauses uint64 // marks made, pauses sent
	sent          uint64 // packets of the class
	longest       Reading
	off           bool // its configuration does not mark the class
	at            swconf.Place
	has           bool // there is a configuration
	worst         Pause
}

func (f *Fabric) marking(d *Device, k int) (m marking) {
	lacks := d.lacks(marked(k))
	for _, p := range d.Ports {
		r := p.read(marked(k))
		m.shown, m.marks = !lacks && (m.shown || r.Is), m.marks+r.Grew
		m.sent += p.read(txPackets(k)).Grew
		if l := p.read(peak(k)); l.Is && (!m.longest.Is || l.Now > m.longest.Now) {
			m.longest = l
		}
		if p.QoS != nil && p.Peer != nil {
			m.has = true
			if w := p.QoS.Queues[k].WRED; !w.Is() || !w.V.ECN {
				m.off, m.at = true, p.QoS.Queues[k].At
				if w.Is() {
					m.at = w.At
				}
			}
		}
	}
	for _, x := range f.from(d, k) {
		m.pauses += x.Frames()
		if x.Frames() > m.worst.Frames() {
			m.worst = x
		}
	}
	return m
}

// marksElsewhere is the shortest of the longest queues at which another switch marked: with ECN on, a longer queue is
// marked.
func (f *Fabric) marksElsewhere(d *Device, k int) (best Reading, any bool) {
	f.ports(func(p *Port) {
		if p.On == d || p.On.Kind != Switch || !p.read(marked(k)).Some() {
			return
		}
		any = true
		if r := p.read(peak(k)); r.Is && (!best.Is || r.Now < best.Now) {
			best = r
		}
	})
	return best, any
}

func (f *Fabric) unmarked(c *Cause, d *Device, k int, m marking) (x Finding) {
	elsewhere, others := f.marksElsewhere(d, k)
	hasty, _, _ := f.runsDry(d, k)
	grown := m.longest.Is && elsewhere.Is && m.longest.Now >= elsewhere.Now
	switch {
	case m.has && !m.off: // on: something else is wrong
		return x
	case m.off && m.pauses > 0 || m.off && grown:
		x = c.on(d, k, Proven, "%s marks nothing in priority %d: ECN is not configured", d.Name, k)
	case m.off:
		return x // it had no reason to mark: lint reports the setting
	case grown && !f.passesOn(d, k): // a stopped queue marks nothing either
		x = c.on(d, k, Likely, "%s marks nothing in priority %d with queue lengths that other switches mark", d.Name, k)
	case m.longest.Is && elsewhere.Is: // the queue stays short: xOFF is
		return x
	case f.passesOn(d, k) || hasty != nil: // its queues need not be long for that
		return x
	case others: // the length of its queues is unknown
		x = c.on(d, k, Possible, "%s pauses in priority %d and marks nothing, while other switches mark: ECN is off, or its xOFF is below their WRED minimum", d.Name, k)
	default:
		x = c.on(d, k, Possible, "%s pauses in priority %d and no switch marks: ECN is off, the hosts send no ECT, or xOFF is below the WRED minimum", d.Name, k)
	}
	if m.off {
		x.cite(d, m.at, "queue %d has no WRED with ECN", k)
	}
	x.show(m.worst.Seen(), m.longest, elsewhere)
	for _, r := range f.busiestMarks(d, k) {
		x.show(r)
	}
	x.Why = "ECN slows senders before PFC pauses them. Without marks the queue grows to xOFF, and PFC pauses all senders through the switch, victims included"
	x.Fix = "configure WRED with ECN on the lossless queue, its maximum below xOFF; enable ECN on the NICs (roce_np, roce_rp)"
	if p := m.worst.From; p != nil {
		x.next(p, askMarks, "WRED, ECN and marks of the queue")
		x.next(p, askConfig, "policy applied to the port")
	}
	x.harm = share(m.pauses, f.allPauses())
	return x
}

// passesOn reports that a switch is paused itself, or may be, as one snapshot lacks what a port received: it may send
// pauses with short queues.
func (f *Fabric) passesOn(d *Device, k int) bool { return len(f.onto(d, k)) > 0 || d.lacks(rxPFC(k)) }

// busiestMarks is the counter of marks at the egress that sent most.
func (f *Fabric) busiestMarks(d *Device, k int) []Reading {
	if p := f.congested(d, k); p != nil {
		return []Reading{p.read(marked(k)), p.read(txPackets(k))}
	}
	return nil
}

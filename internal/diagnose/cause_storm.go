package diagnose

import (
	"fmt"
	"slices"

	"railyard/internal/counters"
	"railyard/unit"
)

// storm is a NIC that pauses its switch without end. It differs from a slow receiver, whose buffer fills and drains, so
// that it received at least a packet per pause. A stuck NIC receives nothing and repeats its pause before the previous
// one expires (IEEE 802.1Qbb: 65535 quanta at most). The watchdog's finding counts as it is (docs/references.md,
// watchdog). A switch that passes pauses on is never the storm: only where pauses begin.
var storm = Cause{Name: "storm", About: "a NIC pauses its switch without end", find: findStorms,
	By: []string{"pauses sent", "pauses received", "µs paused", "packets sent", "storms detected",
		"packets dropped by the watchdog"}}

func findStorms(f *Fabric, c *Cause) (out []Finding) {
	for i := range f.Chains {
		ch := &f.Chains[i]
		if !ch.NIC() {
			continue
		}
		for _, x := range ch.First {
			why, sure, ok := x.endless()
			if !ok || !x.foremost() {
				continue
			}
			if x.contradicted() {
				sure = Possible
			}
			nic := x.From
			d := c.at(nic, ch.Class, sure, "%v pauses %v in priority %d without end: %s", nic, x.To,
				ch.Class, why)
			d.show(x.Got, x.Sent, x.To.read(rxDur(max(ch.Class, 0))), x.To.read(txPackets(max(ch.Class, 0))))
			d.showSome(x.To.read(detected(max(ch.Class, 0))), x.To.read(flushed(max(ch.Class, 0))))
			d.reach(ch)
			d.Why, d.Fix = stormWhy, stormFix
			d.next(nic, askNIC, "are pauses still sent?")
			d.next(x.To, askPFC, "are pauses still received?")
			d.harm = share(ch.Frames, f.allPauses())
			out = append(out, d)
		}
	}
	return append(out, f.watched(c, out)...)
}

// watched finds storms that only the watchdog's output reports, without pause counters. At a port to another switch it
// is that switch which passes them on.
func (f *Fabric) watched(c *Cause, told []Finding) (out []Finding) {
	f.ports(func(p *Port) {
		for k := range counters.Priorities {
			n := p.read(detected(k))
			known := slices.ContainsFunc(told, func(x Finding) bool { return x.Peer == p.String() && x.Class == k })
			if p.Peer == nil || p.Peer.On.Kind == Switch || !n.Some() || known {
				continue
			}
			sure := Proven
			if !n.Two {
				sure = Likely // it may be long ago
			}
			d := c.at(p.Peer, k, sure, "the PFC watchdog of %v detected %s in priority %d", p, unit.Plural(n.Grew, "storm"), k)
			d.show(n, p.read(flushed(k)), p.read(rxPFC(k)))
			d.Why, d.Fix = stormWhy, stormFix
			d.next(p.Peer, askNIC, "are pauses still sent?")
			d.next(p, askPFC, "are pauses still received?")
			d.harm = 1
			out = append(out, d)
		}
	})
	return out
}

const stormWhy = "a slow receiver accepts at least one packet per pause; a stuck NIC pauses and accepts none. Its packets fill the switch, which then pauses other senders"

const stormFix = "drain the host, reset or replace its NIC, check the NIC firmware; enable the PFC watchdog on ports to hosts"

// longestQuanta is the longest pause of a frame (docs/references.md, pfc), in bits.
const longestQuanta = 65535 * 512

// foremost reports whether a NIC pauses no other class in which it receives more: a NIC with a full buffer pauses all
// of its lossless classes, also those without traffic.
func (x *Pause) foremost() bool {
	own := x.To.read(txPackets(max(x.Class, 0))).Grew
	for k := range counters.Priorities {
		if k == x.Class || x.Class < 0 || !x.From.pauses(k) {
			continue
		}
		if n := x.To.read(txPackets(k)).Grew; n > own || n == own && k < x.Class {
			return false
		}
	}
	return true
}

// pauses reports whether a port pauses its peer in a class.
func (p *Port) pauses(k int) bool {
	return p.read(txPFC(k)).Some() || p.Peer != nil && p.Peer.read(rxPFC(k)).Some()
}

// given returns a NIC's received packets in all classes that it pauses.
func (x *Pause) given() Reading {
	all := x.To.read(txPackets(x.Class))
	for k := range counters.Priorities {
		if k != x.Class && x.From.pauses(k) {
			r := x.To.read(txPackets(k))
			all.Grew, all.Is, all.Two = all.Grew+r.Grew, all.Is && r.Is, all.Two && r.Two
		}
	}
	return all
}

// endless reports whether a NIC pauses continuously, by the available evidence, and the confidence.
func (x *Pause) endless() (why string, sure Sure, ok bool) {
	if x.Class < 0 {
		return "", Proven, false
	}
	p := x.To
	sent := x.given()
	if n := p.read(detected(x.Class)); n.Some() {
		return fmt.Sprintf("the PFC watchdog of the switch detected %s", unit.Plural(n.Grew, "storm")), Proven, true
	}
	if sent.Is && sent.Two && x.Frames() > sent.Grew && !x.brief() {
		return fmt.Sprintf("it sent %s while the switch transmitted %s to it", unit.Plural(x.Frames(), "pause"),
			unit.Plural(sent.Grew, "packet")), Proven, true
	}
	if lost := p.read(dropped(x.Class)); lost.Some() && lost.Two && sent.Is && lost.Grew > sent.Grew {
		return fmt.Sprintf("the switch dropped %s queued for it", unit.Plural(lost.Grew, "packet")),
			Proven, true
	}
	return x.lasting()
}

// undecided reports whether one snapshot lacks a counter that tells a storm from a slow receiver.
func (x *Pause) undecided() bool {
	k := max(x.Class, 0)
	return x.To.lacks(rxDur(k)) || x.From.lacks(txDur(k)) || x.To.lacks(txPackets(k)) || x.To.lacks(detected(k))
}

// lasting returns the time that a NIC paused its switch, from time counters.
func (x *Pause) lasting() (why string, sure Sure, ok bool) {
	p := x.To
	stopped := p.read(rxDur(x.Class))
	if !stopped.Is {
		stopped = x.From.read(txDur(x.Class))
	}
	if !stopped.Some() || !stopped.Two {
		return "", Proven, false
	}
	took := unit.Time(min(stopped.Grew, uint64(unit.Never/unit.Microsecond)-1)) * unit.Microsecond
	if over := p.On.Over; over > 0 && float64(took) >= 0.99*float64(over) { // SONiC's rule
		return fmt.Sprintf("the port was paused for %v of %v", took, over), Proven, true
	}
	s, n := p.Speed(), unit.Time(x.Frames())
	if s == 0 || n < 2 {
		return "", Proven, false
	}
	renewal := unit.Serialize(longestQuanta/8, s) / 2
	switch each := took / n; {
	case each >= renewal:
		return fmt.Sprintf("each pause lasted %v, and the next one arrived before it ended", each), Proven, true
	case n >= renewals && took >= (n-2)*renewal:
		return fmt.Sprintf("its %s renewed one pause for %v", unit.Plural(x.Frames(), "frame"), took),
			Likely, true
	}
	return "", Proven, false
}

// renewals is the number of frames of a pause that is renewed continuously: the sender renews it after half of its
// quanta, and the last frame resumes the peer. A receiver that drains its buffer pauses often and renews no pause; with
// that many consecutive frames it would have drained megabytes.
const renewals = 6

// reach describes the devices that pauses reach, up the fabric.
func (x *Finding) reach(c *Chain) {
	for i, w := range c.Way {
		if i == 0 && c.NIC() {
			continue // told
		}
		x.show(w.Seen())
	}
	if n := len(c.Reaches); n > 1 {
		x.Says += "; the pauses spread to " + unit.Plural(n, "port")
		if c.Hosts > 0 { // besides the port that they come from
			x.Says += ", including " + unit.Plural(c.Hosts, "host")
		}
	}
}

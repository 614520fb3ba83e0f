package diagnose

import (
	"railyard/internal/swconf"
	"railyard/unit"
)

// xoffLow is a switch that pauses before it marks (a queue that grows past WRED's minimum marks many packets before it
// comes to a higher xOFF: marks are more than pauses), or earlier than its siblings do: its xOFF (or alpha) is too low.
// Its queues stay shorter than the start of ECN marking. A switch whose siblings held more at the ingress of the same
// class without pausing has another threshold than they have.
var xoffLow = Cause{Name: "xoff-low", About: "xOFF is too low: a switch pauses before it marks", find: findXOffLow,
	By: []string{"pauses sent", "packets marked", "packets sent", "peak bytes queued",
		"peak bytes in the shared buffer"}}

func findXOffLow(f *Fabric, c *Cause) (out []Finding) {
	f.classes(func(k int) {
		for _, d := range f.Devices {
			if d.Kind != Switch || !d.Seen {
				continue
			}
			if m := f.marking(d, k); m.pauses > 0 {
				if x, ok := f.early(c, d, k, m); ok {
					out = append(out, x)
				}
			}
		}
	})
	return out
}

// early finds a switch that pauses too early.
func (f *Fabric) early(c *Cause, d *Device, k int, m marking) (x Finding, ok bool) {
	p := m.worst.From
	xoff, wred, at := p.thresholds(k)
	usual, from, n := f.usualXOff(d, k)
	elsewhere, others := f.marksElsewhere(d, k)
	held, more := f.heldMore(d, k)
	hasty, between, need := f.runsDry(d, k)
	switch {
	case m.off: // nothing marks
		return x, false
	case xoff > 0 && wred > 0 && xoff <= wred:
		x = c.on(d, k, Proven, "%s pauses priority %d from %v and marks only from %v: reversed thresholds",
			d.Name, k, xoff, wred)
	case xoff > 0 && n > 0 && xoff < usual && n > f.asLow(d, k, xoff):
		x = c.on(d, k, Proven, "%s pauses priority %d from %v, %s of its tier from %v", d.Name,
			k, xoff,
			unit.Plural(n, "switch"), usual)
	case m.has && xoff > 0:
		return x, false
	case hasty != nil && !f.passesOn(d, k) && 2*m.marks < m.pauses && !d.lacks(marked(k)):
		sure := Likely
		if !m.shown {
			sure = Possible
		}
		x = c.on(d, k, sure, "%s pauses priority %d after every %v at %v, less than arrives until a pause takes effect (%v)", d.Name, k, between, hasty, need)
	case more && !f.passesOn(d, k) && !d.lacks(sharedPeak(k)):
		x = c.on(d, k, Likely, "%s pauses priority %d with less buffered than other switches hold without a pause", d.Name, k)
	case m.shown && m.marks == 0 && others && m.longest.Is && elsewhere.Is && m.longest.Now < elsewhere.Now &&
		!f.passesOn(d, k) && !d.lacks(peak(k)):
		x = c.on(d, k, Likely, "%s pauses priority %d with shorter queues than other switches mark", d.Name, k)
	default:
		return x, false
	}
	if xoff > 0 {
		x.cite(d, at, "xOFF %v, WRED from %v", xoff, wred)
	}
	if from != nil && xoff > 0 {
		_, _, there := from.thresholds(k)
		x.cite(from.On, there, "%s has xOFF %v", from.On.Name, usual)
	}
	x.show(m.worst.Seen(), m.longest, elsewhere, held)
	for _, r := range f.busiestMarks(d, k) {
		x.show(r)
	}
	x.Why = "a switch that pauses before it marks stops senders instead of slowing them, and congestion spreads to victim flows"
	x.Fix = "set xOFF above the WRED maximum (xON < WRED min < WRED max < xOFF), equal on all switches of a tier"
	x.next(p, askConfig, "thresholds of the port")
	x.next(p, askPFC, "pause count")
	x.harm = share(m.pauses, f.allPauses())
	return x, true
}

// thresholds returns where a port pauses and where it begins to mark, 0 if its configuration does not set it.
func (p *Port) thresholds(k int) (xoff, wred unit.Bytes, at swconf.Place) {
	if p == nil || p.QoS == nil {
		return 0, 0, at
	}
	q := &p.QoS.Queues[k]
	if q.PG.Is() {
		if xoff, at = q.PG.V.XOff, q.PG.At; q.PG.V.XOffAt.Line > 0 {
			at = q.PG.V.XOffAt
		}
	}
	if q.WRED.Is() && q.WRED.V.ECN {
		wred = q.WRED.V.Min
	}
	return xoff, wred, at
}

// ofSwitch returns the pause threshold of a switch's ports: the first configured one.
func ofSwitch(d *Device, k int) (unit.Bytes, *Port) {
	for _, p := range d.Ports {
		if xoff, _, _ := p.thresholds(k); xoff > 0 {
			return xoff, p
		}
	}
	return 0, nil
}

// usualXOff is the xOFF that most other switches have, a port that has it, and how many.
func (f *Fabric) usualXOff(d *Device, k int) (usual unit.Bytes, from *Port, most int) {
	count := map[unit.Bytes]int{}
	for _, o := range f.Devices {
		if v, p := ofSwitch(o, k); o != d && v > 0 {
			if count[v]++; count[v] > most || count[v] == most && v > usual {
				usual, from, most = v, p, count[v]
			}
		}
	}
	return usual, from, most
}

// asLow returns how many other switches pause as early.
func (f *Fabric) asLow(d *Device, k int, xoff unit.Bytes) (n int) {
	for _, o := range f.Devices {
		if v, _ := ofSwitch(o, k); o != d && v > 0 && v <= xoff {
			n++
		}
	}
	return n
}

// runsDry finds the port with the fewest bytes received between two of its pauses, if they are less than what arrives
// before a pause takes effect (its required headroom). Between two pauses at least xOFF - xON bytes arrive, so a
// shorter distance shows that xOFF - xON is smaller than that: the link idles each time. A queue that grows because of
// missing marks pauses rarely. A finished pause takes two frames, one that stops and one that resumes, so half of the
// bytes between xOFF and xON, and of those in flight, arrive per frame.
func (f *Fabric) runsDry(d *Device, k int) (worst *Port, between, need unit.Bytes) {
	for _, p := range d.Ports {
		n, got := p.read(txPFC(k)), p.read(rxBytes(k))
		if !got.Is {
			got = p.got()
		}
		needs, _ := p.needs(k)
		if !n.Some() || !got.Some() || !n.Two || needs == 0 {
			continue
		}
		each := unit.Bytes(got.Grew / n.Grew)
		if each < needs && (worst == nil || each < between) {
			worst, between, need = p, each, needs
		}
	}
	return worst, between, need
}

// heldMore finds a port of another switch that held more of a class than any port of this one without pausing, although
// its PFC runs: by its output, or by pauses of other ports of that switch.
func (f *Fabric) heldMore(d *Device, k int) (held Reading, more bool) {
	most := uint64(0)
	for _, p := range d.Ports {
		r := p.read(sharedPeak(k))
		if p.read(txPFC(k)).Some() && !r.Is {
			return held, false
		}
		most = max(most, r.Now)
	}
	f.ports(func(p *Port) {
		r := p.read(sharedPeak(k))
		_, _, _, off := p.runs(k)
		on, _, _, said := said(p, pfcOf)
		runs := !off && !f.silent(p, k) && (said && on || len(f.from(p.On, k)) > 0)
		if p.On != d && p.On.Kind == Switch && r.Is && r.Now > most && p.read(txPFC(k)).None() && runs &&
			r.Now > held.Now {
			held, more = r, true
		}
	})
	return held, more && most > 0
}

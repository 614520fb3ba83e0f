package diagnose

import (
	"slices"

	"railyard/unit"
)

// slowLink is a link that runs below its intended speed: that of its configuration, the list of cables or the other end
// or, without these, of the port's siblings, and then only if pauses or marks begin there. A full link at its intended
// speed is congested, not slow.
var slowLink = Cause{Name: "slow-link", About: "a link runs below its configured rate", find: findSlowLinks, state: true,
	By: []string{"speed of the port", "packets marked", "peak bytes queued", "pauses sent", "pauses received"}}

func findSlowLinks(f *Fabric, c *Cause) (out []Finding) {
	done := map[*Port]bool{}
	f.ports(func(p *Port) {
		is, by, sure, slow := f.runsBelow(p)
		if done[p] || !slow {
			return
		}
		if p.Peer != nil {
			done[p.Peer] = true
		}
		x := c.at(p, -1, sure, "the link between %v and %s runs at %v, %s", p, farOf(p), is, by)
		_, file, line, _ := said(p, speedOf)
		x.tell(p, file, line, "speed %v", is)
		for _, q := range p.ends() {
			f.classes(func(k int) {
				if m := q.read(marked(k)); m.Some() {
					x.show(m, q.read(peak(k)))
				}
			})
			for i := range f.Chains {
				for k := range f.Chains[i].First {
					if c := &f.Chains[i]; c.Port == q {
						x.show(c.First[k].Seen())
					}
				}
			}
		}
		x.Why = "ECMP assigns the link the same share of traffic as faster links; its queue grows, marks and pauses, and the collective is blocked on it"
		if slices.ContainsFunc(p.ends(), func(q *Port) bool { return q.On.Kind == Host }) {
			x.Why = "the host sends and receives at the lower rate; the queue in front of the link grows, marks and pauses, and the collective is blocked on it"
		}
		x.Fix = "check lanes (a failed lane costs a half or a quarter), auto-negotiation and breakout at both ends; replace the transceiver, or shut down the link"
		x.next(p, askLink, "speed, lanes, auto-negotiation")
		if p.Peer != nil {
			x.next(p.Peer, askLink, "same at the other end")
		}
		x.harm = f.begins(p)
		out = append(out, x)
	})
	return out
}

// runsBelow reports whether a port is up and slower than intended, with its speed and the source of the intended one.
func (f *Fabric) runsBelow(p *Port) (is unit.Rate, by string, sure Sure, slow bool) {
	is, _, _, ok := said(p, speedOf)
	if up, _, _, known := said(p, upOf); !ok || is == 0 || known && !up {
		return is, "", Possible, false
	}
	meant, by, sure := f.meant(p, is)
	return is, by, sure, meant > is
}

// slow reports whether the link of a port is a slow one: a queue in front of it is that fault's, not congestion.
func (f *Fabric) slow(p *Port) bool {
	return slices.ContainsFunc(p.ends(), func(q *Port) bool {
		_, _, _, slow := f.runsBelow(q)
		return slow
	})
}

// meant returns a port's intended speed, and its source.
func (f *Fabric) meant(p *Port, is unit.Rate) (unit.Rate, string, Sure) {
	planned, by := p.designed()
	if planned > is {
		return planned, by, Proven
	}
	if was, ok := earlier(p, speedOf); ok && was > is {
		return was, sprintf("and at %v before", was), Proven
	}
	if p.Peer != nil && p.Peer.Name == "" && p.Peer.On.Kind == Switch {
		return is, "", Possible // whether it is a switch is not known
	}
	v, all, n := f.siblings(p)
	by = sprintf("%d of %d equivalent links at %v", n, all, v)
	every := n == all && n >= 2
	if every { // all others of the whole fabric that connect to such devices
		by = sprintf("all %d equivalent links at %v", n, v)
	}
	switch {
	case v <= is || planned > 0 || !every && (n <= all/2 || f.begins(p) == 0):
		return is, "", Possible
	case p.usual(is):
		ends := []string{p.String(), farOf(p)}
		slices.Sort(ends)
		f.note("the link between %s and %s runs at %v, %s: no finding, as most such links of one of the two run at %v (--fabric or --cabling has the planned rate)",
			ends[0], ends[1], is, by, is)
		return is, "", Possible
	}
	return v, by, Likely
}

// designed returns the rate of a link in the configuration of an end, in the list of cables or in the scenario, the
// highest if they differ, and its source; 0 if none has it.
func (p *Port) designed() (rate unit.Rate, by string) {
	take := func(v unit.Rate, format string, args ...any) {
		if v > rate {
			rate, by = v, sprintf(format, args...)
		}
	}
	for _, q := range p.ends() {
		if q.Says != nil && q.Says.Speed.Is() {
			take(q.Says.Speed.V, "configured at %v (%s:%d)", q.Says.Speed.V, q.Says.Speed.At.File, q.Says.Speed.At.Line)
		}
		take(q.Rate, "planned at %v", q.Rate)
		if q.told != nil && q.told.Speed.Is {
			take(q.told.Speed.V, "the simulated one at %v", q.told.Speed.V)
		}
	}
	return rate, by
}

// usual reports whether at least half of the other links between devices of the same kinds run at a rate, at the device
// at one of the two ends.
func (p *Port) usual(is unit.Rate) bool {
	return slices.ContainsFunc(p.ends(), func(end *Port) bool {
		same, all := 0, 0
		for _, q := range end.On.Ports {
			if v, ok := q.runsAt(); ok && q != end && q.Peer.On.Kind == end.Peer.On.Kind {
				if all++; v == is {
					same++
				}
			}
		}
		return same > 0 && 2*same >= all
	})
}

// siblings returns how fast most ports are between devices of the same kinds, of how many, and
// how many of them; the cable itself does not count.
func (f *Fabric) siblings(p *Port) (unit.Rate, int, int) {
	if p.Peer == nil || p.Peer.On.Kind == Unknown {
		return 0, 0, 0
	}
	if f.speeds == nil {
		f.speeds = map[[2]Kind]map[unit.Rate]int{}
		f.ports(func(q *Port) {
			if v, ok := q.runsAt(); ok {
				k := [2]Kind{q.On.Kind, q.Peer.On.Kind}
				if f.speeds[k] == nil {
					f.speeds[k] = map[unit.Rate]int{}
				}
				f.speeds[k][v]++
			}
		})
	}
	kinds := [2]Kind{p.On.Kind, p.Peer.On.Kind}
	own := map[unit.Rate]int{}
	for _, q := range []*Port{p, p.Peer} {
		if v, ok := q.runsAt(); ok && [2]Kind{q.On.Kind, q.Peer.On.Kind} == kinds {
			own[v]++
		}
	}
	best, most, all := unit.Rate(0), 0, 0
	for v, n := range f.speeds[kinds] {
		n -= own[v]
		all += n
		if n > most || n == most && v > best {
			best, most = v, n
		}
	}
	return best, all, most
}

// runsAt returns the speed in the output of a connected port that is up.
func (p *Port) runsAt() (unit.Rate, bool) {
	up, _, _, known := said(p, upOf)
	v, _, _, ok := said(p, speedOf)
	return v, ok && v > 0 && p.Peer != nil && !(known && !up)
}

// begins is the share of all pauses that begin at the congestion of a port, or of the other
// end of its cable.
func (f *Fabric) begins(p *Port) float64 {
	frames := uint64(0)
	for i := range f.Chains {
		if c := &f.Chains[i]; c.Port != nil && (c.Port == p || c.Port == p.Peer) {
			frames += c.Frames
		}
	}
	return share(frames, f.allPauses())
}

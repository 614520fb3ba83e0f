package diagnose

import (
	"railyard/unit"
)

// slowLink is a link that runs below its intended speed: that of its configuration, the list of cables or the other end
// or, without these, of the port's siblings, and then only if pauses or marks begin there. A full link at its intended
// speed is congested, not slow.
var slowLink = Cause{Name: "slow-link", About: "a link runs below its configured rate", find: findSlowLinks, state: true,
	By: []string{"speed of the port", "packets marked", "pauses sent", "pauses received"}}

func findSlowLinks(f *Fabric, c *Cause) (out []Finding) {
	done := map[*Port]bool{}
	f.ports(func(p *Port) {
		is, file, line, ok := said(p, speedOf)
		if up, _, _, known := said(p, upOf); !ok || is == 0 || done[p] || known && !up {
			return
		}
		meant, by, sure := f.meant(p, is)
		if meant <= is {
			return
		}
		if p.Peer != nil {
			done[p.Peer] = true
		}
		x := c.at(p, -1, sure, "the link between %v and %s runs at %v, %s", p, farOf(p), is, by)
		x.tell(p, file, line, "speed %v", is)
		f.classes(func(k int) {
			x.show(p.read(marked(k)))
			for _, w := range f.from(p.On, k) {
				x.show(w.Seen())
			}
		})
		x.Why = "ECMP assigns the link the same share of traffic as faster links; its queue grows, marks and pauses, and the collective is blocked on it"
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

// meant returns a port's intended speed, and its source.
func (f *Fabric) meant(p *Port, is unit.Rate) (unit.Rate, string, Sure) {
	if p.Says != nil && p.Says.Speed.Is() && p.Says.Speed.V > is {
		return p.Says.Speed.V, sprintf("configured at %v (%s:%d)", p.Says.Speed.V,
			p.Says.Speed.At.File, p.Says.Speed.At.Line), Proven
	}
	if p.Rate > is {
		return p.Rate, sprintf("planned at %v", p.Rate), Proven
	}
	if was, ok := earlier(p, speedOf); ok && was > is {
		return was, sprintf("and at %v before", was), Proven
	}
	if p.told != nil && p.told.Speed.Is && p.told.Speed.V > is {
		return p.told.Speed.V, sprintf("the simulated one at %v", p.told.Speed.V), Proven
	}
	if p.Peer != nil && p.Peer.Name == "" && p.Peer.On.Kind == Switch {
		return is, "", Possible // whether it is a switch is not known
	}
	v, all, n := f.siblings(p)
	switch {
	case v <= is:
		return is, "", Possible
	case n == all && n >= 2: // all others of the whole fabric that connect to such devices
		return v, sprintf("all %d equivalent links at %v", n, v), Likely
	case n > all/2 && f.begins(p) > 0:
		return v, sprintf("%d of %d equivalent links at %v", n, all, v), Likely
	}
	return is, "", Possible
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

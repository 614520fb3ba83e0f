package diagnose

// uplinkDown is a connected port that is down while others of its switch run: the remaining ones carry its traffic.
var uplinkDown = Cause{Name: "uplink-down", About: "a cabled link is down", find: findDown, state: true,
	By: []string{"state of the port", "link failures"}}

func findDown(f *Fabric, c *Cause) (out []Finding) {
	told := map[*Port]bool{}
	f.ports(func(p *Port) {
		up, file, line, ok := said(p, upOf)
		if !ok || up || told[p] || f.outage(p) || p.Says != nil && p.Says.Down.V {
			return
		}
		was, before := earlier(p, upOf)
		if p.Peer == nil && !(before && was) { // nothing may be plugged in
			return
		}
		sure := Likely
		if before && was || p.read(flaps).Some() || f.carried(p) {
			sure = Proven
		}
		if p.Peer != nil {
			told[p.Peer] = true
		}
		x := c.at(p, -1, sure, "the link between %v and %s is down", p, farOf(p))
		if before && was {
			x.Says += "; in the first snapshot it was up"
		}
		x.tell(p, file, line, "down")
		x.show(p.read(flaps))
		x.Why = "its traffic moves to the other uplinks of the switch, which congest first; a host without its link leaves the job"
		x.Fix = "check the log for the reason; replace cable or transceiver; drain the switch if too few uplinks remain"
		x.next(p, askLink, "reason")
		if p.Peer != nil {
			x.next(p.Peer, askLink, "other end")
		}
		x.harm = 1
		out = append(out, x)
	})
	return out
}

// carried reports whether the other end of a link is reported down too.
func (f *Fabric) carried(p *Port) bool {
	if p.Peer == nil {
		return false
	}
	up, _, _, ok := said(p.Peer, upOf)
	return ok && !up
}

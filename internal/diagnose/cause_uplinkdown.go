package diagnose

// uplinkDown is a cabled port that is down while others of its switch run: what it should
// carry goes over those that are left.
var uplinkDown = Cause{Name: "uplink-down", About: "a cabled link is down", find: findDown, state: true}

func findDown(f *Fabric, c *Cause) (out []Finding) {
	told := map[*Port]bool{}
	f.ports(func(p *Port) {
		up, file, line, ok := said(p, upOf)
		if !ok || up || told[p] || p.Says != nil && p.Says.Down.V {
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
			x.Says += "; it was up in the first snapshot"
		}
		x.tell(p, file, line, "down")
		x.show(p.read(flaps))
		x.Why = "what it carried goes over the other uplinks of the switch, which are full before those of other switches; a server without its link is out of the job"
		x.Fix = "look at the log for the reason; change cable or transceiver; drain the switch if it has lost more than it can do without"
		x.next(p, askLink, "why it is down")
		if p.Peer != nil {
			x.next(p.Peer, askLink, "the other end")
		}
		x.harm = 1
		out = append(out, x)
	})
	return out
}

// carried reports whether the other end of a cable says that it is down too.
func (f *Fabric) carried(p *Port) bool {
	if p.Peer == nil {
		return false
	}
	up, _, _, ok := said(p.Peer, upOf)
	return ok && !up
}

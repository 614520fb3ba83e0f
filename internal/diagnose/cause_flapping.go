package diagnose

// flapping is a link that goes down and comes up again. Its counter of changes grew; a link that went down once and
// stayed down is not flapping.
var flapping = Cause{Name: "flapping", About: "a link goes down and up", find: findFlapping,
	By: []string{"link failures", "packets out of sequence", "ACK timeouts"}}

func findFlapping(f *Fabric, c *Cause) (out []Finding) {
	told := map[*Port]bool{}
	f.ports(func(p *Port) {
		n := p.read(flaps)
		up, _, _, known := said(p, upOf)
		if !n.Some() || told[p] || f.outage(p) || known && !up && n.Grew == 1 {
			return
		}
		far := Reading{Port: p}
		if p.Peer != nil {
			told[p.Peer] = true
			far = p.Peer.read(flaps)
		}
		sure := Proven
		if !n.Two {
			sure = Possible // it may be long ago
		}
		x := c.at(p, -1, sure, "the link between %v and %s went down %s", p, farOf(p), times(n.Grew))
		x.show(n, far)
		x.harm = share(min(n.Grew, 1), 1)
		lossesOf(&x, f)
		x.Why = "packets in flight are lost when the link goes down, and later ones until routes converge; queue pairs wait for the ACK timeout, and the collective for them"
		x.Fix = "check the log for the reason (fault, LOS, FEC), reseat or replace cable and transceivers; until then shut down the port, so that routing avoids it"
		x.next(p, askLink, "last failure of the link and its reason")
		if p.Peer != nil {
			x.next(p.Peer, askLink, "same at the other end")
		}
		out = append(out, x)
	})
	return out
}

// times is a count in words.
func times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return sprintf("%d times", n)
}

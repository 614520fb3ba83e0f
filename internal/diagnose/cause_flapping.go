package diagnose

// flapping is a link that goes down and comes up again. Its counter of changes grew; a link
// that went down once and stayed down is not flapping.
var flapping = Cause{Name: "flapping", About: "a link goes down and up", find: findFlapping}

func findFlapping(f *Fabric, c *Cause) (out []Finding) {
	told := map[*Port]bool{}
	f.ports(func(p *Port) {
		n := p.read(flaps)
		up, _, _, known := said(p, upOf)
		if !n.Some() || told[p] || known && !up && n.Grew == 1 {
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
		x.Why = "what is on the way when it goes down is lost, and until routes have changed so is what is sent there; queue pairs wait for a timeout, the collective waits for them"
		x.Fix = "look at the log for the reason (fault, LOS, FEC), reseat or change cable and transceivers; until then shut the port, so that routing leaves it out"
		x.next(p, askLink, "when it went down last, and why")
		if p.Peer != nil {
			x.next(p.Peer, askLink, "does the other end see it too?")
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

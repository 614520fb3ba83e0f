package swconf

import "net/netip"

// srv6 checks each switch's own SIDs.
func (l *linter) srv6() {
	owner := map[netip.Prefix]*Config{}
	var block netip.Prefix
	for _, c := range l.Configs {
		for _, s := range c.SRv6.SIDs {
			if o := owner[s.Prefix]; o != nil && s.Action == "uN" {
				l.say(s.At, "a uSID of its own for every switch", "%s has the SID %v of %s", c.Name(), s.Prefix,
					o.Name())
			}
			owner[s.Prefix] = c
			for _, loc := range c.SRv6.Locators {
				inside := loc.Prefix.Bits() <= s.Prefix.Bits() && loc.Prefix.Contains(s.Prefix.Addr())
				if loc.Name == s.Locator && !inside && !local(loc.Prefix, s.Prefix) {
					l.say(s.At, "a SID below its locator's prefix", "the SID %v is not in its locator %s, %v",
						s.Prefix, loc.Name, loc.Prefix)
				}
			}
			if c.Trim.DSCP.Is() && s.Pipe.V {
				l.say(s.Pipe.At, "decap_dscp_mode uniform", "%v takes the outer header off and keeps the inner DSCP, while switches trim to DSCP %d: the NIC does not learn of it", s.Prefix,
					c.Trim.DSCP.V)
			}
		}
		for _, loc := range c.SRv6.Locators {
			own := netip.PrefixFrom(loc.Prefix.Addr(), loc.Block).Masked()
			if block.IsValid() && own != block {
				l.say(loc.At, "one block for the whole fabric", "locator %s of %s is in the block %v, others in %v: no address holds both", loc.Name, c.Name(), own, block)
				continue
			}
			block = own
		}
	}
}

// srv6Ways looks for static routes from each switch to the SIDs of its neighbours, by the cable between them.
func (l *linter) srv6Ways() {
	l.ends(func(e, far *end) {
		sids := far.c.SRv6.uN()
		if len(sids) == 0 || len(e.c.SRv6.uN()) == 0 || e.port.Down.V {
			return
		}
		by := false
		for _, s := range sids {
			for _, r := range e.c.route(s.Prefix) {
				switch {
				case r.leads(e.port, far.port):
					by = true
				case r.Port == e.port.Name:
					l.say(r.At, "the address of the other end", "%v leaves by %s to %v, and its neighbour %s has no such address", r.Prefix, r.Port, r.Next, e.far())
				}
			}
		}
		if !by {
			l.say(first(e.port.At), "a static route of /48 to one of its SIDs by this port",
				"%s is cabled to %s, and no route to a SID of it leaves there", e.port.Name, e.far())
		}
	})
	for _, c := range l.Configs {
		for _, r := range c.Routes {
			l.srv6Route(c, r)
		}
	}
}

// srv6Route finds routes to SIDs that lead to another switch than theirs.
func (l *linter) srv6Route(c *Config, r Route) {
	if !c.inBlock(r.Prefix) {
		return
	}
	if p := c.Port(r.Port); r.Port != "" && p == nil {
		l.say(r.At, "an existing port", "%v leaves by %s, which the configuration does not have", r.Prefix, r.Port)
		return
	}
	l.ends(func(e, far *end) {
		if e.c != c || e.port.Name != r.Port || len(far.c.SRv6.SIDs) == 0 {
			return
		}
		for _, s := range far.c.SRv6.uN() {
			if s.Prefix == r.Prefix {
				return
			}
		}
		l.say(r.At, "a path to each neighbor's SIDs: whose list names others after it", "%v leaves by %s to %s, which has no such SID", r.Prefix, r.Port, e.far())
	})
}

// local reports whether a SID is one of the locator's block that is local to every switch. RFC 9800 reserves the
// uSIDs from 0xe000 on for these, if locators have 32 + 16 bits.
func local(locator, sid netip.Prefix) bool {
	if locator.Bits() != 48 || sid.Bits() < 48 {
		return false
	}
	block, own := locator.Addr().As16(), sid.Addr().As16()
	return [4]byte(block[:4]) == [4]byte(own[:4]) && own[4] >= 0xe0
}

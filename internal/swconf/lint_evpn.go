package swconf

// evpnNextHop looks at switches that pass EVPN routes from one neighbour in another AS to the next, and end
// no tunnels themselves (Cisco, VXLAN BGP EVPN over eBGP: set ip next-hop unchanged).
func (l *linter) evpnNextHop() {
	l.routed(func(c *Config, b *BGP) {
		var lacks []*Neighbor
		evpn := 0
		for _, n := range b.Neighbors {
			as, known := ASN(n.Remote.V)
			if n.VRF != "" || n.On&EVPN == 0 || n.Down.V || known && as == b.ASN.V {
				continue
			}
			if evpn++; !n.Keeps.V {
				lacks = append(lacks, n)
			}
		}
		if c.OS != NXOS && c.OS != EOS || c.VTEP.V || c.OS == EOS && c.Part || evpn < 2 {
			return // what other languages do by themselves is not known here
		}
		said := map[Place]bool{} // a range is said once
		for _, n := range lacks {
			if said[n.At] {
				continue
			}
			said[n.At] = true
			fix := "a route-map out with set ip next-hop unchanged, in the neighbour's l2vpn evpn family"
			if c.OS == EOS {
				fix = "neighbor " + n.Name() + " next-hop-unchanged"
			}
			l.sayOf(c)(n.At, fix, "%s tells %s EVPN routes with itself as their next hop, and ends no tunnel",
				c.Name(), n.Name())
		}
	})
}

// evpnSegment wants what Ethernet segments need beside themselves.
func (l *linter) evpnSegment() {
	for _, c := range l.Configs {
		var segment Place
		for _, b := range c.Bundles {
			if b.Segment.V && segment.Line == 0 {
				segment = b.Segment.At
			}
		}
		watched := false
		for _, p := range c.interfaces() {
			watched = watched || p.Core.V
		}
		switch {
		case segment.Line == 0:
		case !c.Shares.V:
			l.sayOf(c)(segment, "evpn multihoming", "%s has Ethernet segments and multihoming is off", c.Name())
		case !watched:
			fix, say := "evpn multihoming core-tracking on the uplinks", l.sayOf(c)
			if c.OS == EOS {
				fix, say = "a link tracking group, upstream on the uplinks", l.advise
			}
			say(segment, fix, "%s has Ethernet segments and watches no uplink", c.Name())
		}
	}
}

package swconf

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// routed visits the configurations with BGP.
func (l *linter) routed(visit func(c *Config, b *BGP)) {
	for _, c := range l.Configs {
		if c.BGP != nil && !l.companion[c] {
			visit(c, c.BGP)
		}
	}
}

func (l *linter) bgpMultipath() {
	l.routed(func(c *Config, b *BGP) {
		if peers := b.Main(); len(peers) > 1 && b.MaxPaths.V < 2 {
			l.say(first(b.MaxPaths.At, b.ASN.At), fixPaths.routing(c),
				"%s has %d neighbours and uses one path", c.Name(), len(peers))
			l.paste(setPaths.routing(c))
		}
	})
}

func (l *linter) bgpRelax() {
	l.routed(func(c *Config, b *BGP) {
		as := map[string]bool{}
		external := 0
		for _, n := range b.Main() {
			if n.Remote.V == "external" {
				external++
			}
			if number, ok := ASN(n.Remote.V); ok { // in any notation
				as[fmt.Sprint(number)] = true
			} else {
				as[n.Remote.V] = true
			}
		}
		if !b.Relax.V && (len(as) > 1 || external > 1) {
			l.say(first(b.Relax.At, b.ASN.At), fixRelax.routing(c),
				"%s has neighbours in several ASes and no multipath-relax", c.Name())
			l.paste(setRelax.routing(c))
		}
	})
}

func (l *linter) bgpInactive() {
	l.routed(func(c *Config, b *BGP) {
		for _, n := range b.Neighbors {
			if !n.Active && !n.Down.V && !c.Part { // in a partial configuration families may be elsewhere
				l.say(n.At, fixFamily.routing(c), "neighbour %s is in no address family", n.Name())
				if n.VRF == "" && !n.Group.Is() {
					l.paste(setFamily.routing(c, "peer", n.Name()))
				}
			}
		}
	})
}

// bgpSilent finds switches that announce no route of their own. A switch of a tier without servers has no own
// routes to announce, and passes on received ones.
func (l *linter) bgpSilent() {
	l.routed(func(c *Config, b *BGP) {
		if len(b.Main()) > 0 && !b.Connected.V && len(b.Networks) == 0 && !b.Others.V {
			n := len(l.findings)
			l.say(first(b.Connected.At, b.ASN.At),
				"redistribute the connected networks, or name them with network",
				"%s announces no network", c.Name())
			if l.tier(c) > 1 {
				l.warn(n)
			}
		}
	})
}

// bgpUnnumbered finds unnumbered neighbours on ports without IPv6. FRR's own
// systems have a link-local address on every port.
func (l *linter) bgpUnnumbered() {
	l.routed(func(c *Config, b *BGP) {
		for _, n := range b.Neighbors {
			if p := c.named(n.Port); n.Port != "" && p != nil && c.OS != FRR && !p.LinkOnly.V && len(p.Addrs) == 0 {
				l.say(first(p.LinkOnly.At, p.At), "give the port an IPv6 link-local address",
					"%s has an unnumbered neighbour and no IPv6 address", p.Name)
				l.pastePort(c, p, setLinkLocal, "")
			}
		}
	})
}

// bgpPolicy checks neighbours in other ASes that lack policies.
func (l *linter) bgpPolicy() {
	l.routed(func(c *Config, b *BGP) {
		if !b.NeedsPolicy || b.NoPolicy.V {
			return
		}
		external, bare := 0, []string{}
		for _, n := range b.Neighbors {
			as, numbered := ASN(n.Remote.V)
			if n.Remote.V == "internal" || numbered && as == b.own(n) || n.Down.V {
				continue
			}
			if external++; n.Policed != Directions {
				bare = append(bare, n.Name())
			}
		}
		switch {
		case len(bare) == 0 && len(b.Neighbors) > 0:
		case len(b.Neighbors) == 0: // the peer is configured elsewhere, or does not exist
			l.advise(first(b.NoPolicy.At, b.ASN.At),
				fixPolicy.routing(c)+" where there are eBGP neighbours",
				"%s would filter every eBGP route", c.Name())
		case len(bare) == external:
			l.say(first(b.NoPolicy.At, b.ASN.At),
				fixPolicy.routing(c)+", or route-maps for every neighbour",
				"%s filters every eBGP route", c.Name())
			l.paste(setPolicy.routing(c))
		default:
			l.say(first(b.NoPolicy.At, b.ASN.At),
				fixPolicy.routing(c)+", or route-maps in and out for these neighbours too",
				"%s filters every route of %s, which have no policies", c.Name(),
				strings.Join(shorten(bare, 4), ", "))
			l.paste(setPolicy.routing(c))
		}
	})
}

// Name is the neighbour's address or interface.
func (n *Neighbor) Name() string {
	if n.Port != "" {
		return n.Port
	}
	return n.Addr.String()
}

// neighbour finds the session of a port: by its name, or by the address of
// the other end.
func (b *BGP) neighbour(p, far *Port) *Neighbor {
	for _, n := range b.Neighbors {
		if n.Port != "" && n.Port == p.Name {
			return n
		}
		if far == nil {
			continue
		}
		for _, a := range far.Addrs {
			if n.Port == "" && a.V.Addr() == n.Addr && far.VRF.V == n.VRF {
				return n
			}
		}
	}
	return nil
}

// bgpAS compares the AS numbers of both ends of sessions. If at least two neighbours of a switch all use another
// number for it, the switch's own is wrong.
func (l *linter) bgpAS() {
	seen := map[*Neighbor]bool{}
	type fault struct {
		c *Config
		n *Neighbor
	}
	wrong, right := map[*Config][]fault{}, map[*Config]int{} // by far end
	var order []*Config
	check := func(c *Config, n *Neighbor, far *Config) {
		if n == nil || far.BGP == nil || seen[n] {
			return
		}
		seen[n] = true
		if takes(n.Remote.V, c.BGP.own(n), c.asOf(far, n)) {
			right[far]++
			return
		}
		if wrong[far] == nil {
			order = append(order, far)
		}
		wrong[far] = append(wrong[far], fault{c, n})
	}
	l.ends(func(e, far *end) {
		if e.c.BGP != nil {
			check(e.c, session(e.c, l.routing(e), far.c, l.routing(far)), far.c)
		}
	})
	for _, c := range l.Configs {
		if b := c.BGP; b != nil && c.ASN.Is() && b.ASN.V != c.ASN.V && b.ASN.At.File != c.ASN.At.File {
			l.advise(c.ASN.At, fmt.Sprintf("bgp_asn %d, or %d in both files and at all neighbours", b.ASN.V, c.ASN.V),
				"%s has AS %d here and AS %d in its routing (%s)", c.Name(), c.ASN.V, b.ASN.V, b.ASN.At.File)
		}
	}
	// Without a fabric, addresses identify the peers.
	owner := map[held]*Config{}
	for _, c := range l.Configs {
		for _, p := range c.interfaces() {
			for _, a := range p.Addrs {
				owner[held{p.VRF.V, a.V.Addr()}] = c
			}
		}
	}
	l.routed(func(c *Config, b *BGP) {
		for _, n := range b.Neighbors {
			if far := owner[held{n.VRF, n.Addr}]; n.Port == "" && far != nil {
				check(c, n, far)
			}
		}
	})
	for _, far := range order {
		all := wrong[far]
		is := all[0].n.Remote.V
		another := func(f fault) bool { return f.n.Remote.V != is || f.c == all[0].c && f != all[0] }
		if len(all) > 1 && right[far] == 0 && is != "" && !slices.ContainsFunc(all, another) {
			l.say(far.BGP.ASN.At, "AS "+is, "%s is in AS %d, and its %d neighbours have AS %s for it", far.Name(),
				far.BGP.ASN.V, len(all), is)
			continue
		}
		for _, f := range all {
			want := f.c.asOf(far, f.n)
			l.say(first(f.n.Remote.At, f.n.At), fixRemote(f.c, want),
				"neighbour %s has remote-as %s, %s is in AS %d", f.n.Name(), or(f.n.Remote.V, "none"),
				far.Name(), want)
			if f.n.VRF == "" && !f.n.Group.Is() {
				l.paste(setRemote.routing(f.c, "peer", f.n.Name(), "value", fmt.Sprint(want)))
			}
		}
	}
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func (l *linter) bgpMissing() {
	said := map[*Port]bool{}
	l.ends(func(e, far *end) {
		p := l.routing(e)
		if e.c.BGP == nil || far.c.BGP == nil || p.VLAN.Is() || p.Channel.Is() || p.Down.V || said[p] {
			return
		}
		if session(e.c, p, far.c, l.routing(far)) == nil {
			said[p] = true // each channel is reported once
			l.say(first(p.At), "add a neighbour for the port",
				"%s is cabled to %s and has no BGP session", p.Name, e.far())
		}
	})
}

// shares reports whether a switch may share its AS number with another on purpose. A neighbour is in its own AS, as
// in a pair, or it accepts routes that contain the number.
func (b *BGP) shares() bool {
	for _, n := range b.Neighbors {
		if as, ok := ASN(n.Remote.V); n.Loops || n.Remote.V == "internal" || ok && as == b.own(n) {
			return true
		}
	}
	return false
}

func (l *linter) bgpDuplicate() {
	ids, leaves := map[netip.Addr]*Config{}, map[uint32]*Config{}
	l.routed(func(c *Config, b *BGP) {
		if o := ids[b.RouterID.V]; o != nil && b.RouterID.Is() {
			l.say(b.RouterID.At, "a router ID of its own", "%s has the router ID %v of %s", c.Name(),
				b.RouterID.V, o.Name())
		}
		ids[b.RouterID.V] = c
		if l.tier(c) != 1 {
			return
		}
		if o := leaves[b.ASN.V]; o != nil && !b.shares() {
			say := l.advise // spines may replace it (as-override), which their configurations show if present
			if l.spines() {
				say = l.say
			}
			say(b.ASN.At, "an AS number of its own for every leaf",
				"%s has the AS number %d of %s: it drops the other's routes as a loop", c.Name(),
				b.ASN.V, o.Name())
		}
		leaves[b.ASN.V] = c
	})
}

// spines reports whether a configuration of a tier above the leaves is present.
func (l *linter) spines() bool {
	return slices.ContainsFunc(l.Configs, func(c *Config) bool { return c.BGP != nil && l.tier(c) > 1 })
}

func (l *linter) addressDuplicate() {
	type use struct {
		c *Config
		p *Port
	}
	seen := map[held]use{}
	for _, c := range l.Configs {
		for _, p := range c.interfaces() {
			for _, a := range p.Addrs {
				// ports of one switch may borrow its loopback's
				if u, ok := seen[held{p.VRF.V, a.V.Addr()}]; ok && (u.c != c || !a.V.IsSingleIP()) {
					l.say(a.At, "an address of its own", "%s %s has the address %v of %s %s", c.Name(),
						p.Name, a.V.Addr(), u.c.Name(), u.p.Name)
				}
				seen[held{p.VRF.V, a.V.Addr()}] = use{c, p}
			}
		}
	}
}

func (l *linter) linkSubnet() {
	said := map[*Port]bool{}
	l.ends(func(e, far *end) {
		own, other := l.routing(e), l.routing(far)
		if len(own.Addrs) == 0 || len(other.Addrs) == 0 || said[own] {
			return
		}
		for _, a := range own.Addrs {
			for _, b := range other.Addrs {
				if a.V.Masked() == b.V.Masked() {
					return
				}
			}
		}
		said[own] = true
		l.say(own.Addrs[0].At, "one /31 per cable", "%s has %v, its neighbour %s has %v", own.Name,
			own.Addrs[0].V, far.c.Name()+" "+other.Name, other.Addrs[0].V)
	})
}

// evpnNextHop checks switches that pass EVPN routes between neighbours in other ASes and end no tunnels themselves
// (Cisco, VXLAN BGP EVPN over eBGP: set ip next-hop unchanged).
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
		if c.OS != NXOS && c.OS != EOS && c.OS != Junos || c.VTEP.V || c.OS != NXOS && c.Part || evpn < 2 {
			return // the defaults of other languages are unknown
		}
		said := map[Place]bool{} // a range is reported once
		for _, n := range lacks {
			if said[n.At] {
				continue
			}
			said[n.At] = true
			fix := "a route-map out with set ip next-hop unchanged, in the neighbour's l2vpn evpn family"
			switch c.OS {
			case EOS:
				fix = "neighbor " + n.Name() + " next-hop-unchanged"
			case Junos:
				fix = "multihop no-nexthop-change in the group"
			}
			l.sayOf(c)(n.At, fix, "%s advertises EVPN routes to %s with itself as their next hop, and ends no tunnel",
				c.Name(), n.Name())
		}
	})
}

// evpnSegment checks the other settings that Ethernet segments need.
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
		case !watched && c.OS != Junos: // EOS shuts segments without any EVPN neighbor (no-core-isolation)
			fix, say := "evpn multihoming core-tracking on the uplinks", l.sayOf(c)
			if c.OS == EOS {
				fix, say = "a link tracking group, upstream on the uplinks", l.advise
			}
			say(segment, fix, "%s has Ethernet segments and watches no uplink", c.Name())
		}
	}
}

// ASN parses an AS number, plain or as two halves with a dot (asplain and asdot, RFC 5396). NX-OS, EOS and FRR
// accept both and print the configured form.
func ASN(s string) (uint32, bool) {
	if hi, lo, ok := strings.Cut(s, "."); ok {
		h, err1 := strconv.ParseUint(hi, 10, 16)
		l, err2 := strconv.ParseUint(lo, 10, 16)
		if err1 != nil || err2 != nil {
			return 0, false
		}
		return uint32(h<<16 | l), h|l > 0
	}
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0, false // not the largest possible number
	}
	return uint32(n), n > 0
}

// takes reports whether a remote-as permits far as the neighbour's AS, given the own AS. It is a number, or FRR's
// external, internal and auto.
func takes(remote string, own, far uint32) bool {
	switch remote {
	case "external":
		return own != far
	case "internal":
		return own == far
	case "auto":
		return true
	}
	as, ok := ASN(remote)
	return ok && as == far
}

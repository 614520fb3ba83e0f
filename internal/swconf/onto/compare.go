package onto

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"railyard/internal/swconf"
)

// fact is one property in a configuration that the fabric needs.
type fact struct {
	what, says string
	at         swconf.Place
}

// differs finds the differences between a device's behaviour and the fabric's needs.
func differs(want, got *swconf.Config) *fact {
	a, b := facts(want, want), facts(got, want)
	for i := range a {
		if a[i].what != b[i].what {
			return &b[i] // the object is missing
		}
		if a[i].says != b[i].says {
			b[i].says = fmt.Sprintf("%s instead of %s", named(b[i].says), named(a[i].says))
			return &b[i]
		}
	}
	return nil
}

func named(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// facts returns a configuration's values for everything in the fabric's configuration, in the order of the latter.
func facts(c, of *swconf.Config) []fact {
	l := &lister{}
	for _, p := range of.Ports {
		l.port(c, c.Port(p.Name), p)
	}
	for _, b := range of.Bundles {
		l.port(c, channel(c, b.Name), b)
	}
	l.device(c, of)
	if of.MLAG != nil {
		m := c.MLAG
		if m == nil {
			m = &swconf.MLAG{}
		}
		l.say("pair of switches", fmt.Sprint(m.Domain.V, " ", m.Local.V, " ", m.Peer.V, " ", m.Link.V, " ", m.Side.V,
			" ", m.Active.V), m.At)
	}
	if of.BGP != nil {
		l.bgp(c.BGP, of.BGP)
	}
	return l.list
}

type lister struct{ list []fact }

func (l *lister) say(what string, says any, at swconf.Place) {
	l.list = append(l.list, fact{what, fmt.Sprint(says), at})
}

// port returns the facts of a port, or a port channel.
func (l *lister) port(c *swconf.Config, p, of *swconf.Port) {
	if p == nil {
		l.say("presence of "+of.Name, "", swconf.Place{})
		return
	}
	say := func(ask bool, what string, says any, at swconf.Place) {
		if ask {
			l.say(what+" of "+of.Name, says, at)
		}
	}
	say(of.MTU.Is(), "MTU", p.MTU.V, p.MTU.At)
	say(of.Speed.Is(), "speed", p.Speed.V, p.Speed.At)
	say(true, "PFC", p.PFC.V, p.PFC.At)
	in := "" // ports by name: some languages have no numbers
	if b := c.Bundle(p.Channel.V); p.Channel.Is() && b != nil {
		in = b.Name
	} else if p.Channel.Is() {
		in = fmt.Sprint(p.Channel.V)
	}
	say(true, "port channel", in, p.Channel.At)
	say(true, "VRF", p.VRF.V, p.VRF.At)
	say(true, "bridging", p.Switched, p.At)
	say(of.VLAN.Is(), "VLAN", p.VLAN.V, p.VLAN.At)
	say(of.Watchdog.Is(), "watchdog", p.Watchdog.V, p.Watchdog.At)
	say(true, "shutdown", p.Down.V, p.Down.At)
	say(of.LinkOnly.V, "IPv6 link-local address", p.LinkOnly.V, p.LinkOnly.At)
	say(true, "LLDP", !p.LLDPOff.V, p.LLDPOff.At)
	say(of.DCBX.Is(), "DCBX", p.DCBX.V, p.DCBX.At)
	say(true, "Ethernet segment", p.Segment.V, p.Segment.At)
	say(of.Core.V, "core tracking", p.Core.V, p.Core.At)
	say(true, "pair of", p.MLAG.V, p.MLAG.At)
	say(of.ESI.Is(), "identifier of the segment", p.ESI.V, p.ESI.At)
	for _, a := range of.Alike {
		say(true, a.What, said(p.Alike, a.What).V, said(p.Alike, a.What).At)
	}
	say(of.Least.Is(), "least members", p.Least.V, p.Least.At)
	say(of.Tag.Is(), "tag", p.Tag.V, p.Tag.At)
	for _, a := range of.Addrs {
		i := slices.IndexFunc(p.Addrs, func(b swconf.Said[netip.Prefix]) bool { return b.V == a.V })
		say(true, "address "+a.V.String(), i >= 0, p.At)
	}
	if of.QoS != nil {
		say(true, "treatment of packets", p.QoS != nil && alike(of.QoS, p.QoS), p.At)
	}
}

// said returns the value of a name in a list, or none.
func said(list []swconf.Alike, what string) (s swconf.Said[string]) {
	if i := slices.IndexFunc(list, func(a swconf.Alike) bool { return a.What == what }); i >= 0 {
		s = list[i].Said
	}
	return s
}

// channel is the port channel of a name, or nil.
func channel(c *swconf.Config, name string) *swconf.Port {
	if i := slices.IndexFunc(c.Bundles, func(b *swconf.Port) bool { return b.Name == name }); i >= 0 {
		return c.Bundles[i]
	}
	return nil
}

// device returns the facts of all of its ports.
func (l *lister) device(c, of *swconf.Config) {
	if w := &of.Watchdog; w.On.Is() {
		g := &c.Watchdog
		l.say("PFC watchdog", fmt.Sprint(g.On.V, " ", g.Poll.V, " ", g.Detect.V, " ", g.Restore.V, " ",
			g.Forward.V), g.On.At)
	}
	if of.LLDP.Is() {
		l.say("LLDP", c.LLDP.V, c.LLDP.At)
	}
	if of.HashSeed.Is() {
		l.say("seed of the hash", c.HashSeed.V, c.HashSeed.At)
	}
	dlb := ""
	var at swconf.Place
	if d := c.DLB; d != nil {
		at = d.At
		dlb = fmt.Sprint(d.Mode.V, " ", d.MAC.V, " ", d.Aging.V, " ", d.All)
		for _, p := range d.Ports {
			dlb += " " + p.V
		}
	}
	l.say("dynamic load balancing", dlb, at)
	l.say("trimming", fmt.Sprint(c.Trim.Size.V, " ", c.Trim.DSCP.V, " ", c.Trim.LastHop.V, " ",
		c.Trim.Queue.V), c.Trim.DSCP.At)
	if of.VTEP.V { // the device's own VTEP stays
		l.say("end of tunnels", c.VTEP.V, c.VTEP.At)
	}
	if of.Shares.V {
		l.say("EVPN multihoming", c.Shares.V, c.Shares.At)
	}
	for _, a := range of.Alike {
		l.say(a.What, said(c.Alike, a.What).V, said(c.Alike, a.What).At)
	}
	for _, s := range of.SRv6.SIDs {
		l.say("segment "+s.Prefix.String(), slices.ContainsFunc(c.SRv6.SIDs, func(o swconf.SID) bool {
			return o.Prefix == s.Prefix && o.Action == s.Action && o.Locator == s.Locator && o.Pipe.V == s.Pipe.V
		}), swconf.Place{})
	}
	for _, r := range of.Routes {
		l.say("route to "+r.Prefix.String(), slices.ContainsFunc(c.Routes, func(o swconf.Route) bool {
			return o.Prefix == r.Prefix && o.Next == r.Next && o.Port == r.Port
		}), swconf.Place{})
	}
}

// bgp returns the announced routes and their receivers.
func (l *lister) bgp(b, of *swconf.BGP) {
	if b == nil {
		b = &swconf.BGP{}
	}
	l.say("AS number", b.ASN.V, b.ASN.At)
	l.say("router ID", b.RouterID.V, b.RouterID.At)
	l.say("number of paths", b.MaxPaths.V, b.MaxPaths.At)
	l.say("choice among AS paths of equal length", b.Relax.V, b.Relax.At)
	l.say("need of policies", b.NeedsPolicy && !b.NoPolicy.V, b.NoPolicy.At)
	if of.Connected.V {
		l.say("announcing of connected networks", b.Connected.V, b.Connected.At)
	}
	for _, n := range of.Networks {
		l.say("announcing of "+n.V.String(), slices.ContainsFunc(b.Networks,
			func(o swconf.Said[netip.Prefix]) bool { return o.V == n.V }), swconf.Place{})
	}
	for _, n := range of.Neighbors {
		l.neighbor(b, n)
	}
}

// neighbor returns the facts of a session. A configuration may contain a neighbour several times, in its families.
func (l *lister) neighbor(b *swconf.BGP, of *swconf.Neighbor) {
	var m *swconf.Neighbor
	for _, n := range b.Neighbors {
		if n.Addr != of.Addr || n.Port != of.Port || n.VRF != of.VRF {
			continue
		}
		if m == nil {
			m = &swconf.Neighbor{At: n.At}
		}
		m.Active = m.Active || n.Active && !n.Off
		m.On |= n.On
		m.Down.V = m.Down.V || n.Down.V
		m.Keeps.V = m.Keeps.V || n.Keeps.V
		m.Loops = m.Loops || n.Loops
		m.Policed |= n.Policed
		if n.Remote.Is() {
			m.Remote = n.Remote
		}
		if n.Local.Is() {
			m.Local = n.Local
		}
	}
	name := strings.TrimPrefix(of.Addr.String()+of.Port, "invalid IP")
	if of.VRF != "" {
		name += " of VRF " + of.VRF
	}
	if m == nil {
		l.say("session with "+name, "", swconf.Place{})
		return
	}
	// further families may stay
	l.say("families of the session with "+name, fmt.Sprint(m.Active, " ", m.On&of.On), m.At)
	l.say("AS number of "+name, m.Remote.V, m.Remote.At)
	l.say("own AS number towards "+name, m.Local.V, m.Local.At)
	l.say("shutdown of the session with "+name, m.Down.V, m.At)
	l.say("next hops advertised to "+name, m.Keeps.V, m.At)
	l.say("loops allowed by "+name, m.Loops, m.At)
	l.say("policies of "+name, m.Policed, m.At)
}

// alike reports whether two ports treat packets equally, under any names of policies.
func alike(a, b *swconf.QoS) bool {
	x, y := *a, *b
	x.Input, x.Output, x.Network = y.Input, y.Output, y.Network
	for i := range x.Queues {
		x.Queues[i].Name = y.Queues[i].Name
		if x.Queues[i].Floor.V != y.Queues[i].Floor.V {
			return false
		}
	}
	for i := range x.Stops {
		if x.Stops[i].V != y.Stops[i].V || x.Stops[i].Is() != y.Stops[i].Is() {
			return false
		}
	}
	return x.Fingerprint() == y.Fingerprint()
}

package eos

import (
	"fmt"
	"net/netip"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

func (p *parser) openBGP(m *cli.Match) *cli.Mode {
	if m.No {
		p.c.BGP, p.peers = nil, swconf.NewPeers()
		return nil
	}
	asn, ok := swconf.ASN(m.Word("asn"))
	if !ok {
		p.bad(m, "asn", "an AS number from 1 to 4294967295")
	}
	// EOS relaxes unless told not to
	b := &swconf.BGP{ASN: swconf.SaidAt(p.c, m, "asn", asn), Relax: swconf.Said[bool]{V: true}}
	p.c.BGP = b
	r := cli.NewMode("router-bgp")
	r.Set("no router bgp", func(*cli.Match) { p.c.BGP, p.peers = nil, swconf.NewPeers() }) // no router-id bgp
	r.Set("[no] router-id <id>", func(m *cli.Match) {
		if m.No {
			b.RouterID = swconf.Said[netip.Addr]{}
			return
		}
		if id, err := netip.ParseAddr(m.Word("id")); err == nil {
			b.RouterID = swconf.SaidAt(p.c, m, "id", id)
		} else {
			p.bad(m, "id", "a router ID")
		}
	})
	r.Set("[no] maximum-paths <n:int> [ ecmp <e:int> ]", func(m *cli.Match) {
		swconf.Assign(p.c, m, &b.MaxPaths, "n", int(min(m.Int("n"), 1e6)))
	})
	r.Set("[no] bgp bestpath as-path multipath-relax", func(m *cli.Match) {
		if m.Has("bestpath") { // no bgp alone is about nothing
			b.Relax = swconf.SaidAt(p.c, m, "bestpath", !m.No || m.Default)
		}
	})
	p.announced(r, b, true)
	r.Set("no neighbor <who>", func(m *cli.Match) {
		p.peers.Remove(b, m.Word("who"))
		p.c.Undefine("peer group", m.Word("who"))
	})
	r.Set("[no] neighbor <who> peer group", func(m *cli.Match) {
		if m.No {
			p.peers.Remove(b, m.Word("who"))
			p.c.Undefine("peer group", m.Word("who"))
			return
		}
		p.peers.Group(m.Word("who"), p.c.At(m, "who"))
		p.c.Define("peer group", m.Word("who"), p.c.At(m, "who"), false)
	})
	r.Set("[no] neighbor <who> peer group <group>", func(m *cli.Match) {
		if p.join(p.peer(b, m), m); m.No {
			p.peers.Prune(b, m.Word("who"))
		}
	})
	r.Set("[no] neighbor <who> remote-as <as>", func(m *cli.Match) {
		if n := p.peer(b, m); !m.No {
			n.Remote = p.remote(m)
		} else {
			n.Remote = swconf.Said[string]{}
			p.peers.Prune(b, m.Word("who"))
		}
	})
	r.Set("[no] neighbor interface <ports> peer-group <group> [ remote-as <as> ]", func(m *cli.Match) {
		names, ok := portRange(m.Word("ports"))
		if !ok {
			p.bad(m, "ports", "a range such as Ethernet1-4")
		}
		for _, name := range names {
			if m.No {
				p.peers.Remove(b, name)
				continue
			}
			n := p.peers.Get(b, name, p.c.At(m, "ports"))
			if m.Has("as") { // or the group's
				n.Remote = p.remote(m)
			}
			p.join(n, m)
		}
	})
	r.On("[no] address-family <afi:ipv4|ipv6|evpn>", func(m *cli.Match) *cli.Mode {
		if m.No {
			return nil // which activates nobody, and takes nobody out
		}
		return p.family(b, m.Word("afi") == "ipv4")
	})
	r.Families(p.pass, bgpFamilies)
	r.Skip(p.pass, "vlan", "vlan-aware-bundle", "vrf")
	return r
}

// announced reads what is announced: below router bgp and in its family ipv4, which are one.
func (p *parser) announced(r *cli.Mode, b *swconf.BGP, ipv4 bool) {
	r.Set("[no] redistribute connected [ include leaked ] [ route-map <name> ]", func(m *cli.Match) {
		if !ipv4 {
			return
		}
		swconf.Switch(p.c, m, &b.Connected, "redistribute", true)
		if m.Has("name") {
			p.use(m, "route-map", "name")
		}
	})
	r.Set("[no] network <prefix> [ <more...> ]", func(m *cli.Match) {
		if !ipv4 {
			return
		}
		pre, err := netip.ParsePrefix(m.Word("prefix"))
		if err != nil {
			p.bad(m, "prefix", "a prefix")
			return
		}
		if b.Networks = swconf.Without(b.Networks, pre, true); !m.No {
			b.Networks = append(b.Networks, swconf.SaidAt(p.c, m, "prefix", pre))
		}
	})
}

// peer returns the neighbour that a line is about; no makes none.
func (p *parser) peer(b *swconf.BGP, m *cli.Match) *swconf.Neighbor {
	if m.No {
		return p.peers.Known(m.Word("who"))
	}
	return p.peers.Get(b, m.Word("who"), p.c.At(m, "who"))
}

// remote reads the AS of a neighbour.
func (p *parser) remote(m *cli.Match) swconf.Said[string] {
	if _, ok := swconf.ASN(m.Word("as")); !ok {
		p.bad(m, "as", "an AS number from 1 to 4294967295")
	}
	return swconf.SaidAt(p.c, m, "as", m.Word("as"))
}

func (p *parser) join(n *swconf.Neighbor, m *cli.Match) {
	swconf.Assign(p.c, m, &n.Group, "group", m.Word("group"))
	p.use(m, "peer group", "group")
}

func (p *parser) family(b *swconf.BGP, ipv4 bool) *cli.Mode {
	r := cli.NewMode("router-bgp-af")
	r.Set("[no] neighbor <who> activate", func(m *cli.Match) {
		if ipv4 {
			p.peer(b, m).Off = m.No && !m.Default
		}
	})
	p.announced(r, b, ipv4)
	r.Families(p.pass, bgpFamilies)
	return r
}

// resolve applies profiles to ports and peer groups to their members.
func (p *parser) resolve() {
	c := p.c
	w := &c.Watchdog
	for _, t := range []*swconf.Said[unit.Time]{&w.Poll, &w.Detect, &w.Restore} {
		if !t.Is() {
			t.V = 200 * unit.Millisecond
		}
	}
	c.QoS = &swconf.QoS{}
	seen := map[swconf.Print]*swconf.QoS{}
	for _, port := range c.Ports {
		q := p.qos(port)
		key := q.Fingerprint()
		if seen[key] == nil {
			seen[key] = q
		}
		port.QoS = seen[key]
		port.Watchdog = swconf.Said[bool]{V: w.On.V}
	}
	p.peers.Resolve(c.BGP)
}

func (p *parser) qos(port *swconf.Port) *swconf.QoS {
	q := &swconf.QoS{}
	own, shared := p.ports[port], &profile{}
	use := p.uses[port]
	if s := p.profiles[use.V]; use.Is() && s != nil {
		shared = s
	}
	trust := own.trust
	if !trust.Is() {
		trust = shared.trust
	}
	for d := range q.DSCP {
		if tc := p.toTC[d]; tc.Is() {
			q.DSCP[d] = swconf.Say(uint8(p.toQueue[tc.V]), tc.At)
			if f := &q.Feeds[p.toQueue[tc.V]]; f.Line == 0 {
				*f = tc.At
			}
		}
	}
	if trust.V {
		q.Input = swconf.Say("trust dscp", trust.At)
	}
	pfc := own.pfc
	if !pfc.Is() {
		pfc = shared.pfc
	}
	port.PFC = swconf.Said[swconf.PFCMode]{At: pfc.At}
	if pfc.V {
		port.PFC.V = swconf.PFCOn
	}
	for i := range q.Queues {
		k := &q.Queues[i]
		switch {
		case own.queues[i].At.Line > 0:
			*k = own.queues[i]
		case shared.queues[i].At.Line > 0:
			*k = shared.queues[i]
		}
		if k.At.Line > 0 {
			q.Output = swconf.Say(use.V, k.At)
		} else {
			k.Name = fmt.Sprintf("tx-queue %d", i)
		}
		drop := own.noDrop[i]
		if !drop.Is() {
			drop = shared.noDrop[i]
		}
		if drop.V {
			k.Pause = swconf.Say(i, drop.At)
		}
		if x := p.profileOf(port); x != nil {
			x.give(k, i)
		}
	}
	return q
}

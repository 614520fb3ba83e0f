package eos

import (
	"fmt"
	"net/netip"
	"strconv"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

func (p *parser) openBGP(m *cli.Match) *cli.Mode {
	asn, err := strconv.ParseUint(m.Word("asn"), 10, 32)
	if err != nil || asn == 0 {
		p.bad(m, "asn", "an AS number from 1 to 4294967295")
	}
	b := &swconf.BGP{ASN: swconf.SaidAt(p.c, m, "asn", uint32(asn)), Relax: swconf.Said[bool]{V: true}} // EOS relaxes unless told not to
	p.c.BGP = b
	r := cli.NewMode("router-bgp")
	r.Set("router-id <id>", func(m *cli.Match) {
		if id, err := netip.ParseAddr(m.Word("id")); err == nil {
			b.RouterID = swconf.SaidAt(p.c, m, "id", id)
		} else {
			p.bad(m, "id", "a router ID")
		}
	})
	r.Set("maximum-paths <n:int> [ ecmp <e:int> ]", func(m *cli.Match) { b.MaxPaths = swconf.SaidAt(p.c, m, "n", int(min(m.Int("n"), 1e6))) })
	r.Set("bgp bestpath as-path multipath-relax", func(m *cli.Match) { b.Relax = swconf.SaidAt(p.c, m, "bestpath", !m.No) })
	r.Set("redistribute connected [ route-map <name> ]", func(m *cli.Match) {
		b.Connected = swconf.SaidAt(p.c, m, "redistribute", true)
		if m.Has("name") {
			p.c.Use("route-map", m.Word("name"), p.c.At(m, "name"))
		}
	})
	r.Set("network <prefix> [ <more...> ]", func(m *cli.Match) {
		if pre, err := netip.ParsePrefix(m.Word("prefix")); err == nil {
			b.Networks = append(b.Networks, swconf.SaidAt(p.c, m, "prefix", pre))
		}
	})
	r.Set("neighbor <who> peer group", func(m *cli.Match) {
		p.peers.Group(m.Word("who"), p.c.At(m, "who"))
		p.c.Define("peer group", m.Word("who"), p.c.At(m, "who"), false)
	})
	r.Set("neighbor <who> peer group <group>", func(m *cli.Match) { p.join(p.peers.Get(b, m.Word("who"), p.c.At(m, "who")), m) })
	r.Set("neighbor <who> remote-as <as>", func(m *cli.Match) {
		p.peers.Get(b, m.Word("who"), p.c.At(m, "who")).Remote = swconf.SaidAt(p.c, m, "as", m.Word("as"))
	})
	r.Set("neighbor <who> <what...>", func(*cli.Match) {})
	r.Set("neighbor interface <ports> peer-group <group> remote-as <as>", func(m *cli.Match) {
		names, ok := portRange(m.Word("ports"))
		if !ok {
			p.bad(m, "ports", "a range such as Ethernet1-4")
		}
		for _, name := range names {
			n := p.peers.Get(b, name, p.c.At(m, "ports"))
			n.Remote = swconf.SaidAt(p.c, m, "as", m.Word("as"))
			p.join(n, m)
		}
	})
	r.On("address-family <afi:ipv4|ipv6|evpn>", func(m *cli.Match) *cli.Mode { return p.family(b, m.Word("afi") == "ipv4") })
	for _, s := range []string{"bgp", "timers", "graceful-restart", "update", "distance", "vlan", "vrf", "no bgp", "redistribute", "aggregate-address", "maximum-paths"} {
		r.On(s+" [ <more...> ]", func(*cli.Match) *cli.Mode {
			if s == "vlan" || s == "vrf" {
				return cli.NewMode("sub").On("<anything...>", func(*cli.Match) *cli.Mode { return nil })
			}
			return nil
		})
	}
	return r
}

func (p *parser) join(n *swconf.Neighbor, m *cli.Match) {
	n.Group = swconf.SaidAt(p.c, m, "group", m.Word("group"))
	p.c.Use("peer group", m.Word("group"), p.c.At(m, "group"))
}

func (p *parser) family(b *swconf.BGP, ipv4 bool) *cli.Mode {
	r := cli.NewMode("router-bgp-af")
	r.Set("neighbor <who> activate", func(m *cli.Match) {
		if ipv4 {
			p.peers.Get(b, m.Word("who"), p.c.At(m, "who")).Off = m.No
		}
	})
	r.Set("neighbor <who> <what...>", func(*cli.Match) {})
	for _, s := range []string{"network", "redistribute", "bgp", "maximum-paths", "host-flap", "next-hop"} {
		r.On(s+" [ <more...> ]", func(*cli.Match) *cli.Mode { return nil })
	}
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
	seen := map[string]*swconf.QoS{}
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
		if mmu := p.mmu[p.mmuApply]; mmu != nil {
			k.PG, k.Limit, k.Alpha = mmu[i].PG, mmu[i].Limit, mmu[i].Alpha
		}
	}
	return q
}

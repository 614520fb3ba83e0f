package nxos

import (
	"fmt"
	"net/netip"
	"slices"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

func (p *parser) openBGP(m *cli.Match) *cli.Mode {
	if m.No {
		p.c.BGP = nil
		return nil
	}
	asn, ok := swconf.ASN(m.Word("asn"))
	if !ok {
		p.fault(m, "asn", swconf.Error, "bad-value", fmt.Sprintf("%q is no AS number", m.Word("asn")),
			"the switch refuses the line", "use 1 to 4294967295")
	}
	b := &swconf.BGP{ASN: swconf.SaidAt(p.c, m, "asn", asn)}
	p.c.BGP = b
	r := p.tableOf(b)
	r.On("[no] vrf <name>", func(m *cli.Match) *cli.Mode {
		if m.No {
			return nil
		}
		return p.tableOf(&swconf.BGP{}) // another routing table: it says nothing of the fabric's
	})
	return r
}

// tableOf are the commands of one routing table.
func (p *parser) tableOf(b *swconf.BGP) *cli.Mode {
	r := cli.NewMode("config-router")
	r.Set("[no] router-id <addr>", func(m *cli.Match) {
		if m.No {
			b.RouterID = swconf.Said[netip.Addr]{}
			return
		}
		if a, ok := p.addr(m, "addr"); ok {
			b.RouterID = swconf.SaidAt(p.c, m, "addr", a)
		}
	})
	r.Set("[no] bestpath as-path multipath-relax", func(m *cli.Match) {
		swconf.Switch(p.c, m, &b.Relax, "bestpath", true)
	})
	r.On("[no] address-family <afi:ipv4|ipv6|l2vpn> <safi:unicast|evpn|multicast>",
		func(m *cli.Match) *cli.Mode {
			of := b
			if m.Word("afi") != "ipv4" || m.Word("safi") != "unicast" {
				of = &swconf.BGP{} // which says nothing of the fabric's addresses
			}
			if m.No {
				of.MaxPaths, of.Connected, of.Networks = swconf.Said[int]{}, swconf.Said[bool]{}, nil
				return nil
			}
			return p.bgpFamily(of)
		})
	r.On("[no] template <what:peer|peer-policy|peer-session> <name>", func(m *cli.Match) *cli.Mode {
		p.define(m, "peer template", m.Word("name"))
		if m.No {
			delete(p.inherit, m.Word("name"))
			return nil
		}
		return p.neighborMode(&swconf.Neighbor{At: p.c.At(m, "name"),
			Group: swconf.SaidAt(p.c, m, "name", "")}, p.templates(m.Word("name")))
	})
	neighbor := func(m *cli.Match) *cli.Mode {
		n := &swconf.Neighbor{At: p.c.At(m, "peer")}
		if a, err := netip.ParseAddr(m.Word("peer")); err == nil {
			n.Addr = a
		} else if name, err := portName(m.Word("peer")); err == nil {
			n.Port = name
		} else {
			p.fault(m, "peer", swconf.Error, "bad-value",
				fmt.Sprintf("%q is neither an address nor an interface", m.Word("peer")),
				"there is no such neighbour", "name an address, or an interface for an unnumbered neighbour")
			return p.neighborMode(n, nil)
		}
		if m.No {
			b.Neighbors = slices.DeleteFunc(b.Neighbors, func(x *swconf.Neighbor) bool {
				return x.Addr == n.Addr && x.Port == n.Port
			})
			return nil
		}
		for _, old := range b.Neighbors {
			if old.Addr == n.Addr && old.Port == n.Port {
				swconf.Duplicate(p.c, "neighbor", m.Word("peer"), n.At, old.At)
			}
		}
		if m.Has("asn") {
			n.Remote = swconf.SaidAt(p.c, m, "asn", m.Word("asn"))
		}
		b.Neighbors = append(b.Neighbors, n)
		return p.neighborMode(n, nil)
	}
	r.On("[no] neighbor <peer> [ remote-as <asn> ]", neighbor)
	return r.Families(p.pass, bgpFamilies)
}

// templates returns what a peer template gives those who inherit it.
func (p *parser) templates(name string) *swconf.Neighbor {
	if p.inherit == nil {
		p.inherit = map[string]*swconf.Neighbor{}
	}
	if p.inherit[name] == nil {
		p.inherit[name] = &swconf.Neighbor{}
	}
	return p.inherit[name]
}

func (p *parser) bgpFamily(b *swconf.BGP) *cli.Mode {
	r := cli.NewMode("config-router-af")
	r.Set("[no] maximum-paths [ <kind:ibgp|eibgp> ] <n:int>", func(m *cli.Match) {
		if m.Word("kind") != "ibgp" {
			swconf.Assign(p.c, m, &b.MaxPaths, "n", int(min(m.Int("n"), 1e6)))
		}
	})
	r.Set("[no] redistribute direct [ route-map <name> ]", func(m *cli.Match) {
		if m.No {
			b.Connected = swconf.Said[bool]{}
			p.c.Unuse("route-map", m.Word("name"))
			return
		}
		if m.Has("name") {
			b.Connected = swconf.SaidAt(p.c, m, "redistribute", true)
			p.c.Use("route-map", m.Word("name"), p.c.At(m, "name"))
		} else {
			p.fault(m, "redistribute", swconf.Error, "bad-value", "redistribute direct needs a route-map",
				"NX-OS refuses redistribution without one", "redistribute direct route-map NAME")
		}
	})
	r.Set("[no] network <prefix> [ route-map <name> ]", func(m *cli.Match) {
		pre, err := netip.ParsePrefix(m.Word("prefix"))
		if err != nil {
			p.fault(m, "prefix", swconf.Error, "bad-value",
				fmt.Sprintf("%q is not a prefix", m.Word("prefix")), "the switch refuses the line",
				"write it as 10.0.0.0/24")
			return
		}
		if b.Networks = swconf.Without(b.Networks, pre, true); !m.No {
			b.Networks = append(b.Networks, swconf.SaidAt(p.c, m, "prefix", pre))
		}
	})
	return r.Families(p.pass, familyFamilies)
}

// neighborMode fills a neighbour, or what a template holds.
func (p *parser) neighborMode(n, template *swconf.Neighbor) *cli.Mode {
	to := n
	if template != nil {
		to = template
	}
	r := cli.NewMode("config-router-neighbor")
	r.Set("[no] remote-as <asn>", func(m *cli.Match) {
		swconf.Assign(p.c, m, &to.Remote, "asn", m.Word("asn"))
	})
	r.Set("[no] inherit <what:peer|peer-policy|peer-session> <name> [ <seq:int> ]", func(m *cli.Match) {
		swconf.Assign(p.c, m, &to.Group, "name", m.Word("name"))
		p.use(m, "peer template", "name")
	})
	family := cli.NewMode("config-router-neighbor-af")
	family.Set("[no] route-map <name> <dir:in|out>", func(m *cli.Match) { p.use(m, "route-map", "name") })
	family.Set("[no] prefix-list <name> <dir:in|out>", func(m *cli.Match) { p.use(m, "prefix-list", "name") })
	for _, s := range []string{"send-community", "maximum-prefix", "next-hop-self", "allowas-in",
		"soft-reconfiguration", "disable-peer-as-check", "rewrite-evpn-rt-asn", "advertisement-interval",
		"default-originate", "filter-list", "weight", "route-reflector-client"} {
		family.On("[no] "+s+" [ <more...> ]", func(*cli.Match) *cli.Mode { return nil })
	}
	r.On("[no] address-family <afi:ipv4|ipv6|l2vpn> <safi:unicast|evpn|multicast>",
		func(m *cli.Match) *cli.Mode {
			if to.Active = !m.No; m.No {
				return nil
			}
			return family
		})
	for _, s := range []string{"description", "update-source", "ebgp-multihop", "timers", "password", "bfd",
		"shutdown", "local-as", "low-memory", "capability", "peer-type", "disable-connected-check",
		"dynamic-capability", "log-neighbor-changes", "transport"} {
		r.On("[no] "+s+" [ <more...> ]", func(*cli.Match) *cli.Mode { return nil })
	}
	return r
}

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
		p.fault(m, "asn", swconf.Error, "bad-value", fmt.Sprintf("%q is not an AS number", m.Word("asn")),
			"the switch refuses the line", "use 1 to 4294967295")
	}
	b := &swconf.BGP{ASN: swconf.SaidAt(p.c, m, "asn", asn)}
	if old := p.c.BGP; old != nil && old.ASN.V == asn {
		b = old // a repeated command continues its block
	}
	p.c.BGP = b
	r := p.tableOf(b, b, "")
	r.On("[no] vrf <name>", func(m *cli.Match) *cli.Mode {
		name := m.Word("name")
		if m.No {
			b.Neighbors = slices.DeleteFunc(b.Neighbors, func(x *swconf.Neighbor) bool { return x.VRF == name })
			return nil
		}
		if name == "default" {
			return p.tableOf(b, b, "")
		}
		return p.tableOf(b, &swconf.BGP{}, name) // networks of such a table do not belong to the fabric
	})
	return r
}

// tableOf returns the commands of one routing table, whose neighbours are listed with all others.
func (p *parser) tableOf(all, b *swconf.BGP, vrf string) *cli.Mode {
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
	r.On("[no] address-family <afi:ipv4|ipv6|l2vpn|link-state|vpnv4|vpnv6> [ <safi:unicast|evpn|multicast|mvpn|labeled-unicast> ]",
		func(m *cli.Match) *cli.Mode {
			of := b
			if m.Word("afi") != "ipv4" || m.Word("safi") != "unicast" {
				of = &swconf.BGP{} // this address family does not concern the fabric's addresses
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
			delete(p.peers, m.Word("name"))
			return nil
		}
		return p.modes.template.Of(p.templates(m.Word("name")))
	})
	neighbor := func(m *cli.Match) *cli.Mode {
		n := &swconf.Neighbor{At: p.c.At(m, "peer"), VRF: vrf}
		if _, err := netip.ParsePrefix(m.Word("peer")); err == nil { // any peer in the prefix
			p.c.Passed++
			return p.modes.peer.Of(n)
		}
		if a, err := netip.ParseAddr(m.Word("peer")); err == nil {
			n.Addr = a
		} else if name, err := portName(m.Word("peer")); err == nil {
			n.Port = name
		} else {
			p.fault(m, "peer", swconf.Error, "bad-value",
				fmt.Sprintf("%q is neither an address nor an interface", m.Word("peer")),
				"unknown neighbor", "name an address, or an interface for an unnumbered neighbour")
			return p.modes.peer.Of(n)
		}
		if m.No {
			all.Neighbors = slices.DeleteFunc(all.Neighbors, func(x *swconf.Neighbor) bool {
				return x.Addr == n.Addr && x.Port == n.Port && x.VRF == vrf
			})
			return nil
		}
		i := slices.IndexFunc(all.Neighbors, func(old *swconf.Neighbor) bool {
			return old.Addr == n.Addr && old.Port == n.Port && old.VRF == vrf
		})
		if i < 0 {
			all.Neighbors = append(all.Neighbors, n)
		} else { // a repeated command continues its block
			old := all.Neighbors[i]
			if m.Has("asn") && old.Remote.Is() && old.Remote.V != m.Word("asn") {
				swconf.Duplicate(p.c, "neighbor", m.Word("peer"), n.At, old.At)
			}
			n = old
		}
		if m.Has("asn") {
			n.Remote = swconf.SaidAt(p.c, m, "asn", m.Word("asn"))
		}
		return p.modes.peer.Of(n)
	}
	r.On("[no] neighbor <peer> [ remote-as <asn> ]", neighbor)
	r.On("[no] neighbor <peer> remote-as route-map <map>", func(m *cli.Match) *cli.Mode {
		p.c.Refer(m, "route-map", "map")
		return neighbor(m)
	})
	r.Skip(p.pass, "local-as", "allocate-index", "rd", "advertise-gateway-ip")
	return r.Families(p.pass, bgpFamilies)
}

// templates returns the settings that a peer template passes on.
func (p *parser) templates(name string) *swconf.Neighbor {
	if p.peers[name] == nil {
		p.peers[name] = &swconf.Neighbor{}
	}
	return p.peers[name]
}

func (p *parser) bgpFamily(b *swconf.BGP) *cli.Mode {
	r := cli.NewMode("config-router-af")
	r.Set("[no] maximum-paths [ <kind:ibgp|eibgp|mixed|local> ] <n:int>", func(m *cli.Match) {
		if m.Word("kind") != "ibgp" {
			swconf.Assign(p.c, m, &b.MaxPaths, "n", int(min(m.Int("n"), 1e6)))
		}
	})
	redistribute := func(to *swconf.Said[bool]) func(*cli.Match) {
		return func(m *cli.Match) {
			if p.c.Refer(m, "route-map", "map"); m.No {
				*to = swconf.Said[bool]{}
				return
			}
			*to = swconf.SaidAt(p.c, m, "redistribute", true)
		}
	}
	r.Set("[no] redistribute direct route-map <map>", redistribute(&b.Connected))
	r.Set("[no] redistribute direct", func(m *cli.Match) {
		if m.No {
			b.Connected = swconf.Said[bool]{}
			return
		}
		p.fault(m, "redistribute", swconf.Error, "bad-value", "redistribute direct needs a route-map",
			"NX-OS refuses redistribution without one", "redistribute direct route-map NAME")
	})
	r.Set("[no] redistribute <what:am|amt|dhcp|eigrp|hmm|icmpv6|isis|lisp|ospf|ospfv3|rip|static> [ <tag> ] route-map <map>", redistribute(&b.Others))
	r.Set("[no] aggregate-address <prefix> [ <more...> ]", func(m *cli.Match) {
		swconf.Switch(p.c, m, &b.Others, "prefix", true)
	})
	r.Set("[no] default-information originate [ <more...> ]", func(m *cli.Match) {
		swconf.Switch(p.c, m, &b.Others, "default-information", true)
	})
	r.Set("[no] <what:table-map|dampening> <map>", p.pass)
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
		if m.Has("name") {
			p.c.Refer(m, "route-map", "name")
		}
	})
	return r.Families(p.pass, familyFamilies)
}

// peer is the neighbour of a line, or a template's content.
func peer(m *cli.Match) *swconf.Neighbor { return m.Of.(*swconf.Neighbor) }

// neighborRules is the table of lines below neighbours and templates.
func (p *parser) neighborRules() *cli.Mode {
	r := cli.NewMode("config-router-neighbor")
	r.Set("[no] remote-as <asn>", func(m *cli.Match) { swconf.Assign(p.c, m, &peer(m).Remote, "asn", m.Word("asn")) })
	r.Set("[no] inherit <what:peer|peer-policy|peer-session> <name> [ <seq:int> ]", func(m *cli.Match) {
		if m.Word("what") != "peer-policy" {
			swconf.Assign(p.c, m, &peer(m).Group, "name", m.Word("name"))
		}
		p.c.Refer(m, "peer template", "name")
	})
	r.Set("[no] local-as <asn> [ <more...> ]", func(m *cli.Match) {
		swconf.Assign(p.c, m, &peer(m).Local, "asn", m.Word("asn"))
	})
	r.Set("[no] shutdown", func(m *cli.Match) { swconf.Switch(p.c, m, &peer(m).Down, "shutdown", true) })
	r.On("[no] address-family <afi:ipv4|ipv6|l2vpn|link-state|vpnv4|vpnv6> [ <safi:unicast|evpn|multicast|mvpn|labeled-unicast> ]", func(m *cli.Match) *cli.Mode {
		f, ok := families[m.Word("afi")+" "+m.Word("safi")]
		if !ok {
			f = swconf.OtherFamily
		}
		to := peer(m)
		if m.No {
			to.On &^= f
		} else {
			to.On |= f
		}
		if to.Active = to.On != 0; m.No {
			return nil
		}
		if f == swconf.EVPN {
			return p.modes.evpn.Of(to)
		}
		return p.modes.family.Of(to)
	})
	for _, s := range []string{"description", "update-source", "ebgp-multihop", "timers", "password", "bfd",
		"low-memory", "capability", "peer-type", "disable-connected-check", "dynamic-capability",
		"log-neighbor-changes", "transport", "remove-private-as", "maximum-peers",
		"dont-capability-negotiate",
		"affinity-group", "graceful-shutdown", "ttl-security", "dscp", "path-attribute",
		"internal-vpn-client"} {
		r.On("[no] "+s+" [ <more...> ]", func(*cli.Match) *cli.Mode { return nil })
	}
	return r
}

// families are the address families of neighbours that rules look at.
var families = map[string]swconf.Family{"ipv4 unicast": swconf.IPv4, "ipv6 unicast": swconf.IPv6,
	"l2vpn evpn": swconf.EVPN}

func (p *parser) peerFamily(evpn bool) *cli.Mode {
	r := cli.NewMode("config-router-neighbor-af")
	r.Set("[no] route-map <name> <dir:in|out>", func(m *cli.Match) {
		p.c.Refer(m, "route-map", "name")
		if !evpn || m.Word("dir") == "in" {
			return
		}
		n := peer(m)
		if n.Maps = nil; !m.No {
			n.Maps = []swconf.Ref{{Kind: "route-map", Name: m.Word("name"), At: p.c.At(m, "name")}}
		}
	})
	r.Set("[no] prefix-list <name> <dir:in|out>", func(m *cli.Match) { p.c.Refer(m, "prefix-list", "name") })
	r.Set("[no] allowas-in [ <times:int> ]", func(m *cli.Match) { peer(m).Loops = !m.No })
	r.Set("[no] inherit peer-policy <name> [ <seq:int> ]", func(m *cli.Match) { p.c.Refer(m, "peer template", "name") })
	r.Set("[no] default-originate [ route-map <name> ]", func(m *cli.Match) {
		if m.Has("name") {
			p.c.Refer(m, "route-map", "name")
		}
	})
	for _, s := range []string{"send-community", "maximum-prefix", "next-hop-self", "soft-reconfiguration",
		"disable-peer-as-check", "rewrite-evpn-rt-asn", "rewrite-rt-asn", "advertisement-interval",
		"filter-list", "weight",
		"route-reflector-client", "as-override", "advertise", "advertise-map", "capability",
		"next-hop-third-party",
		"suppress-inactive", "unsuppress-map", "soo", "import", "encapsulation", "no-default-originate",
		"additional-paths", "default"} {
		r.On("[no] "+s+" [ <more...> ]", func(*cli.Match) *cli.Mode { return nil })
	}
	return r
}

package dell

import (
	"net/netip"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

func (p *parser) openBGP(m *cli.Match) *cli.Mode {
	vrf := m.Word("vrf")
	if vrf == "default" {
		vrf = ""
	}
	if m.No {
		if vrf == "" {
			p.c.BGP, p.peers = nil, swconf.NewPeers()
		}
		return nil
	}
	asn, ok := swconf.ASN(m.Word("asn"))
	if !ok {
		p.bad(m, "asn", "an AS number from 1 to 4294967295")
	}
	if p.c.BGP == nil { // address families are explicit, and a neighbour is in none by default
		p.c.BGP = &swconf.BGP{MaxPaths: swconf.Said[int]{V: 1}, NoDefault: swconf.Said[bool]{V: true}}
	}
	b, main := p.c.BGP, vrf == ""
	if main {
		b.ASN = swconf.SaidAt(p.c, m, "asn", asn)
	}
	peers := p.peers
	if !main {
		peers = peers.In(vrf)
	}
	r := cli.NewMode("router-bgp")
	r.Set("[no] router-id <id>", func(m *cli.Match) {
		id, err := netip.ParseAddr(m.Word("id"))
		if err != nil && !m.No {
			p.bad(m, "id", "a router ID")
		} else if main {
			swconf.Assign(p.c, m, &b.RouterID, "id", id)
		}
	})
	r.Set("[no] bestpath as-path multipath-relax [ as-set ]", func(m *cli.Match) {
		if main {
			swconf.Switch(p.c, m, &b.Relax, "bestpath", true)
		}
	})
	r.On("[no] peer-group <group>", func(m *cli.Match) *cli.Mode {
		name := m.Word("group")
		if m.No {
			peers.Remove(b, name)
			p.c.Undefine("peer-group", name)
			return nil
		}
		if peers.Known(name).At.Line == 0 {
			peers.Group(name, p.c.At(m, "group"))
			p.c.Define("peer-group", name, p.c.At(m, "group"), false)
		}
		return p.neighborMode(peers.Known(name))
	})
	neighbor := func(m *cli.Match) *cli.Mode {
		who := m.Word("who")
		if f := physical.FindStringSubmatch(who); f != nil && m.Has("interface") {
			who = portName(f[2])
		} else if f := bundle.FindStringSubmatch(who); f != nil {
			who = "PortChannel" + f[2]
		} else if _, err := netip.ParseAddr(who); err != nil && !m.No {
			p.bad(m, "who", "an address, or interface and a port")
			return p.neighborMode(&swconf.Neighbor{})
		}
		if m.No {
			peers.Remove(b, who)
			return nil
		}
		return p.neighborMode(peers.Get(b, who, p.c.At(m, "who")))
	}
	r.On("[no] neighbor interface <who...>", neighbor)
	r.On("[no] neighbor <who>", neighbor)
	r.On("[no] address-family <afi:ipv4|ipv6|l2vpn> <safi:unicast|evpn>", func(m *cli.Match) *cli.Mode {
		if m.No {
			return nil
		}
		return p.family(b, main && m.Word("afi") == "ipv4")
	})
	return r.Families(p.pass, map[string]string{"timers": "", "log-neighbor-changes": "",
		"graceful-restart": "",
		"bestpath":         "", "cluster-id": "", "confederation": "", "deterministic-med": "",
		"fast-external-failover": "",
		"listen":                 "", "max-med": "", "network-import-check": "", "read-quanta": "",
		"write-quanta": "",
		"route-map":    "", "route-reflector": "", "update-delay": "", "always-compare-med": "",
		"coalesce-time":                      "",
		"disable-ebgp-connected-route-check": "", "default": "", "maxmed": "", "delay": "",
		"suppress-duplicates":  "",
		"ebgp-requires-policy": ""})
}

// neighborMode returns the common part of a neighbour and a peer group.
func (p *parser) neighborMode(n *swconf.Neighbor) *cli.Mode {
	r := cli.NewMode("router-bgp-neighbor")
	r.Set("[no] remote-as <as>", func(m *cli.Match) {
		as := m.Word("as")
		if _, ok := swconf.ASN(as); !ok && as != "external" && as != "internal" && !m.No {
			p.bad(m, "as", "external, internal or an AS number")
		}
		swconf.Assign(p.c, m, &n.Remote, "as", as)
	})
	r.Set("[no] peer-group <group>", func(m *cli.Match) {
		if swconf.Assign(p.c, m, &n.Group, "group", m.Word("group")); !m.No {
			p.c.Use("peer-group", m.Word("group"), p.c.At(m, "group"))
		}
	})
	r.Set("[no] local-as <as> [ <more...> ]", func(m *cli.Match) {
		swconf.Assign(p.c, m, &n.Local, "as", m.Word("as"))
	})
	r.Set("[no] shutdown [ <more...> ]", func(m *cli.Match) { swconf.Switch(p.c, m, &n.Down, "shutdown", true) })
	r.On("[no] address-family <afi:ipv4|ipv6|l2vpn> <safi:unicast|evpn>", func(m *cli.Match) *cli.Mode {
		if m.No {
			return nil
		}
		bit := map[string]swconf.Family{"ipv4": swconf.IPv4, "ipv6": swconf.IPv6, "l2vpn": swconf.EVPN}[m.Word("afi")]
		sub := cli.NewMode("router-bgp-neighbor-af")
		sub.Set("[no] activate", func(m *cli.Match) {
			if n.On &^= bit; !m.No {
				n.On |= bit
			} else if bit == swconf.IPv4 {
				n.Off = true
			}
		})
		sub.Set("[no] allowas-in [ <more...> ]", func(m *cli.Match) { n.Loops = !m.No })
		return sub.Families(p.pass, neighborFamilies)
	})
	return r.Families(p.pass, neighborFamilies)
}

var neighborFamilies = map[string]string{"description": "", "timers": "", "bfd": "", "capability": "",
	"ebgp-multihop": "", "update-source": "", "password": "", "send-community": "", "route-map": "",
	"prefix-list": "",
	"filter-list": "", "next-hop-self": "", "route-reflector-client": "", "maximum-prefix": "", "weight": "",
	"soft-reconfiguration": "", "default-originate": "", "remove-private-as": "", "attribute-unchanged": "",
	"advertisement-interval": "", "disable-connected-check": "", "dont-capability-negotiate": "",
	"enforce-first-as": "", "enforce-multihop": "", "override-capability": "", "passive": "", "solo": "",
	"strict-capability-match": "", "ttl-security": "", "unsuppress-map": "", "as-override": "",
	"route-server-client": "",
	"minimum-holdtime":    "", "auth": "", "port": ""}

func (p *parser) family(b *swconf.BGP, ipv4 bool) *cli.Mode {
	r := cli.NewMode("router-bgp-af")
	set := func(pattern string, do func(*cli.Match)) {
		r.Set(pattern, func(m *cli.Match) {
			if ipv4 {
				do(m)
			}
		})
	}
	set("[no] redistribute connected [ route-map <name> ] [ metric <n:int> ]", func(m *cli.Match) {
		if swconf.Switch(p.c, m, &b.Connected, "redistribute", true); m.Has("name") && !m.No {
			p.c.Use("route-map", m.Word("name"), p.c.At(m, "name"))
		}
	})
	set("[no] redistribute <what:static|ospf|ospf3|table> [ <more...> ]", func(m *cli.Match) {
		swconf.Switch(p.c, m, &b.Others, "what", true)
	})
	set("[no] maximum-paths <n:int>", func(m *cli.Match) {
		swconf.Assign(p.c, m, &b.MaxPaths, "n", int(min(m.Int("n"), 1e6)))
	})
	set("[no] maximum-paths ibgp <n:int> [ <more...> ]", func(*cli.Match) {})
	set("[no] network <prefix> [ <more...> ]", func(m *cli.Match) {
		pre, err := netip.ParsePrefix(m.Word("prefix"))
		if err != nil && !m.No {
			p.bad(m, "prefix", "a prefix")
			return
		}
		if b.Networks = swconf.Without(b.Networks, pre, err == nil); !m.No {
			b.Networks = append(b.Networks, swconf.SaidAt(p.c, m, "prefix", pre))
		}
	})
	return r.Families(p.pass, map[string]string{"aggregate-address": "", "dampening": "", "distance": "",
		"table-map": "", "advertise": "", "advertise-all-vni": "", "advertise-default-gw": "",
		"advertise-svi-ip": "",
		"advertise-pip":    "", "autort": "", "dup-addr-detection": "", "flooding": "", "rd": "",
		"route-target": "",
		"vni":          "", "import": "", "export": "", "disable-ead-evi-rx": "", "default-originate": ""})
}

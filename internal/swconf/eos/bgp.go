package eos

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/netip"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
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
	// EOS relaxes by default
	b := &swconf.BGP{ASN: swconf.SaidAt(p.c, m, "asn", asn), Relax: swconf.Said[bool]{V: true}}
	if old := p.c.BGP; old != nil && old.ASN.V == asn {
		b = old // a repeated command continues its block
	}
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
	p.neighborRules(r, b, p.peers)
	p.stopRule(r, "")
	r.Set("[no] bgp default ipv4-unicast", func(m *cli.Match) {
		if m.Has("ipv4-unicast") {
			b.NoDefault = swconf.SaidAt(p.c, m, "default", m.No && !m.Default)
		}
	})
	r.On("[no] address-family <afi:ipv4|ipv6|evpn|vpn-ipv4|vpn-ipv6|rt-membership|flow-spec|path-selection|link-state> [ <safi...> ]", func(m *cli.Match) *cli.Mode {
		if m.No {
			return nil // this "no" activates and removes no neighbor
		}
		return p.family(b, p.peers, familyOf(m), true)
	})
	r.On("[no] vrf <name>", func(m *cli.Match) *cli.Mode { return p.openVRF(b, m) })
	r.Families(p.pass, bgpFamilies)
	r.Skip(p.pass, "vlan", "vlan-aware-bundle", "vpws", "session tracker", "rpki", "default-route", "domain")
	return r
}

// familyOf is the address family that a line opens.
func familyOf(m *cli.Match) swconf.Family {
	unicast := !m.Has("safi") || m.Word("safi") == "unicast"
	switch afi := m.Word("afi"); {
	case afi == "ipv4" && unicast:
		return swconf.IPv4
	case afi == "ipv6" && unicast:
		return swconf.IPv6
	case afi == "evpn":
		return swconf.EVPN
	}
	return swconf.OtherFamily
}

// openVRF parses a VRF's part of BGP, with the VRF's neighbours and the switch's groups.
func (p *parser) openVRF(b *swconf.BGP, m *cli.Match) *cli.Mode {
	if m.No {
		for _, n := range b.Neighbors[:len(b.Neighbors):len(b.Neighbors)] {
			if n.VRF == m.Word("name") && n.VRF != "" {
				p.peers.In(n.VRF).Remove(b, n.Name())
			}
		}
		return nil
	}
	peers, main := p.peers, m.Word("name") == "default"
	if !main {
		peers = peers.In(m.Word("name"))
	}
	r := cli.NewMode("router-bgp-vrf")
	p.neighborRules(r, b, peers)
	p.announced(r, b, main)
	r.Set("[no] route-target <what:import|export> [ <afi:evpn|vpn-ipv4|vpn-ipv6> ] route-map <name>",
		func(m *cli.Match) { p.c.Refer(m, "route-map", "name") })
	p.stopRule(r, m.Word("name"))
	// a setting of the instance, not of the switch
	r.Set("[no] bgp bestpath as-path multipath-relax", func(*cli.Match) {})
	r.Set("[no] bgp default ipv4-unicast", func(*cli.Match) {})
	r.On("[no] address-family <afi:ipv4|ipv6|flow-spec> [ <safi...> ]", func(m *cli.Match) *cli.Mode {
		if m.No {
			return nil
		}
		return p.family(b, peers, familyOf(m), main)
	})
	r.Families(p.pass, bgpFamilies)
	return r.Skip(p.pass, "router-id", "local-as", "maximum-paths", "evpn", "default-route")
}

// stopRule reads that BGP is shut down: of the switch, or of a VRF.
func (p *parser) stopRule(r *cli.Mode, vrf string) {
	r.Set("[no] shutdown [ <why...> ]", func(m *cli.Match) {
		at := swconf.SaidAt(p.c, m, "shutdown", true)
		if p.stopped[vrf] = at; m.No {
			delete(p.stopped, vrf)
		}
	})
}

// neighborRules read neighbours and their groups, of the switch or of a VRF.
func (p *parser) neighborRules(r *cli.Mode, b *swconf.BGP, peers *swconf.Peers) {
	get := func(m *cli.Match) *swconf.Neighbor {
		if m.No { // which creates none
			return peers.Known(m.Word("who"))
		}
		return peers.Get(b, m.Word("who"), p.c.At(m, "who"))
	}
	r.Set("no neighbor <who>", func(m *cli.Match) {
		peers.Remove(b, m.Word("who"))
		p.c.Undefine("peer group", m.Word("who"))
	})
	r.Set("[no] neighbor <who> peer group", func(m *cli.Match) { p.group(b, peers, m) })
	r.Set("[no] neighbor <who> peer group <group>", func(m *cli.Match) {
		if p.join(get(m), m); m.No {
			peers.Prune(b, m.Word("who"))
		}
	})
	r.Set("[no] neighbor <who> remote-as <as>", func(m *cli.Match) {
		if n := get(m); !m.No {
			n.Remote = p.remote(m)
		} else {
			n.Remote = swconf.Said[string]{}
			peers.Prune(b, m.Word("who"))
		}
	})
	r.Set("[no] neighbor <who> local-as <as> [ <more...> ]", func(m *cli.Match) {
		n := get(m)
		if n.Local = (swconf.Said[string]{}); !m.No {
			n.Local = p.remote(m)
			return
		}
		peers.Prune(b, m.Word("who"))
	})
	r.Set("[no] neighbor <who> shutdown [ <more...> ]", func(m *cli.Match) {
		swconf.Assign(p.c, m, &get(m).Down, "shutdown", true)
		peers.Prune(b, m.Word("who"))
	})
	r.Set("[no] neighbor <who> allowas-in [ <times:int> ]", func(m *cli.Match) {
		get(m).Loops = !m.No
		peers.Prune(b, m.Word("who"))
	})
	p.keepRules(r, peers, get)
	p.policyRules(r)
	r.Set("[no] neighbor interface <ports> peer-group <group> [ remote-as <as> ]", func(m *cli.Match) {
		p.unnumbered(b, peers, m)
	})
	r.Set("[no] neighbor interface <ports> peer-group <group> peer-filter <filter>", func(m *cli.Match) {
		p.unnumbered(b, peers, m)
	})
	r.Set("[no] bgp listen range <prefix> [ peer-id include router-id ] peer-group <group> [ <more...> ]",
		func(m *cli.Match) { p.c.Refer(m, "peer group", "group") })
}

// keepRules parse the neighbours to which EVPN routes are sent with their original next hop.
func (p *parser) keepRules(r *cli.Mode, peers *swconf.Peers, get func(*cli.Match) *swconf.Neighbor) {
	r.Set("[no] neighbor <who> next-hop-unchanged", func(m *cli.Match) {
		swconf.Assign(p.c, m, &get(m).Keeps, "next-hop-unchanged", true)
		if m.No {
			peers.Prune(p.c.BGP, m.Word("who"))
		}
	})
}

// policyRules parse the policies for a neighbour's routes, below router bgp and in address families.
func (p *parser) policyRules(r *cli.Mode) {
	r.Set("[no] neighbor <who> route-map <name> <way:in|out>", func(m *cli.Match) { p.c.Refer(m, "route-map", "name") })
	r.Set("[no] neighbor <who> prefix-list <name> <way:in|out>", func(m *cli.Match) {
		p.c.Refer(m, "prefix-list", "name")
	})
	r.Set("[no] neighbor <who> default-originate route-map <name> [ always ]", func(m *cli.Match) {
		p.c.Refer(m, "route-map", "name")
	})
}

// group defines a peer group, or forgets it.
func (p *parser) group(b *swconf.BGP, peers *swconf.Peers, m *cli.Match) {
	if m.No {
		peers.Remove(b, m.Word("who"))
		p.c.Undefine("peer group", m.Word("who"))
		return
	}
	peers.Group(m.Word("who"), p.c.At(m, "who"))
	p.c.Define("peer group", m.Word("who"), p.c.At(m, "who"), false)
}

// unnumbered reads neighbours of interfaces.
func (p *parser) unnumbered(b *swconf.BGP, peers *swconf.Peers, m *cli.Match) {
	names, ok := portRange(m.Word("ports"))
	if !ok {
		p.bad(m, "ports", "a range such as Ethernet1-4")
	}
	for _, name := range names {
		if m.No {
			peers.Remove(b, name)
			continue
		}
		n := peers.Get(b, name, p.c.At(m, "ports"))
		if m.Has("as") { // or the group's
			n.Remote = p.remote(m)
		} else if m.Has("filter") {
			n.Remote = swconf.SaidAt(p.c, m, "filter", "external")
		}
		p.join(n, m)
	}
}

// announced parses announcements: below router bgp and in its family ipv4, which are equivalent.
func (p *parser) announced(r *cli.Mode, b *swconf.BGP, ipv4 bool) {
	r.Set("[no] redistribute <what:aggregate|attached-host|bgp|connected|dhcp|dynamic|igmp|isis|ospf|ospf3|ospfv3|rip|static|user> [ <more...> ]", func(m *cli.Match) {
		p.ofRoutes(m)
		switch connected := m.Word("what") == "connected"; {
		case ipv4 && connected:
			swconf.Switch(p.c, m, &b.Connected, "redistribute", true)
		case ipv4:
			swconf.Switch(p.c, m, &b.Others, "redistribute", true)
		}
	})
	r.Set("[no] aggregate-address <prefix> [ <more...> ]", func(m *cli.Match) {
		if ipv4 {
			swconf.Switch(p.c, m, &b.Others, "prefix", true)
		}
	})
	r.Set("[no] network <prefix> [ mask <mask> ] [ route-map <name> ]", func(m *cli.Match) {
		if m.Has("name") {
			p.c.Refer(m, "route-map", "name")
		}
		if !ipv4 {
			return
		}
		pre, err := netip.ParsePrefix(m.Word("prefix"))
		if m.Has("mask") {
			pre, err = masked(m.Word("prefix"), m.Word("mask"))
		}
		if err != nil {
			p.bad(m, "prefix", "a prefix")
			return
		}
		if b.Networks = swconf.Without(b.Networks, pre, true); !m.No {
			b.Networks = append(b.Networks, swconf.SaidAt(p.c, m, "prefix", pre))
		}
	})
}

// masked returns a prefix whose length is given by a mask.
func masked(addr, mask string) (netip.Prefix, error) {
	a, err := netip.ParseAddr(addr)
	if err != nil {
		return netip.Prefix{}, err
	}
	m, err := netip.ParseAddr(mask)
	if err != nil || !m.Is4() {
		return netip.Prefix{}, fmt.Errorf("no mask %s", mask)
	}
	b := m.As4()
	n := binary.BigEndian.Uint32(b[:])
	if bits.LeadingZeros32(^n)+bits.TrailingZeros32(n) != 32 {
		return netip.Prefix{}, fmt.Errorf("no mask %s", mask)
	}
	return a.Prefix(bits.LeadingZeros32(^n))
}

// ofRoutes notes the route-map at the end of a line.
func (p *parser) ofRoutes(m *cli.Match) {
	words := m.Line.Words
	for i := range words[:len(words)-1] {
		if name := words[i+1]; words[i].Text == "route-map" && !m.No {
			p.c.Use("route-map", name.Text, swconf.Place{File: p.c.File, Line: m.Line.Num, Col: name.Col})
		}
	}
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
	p.c.Refer(m, "peer group", "group")
}

// family reads an address family of a VRF; main is the default one.
func (p *parser) family(b *swconf.BGP, peers *swconf.Peers, of swconf.Family, main bool) *cli.Mode {
	r := cli.NewMode("router-bgp-af")
	get := func(m *cli.Match) *swconf.Neighbor {
		if m.No {
			return peers.Known(m.Word("who"))
		}
		return peers.Get(b, m.Word("who"), p.c.At(m, "who"))
	}
	r.Set("[no] neighbor <who> activate", func(m *cli.Match) {
		n := get(m)
		if of == swconf.IPv4 {
			n.Off = m.No && !m.Default
		}
		if n.On |= of; m.No {
			n.On &^= of
		}
	})
	if of != swconf.EVPN { // policies of routes other than those that end in tunnels
		r.Skip(p.pass, "neighbor <who> next-hop-unchanged")
	} else {
		p.keepRules(r, peers, get)
		r.Set("[no] bgp next-hop-unchanged", func(m *cli.Match) {
			if m.Has("next-hop-unchanged") {
				swconf.Assign(p.c, m, &p.keeps, "next-hop-unchanged", true)
			}
		})
	}
	p.policyRules(r)
	p.announced(r, b, main && of == swconf.IPv4)
	r.Skip(p.pass, "neighbor default", "bgp", "route", "path-selection", "default-route", "domain",
		"layer-2", "encapsulation", "tunnel", "maximum-paths", "install", "peer-group", "set", "evpn",
		"aigp-session", "label", "mpls label", "import", "vxlan", "trace")
	r.Families(p.pass, bgpFamilies)
	return r
}

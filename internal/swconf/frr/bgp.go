package frr

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

func (p *parser) openBGP(m *cli.Match) *cli.Mode {
	vrf := cmp.Or(m.Word("vrf"), m.Word("view"))
	if m.No {
		if vrf == "" {
			p.c.BGP, p.peers = nil, swconf.NewPeers()
		} else if old := p.tables[vrf]; old != nil {
			for _, n := range slices.Clone(old.Neighbors) {
				p.peers.In(vrf).Remove(old, n.Name())
			}
			delete(p.tables, vrf)
			p.vrfs = slices.DeleteFunc(p.vrfs, func(b *swconf.BGP) bool { return b == old })
		}
		return nil
	}
	asn, ok := swconf.ASN(m.Word("asn"))
	if !ok {
		p.bad(m, "asn", "an AS number from 1 to 4294967295")
	}
	b := &swconf.BGP{ASN: swconf.SaidAt(p.c, m, "asn", asn), NeedsPolicy: true, MaxPaths: swconf.Said[int]{V: 64}}
	peers := p.peers
	if vrf != "" && vrf != "default" {
		peers = p.peers.In(vrf) // another routing table
		if old := p.tables[vrf]; old != nil {
			b = old
		} else {
			p.tables[vrf] = b
			p.vrfs = append(p.vrfs, b)
		}
	} else if p.c.BGP != nil && p.c.BGP.ASN.V == asn {
		b = p.c.BGP // a repeated command continues its block
	} else if p.c.BGP != nil {
		swconf.Duplicate(p.c, "router bgp", fmt.Sprint(asn), p.c.At(m, "asn"), p.c.BGP.ASN.At)
	} else {
		p.c.BGP = b
	}
	r := cli.NewMode("config-router")
	r.Set("[no] bgp router-id <id>", func(m *cli.Match) {
		if m.No {
			b.RouterID = swconf.Said[netip.Addr]{}
			return
		}
		id, err := netip.ParseAddr(m.Word("id"))
		if err != nil {
			p.bad(m, "id", "a router ID")
			return
		}
		b.RouterID = swconf.SaidAt(p.c, m, "id", id)
	})
	r.Set("[no] bgp bestpath as-path multipath-relax [ <set:as-set|no-as-set> ]", func(m *cli.Match) {
		swconf.Switch(p.c, m, &b.Relax, "bestpath", true)
	})
	r.Set("[no] bgp ebgp-requires-policy", func(m *cli.Match) {
		b.NoPolicy = swconf.SaidAt(p.c, m, "bgp", m.No && !m.Default)
	})
	r.Set("[no] bgp default ipv4-unicast", func(m *cli.Match) {
		b.NoDefault = swconf.SaidAt(p.c, m, "bgp", m.No && !m.Default)
	})
	r.On("[no] bmp targets <name>", func(*cli.Match) *cli.Mode {
		p.c.Passed++
		return cli.NewMode("config-bgp-bmp").Families(p.pass, map[string]string{
			"bmp": "acl|connect|listener|monitor|stats|import-vrf-view", "ip": "", "ipv6": ""})
	})
	r.Skip(p.pass, "segment-routing srv6", "vnc defaults", "vnc nve-group", "vnc l2-group")
	n := &talker{p, b, peers}
	n.neighborRules(r)
	r.On("[no] address-family <afi:ipv4|ipv6|l2vpn|link-state> [ <safi:unicast|evpn|multicast|labeled-unicast|vpn|flowspec|link-state|encap|mup|rt-constrain|unreachability> ]",
		func(m *cli.Match) *cli.Mode {
			if m.No {
				return nil
			}
			return n.family(familyOf(m.Word("afi"), m.Word("safi")))
		})
	p.announced(r, b, true) // below router bgp they are IPv4's
	return r.Families(p.pass, bgpFamilies)
}

// familyOf is an address family; without a second word it is of unicast.
func familyOf(afi, safi string) swconf.Family {
	switch {
	case safi != "" && safi != "unicast" && safi != "evpn":
	case afi == "ipv4":
		return swconf.IPv4
	case afi == "ipv6":
		return swconf.IPv6
	case safi == "evpn":
		return swconf.EVPN
	}
	return swconf.OtherFamily
}

// others is FRR's redistributed protocols.
const others = "babel|connected|eigrp|isis|kernel|local|nhrp|openfabric|ospf|ospf6|rip|ripng|sharp|static|table|table-direct|vnc|vnc-direct|vpn"

// applied notes the route-map that a line applies, if any.
func (p *parser) applied(m *cli.Match) {
	if m.Has("name") {
		p.c.Refer(m, "route-map", "name")
	}
}

// announced parses announcements and the number of paths, for IPv4; other families are not stored.
func (p *parser) announced(r *cli.Mode, b *swconf.BGP, ipv4 bool) {
	if !ipv4 {
		b = &swconf.BGP{}
	}
	r.Set("[no] maximum-paths <n:int>", func(m *cli.Match) {
		if swconf.Assign(p.c, m, &b.MaxPaths, "n", int(min(m.Int("n"), 1e6))); m.No {
			b.MaxPaths.V = 64
		}
	})
	r.Set("[no] redistribute <what:"+others+"> [ <n:int> ] [ metric <m:int> ] [ route-map <name> ] [ metric <o:int> ]", func(m *cli.Match) {
		if p.applied(m); m.Word("what") == "connected" {
			swconf.Switch(p.c, m, &b.Connected, "redistribute", true)
			return
		}
		swconf.Switch(p.c, m, &b.Others, "redistribute", true)
	})
	r.Set("[no] aggregate-address <prefix> [ <a:as-set|summary-only|origin|matching-MED-only> ] [ route-map <name> ] [ <more...> ]", func(m *cli.Match) {
		p.applied(m)
		swconf.Switch(p.c, m, &b.Others, "aggregate-address", true)
	})
	r.Set("[no] table-map <name>", p.applied)
	r.Set("[no] import vrf route-map <name>", p.applied)
	r.Set("[no] network <prefix> [ backdoor ] [ route-map <name> ] [ <more...> ]", func(m *cli.Match) {
		p.applied(m)
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

// defaults parses the profile of defaults and the release. If eBGP needs no policies (FRR's manual, BGP,
// ebgp-requires-policy; RFC 8212 since 7.4) its running configuration does not contain the setting.
func (p *parser) defaults(r *cli.Mode) {
	r.Set("[no] frr defaults <profile:datacenter|traditional>", func(m *cli.Match) {
		p.free, p.named = m.Word("profile") == "datacenter" && !m.No, true
	})
	r.Set("frr version <release> [ <more...> ]", func(m *cli.Match) {
		major, rest, _ := strings.Cut(m.Word("release"), ".")
		minor := strings.IndexFunc(rest+"x", func(c rune) bool { return c < '0' || c > '9' })
		a, err := strconv.Atoi(major)
		b, _ := strconv.Atoi(rest[:minor])
		p.named = true
		p.free = p.free || err == nil && (a < 7 || a == 7 && b < 4)
	})
}

// routeMap parses an entry of a route-map: its matches and the route-maps that it calls.
func (p *parser) routeMap(m *cli.Match) *cli.Mode {
	if p.define(m, "route-map", "name"); m.No {
		return nil
	}
	r := cli.NewMode("route-map")
	r.Set("[no] match <afi:ip|ipv6> <what:address|next-hop|route-source> prefix-list <name>",
		func(m *cli.Match) { p.c.Refer(m, "prefix-list", "name") })
	r.Set("[no] call <name>", func(m *cli.Match) { p.c.Refer(m, "route-map", "name") })
	return r.Families(p.pass, routeMapFamilies)
}

// applications are lines outside of BGP that apply route-maps.
func (p *parser) applications(r *cli.Mode) {
	r.Set("[no] <afi:ip|ipv6> protocol <from> route-map <name>", p.applied)
	r.Set("[no] <afi:ip|ipv6> nht <from> route-map <name>", p.applied)
}

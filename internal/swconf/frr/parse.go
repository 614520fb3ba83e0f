// Package frr reads and writes FRR's frr.conf: interfaces and the BGP underlay.
package frr

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

// Looks reports whether text looks like FRR.
func Looks(text string) int {
	return swconf.Score(text, "frr version", "frr defaults", "service integrated-vtysh-config",
		"interface peer-group", " interface remote-as", "no bgp ebgp-requires-policy",
		"exit-address-family", "line vty", "interface swp", "redistribute connected", "neighbor FABRIC",
		"log syslog informational", "exit-vrf")
}

type parser struct {
	c     *swconf.Config
	peers *swconf.Peers
}

// Commands is the table of global commands, for tests.
func Commands() *cli.Mode { return newParser("").root() }

func newParser(file string) *parser {
	return &parser{c: &swconf.Config{OS: swconf.FRR, File: file}, peers: swconf.NewPeers()}
}

// Parse reads a configuration.
func Parse(file string, text []byte) (*swconf.Config, error) {
	lines, err := cli.Scan(file, text)
	if err != nil {
		return nil, err
	}
	p := newParser(file)
	p.c.Total = len(lines)
	if err := swconf.ReadLines(p.c, lines, p.root()); err != nil {
		return nil, err
	}
	p.peers.Resolve(p.c.BGP)
	return p.c, nil
}

func (p *parser) bad(m *cli.Match, name, what string) {
	swconf.Report(p.c, p.c.At(m, name), swconf.Error, "bad-value", fmt.Sprintf("%q is not %s", m.Word(name),
		what), "FRR refuses the line", "vtysh -C -f FILE checks a configuration")
}

func (p *parser) pass(*cli.Match) { p.c.Passed++ }

func (p *parser) root() *cli.Mode {
	c := p.c
	r := cli.NewMode("config")
	r.Set("[no] hostname <name>", func(m *cli.Match) {
		swconf.Assign(c, m, &c.Hostname, "name", m.Word("name"))
	})
	r.On("[no] interface <name> [ vrf <vrf> ]", p.openInterface)
	r.On("[no] router bgp <asn> [ vrf <vrf> ]", p.openBGP)
	r.Set("no router bgp", func(m *cli.Match) { p.openBGP(m) }) // the only one; not router-id abbreviated
	r.On("[no] route-map <name> <action:permit|deny> <seq:int>", func(m *cli.Match) *cli.Mode {
		if p.define(m, "route-map", "name"); m.No {
			return nil
		}
		sub := cli.NewMode("route-map")
		sub.Set("[no] match <afi:ip|ipv6> address prefix-list <name>", func(m *cli.Match) {
			p.use(m, "prefix-list", "name")
		})
		return sub.Families(p.pass, routeMapFamilies)
	})
	entry := func(m *cli.Match) {
		if _, err := netip.ParsePrefix(m.Word("prefix")); m.Has("prefix") && err != nil &&
			m.Word("prefix") != "any" {
			p.bad(m, "prefix", "a prefix, or any")
			return
		}
		p.define(m, "prefix-list", "name")
	}
	for _, lengths := range []string{"[ ge <ge:int> ] [ le <le:int> ]", "le <le:int> ge <ge:int>"} {
		r.Set("[no] <afi:ip|ipv6> prefix-list <name> [ seq <n:int> ] <action:permit|deny> <prefix> "+lengths,
			entry)
	}
	r.Set("[no] <afi:ip|ipv6> prefix-list <name> description <text...>", func(*cli.Match) {})
	r.Set("no <afi:ip|ipv6> prefix-list <name>", func(m *cli.Match) { p.define(m, "prefix-list", "name") })
	p.segmentRouting(r)
	r.Skip(p.pass, "Building", "Current", "frr", "service", "log", "password", "enable", "line", "banner",
		"ip forwarding", "ipv6 forwarding", "ip nht", "ipv6 nht", "ip route", "vrf", "debug",
		"ip router-id", "router-id", "bfd", "evpn", "agentx", "fpm", "zebra", "ip protocol", "ip as-path",
		"bgp", "router ospf", "router ospf6", "router isis", "ip import-table", "access-list",
		"ip community-list",
		"mpls", "domainname", "username", "key", "allow-external-route-update",
		"nexthop-group", "ip ssmpingd", "ip multicast", "end")
	return r
}

func (p *parser) define(m *cli.Match, kind, name string) {
	if m.No {
		p.c.Undefine(kind, m.Word(name))
		return
	}
	p.c.Define(kind, m.Word(name), p.c.At(m, name), false)
}

// use notes a reference; under "no" nothing refers to that name.
func (p *parser) use(m *cli.Match, kind, name string) {
	if m.No {
		p.c.Unuse(kind, m.Word(name))
		return
	}
	p.c.Use(kind, m.Word(name), p.c.At(m, name))
}

// panel reads the front panel number of swp3, swp3s1, eth3, Ethernet8 (by eights).
func panel(name string) int {
	for _, head := range []string{"swp", "Eth", "eth"} {
		if tail, ok := strings.CutPrefix(name, head); ok {
			whole, part, split := strings.Cut(tail, "s")
			if _, err := strconv.Atoi(part); split && err != nil {
				return 0
			}
			if n, err := strconv.Atoi(whole); err == nil {
				return n
			}
		}
	}
	return 0
}

// bond is the number of a bundle's name.
func bond(name string) (n int, ok bool) {
	tail, ok := strings.CutPrefix(name, "bond")
	n, err := strconv.Atoi(tail)
	return n, ok && err == nil
}

func (p *parser) openInterface(m *cli.Match) *cli.Mode {
	c := p.c
	port := c.Port(m.Word("name"))
	number, bundle := bond(m.Word("name"))
	if bundle {
		port = c.Bundle(number)
	}
	if m.No { // as a port without any configuration
		if port != nil {
			*port = swconf.Port{Name: port.Name, At: port.At, Number: port.Number}
		}
		return nil
	}
	if port == nil {
		port = &swconf.Port{Name: m.Word("name"), At: p.c.At(m, "interface"), Number: panel(m.Word("name"))}
		switch {
		case bundle && c.Room(port.At, 1):
			port.Number = number
			c.Bundles = append(c.Bundles, port)
		case port.Number > 0 && c.Room(port.At, 1):
			c.Ports = append(c.Ports, port)
		}
	}
	r := cli.NewMode("config-if")
	r.Set("[no] description <text...>", func(m *cli.Match) {
		swconf.Assign(p.c, m, &port.Desc, "text", m.Word("text"))
	})
	r.Set("[no] shutdown", func(m *cli.Match) { port.Down = swconf.SaidAt(p.c, m, "shutdown", !m.No) })
	address := func(m *cli.Match) {
		if m.No && !m.Has("prefix") {
			port.Addrs = nil
			return
		}
		pre, err := netip.ParsePrefix(m.Word("prefix"))
		if err != nil {
			p.bad(m, "prefix", "an address with a prefix length")
			return
		}
		if port.Addrs = swconf.Without(port.Addrs, pre, true); !m.No {
			port.Addrs = append(port.Addrs, swconf.SaidAt(p.c, m, "prefix", pre))
		}
	}
	r.Set("[no] ip address <prefix> [ label <l> ]", address)
	r.Set("[no] ipv6 address <prefix>", address)
	return r.Families(p.pass, portFamilies)
}

func (p *parser) openBGP(m *cli.Match) *cli.Mode {
	if m.No {
		if !m.Has("vrf") {
			p.c.BGP, p.peers = nil, swconf.NewPeers()
		}
		return nil
	}
	asn, ok := swconf.ASN(m.Word("asn"))
	if !ok {
		p.bad(m, "asn", "an AS number from 1 to 4294967295")
	}
	b := &swconf.BGP{ASN: swconf.SaidAt(p.c, m, "asn", asn), NeedsPolicy: true,
		MaxPaths: swconf.Said[int]{V: 64}}
	if m.Has("vrf") {
		b = &swconf.BGP{} // another routing table
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
	p.neighborRules(r, b)
	r.On("[no] address-family <afi:ipv4|ipv6|l2vpn> "+
		"[ <safi:unicast|evpn|multicast|labeled-unicast|vpn|flowspec> ]",
		func(m *cli.Match) *cli.Mode {
			if m.No {
				return nil
			}
			safi := m.Word("safi") // none: unicast
			return p.family(b, m.Word("afi") == "ipv4" && (safi == "" || safi == "unicast"))
		})
	p.announced(r, b, true) // below router bgp they are IPv4's
	return r.Families(p.pass, bgpFamilies)
}

// peer returns the neighbour that a line is about; no makes none.
func (p *parser) peer(b *swconf.BGP, m *cli.Match) *swconf.Neighbor {
	if m.No {
		return p.peers.Known(m.Word("peer"))
	}
	return p.peers.Get(b, m.Word("peer"), p.c.At(m, "peer"))
}

func (p *parser) neighborRules(r *cli.Mode, b *swconf.BGP) {
	r.Set("no neighbor <peer>", func(m *cli.Match) { p.drop(b, m) })
	r.Set("[no] neighbor <peer> peer-group", func(m *cli.Match) {
		if m.No {
			p.drop(b, m)
			return
		}
		p.peers.Group(m.Word("peer"), p.c.At(m, "peer"))
		p.c.Define("peer-group", m.Word("peer"), p.c.At(m, "peer"), false)
	})
	r.Set("[no] neighbor <peer> peer-group <group>", func(m *cli.Match) {
		if p.join(p.peer(b, m), m); m.No {
			p.peers.Prune(b, m.Word("peer"))
		}
	})
	r.Set("[no] neighbor <peer> interface [ v6only ] [ peer-group <group> ] [ remote-as <as> ]",
		func(m *cli.Match) {
			if m.No {
				p.drop(b, m)
				return
			}
			n := p.peer(b, m)
			if m.Has("group") {
				p.join(n, m)
			}
			if m.Has("as") {
				n.Remote = p.remote(m)
			}
		})
	r.Set("[no] neighbor <peer> remote-as <as>", func(m *cli.Match) {
		if m.No { // FRR: which deletes the neighbour
			p.drop(b, m)
			return
		}
		p.peer(b, m).Remote = p.remote(m)
	})
	r.Families(p.pass, map[string]string{"neighbor <peer>": neighborWords})
}

// remote reads the AS of a neighbour.
func (p *parser) remote(m *cli.Match) swconf.Said[string] {
	switch m.Word("as") {
	case "external", "internal", "auto":
	default:
		if _, ok := swconf.ASN(m.Word("as")); !ok {
			p.bad(m, "as", "an AS number from 1 to 4294967295, external, internal or auto")
		}
	}
	return swconf.SaidAt(p.c, m, "as", m.Word("as"))
}

func (p *parser) join(n *swconf.Neighbor, m *cli.Match) {
	swconf.Assign(p.c, m, &n.Group, "group", m.Word("group"))
	p.use(m, "peer-group", "group")
}

// drop removes a neighbour or a peer group.
func (p *parser) drop(b *swconf.BGP, m *cli.Match) {
	p.peers.Remove(b, m.Word("peer"))
	p.c.Undefine("peer-group", m.Word("peer"))
}

// announced reads what is announced and over how many ways, of IPv4; of other families nothing is kept.
func (p *parser) announced(r *cli.Mode, b *swconf.BGP, ipv4 bool) {
	if !ipv4 {
		b = &swconf.BGP{}
	}
	r.Set("[no] maximum-paths <n:int>", func(m *cli.Match) {
		if swconf.Assign(p.c, m, &b.MaxPaths, "n", int(min(m.Int("n"), 1e6))); m.No {
			b.MaxPaths.V = 64
		}
	})
	r.Set("[no] redistribute connected [ route-map <name> ] [ metric <n:int> ]", func(m *cli.Match) {
		swconf.Switch(p.c, m, &b.Connected, "redistribute", true)
		if m.Has("name") {
			p.use(m, "route-map", "name")
		}
	})
	r.Set("[no] network <prefix> [ <more...> ]", func(m *cli.Match) {
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

func (p *parser) family(b *swconf.BGP, ipv4 bool) *cli.Mode {
	r := cli.NewMode("config-router-af")
	p.announced(r, b, ipv4)
	r.Set("[no] neighbor <peer> activate", func(m *cli.Match) {
		n := p.peer(b, m)
		n.Active = n.Active || !m.No
		if ipv4 && m.No {
			p.passive(n)
		}
	})
	r.Set("[no] neighbor <peer> route-map <name> <dir:in|out>", func(m *cli.Match) {
		p.use(m, "route-map", "name")
	})
	r.Set("[no] neighbor <peer> prefix-list <name> <dir:in|out>", func(m *cli.Match) {
		p.use(m, "prefix-list", "name")
	})
	r.Families(p.pass, map[string]string{"neighbor <peer>": neighborWords})
	return r.Families(p.pass, familyFamilies)
}

// passive marks a neighbour that is taken out of IPv4 unicast by name.
func (p *parser) passive(n *swconf.Neighbor) { n.Active = false; n.Off = true }

package frr

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

// Looks reports whether text looks like FRR.
func Looks(text swconf.Text) int {
	return text.Score("frr version", "frr defaults", "service integrated-vtysh-config",
		"interface peer-group", " interface remote-as", "no bgp ebgp-requires-policy",
		"exit-address-family", "line vty", "interface swp", "redistribute connected", "neighbor FABRIC",
		"log syslog informational", "exit-vrf")
}

type parser struct {
	c      *swconf.Config
	peers  *swconf.Peers
	tables map[string]*swconf.BGP // tables of VRFs and views, by name
	vrfs   []*swconf.BGP          // VRFs whose neighbors complete those of the switch
	free   bool                   // eBGP needs no policies by default
	named  bool                   // the configuration names its FRR release
	seen   map[string]bool        // route-maps and prefix-lists, whose entries are many
}

// Commands is the table of global commands, for tests.
func Commands() *cli.Mode { return newParser("").root() }

func newParser(file string) *parser {
	return &parser{c: &swconf.Config{OS: swconf.FRR, File: file}, peers: swconf.NewPeers(),
		seen: map[string]bool{}, tables: map[string]*swconf.BGP{}}
}

// quagga matches configurations for FRR's predecessor, whose eBGP works without policies: by its header, or its log
// destination.
var quagga = regexp.MustCompile(`(?im)^\s*(?:!|log file ).*\bquagga\b`)

// Parse reads a configuration.
func Parse(file string, text []byte) (*swconf.Config, error) {
	p := newParser(file)
	if err := swconf.ReadText(p.c, text, p.root()); err != nil {
		return nil, err
	}
	p.free = p.free || !p.named && quagga.Match(text)
	p.finish()
	return p.c, nil
}

// finish computes the effective values after parsing: the profile of defaults may follow the settings that it affects.
func (p *parser) finish() {
	p.peers.Resolve(p.c.BGP)
	if p.c.BGP == nil {
		p.elsewhere()
		return
	}
	if !p.c.BGP.NoPolicy.Is() {
		p.c.BGP.NoPolicy.V = p.free
	}
	for _, b := range p.vrfs {
		if p.peers.Resolve(b); b.NoPolicy.V || !b.NoPolicy.Is() && p.free {
			for _, n := range b.Neighbors {
				n.Policed = swconf.Directions
			}
		}
		for _, n := range b.Neighbors {
			if !n.Local.Is() && b.ASN.V != p.c.BGP.ASN.V {
				n.Local = swconf.Say(fmt.Sprint(b.ASN.V), b.ASN.At)
			}
		}
		p.c.BGP.Neighbors = append(p.c.BGP.Neighbors, b.Neighbors...)
	}
}

// elsewhere removes undefined prefix-lists of route-maps in a configuration without BGP. Such a configuration is
// partial, and its lists may be in another.
func (p *parser) elsewhere() {
	have := map[string]bool{}
	for _, o := range p.c.Objects {
		have[o.Kind+" "+o.Name] = true
	}
	p.c.Refs = slices.DeleteFunc(p.c.Refs, func(r swconf.Ref) bool {
		return r.Kind == "prefix-list" && !have[r.Kind+" "+r.Name]
	})
}

func (p *parser) bad(m *cli.Match, name, what string) {
	swconf.Report(p.c, p.c.At(m, name), swconf.Error, "bad-value", fmt.Sprintf("%q is not %s", m.Word(name),
		what), "FRR refuses the line", "vtysh -C -f FILE checks a configuration")
}

func (p *parser) pass(*cli.Match) { p.c.Passed++ }

func (p *parser) root() *cli.Mode {
	c := p.c
	r := cli.NewMode("config")
	r.Set("[no] hostname <name>", func(m *cli.Match) { swconf.Assign(c, m, &c.Hostname, "name", m.Word("name")) })
	r.On("[no] interface <name> [ vrf <vrf> ]", p.openInterface)
	r.On("[no] router bgp <asn> [ vrf <vrf> ] [ view <view> ] [ as-notation <n:plain|dot|dot+> ]", p.openBGP)
	r.Set("no router bgp", func(m *cli.Match) { p.openBGP(m) }) // the only one; not router-id abbreviated
	p.defaults(r)
	p.applications(r)
	p.ifupdown(r)
	r.On("[no] route-map <name> <action:permit|deny> <seq:int>", p.routeMap)
	r.On("[no] vrf <name>", func(*cli.Match) *cli.Mode {
		p.c.Passed++
		return cli.NewMode("config-vrf").Families(p.pass, map[string]string{"vni": "", "ip": "", "ipv6": "",
			"netns": "", "rnh": "", "mpls": ""})
	})
	entry := func(m *cli.Match) {
		if _, err := netip.ParsePrefix(m.Word("prefix")); m.Has("prefix") && err != nil && m.Word("prefix") != "any" {
			p.bad(m, "prefix", "a prefix, or any")
			return
		}
		p.define(m, "prefix-list", "name")
	}
	for _, lengths := range []string{"[ ge <ge:int> ] [ le <le:int> ]", "le <le:int> ge <ge:int>"} {
		r.Set("[no] <afi:ip|ipv6> prefix-list <name> [ seq <n:int> ] <action:permit|deny> <prefix> "+lengths, entry)
	}
	r.Set("[no] <afi:ip|ipv6> prefix-list <name> description <text...>", func(*cli.Match) {})
	r.Set("no <afi:ip|ipv6> prefix-list <name>", func(m *cli.Match) { p.define(m, "prefix-list", "name") })
	p.segmentRouting(r)
	r.Skip(p.pass, "Building", "Current", "service", "log", "password", "enable", "line", "banner",
		"ip forwarding", "ipv6 forwarding", "ip nht", "ipv6 nht", "ip route", "debug",
		"ip router-id", "router-id", "bfd", "evpn", "agentx", "fpm", "zebra", "ip protocol", "ip as-path",
		"bgp", "router ospf", "router ospf6", "router isis", "ip import-table", "access-list",
		"ip community-list",
		"mpls", "domainname", "username", "key", "allow-external-route-update",
		"nexthop-group", "ip ssmpingd", "ip multicast", "end", "router pim", "router pim6", "router rip",
		"router ripng", "router babel", "router eigrp", "router openfabric", "pbr-map", "ipv6 access-list",
		"ipv6 mld", "ip igmp", "ip pim", "ipv6 pim", "ip msdp", "vrrp", "nhrp", "allow-reserved-ranges",
		"vni", "ipv6 import-table", "ip prefix", "large-community-list", "ip large-community-list",
		"ip extcommunity-list", "rpki", "traffic-eng", "affinity-map", "affinity-mode", "dump", "ldp-sync",
		"l2vpn", "pseudowire-class", "netns", "ip mroute", "mac", "rfp", "watchfrr", "pce", "exit-vni")
	return r
}

func (p *parser) define(m *cli.Match, kind, name string) {
	if m.No {
		p.c.Undefine(kind, m.Word(name))
		delete(p.seen, kind+" "+m.Word(name))
		return
	}
	if key := kind + " " + m.Word(name); !p.seen[key] || kind == "peer-group" || kind == "locator" {
		p.seen[key] = true // the first entry of the key counts
		p.c.Define(kind, m.Word(name), p.c.At(m, name), false)
	}
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

// port returns the port or bond of a line's name, created if new. Other interfaces than front panel ports and bonds
// are parsed and ignored.
func (p *parser) port(m *cli.Match) *swconf.Port {
	c := p.c
	port := c.Port(m.Word("name"))
	number, bundle := bond(m.Word("name"))
	if bundle {
		port = c.Bundle(number)
	}
	if port != nil || m.No {
		return port
	}
	port = &swconf.Port{Name: m.Word("name"), At: p.c.At(m, "name"), Number: panel(m.Word("name"))}
	switch {
	case bundle && c.Room(port.At, 1):
		port.Number = number
		c.Bundles = append(c.Bundles, port)
	case port.Number > 0 && c.Room(port.At, 1):
		c.Ports = append(c.Ports, port)
	}
	return port
}

func (p *parser) openInterface(m *cli.Match) *cli.Mode {
	port := p.port(m)
	if m.No { // "no" resets the port to a port without configuration; its VRF belongs to the system
		if port != nil {
			*port = swconf.Port{Name: port.Name, At: port.At, Number: port.Number, VRF: port.VRF}
		}
		return nil
	}
	if m.Has("vrf") {
		port.VRF = swconf.SaidAt(p.c, m, "vrf", m.Word("vrf"))
	}
	r := cli.NewMode("config-if")
	r.Set("[no] description <text...>", func(m *cli.Match) {
		swconf.Assign(p.c, m, &port.Desc, "text", m.Word("text"))
	})
	r.Set("[no] shutdown", func(m *cli.Match) { port.Down = swconf.SaidAt(p.c, m, "shutdown", !m.No) })
	address := func(m *cli.Match) { p.c.Address(m, port, p.bad) }
	r.Set("[no] ip address <prefix> [ label <l> ]", address)
	r.Set("[no] ipv6 address <prefix>", address)
	r.On("[no] link-params", func(*cli.Match) *cli.Mode {
		p.c.Passed++
		return cli.NewMode("config-link-params").Families(p.pass, map[string]string{
			"enable": "", "metric": "",
			"max-bw": "", "max-rsv-bw": "", "unrsv-bw": "", "admin-grp": "", "affinity": "",
			"affinity-mode": "", "neighbor": "", "delay": "", "delay-variation": "", "packet-loss": "",
			"srlg": "", "res-bw": "", "ava-bw": "", "use-bw": "", "bandwidth": ""})
	})
	return r.Families(p.pass, portFamilies)
}

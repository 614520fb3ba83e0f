package dell

import (
	"fmt"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

// Looks reports whether text looks like this language.
func Looks(text swconf.Text) int {
	return text.Score("qos map dscp-tc ", "qos map tc-queue ", "qos map tc-pg ", "qos wred-policy ",
		"qos scheduler-policy ", "qos-map dscp-tc ", "roce enable", "interface-naming standard",
		"interface Eth1/",
		"scheduler-policy ", "unreliable-los", "priority-flow-control watchdog on", "buffer init lossless",
		"buffer profile ", "standalone-link-training", "interface PortChannel")
}

type parser struct {
	c       *swconf.Config
	roce    swconf.Said[bool]
	maps    map[mapKind]map[string]*table
	wreds   map[string]*wred
	scheds  map[string]*scheduler
	buffers map[string]swconf.Said[swconf.Pause]
	uses    map[*swconf.Port]*uses
	peers   *swconf.Peers
	broken  map[string]swconf.Said[unit.Rate] // split ports, and the speed of their parts
	ars     ars
}

// mapKind is a map's source and destination.
type mapKind string

// Kinds of maps, as the commands call them.
const (
	dscpTC   mapKind = "dscp-tc"
	dot1pTC  mapKind = "dot1p-tc"
	tcQueue  mapKind = "tc-queue"
	tcGroup  mapKind = "tc-pg"
	pfcQueue mapKind = "pfc-priority-queue"
	pfcGroup mapKind = "pfc-priority-pg"
)

// table is one map.
type table struct {
	at swconf.Place
	to [64]swconf.Said[int]
}

type wred struct {
	at  swconf.Place
	w   swconf.Said[swconf.WRED]
	ecn swconf.Said[bool]
}

type scheduler struct {
	at     swconf.Place
	queues [queue.Classes]class
}

type class struct {
	at     swconf.Place
	strict swconf.Said[bool]
	weight swconf.Said[int]
}

// uses is the settings attached to an interface.
type uses struct {
	maps    map[mapKind]swconf.Said[string]
	sched   swconf.Said[string]
	wreds   [queue.Classes]swconf.Said[string]
	groups  [queue.Classes]swconf.Said[string] // buffer profiles
	pfc     [8]swconf.Said[bool]
	wd      swconf.Said[bool]
	detect  swconf.Said[unit.Time]
	restore swconf.Said[unit.Time]
	forward swconf.Said[bool]
}

func newParser(file string) *parser {
	p := &parser{c: &swconf.Config{OS: swconf.Dell, File: file}, maps: map[mapKind]map[string]*table{},
		wreds: map[string]*wred{}, scheds: map[string]*scheduler{},
		buffers: map[string]swconf.Said[swconf.Pause]{}, uses: map[*swconf.Port]*uses{},
		peers: swconf.NewPeers(), broken: map[string]swconf.Said[unit.Rate]{}}
	p.c.LLDP.V = true
	for _, k := range []mapKind{dscpTC, dot1pTC, tcQueue, tcGroup, pfcQueue, pfcGroup} {
		p.maps[k] = map[string]*table{}
	}
	return p
}

// Commands is the table of global commands, for tests.
func Commands() *cli.Mode { return newParser("").root() }

// Parse reads a configuration.
func Parse(file string, text []byte) (*swconf.Config, error) {
	p := newParser(file)
	if err := swconf.ReadText(p.c, text, p.root()); err != nil {
		return nil, err
	}
	p.resolve()
	return p.c, nil
}

func (p *parser) bad(m *cli.Match, name, what string) {
	swconf.Report(p.c, p.c.At(m, name), swconf.Error, "bad-value", fmt.Sprintf("%q is not %s", m.Word(name), what),
		"the switch refuses the line", "write "+what)
}

func (p *parser) pass(*cli.Match) { p.c.Passed++ }

func (p *parser) root() *cli.Mode {
	c := p.c
	r := cli.NewMode("config")
	r.Set("[no] hostname <name>", func(m *cli.Match) { swconf.Assign(c, m, &c.Hostname, "name", m.Word("name")) })
	r.Set("[no] roce enable [ force-defaults ]", func(m *cli.Match) { swconf.Switch(c, m, &p.roce, "roce", true) })
	r.Set("[no] lldp enable", func(m *cli.Match) { c.LLDP = swconf.SaidAt(c, m, "lldp", !m.No) })
	p.qosRules(r)
	p.bufferRules(r)
	p.arsRules(r)
	r.On("[no] interface <names...>", p.openInterface)
	r.Set("[no] priority-flow-control watchdog polling-interval <ms:int>", func(m *cli.Match) {
		swconf.Assign(c, m, &c.Watchdog.Poll, "ms", millis(m, "ms"))
	})
	r.Set("[no] priority-flow-control watchdog counter-poll", func(*cli.Match) {})
	r.Set("[no] ip load-share hash seed <n>", func(m *cli.Match) {
		swconf.Assign(c, m, &c.HashSeed, "n", m.Word("n"))
	})
	r.On("[no] router bgp <asn> [ vrf <vrf> ]", p.openBGP)
	r.On("[no] route-map <name> <action:permit|deny> <seq:int>", func(m *cli.Match) *cli.Mode {
		if m.No {
			c.Undefine("route-map", m.Word("name"))
			return nil
		}
		c.Define("route-map", m.Word("name"), c.At(m, "name"), false)
		return cli.NewMode("route-map").Families(p.pass, map[string]string{"match": "", "set": "", "call": "",
			"on-match": "", "description": ""})
	})
	r.Skip(p.pass, passed...)
	return r
}

func millis(m *cli.Match, name string) unit.Time {
	return unit.Time(min(m.Int(name), 1e9)) * unit.Millisecond
}

// passed are global commands that do not affect the data path.
var passed = []string{"interface-naming", "configure", "sonic-cli", "write", "aaa", "access-list", "alarm",
	"arp", "auditd-system", "auto-breakout", "dropcounters", "evpn", "mfa", "network-policy", "pbf",
	"ip drop-neighbor", "lldp receive", "lldp transmit", "lldp med-tlv-select", "lldp tlv-set",
	"lldp vlan-name-tlv", "router ospfv3",
	"authentication", "banner", "bfd", "bgp", "class-map", "clock", "copp-action", "core", "counters", "cpu",
	"crypto", "default", "dot1x", "enable", "errdisable", "event", "factory", "fips", "flow-group",
	"hardware", "hash",
	"image", "ip access-group", "ip access-list", "ip anycast-address", "ip anycast-mac-address", "ip arp",
	"ip community-list",
	"ip dhcp", "ip domain", "ip ecmp-group", "ip extcommunity-list", "ip forward-protocol", "ip host",
	"ip icmp", "ip igmp",
	"ip load-share hash <what:algorithm|ipv4|ipv6|mode|roce|offset|ingress-port>",
	"ip multicast", "ip name-server",
	"ip nat", "ip pim",
	"ip prefix-list", "ip protocol", "ip radius", "ip reserve", "ip route", "ip sla", "ip source",
	"ip ssh", "ip tacacs",
	"ip vrf", "ipv6", "kdump", "key", "ldap-server", "line", "link", "service-policy", "lldp timer",
	"lldp multiplier",
	"lldp mode",
	"lldp system-name", "lldp system-description", "lldp tlv-select", "locator-led", "logger", "logging",
	"login", "mac",
	"management", "map", "mclag", "mirror-session", "mld", "monitor", "nat", "neighbor", "neigh-suppress",
	"netconf",
	"ntp", "object-group", "ospf", "password", "pki", "poe", "policy-map", "port-group", "portchannel", "ptp",
	"qos map tc-dscp", "qos map tc-dot1p", "qos cos", "radius-server", "rest", "router ospf",
	"router ospf3", "router pim",
	"sflow", "snmp-server", "spanning-tree", "ssh", "static-anycast-gateway", "switch-profile",
	"switch-resource",
	"system", "tacacs-server", "tam", "tcam", "telemetry", "tpcm", "track", "threshold", "udld", "ufd",
	"username", "vlan",
	"vrrp", "vxlan", "warm-restart", "watermark", "ztp", "end", "port-channel", "dcbx", "no-more",
	"session"}

// list reads 0-3,5 and 24,26 below a bound.
func (p *parser) list(m *cli.Match, name string, bound int, what string) (out []int) {
	set := map[int]bool{}
	for _, part := range strings.Split(m.Word(name), ",") {
		lo, hi, ranged := strings.Cut(part, "-")
		if !ranged {
			hi = lo
		}
		a, ok1 := number(lo)
		b, ok2 := number(hi)
		if !ok1 || !ok2 || b < a || b >= bound {
			p.bad(m, name, what)
			return nil
		}
		for ; a <= b; a++ {
			if !set[a] {
				set[a] = true
				out = append(out, a)
			}
		}
	}
	return out
}

func number(s string) (n int, ok bool) {
	for _, r := range s {
		if r < '0' || r > '9' || n > 100_000 {
			return 0, false
		}
		n = n*10 + int(r-'0')
	}
	return n, s != ""
}

// below reads a number that must lie below a bound.
func (p *parser) below(m *cli.Match, name string, bound int64, what string) (int, bool) {
	if n := m.Int(name); n < bound {
		return int(n), true
	}
	p.bad(m, name, what)
	return 0, false
}

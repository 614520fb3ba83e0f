package eos

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/platform"
	"railyard/unit"
)

// Looks reports whether text looks like EOS.
func Looks(text swconf.Text) int {
	return text.Score("! device:", "transceiver qsfp", "qos profile ", "qos map dscp", "tx-queue ",
		"service-profile ", "priority-flow-control on", "no-drop", "priority-flow-control pause watchdog",
		"management api", "service routing protocols model", "random-detect ecn minimum-threshold",
		"platform trident mmu", "interface Ethernet1\n", "maximum-paths 64 ecmp", "dcbx mode",
		"type quality-of-service", "priority-flow-control priority ", "mlag configuration", "vrf instance ",
		"switchport trunk group ", "interface Port-Channel") +
		2*text.Score("interface Management1\n", "type quality-of-service", "set traffic-class ") // EOS alone
}

type parser struct {
	c        *swconf.Config
	platform platform.Platform
	toTC     [64]swconf.Said[int]
	cosTC    [8]swconf.Said[int]
	toQueue  [8]int

	tcNames, queueNames map[string]int // numbers of traffic classes and queues with configured names

	profiles map[string]*profile
	classes  map[string]*class
	policies map[string]*policy
	lists    *swconf.AccessLists
	ports    map[*swconf.Port]*profile // an interface's own settings
	routed   map[*swconf.Port]swconf.Said[bool]
	uses     map[*swconf.Port]swconf.Said[string]
	peers    *swconf.Peers
	pfcOff   swconf.Said[bool]            // whether PFC is off on the whole switch
	stopped  map[string]swconf.Said[bool] // by VRF: whether BGP is shut down
	keeps    swconf.Said[bool]            // EVPN routes are sent with their original next hop
	mmu      map[string]*mmu
	traffic  map[string]*trafficPolicy
	mmuApply string
	mmuOwn   map[*swconf.Port]swconf.Said[string]
	below    *cli.Mode // interfaces
}

// Commands is the table of global commands, for tests.
func Commands() *cli.Mode { return newParser("").root() }

func newParser(file string) *parser {
	p := &parser{c: &swconf.Config{OS: swconf.EOS, File: file}, platform: platform.Of("eos", ""),
		profiles: map[string]*profile{}, classes: map[string]*class{}, policies: map[string]*policy{},
		ports:  map[*swconf.Port]*profile{},
		routed: map[*swconf.Port]swconf.Said[bool]{},
		uses:   map[*swconf.Port]swconf.Said[string]{}, peers: swconf.NewPeers(),
		stopped: map[string]swconf.Said[bool]{}, tcNames: map[string]int{}, queueNames: map[string]int{},
		traffic: map[string]*trafficPolicy{},
		mmu:     map[string]*mmu{}, mmuOwn: map[*swconf.Port]swconf.Said[string]{}}
	p.lists = swconf.NewAccessLists(p.pass)
	p.c.LLDP.V, p.c.Floors = true, true
	p.c.Strict = p.platform.Word("tx_priority") == "strict"
	// a channel's setting applies if it is set, otherwise its members'
	p.c.Bundling = swconf.Bundling{MTU: swconf.ChannelFirst}
	for i := range p.toQueue {
		p.toQueue[i] = i
	}
	return p
}

// deviceForm matches the beginning of a running configuration.
var deviceForm = regexp.MustCompile(`(?m)^! device: \S+ \(([^,()]+), EOS-`)

// Parse reads a configuration.
func Parse(file string, text []byte) (*swconf.Config, error) {
	lines, err := cli.Scan(file, text)
	if err != nil {
		return nil, err
	}
	p := newParser(file)
	if m := deviceForm.FindSubmatch(text[:min(len(text), 4096)]); m != nil {
		p.platform = platform.Of("eos", string(m[1]))
	}
	if lines, err = withoutTexts(file, lines); err != nil {
		return nil, err
	}
	if err := swconf.ReadLines(p.c, lines, p.root()); err != nil {
		return nil, err
	}
	p.resolve()
	return p.c, nil
}

// oldGroup parses peer-group, as releases before 4.23 print it, as today's two words.
func oldGroup(l *cli.Line) {
	for i, w := range l.Words {
		if i >= 2 && i <= 3 && w.Text == "peer-group" && l.Words[i-2].Text == "neighbor" &&
			l.Words[i-1].Text != "interface" {
			l.Words = slices.Concat(l.Words[:i], []cli.Word{{Text: "peer", Col: w.Col}, {Text: "group",
				Col: w.Col + 5}},
				l.Words[i+1:])
			return
		}
	}
}

func (p *parser) bad(m *cli.Match, name, what string) {
	swconf.Report(p.c, p.c.At(m, name), swconf.Error, "bad-value", fmt.Sprintf("%q is not %s", m.Word(name),
		what), "EOS refuses the line", "write "+what)
}

func (p *parser) pass(*cli.Match) { p.c.Passed++ }

func (p *parser) root() *cli.Mode {
	c := p.c
	r := cli.NewMode("config")
	r.Set("[no] hostname <name>", func(m *cli.Match) { swconf.Assign(c, m, &c.Hostname, "name", m.Word("name")) })
	// enabled by default
	r.Set("[no] lldp run", func(m *cli.Match) { c.LLDP = swconf.SaidAt(p.c, m, "lldp", !m.No || m.Default) })
	p.mapRules(r)
	p.classRules(r)
	p.trafficRules(r)
	r.On("[no] qos profile <name>", func(m *cli.Match) *cli.Mode {
		name := m.Word("name")
		if m.No {
			delete(p.profiles, name)
			c.Undefine("qos profile", name)
			return nil
		}
		if p.profiles[name] == nil { // a repeated command continues its block
			p.profiles[name] = &profile{at: p.c.At(m, "name")}
			c.Define("qos profile", name, p.c.At(m, "name"), false)
		}
		sub := cli.NewMode("qos-profile")
		p.qosCommands(sub, func(*cli.Match) []*profile { return []*profile{p.profiles[name]} })
		return sub
	})
	r.On("[no] interface <names...>", p.openInterface)
	p.watchdogRules(r)
	const chips = "[no] ip load-sharing <chip:arad|fm6000|petraA|sand|trident>"
	r.Set(chips+" seed <n>", func(m *cli.Match) { swconf.Assign(c, m, &c.HashSeed, "n", m.Word("n")) })
	r.Set(chips+" <hash:int>", func(*cli.Match) {})
	r.Set(chips+" <what:fields|profile|symmetric> [ <more...> ]", func(*cli.Match) {})
	r.On("[no] load-balance policies", func(m *cli.Match) *cli.Mode {
		if m.No {
			c.DLB = nil
			return nil
		}
		return p.loadBalance()
	})
	// cluster load balancing assigns flows of GPUs to ports in turn (Arista, "Cluster Load Balancing", EOS 4.32)
	r.On("[no] load-balance cluster", func(m *cli.Match) *cli.Mode {
		if p.unsimulated(m); m.No {
			return nil
		}
		return cli.NewMode("load-balance-cluster").Skip(p.pass, "forwarding", "source", "destination",
			"load-balance", "flow", "port", "monitor")
	})
	p.mmuRules(r)
	p.mlagRules(r)
	r.On("[no] router bgp <asn>", p.openBGP)
	p.routeRules(r)
	p.generalRules(r)
	r.Families(p.pass, rootFamilies)
	r.Skip(p.pass, passed...)
	return r
}

// generalRules open functions of route control, whose text is removed (withoutTexts).
func (p *parser) generalRules(r *cli.Mode) {
	r.On("[no] router general", func(m *cli.Match) *cli.Mode {
		if p.pass(m); m.No {
			return nil
		}
		sub := cli.NewMode("router-general")
		sub.On("[no] control-functions", func(m *cli.Match) *cli.Mode {
			p.pass(m)
			return cli.NewMode("control-functions").Skip(p.pass, "code unit <name> source",
				"compile", "commit", "abort")
		})
		sub.On("[no] vrf <name>", func(m *cli.Match) *cli.Mode {
			p.pass(m)
			return cli.NewMode("router-general-vrf").Skip(p.pass, "leak", "routes", "rd", "router-id",
				"next-hops", "route")
		})
		return sub.Skip(p.pass, "router-id", "hardware", "software", "fib", "next-hops", "route", "routes",
			"resolution", "rib", "address-family", "metric", "forwarding", "tunnel")
	})
}

// routeRules parses the rules of BGP's policies.
func (p *parser) routeRules(r *cli.Mode) {
	r.On("[no] route-map <name> <action:permit|deny> [ <seq:int> ]", p.openRouteMap)
	r.On("[no] route-map <name>", p.openRouteMap)
	const entry = "<action:permit|deny> <prefix> [ eq <eq:int> ] [ ge <ge:int> ] [ le <le:int> ]"
	prefixList := func(m *cli.Match) *cli.Mode {
		if p.prefix(m); m.No && (m.Has("seq") || m.Has("action")) {
			return nil // an entry
		}
		if p.define(m, "prefix-list"); m.No {
			return nil
		}
		sub := cli.NewMode("prefix-list")
		sub.Set("[no] [ seq <n:int> ] "+entry, p.prefix)
		sub.Set("no seq <n:int>", func(*cli.Match) {})
		return sub.Skip(p.pass, "remark", "seq <n:int> remark")
	}
	r.On("[no] ip prefix-list <name>", prefixList)
	r.On("[no] ip prefix-list <name> [ seq <n:int> ] "+entry, prefixList)
	r.On("no ip prefix-list <name> seq <n:int>", prefixList)
}

func (p *parser) openRouteMap(m *cli.Match) *cli.Mode {
	if p.define(m, "route-map"); m.No {
		return nil
	}
	sub := cli.NewMode("route-map")
	sub.Set("[no] match ip address prefix-list <name>", func(m *cli.Match) { p.c.Refer(m, "prefix-list", "name") })
	sub.Set("[no] sub-route-map <name>", func(m *cli.Match) { p.c.Refer(m, "route-map", "name") })
	sub.Families(p.pass, routeMapFamilies)
	return sub
}

var passed = []string{"transceiver", "service", "spanning-tree", "username", "aaa", "management", "ntp",
	"clock", "logging", "snmp-server", "banner", "vrf", "dns", "vlan", "queue-monitor", "daemon",
	"event-handler", "event-monitor", "enable", "boot", "alias", "terminal", "agent", "system", "switch",
	"lldp", "lacp", "errdisable", "port-channel", "monitor", "sflow", "tacacs-server", "match-list", "policy",
	"radius-server", "radius", "tacacs", "trunk", "peer-filter", "interface defaults",
	"interface profile", "role",
	"dcbx", "switchport default", "end", "cvx", "dynamic prefix-list", "flow", "address", "application",
	"as-path",
	"identity", "ipsec", "l2-protocol", "link tracking", "maintenance", "metadata", "prompt",
	"schedule", "sync",
	"tunnel", "patch", "load-interval", "default load-interval", "config", "license",
	"monitor session", "group", "domain", "hostname-alias", "kernel", "object-group", "object",
	"virtual", "email",
	"stun", "sfe", "section", "secret", "unsupported-transceiver", "ssl", "security", "zerotouch",
	"mcs", "bgp", "tap",
	"switchport port-security", "redundancy", "track", "exit-group", "vmtracer", "mac-address", "p4-runtime",
	"show", "write", "copy", "configure", "ping", "clear"}

func (p *parser) define(m *cli.Match, kind string) {
	if m.No {
		p.c.Undefine(kind, m.Word("name"))
		return
	}
	p.c.Define(kind, m.Word("name"), p.c.At(m, "name"), false)
}

// prefix checks that an entry of a list is a prefix.
func (p *parser) prefix(m *cli.Match) {
	if _, err := netip.ParsePrefix(m.Word("prefix")); err != nil && m.Has("prefix") {
		p.bad(m, "prefix", "a prefix such as 10.0.0.0/8")
	}
}

func (p *parser) loadBalance() *cli.Mode {
	r := cli.NewMode("load-balance")
	r.On("[no] load-balance cluster [ <name> ]", func(*cli.Match) *cli.Mode { return nil })
	dynamic := cli.NewMode("dlb")
	dynamic.Set("[no] mode <mode:flowlet|per-packet|random>", func(m *cli.Match) {
		if m.No {
			p.c.DLB = nil
			return
		}
		p.c.DLB = &swconf.DLB{At: p.c.At(m, "mode"), Mode: swconf.SaidAt(p.c, m, "mode", m.Word("mode")), All: true}
	})
	dynamic.Set("[no] inactivity <n:int> <u:microseconds|milliseconds>", func(m *cli.Match) {
		if p.c.DLB != nil {
			scale := map[string]unit.Time{
				"microseconds": unit.Microsecond,
				"milliseconds": unit.Millisecond,
			}[m.Word("u")]
			swconf.Assign(p.c, m, &p.c.DLB.Aging, "n", unit.Time(min(m.Int("n"), 1e9))*scale)
		}
	})
	r.On("[no] load-balance dynamic", func(*cli.Match) *cli.Mode { return dynamic })
	return r.Families(p.pass, map[string]string{"load-balance": "factor|fm6000|sand|trident|udf",
		"fields":       "",
		"distribution": "", "packet-type": ""})
}

// mlagRules read how two switches are one for bundles.
func (p *parser) mlagRules(r *cli.Mode) {
	r.On("[no] mlag configuration", func(m *cli.Match) *cli.Mode {
		if m.No {
			p.c.MLAG = nil
			return nil
		}
		if p.c.MLAG == nil {
			p.c.MLAG = &swconf.MLAG{At: p.c.At(m, "mlag")}
		}
		g := p.c.MLAG
		sub := cli.NewMode("mlag")
		sub.Set("[no] domain-id <v>", func(m *cli.Match) { swconf.Assign(p.c, m, &g.Domain, "v", m.Word("v")) })
		sub.Set("[no] local-interface <v...>", func(m *cli.Match) {
			swconf.Assign(p.c, m, &g.Local, "v", fullName(m.Word("v")))
		})
		sub.Set("[no] peer-address <v>", func(m *cli.Match) {
			a, err := netip.ParseAddr(m.Word("v"))
			if err != nil && !m.No {
				p.bad(m, "v", "an address such as 169.254.0.1")
				return
			}
			swconf.Assign(p.c, m, &g.Peer, "v", a)
		})
		sub.Set("[no] peer-link <v...>", func(m *cli.Match) {
			swconf.Assign(p.c, m, &g.Link, "v", fullName(m.Word("v")))
		})
		return sub.Families(p.pass, map[string]string{"reload-delay": "", "dual-primary": "",
			"heartbeat-interval": "",
			"peer-address":       "heartbeat", "lacp": "", "primary-priority": "", "heartbeat": "",
			"shutdown":  "",
			"reconnect": ""})
	})
	r.On("[no] link tracking group <name>", func(m *cli.Match) *cli.Mode {
		if p.define(m, "link tracking group"); m.No {
			return nil
		}
		return cli.NewMode("link-tracking").Skip(p.pass, "recovery delay", "links minimum")
	})
}

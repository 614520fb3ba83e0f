package nxos

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

// parser collects the lines' settings before policies are applied.
type parser struct {
	c        *swconf.Config
	classes  map[string]*classMap
	policies map[string]*policy
	lists    *swconf.AccessLists
	given    map[string]swconf.Place // applied policies that switches have by themselves
	system   applied
	ports    map[*swconf.Port]*applied
	spans    []span
	blocks   []ifBlock
	peers    map[string]*swconf.Neighbor // templates
	subs     map[string]*swconf.Port
	profiles map[string]*profile
	inherits map[*swconf.Port][]swconf.Said[string]
	keeps    map[string]bool // route-maps that leave next hops unchanged
	vlans    []*vlanPolicy
	trunks   map[*swconf.Port]*vlanSet
	pfcOff   swconf.Said[bool] // PFC off on all interfaces, overriding their settings
	queues   string            // queue names without a policy
	features bool              // the configuration lists its features: it is complete
	modes    modes

	// NX-OS's, and what show version or a comment calls the switch
	release, chassis swconf.Said[string]
	layer2           map[*swconf.Port]swconf.Said[bool] // switchport, if set
}

// modes are the tables of lines below interfaces and neighbours. There are tens of thousands of these, so a table
// is created once.
type modes struct {
	port, profile, peer, template, family, evpn, vlan *cli.Mode
}

// span is a mirrored interface.
type span struct {
	session int64
	name    string
	at      swconf.Place
}

// applied is the policies that service-policy lines name.
type applied struct {
	qosIn, queueOut, queueIn, network swconf.Said[string]
	egress                            []swconf.Place // egress policies that DLB ignores
}

// Looks reports whether text looks like NX-OS rather than another language.
func Looks(text swconf.Text) int {
	return text.Score("feature ", "class-map type ", "policy-map type ", "hardware profile dlb",
		"system qos", "service-policy type ",
		"priority-flow-control mode", "priority-flow-control watch-dog", "interface Ethernet1/",
		"pause pfc-cos", "vdc ", "boot nxos", "inherit peer", "template peer ",
		"dlb-interface", "set qos-group", "c-out-8q", "random-detect minimum-threshold",
		"install feature-set", "version 9.", "version 10.")
}

// Commands is the table of global commands, for tests.
func Commands() *cli.Mode { return newParser("").root() }

// Parse reads a configuration.
func Parse(file string, text []byte) (*swconf.Config, error) {
	lines, err := cli.Scan(file, text)
	if err != nil {
		return nil, err
	}
	for i := range lines {
		remark(&lines[i])
	}
	p := newParser(file)
	if err := swconf.ReadLines(p.c, lines, p.root()); err != nil {
		return nil, err
	}
	p.chassis = chassisOf(file, text)
	p.resolve()
	return p.c, nil
}

// bundling follows Cisco's "Configuring Port Channels" for the Nexus 9000. A channel's service policies replace its
// members', the MTU must be equal or is overwritten (force), and PFC may be set on either.
var bundling = swconf.Bundling{QoS: swconf.ChannelOnly, MTU: swconf.ChannelFirst, PFC: swconf.ChannelFirst}

// remark removes the text after a separate exclamation mark after a command.
func remark(l *cli.Line) {
	i := slices.IndexFunc(l.Words, func(w cli.Word) bool { return w.Text == "!" })
	if i <= 0 || len(l.Words) > 1 && slices.Contains([]string{"description", "name"}, l.Words[0].Text) {
		return
	}
	l.Text = strings.TrimRight(l.Text[:l.Words[i].Col-l.Words[0].Col], " \t")
	l.Words = l.Words[:i]
}

func newParser(file string) *parser {
	p := &parser{c: &swconf.Config{OS: swconf.NXOS, File: file, Bundling: bundling},
		classes: map[string]*classMap{}, policies: map[string]*policy{}, ports: map[*swconf.Port]*applied{},
		given: map[string]swconf.Place{},
		peers: map[string]*swconf.Neighbor{}, subs: map[string]*swconf.Port{},
		profiles: map[string]*profile{}, keeps: map[string]bool{}, layer2: map[*swconf.Port]swconf.Said[bool]{},
		trunks:   map[*swconf.Port]*vlanSet{},
		inherits: map[*swconf.Port][]swconf.Said[string]{}}
	p.lists = swconf.NewAccessLists(p.pass)
	p.modes = modes{port: p.portRules(), profile: p.profileRules(), family: p.peerFamily(false),
		evpn: p.peerFamily(true), vlan: p.vlanRules()}
	// a peer-policy, which is a template, has lines of address families
	p.modes.peer, p.modes.template = p.neighborRules(), p.neighborRules().Families(p.pass, peerFamilies)
	return p
}

func (p *parser) fault(m *cli.Match, name string, severity swconf.Severity, rule, msg, why, fix string) {
	swconf.Report(p.c, p.c.At(m, name), severity, rule, msg, why, fix)
}

func (p *parser) pass(*cli.Match) { p.c.Passed++ }

// root is the table of global commands.
func (p *parser) root() *cli.Mode {
	c := p.c
	r := cli.NewMode("config")
	r.Set("[no] hostname <name>", func(m *cli.Match) { swconf.Assign(c, m, &c.Hostname, "name", m.Word("name")) })
	r.Set("[no] switchname <name>", func(m *cli.Match) { swconf.Assign(c, m, &c.Hostname, "name", m.Word("name")) })
	r.Set("[no] feature <name:"+features+"> [ <more...> ]", func(m *cli.Match) {
		p.features = p.features || !m.No
		if m.Word("name") == "lldp" { // LLDP is off by default
			swconf.Switch(c, m, &c.LLDP, "name", true)
		}
	})
	r.Set("[no] nv overlay evpn", func(*cli.Match) {})
	p.qosRules(r)
	r.On("[no] interface <name...>", p.openInterface)
	r.On("[no] port-profile [ type <what:ethernet|interface-vlan|port-channel> ] <name>", p.openProfile)
	r.Set("configure [ <what:terminal|replace|profile|session> ] [ <more...> ]", func(*cli.Match) {})
	r.On("[no] hardware profile dlb", p.openDLB)
	r.Set("[no] version <release> [ <more...> ]", func(m *cli.Match) {
		if p.release = (swconf.Said[string]{}); !m.No {
			p.release = swconf.SaidAt(p.c, m, "release", m.Word("release"))
		}
	})
	r.On("[no] monitor session <n:int> [ type <type> ] [ shut ] [ all ]", p.openSpan)
	r.On("[no] router bgp <asn>", p.openBGP)
	r.Set("[no] port-channel load-balance <how...>", p.pass)
	r.Set("[no] ip load-sharing address <of:destination|source|source-destination> [ port <ports:destination|source|source-destination> ] [ gre ] [ gtpu ] [ udf offset <at:int> length <long:int> ] [ universal-id <seed> ] [ rotate <bits:int> ] [ concatenation ]", func(m *cli.Match) {
		if m.No || m.Has("seed") {
			swconf.Assign(c, m, &c.HashSeed, "seed", m.Word("seed"))
		}
		if m.Has("at") || m.No { // the bytes of RoCE's packets that name the queue pair, as in guides
			swconf.Assign(c, m, &c.Hash, "at", fmt.Sprintf("%s and %d bytes from offset %d", m.Word("of"),
				m.Int("long"), m.Int("at")))
		}
	})
	r.On("[no] route-map <name> pbr-statistics", func(*cli.Match) *cli.Mode { p.c.Passed++; return nil })
	r.On("[no] route-map <name> [ <action:permit|deny> ] [ <seq:int> ]", func(m *cli.Match) *cli.Mode {
		p.define(m, "route-map", m.Word("name"))
		return p.routeMap(m.Word("name"))
	})
	r.Set("[no] ip prefix-list <name> <entry...>", func(m *cli.Match) { p.define(m, "prefix-list", m.Word("name")) })
	r.On("[no] vlan <ids>", p.openVLAN)
	r.On("[no] vlan configuration <ids>", p.openVLAN)
	r.On("[no] vpc domain <id:int>", func(*cli.Match) *cli.Mode {
		return p.block("vpc", "role", "peer-keepalive", "peer-gateway", "peer-switch", "auto-recovery",
			"layer3", "ip arp synchronize", "ipv6 nd synchronize", "system-priority", "system-mac",
			"delay restore", "virtual peer-link", "fast-convergence", "dual-active")
	})
	shares := func(m *cli.Match) *cli.Mode {
		swconf.Switch(c, m, &c.Shares, "evpn", true)
		return p.block("evpn-mh", "ethernet-segment", "core-tracking", "es-delay-restore", "df-election",
			"system-mac")
	}
	r.On("[no] evpn esi multihoming", shares)
	r.On("[no] evpn multihoming", shares)
	r.On("[no] evpn", func(*cli.Match) *cli.Mode {
		vni := p.block("evpn-vni", "rd", "route-target")
		return cli.NewMode("[no] evpn").On("vni <id:int> l2", func(*cli.Match) *cli.Mode { return vni })
	})
	r.Set("[no] priority-flow-control watch-dog-interval <state:on|off> [ disable-action ]",
		func(m *cli.Match) {
			swconf.Switch(c, m, &c.Watchdog.On, "state", m.Word("state") == "on")
			if m.No {
				c.Watchdog.Forward = swconf.Said[bool]{}
			} else if m.Has("disable-action") {
				c.Watchdog.Forward = swconf.SaidAt(p.c, m, "disable-action", true)
			}
		})
	r.Set("[no] priority-flow-control watch-dog interval <ms:int>", func(m *cli.Match) {
		if ms := m.Int("ms"); !m.No && (ms < 100 || ms > 1000) {
			p.fault(m, "ms", swconf.Error, "watchdog-range",
				fmt.Sprintf("a watchdog interval of %d ms is not accepted, 100 to 1000 are", ms),
				"the switch refuses the line and keeps the old interval",
				"write an interval between 100 and 1000")
			return
		}
		swconf.Assign(c, m, &c.Watchdog.Poll, "ms", unit.Time(m.Int("ms"))*unit.Millisecond)
	})
	multiple := func(to *swconf.Said[unit.Time]) func(*cli.Match) {
		return func(m *cli.Match) { swconf.Assign(c, m, to, "n", unit.Time(min(m.Int("n"), 1000))) }
	}
	r.Set("[no] priority-flow-control override-interface mode off", func(m *cli.Match) {
		swconf.Switch(c, m, &p.pfcOff, "mode", true)
	})
	r.Set("[no] priority-flow-control watch-dog internal-interface-multiplier <n:int>", p.pass)
	r.Set("priority-flow-control recover <more...>", p.pass)
	// Multiples of the interval; resolve turns them into times.
	r.Set("[no] priority-flow-control watch-dog shutdown-multiplier <n:int>", multiple(&c.Watchdog.Detect))
	r.Set("[no] priority-flow-control auto-restore multiplier <n:int>", multiple(&c.Watchdog.Restore))
	r.Set("[no] priority-flow-control fixed-restore multiplier <n:int>", multiple(&c.Watchdog.Restore))
	r.Set(
		"[no] lldp <what:holdtime|reinit|timer|tlv-select|dcbx|multi-peer|chassis-id|portid-subtype|port-channel> [ <more...> ]", func(*cli.Match) {})
	p.sections(r)
	r.Skip(p.pass, passed...)
	return r
}

// passed are global commands without bearing on the back-end network's data path.
var passed = []string{"version", "vdc", "username", "password", "snmp-server", "ntp", "clock", "logging",
	"aaa", "tacacs-server", "radius-server", "tacacs+", "ssh",
	"telnet", "line", "boot", "banner", "copp", "control-plane", "rmon", "role", "crypto", "spanning-tree",
	"vrf", "ip domain-lookup", "ip domain-list", "ip dns", "ip sla", "ip as-path", "ip tacacs", "ip radius",
	"ip adjacency", "ip adjmgr", "ip internal", "ip routing", "ip source-route", "ip telnet", "ip tftp",
	"ip mroute",
	"ip auto-discard", "ip amt", "ip dscp-lop", "ip mfwd", "ip ftp", "ip http", "ip sticky-arp",
	"ip source", "ip verify", "ipv6 dhcp", "ipv6 neighbor", "ipv6 icmp", "ipv6 switch-packets", "ipv6 pim",
	"xml",
	"userpassphrase", "mac address-table", "mac access-list", "consistency-checker", "hw-module",
	"virtual-service",
	"clear", "feature-set", "switchto", "system vlan", "system interface", "system mode",
	"system routing",
	"system nve", "system inactive", "system cores", "system watchdog", "system hap-reset",
	"system admin-vdc",
	"system trace", "hardware profile portmode", "hardware profile tcam", "hardware profile forwarding-mode",
	"hardware profile front",
	"hardware profile ecmp", "hardware profile multicast", "hardware profile openflow",
	"hardware profile ipv6",
	"hardware forwarding", "hardware rate-limiter", "hardware ip", "hardware ejector",
	"hardware ecmp", "hardware internal", "hardware flow", "hardware vxlan", "hardware ipv6", "port-security",
	"tunnel-encryption",
	"tacacs", "radius", "ldap-server", "logout", "write", "diagnostic",
	"port-channel hash-distribution", "port-channel limit", "port-channel scale-fanout", "ethanalyzer",
	"reload",
	"evmed", "nve", "analytics", "archive", "secure", "fips", "user", "login", "switching-mode", "vsan",
	"zone", "zoneset", "fcdomain", "fcalias", "device-alias", "npv", "wwn", "fcns", "system urpf", "commit",
	"verify", "abort", "ip icmp-errors", "ip msdp", "hardware profile buffer", "hardware profile unicast",
	"hardware profile parser", "hardware profile acl", "hardware profile latency",
	"ip domain-name", "ip name-server",
	"ip route", "ip host", "ip access-list", "ip tcp", "ip ssh", "ipv6 route", "ipv6 access-list",
	"errdisable", "power", "icam", "nxapi", "key", "cli", "terminal",
	"copy", "show", "system jumbomtu", "system default", "system memory-thresholds", "cfs", "callhome", "cdp",
	"udld", "vtp", "bfd", "fabric", "slot", "poap", "limit-resource", "no-more",
	"hardware access-list", "hardware qos",
	"qos statistics", "qos qos-policies", "qos shared-policer", "ip igmp", "license", "flow", "telemetry",
	"install", "event", "track", "object-group", "ip community-list",
	"arp", "ip arp", "ipv6 nd", "lacp", "ptp", "sflow", "scheduler", "alias", "exec-timeout", "debug", "cts",
	"dot1x", "ip dhcp", "fex", "ethernet-oam", "nv", "ngoam", "service",
	"end", "ip forward-protocol", "ip pim", "ip multicast", "route-target", "mpls", "segment-routing",
	"interface breakout"}

// block is a mode whose commands are known and only counted.
func (p *parser) block(name string, commands ...string) *cli.Mode {
	return cli.NewMode(name).Skip(p.pass, commands...)
}

func (p *parser) routeMap(name string) *cli.Mode {
	r := cli.NewMode("route-map").Families(p.pass, routeMapFamilies)
	r.Set("[no] set ip next-hop unchanged", func(m *cli.Match) { p.keeps[name] = !m.No })
	r.Set("[no] match ip address prefix-list <name>", func(m *cli.Match) { p.c.Refer(m, "prefix-list", "name") })
	return r
}

// define notes an object; under "no" there is none of that name.
func (p *parser) define(m *cli.Match, kind, name string) {
	if m.No {
		p.c.Undefine(kind, name)
		return
	}
	p.c.Define(kind, name, p.c.At(m, "name"), false)
}

func (p *parser) openDLB(m *cli.Match) *cli.Mode {
	if m.No {
		p.c.DLB = nil
		return nil
	}
	d := &swconf.DLB{At: p.c.At(m, "hardware")}
	p.c.DLB = d
	r := cli.NewMode("config-dlb")
	r.Set("[no] dlb-interface <ports...>", func(m *cli.Match) {
		if m.No && !m.Has("ports") {
			d.All, d.Ports = false, nil
			return
		}
		if strings.EqualFold(m.Word("ports"), "all") {
			d.All = !m.No
			return
		}
		names, err := portRange(m.Word("ports"))
		if err != nil {
			p.badPort(m, "ports", err)
			return
		}
		for _, n := range names {
			if m.No {
				d.Ports = swconf.Without(d.Ports, n, true)
			} else {
				d.Ports = append(d.Ports, swconf.SaidAt(p.c, m, "ports", n))
			}
		}
	})
	r.Set("[no] mac-address <mac>", func(m *cli.Match) {
		mac, ok := macForm(m.Word("mac"))
		if !ok && !m.No {
			p.fault(m, "mac", swconf.Error, "bad-value",
				fmt.Sprintf("%q is not a MAC address", m.Word("mac")), "the switch refuses the line",
				"write it as aa:bb:cc:dd:ee:ff or aabb.ccdd.eeff")
			return
		}
		swconf.Assign(p.c, m, &d.MAC, "mac", mac)
	})
	r.Set("[no] mode <mode:flowlet|per-packet>", func(m *cli.Match) {
		swconf.Assign(p.c, m, &d.Mode, "mode", m.Word("mode"))
	})
	r.Set("[no] mode policy-driven <mode:flowlet|per-packet>", func(m *cli.Match) {
		swconf.Assign(p.c, m, &d.Mode, "mode", m.Word("mode"))
	})
	r.Set("[no] flowlet-aging <us:int>", func(m *cli.Match) {
		swconf.Assign(p.c, m, &d.Aging, "us", unit.Time(min(m.Int("us"), 1e9))*unit.Microsecond)
	})
	r.Skip(p.pass, "dre-thresholds", "static-pinning", "decay-factor", "sampling-interval", "load-awareness")
	r.Set("[no] source <from> destination <to>", func(*cli.Match) {})
	return r
}

// macForm writes a MAC address as aa:bb:cc:dd:ee:ff.
func macForm(s string) (string, bool) {
	hex := strings.Map(func(r rune) rune {
		if strings.ContainsRune(":.-", r) {
			return -1
		}
		return r
	}, strings.ToLower(s))
	if _, err := strconv.ParseUint(hex, 16, 48); err != nil || len(hex) != 12 {
		return s, false
	}
	var b []string
	for i := 0; i < 12; i += 2 {
		b = append(b, hex[i:i+2])
	}
	return strings.Join(b, ":"), true
}

func (p *parser) openSpan(m *cli.Match) *cli.Mode {
	session := m.Int("n")
	if m.No {
		p.spans = slices.DeleteFunc(p.spans, func(s span) bool { return s.session == session })
		return nil
	}
	r := cli.NewMode("config-monitor")
	r.Set("[no] source interface <ports...>", func(m *cli.Match) {
		list, dir := m.Word("ports"), "both"
		if i := strings.LastIndexByte(list, ' '); i >= 0 {
			switch last := strings.ToLower(list[i+1:]); last {
			case "tx", "rx", "both":
				list, dir = list[:i], last
			}
		}
		names, err := portRange(list)
		if err != nil {
			p.badPort(m, "ports", err)
		}
		for _, n := range names {
			if m.No {
				p.spans = slices.DeleteFunc(p.spans, func(s span) bool { return s.session == session && s.name == n })
			} else if dir != "rx" {
				p.spans = append(p.spans, span{session, n, p.c.At(m, "ports")})
			}
		}
	})
	for _, s := range []string{"source", "destination", "description", "shut", "filter", "mtu", "erspan-id",
		"vrf", "ip"} {
		r.On("[no] "+s+" [ <more...> ]", func(*cli.Match) *cli.Mode { return nil })
	}
	return r
}

func (p *parser) addr(m *cli.Match, name string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(m.Word(name))
	if err != nil {
		p.fault(m, name, swconf.Error, "bad-value", fmt.Sprintf("%q is not an address", m.Word(name)),
			"the switch refuses the line", "write an IPv4 or IPv6 address")
	}
	return a, err == nil
}

package dell

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

var (
	physical = regexp.MustCompile(`(?i)^(eth|ethernet)\s*(\d[\d/]*)(\.\d+)?$`)
	bundle   = regexp.MustCompile(`(?i)^(portchannel|port-channel)\s*(\d+)(\s.*)?$`)
	numbers  = regexp.MustCompile(`^(.*?)(\d+)-(?:[A-Za-z]*\d*/)*(\d+)$`)
	parts    = regexp.MustCompile(`^(.*?/)(\d+)/(\d+)-(?:[A-Za-z]* *\d+/)(\d+)/(\d+)$`)
	breakout = regexp.MustCompile(`(?i)^breakout port (\d+/\d+) mode \d+x(\d+)G`)
)

// openInterface opens Eth1/3, Ethernet12, a range of them, PortChannel10, and others, which are skipped.
func (p *parser) openInterface(m *cli.Match) *cli.Mode {
	text := m.Word("names")
	if f := breakout.FindStringSubmatch(text); f != nil {
		p.breakOut(m, f)
		return nil
	} else if strings.HasPrefix(strings.ToLower(text), "vxlan") {
		return p.openTunnel(m)
	}
	if f := bundle.FindStringSubmatch(text); f != nil {
		return p.openBundle(m, f)
	}
	if rest, ok := strings.CutPrefix(text, "range "); ok {
		text = rest
	}
	var ports []*swconf.Port
	for _, n := range expand(text) {
		if !p.c.Room(p.c.At(m, "names"), 1) {
			return nil
		}
		f := physical.FindStringSubmatch(n)
		if f == nil || f[3] != "" {
			continue
		}
		if m.No {
			continue
		}
		ports = append(ports, p.port(m, f))
	}
	return p.interfaceMode(ports)
}

// breakOut records the speed of a port's parts, if they do not set it.
func (p *parser) breakOut(m *cli.Match, f []string) {
	if m.No {
		delete(p.broken, f[1])
	} else if n, err := strconv.Atoi(f[2]); err == nil && n < 10_000 {
		p.broken[f[1]] = swconf.SaidAt(p.c, m, "names", unit.Rate(n)*unit.Gbps)
	}
}

// openTunnel reads the end of VXLAN tunnels.
func (p *parser) openTunnel(m *cli.Match) *cli.Mode {
	if m.No {
		p.c.VTEP = swconf.Said[bool]{}
		return nil
	}
	r := cli.NewMode("conf-if-vxlan")
	r.Set("[no] source-ip <address> [ <more...> ]", func(m *cli.Match) {
		swconf.Switch(p.c, m, &p.c.VTEP, "source-ip", true)
	})
	return r.Skip(p.pass, "primary-ip", "external-ip", "qos-mode", "map", "downstream-vni", "suppress")
}

// maxRange bounds a range of interfaces.
const maxRange = 4096

// expand reads Eth1/1-1/4 and Ethernet0,Ethernet4.
func expand(s string) (names []string) {
	kind := strings.TrimRight(s, "0123456789/-, ")
	if i := strings.IndexAny(s, "0123456789"); i > 0 {
		kind = strings.TrimSpace(s[:i])
	}
	for _, part := range strings.Split(s, ",") {
		part = strings.TrimSpace(part)
		if part != "" && part[0] >= '0' && part[0] <= '9' {
			part = kind + part
		}
		if all, ok := extended(part); ok {
			names = append(names, all...)
			continue
		}
		f := numbers.FindStringSubmatch(part)
		if f == nil {
			names = append(names, part)
			continue
		}
		a, err1 := strconv.Atoi(f[2])
		b, err2 := strconv.Atoi(f[3])
		if err1 != nil || err2 != nil || b < a || b-a >= maxRange {
			return nil
		}
		for ; a <= b; a++ {
			names = append(names, f[1]+strconv.Itoa(a))
		}
	}
	return names
}

// extended parses Eth1/1/1-1/4/1, where each port has a third number: its part, or 1 for a whole one.
func extended(s string) (names []string, ok bool) {
	f := parts.FindStringSubmatch(s)
	if f == nil {
		return nil, false
	}
	var n [4]int
	for i := range n {
		n[i], _ = strconv.Atoi(f[2+i])
	}
	last := max(n[1], n[3])
	if n[2] <= n[0] || n[2]-n[0] >= maxRange || last > 8 {
		return nil, n[2] != n[0]
	}
	for port := n[0]; port <= n[2]; port++ {
		for part := 1; part <= last; part++ {
			if (port > n[0] || part >= n[1]) && (port < n[2] || part <= n[3]) {
				names = append(names, f[1]+strconv.Itoa(port)+"/"+strconv.Itoa(part))
			}
		}
	}
	return names, true
}

// portName returns a port's name by interface-naming standard, if the number has a slot, or SONiC's own.
func portName(number string) string {
	if strings.Contains(number, "/") {
		return "Eth" + number
	}
	return "Ethernet" + number
}

func (p *parser) port(m *cli.Match, f []string) *swconf.Port {
	name, slash := portName(f[2]), strings.Split(f[2], "/")
	if q := p.c.Port(name); q != nil {
		return q
	}
	q := &swconf.Port{Name: name, At: p.c.At(m, "interface")}
	if len(slash) == 2 || len(slash) == 3 && slash[2] == "1" {
		q.Number, _ = strconv.Atoi(slash[1])
	}
	p.uses[q] = &uses{maps: map[mapKind]swconf.Said[string]{}}
	p.c.Ports = append(p.c.Ports, q)
	return q
}

func (p *parser) openBundle(m *cli.Match, f []string) *cli.Mode {
	n, err := strconv.Atoi(f[2])
	if err != nil || n > 1e6 {
		p.bad(m, "names", "a port channel such as PortChannel10")
		return p.interfaceMode(nil)
	}
	if m.No || !p.c.Room(p.c.At(m, "names"), 1) {
		return nil
	}
	q := p.c.Bundle(n)
	if q == nil {
		q = &swconf.Port{Name: "PortChannel" + f[2], Number: n, At: p.c.At(m, "interface")}
		p.uses[q] = &uses{maps: map[mapKind]swconf.Said[string]{}}
		p.c.Bundles = append(p.c.Bundles, q)
	}
	words := strings.Fields(f[3])
	for i, w := range words {
		if n, err := strconv.Atoi(words[min(i+1, len(words)-1)]); w == "min-links" && err == nil {
			q.Least = swconf.SaidAt(p.c, m, "names", n)
		}
	}
	return p.interfaceMode([]*swconf.Port{q})
}

func (p *parser) interfaceMode(ports []*swconf.Port) *cli.Mode {
	r := cli.NewMode("conf-if")
	set := func(pattern string, do func(*swconf.Port, *cli.Match)) {
		r.Set(pattern, func(m *cli.Match) {
			if !p.c.Room(p.c.At(m, "interface"), len(ports)) {
				return
			}
			for _, q := range ports {
				do(q, m)
			}
		})
	}
	set("[no] description <text...>", func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.Desc, "text", strings.Trim(m.Word("text"), `"`))
	})
	set("[no] mtu <n:int>", func(q *swconf.Port, m *cli.Match) {
		if n := m.Int("n"); !m.No && (n < 1312 || n > 9216) { // command reference, mtu
			p.bad(m, "n", "an MTU from 1312 to 9216 bytes")
			return
		}
		swconf.Assign(p.c, m, &q.MTU, "n", unit.Bytes(m.Int("n")))
	})
	set("[no] speed <s> [ <more...> ]", func(q *swconf.Port, m *cli.Match) {
		n, err := strconv.ParseInt(m.Word("s"), 10, 32)
		if err != nil && m.Word("s") != "auto" && !m.No {
			p.bad(m, "s", "a speed in Mbit/s such as 400000, or auto")
			return
		}
		if q.Speed = (swconf.Said[unit.Rate]{}); err == nil && !m.No {
			q.Speed = swconf.SaidAt(p.c, m, "s", unit.Rate(n)*unit.Mbps)
		}
	})
	set("[no] fec <mode>", func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.FEC, "mode", m.Word("mode"))
	})
	set("autoneg <v:on|off>", func(q *swconf.Port, m *cli.Match) {
		q.Nego = swconf.SaidAt(p.c, m, "v", m.Word("v") == "on")
	})
	set("[no] shutdown", func(q *swconf.Port, m *cli.Match) { q.Down = swconf.SaidAt(p.c, m, "shutdown", !m.No) })
	set("[no] ip address <prefix> [ <more...> ]", func(q *swconf.Port, m *cli.Match) { p.c.Address(m, q, p.bad) })
	set("[no] ipv6 enable", func(q *swconf.Port, m *cli.Match) { swconf.Switch(p.c, m, &q.LinkOnly, "enable", true) })
	set("[no] ip vrf forwarding <vrf>", func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.VRF, "vrf", m.Word("vrf"))
	})
	set("[no] cable-length <length>", func(q *swconf.Port, m *cli.Match) {
		n, ok := number(strings.TrimSuffix(m.Word("length"), "m"))
		if !ok && !m.No {
			p.bad(m, "length", "a length such as 40m")
			return
		}
		swconf.Assign(p.c, m, &q.CableMM, "length", int64(n)*1000)
	})
	set("[no] switchport access Vlan <n:int>", func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.VLAN, "n", int(min(m.Int("n"), 1e6)))
	})
	set("[no] channel-group <n:int> [ mode <mode> ]", func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.Channel, "n", int(min(m.Int("n"), 1e6)))
	})
	set("[no] lldp enable", func(q *swconf.Port, m *cli.Match) { q.LLDPOff = swconf.SaidAt(p.c, m, "enable", m.No) })
	set("[no] ars bind <profile>", func(q *swconf.Port, m *cli.Match) {
		same := func(s swconf.Said[string]) bool { return s.V == q.Name }
		p.ars.ports = slices.DeleteFunc(p.ars.ports, same)
		if !m.No {
			p.ars.ports = append(p.ars.ports, swconf.SaidAt(p.c, m, "profile", q.Name))
		}
	})
	set("[no] priority <n:int>", func(*swconf.Port, *cli.Match) {}) // of VRRP, without an indentation
	p.portQoS(set)
	r.Families(p.pass, portFamilies)
	return r
}

// portFamilies do not affect the data path.
var portFamilies = map[string]string{"unreliable-los": "", "standalone-link-training": "",
	"ipv6 address": "", "ipv6 nd": "", "ipv6 anycast-address": "", "ipv6 access-group": "", "ipv6 ospf": "",
	"ip anycast-address": "", "ip access-group": "", "ip ospf": "", "ip arp": "", "ip igmp": "", "ip pim": "",
	"ip dhcp-relay": "", "ip helper-address": "", "ip unnumbered": "", "ip load-share": "",
	"ip proxy-arp": "",
	"ip sla":       "", "ip policy": "", "switchport trunk": "", "switchport port-security": "",
	"autoneg":       "",
	"spanning-tree": "", "storm-control": "", "mclag": "", "neigh-suppress": "", "sflow": "",
	"service-policy": "",
	"dot1x":          "", "udld": "", "ptp": "", "link": "", "lldp transmit": "", "lldp receive": "",
	"lldp tlv-select": "",
	"mac":             "", "nat-zone": "", "vrrp": "", "bfd": "", "evpn-esi": "", "evpn": "",
	"min-links": "", "mode": "",
	"fallback": "", "graceful-shutdown": "", "system-mac": "", "fast_rate": "", "lacp": "", "tunnel": "",
	"carrier-delay": "", "media-fec": "", "profile": "", "hash": "", "threshold": "", "queue-stats": "",
	"autoneg-advertise": "", "port-security": "", "logging": "", "errdisable": "", "breakout": "",
	"ipv6 vrrp": "", "vip": "", "preempt": "", "preempt-delay": "", "advertisement-interval": "",
	"use-v2-checksum": "", "track-interface": "", "dcbx": "",
	"switchport l2proto-tunnel": "", "ipv6 dhcp-relay": "",
	"ipv6 nd-proxy": "", "lldp med-tlv-select": "", "lldp tlv-set": "", "lldp vlan-name-tlv": "",
	"network-policy": "", "ip neighbor": "", "ipv6 neighbor": ""}

// portQoS is an interface's maps, policies and buffers, and its PFC.
func (p *parser) portQoS(set func(string, func(*swconf.Port, *cli.Match))) {
	use := func(m *cli.Match, kind, name string, to *swconf.Said[string]) {
		if swconf.Assign(p.c, m, to, name, m.Word(name)); !m.No {
			p.c.Use(kind, m.Word(name), p.c.At(m, name))
		}
	}
	for _, kind := range []mapKind{dscpTC, dot1pTC, tcQueue, tcGroup, pfcQueue, pfcGroup} {
		set("[no] qos-map "+string(kind)+" <name>", func(q *swconf.Port, m *cli.Match) {
			var s swconf.Said[string]
			use(m, kind.String(), "name", &s)
			p.uses[q].maps[kind] = s
		})
		set("no qos-map "+string(kind), func(q *swconf.Port, m *cli.Match) { delete(p.uses[q].maps, kind) })
	}
	set("no scheduler-policy", func(q *swconf.Port, m *cli.Match) { p.uses[q].sched = swconf.Said[string]{} })
	set("no queue <list> wred-policy", func(q *swconf.Port, m *cli.Match) {
		for _, i := range p.list(m, "list", queue.Classes, aQueue) {
			p.uses[q].wreds[i] = swconf.Said[string]{}
		}
	})
	set("no qos-map <what:tc-dscp|tc-dot1p>", func(*swconf.Port, *cli.Match) {})
	set("[no] qos-map <what:tc-dscp|tc-dot1p> <name>", func(*swconf.Port, *cli.Match) {})
	set("[no] scheduler-policy <name>", func(q *swconf.Port, m *cli.Match) {
		use(m, schedKind, "name", &p.uses[q].sched)
	})
	each := func(of func(u *uses, i int) *swconf.Said[string], kind string) func(*swconf.Port, *cli.Match) {
		return func(q *swconf.Port, m *cli.Match) {
			for _, i := range p.list(m, "list", queue.Classes, aQueue) {
				use(m, kind, "name", of(p.uses[q], i))
			}
		}
	}
	set("[no] queue <list> wred-policy <name>", each(func(u *uses, i int) *swconf.Said[string] {
		return &u.wreds[i]
	}, wredKind))
	set("[no] buffer priority-group <list> <name>", each(func(u *uses, i int) *swconf.Said[string] {
		return &u.groups[i]
	}, bufferKind))
	set("[no] qos buffer priority-group <list> <name>", each(func(u *uses, i int) *swconf.Said[string] {
		return &u.groups[i]
	}, bufferKind))
	set("[no] qos buffer queue <more...>", func(*swconf.Port, *cli.Match) {})
	set("[no] qos default-lossless-buffer-profile", func(*swconf.Port, *cli.Match) {})
	set("[no] buffer queue <more...>", func(*swconf.Port, *cli.Match) {})
	set("[no] buffer default-lossless-buffer-profile", func(*swconf.Port, *cli.Match) {})
	set("[no] priority-flow-control priority <n:int>", func(q *swconf.Port, m *cli.Match) {
		if n, ok := p.below(m, "n", 8, aPriority); ok {
			swconf.Switch(p.c, m, &p.uses[q].pfc[n], "n", true)
		}
	})
	set("[no] priority-flow-control asymmetric", func(*swconf.Port, *cli.Match) {})
	set("[no] priority-flow-control watchdog action <what:drop|forward|alert>",
		func(q *swconf.Port, m *cli.Match) {
			swconf.Assign(p.c, m, &p.uses[q].forward, "what", m.Word("what") != "drop")
		})
	set("[no] priority-flow-control watchdog on detect-time <ms:int>", func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &p.uses[q].detect, "ms", millis(m, "ms"))
		p.uses[q].wd = swconf.SaidAt(p.c, m, "on", !m.No)
	})
	set("[no] priority-flow-control watchdog restore-time <ms:int>", func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &p.uses[q].restore, "ms", millis(m, "ms"))
	})
	set("[no] priority-flow-control watchdog on", func(q *swconf.Port, m *cli.Match) {
		p.uses[q].wd = swconf.SaidAt(p.c, m, "on", !m.No)
	})
	set("[no] priority-flow-control watchdog detect-time <ms:int>", func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &p.uses[q].detect, "ms", millis(m, "ms"))
	})
	set("no priority-flow-control watchdog <what:action|detect-time|restore-time>",
		func(q *swconf.Port, m *cli.Match) {
			switch u := p.uses[q]; m.Word("what") {
			case "action":
				u.forward = swconf.Said[bool]{}
			case "detect-time":
				u.detect = swconf.Said[unit.Time]{}
			default:
				u.restore = swconf.Said[unit.Time]{}
			}
		})
	unpause := func(q *swconf.Port, m *cli.Match) {
		for i := range p.uses[q].pfc {
			p.uses[q].pfc[i] = swconf.SaidAt(p.c, m, "priority-flow-control", false)
		}
	}
	set("no priority-flow-control priority", unpause)
	set("priority-flow-control watchdog off", func(q *swconf.Port, m *cli.Match) {
		p.uses[q].wd = swconf.SaidAt(p.c, m, "off", false)
	})
	set("no priority-flow-control [ watchdog ]", func(q *swconf.Port, m *cli.Match) {
		if p.uses[q].wd = (swconf.Said[bool]{}); !m.Has("watchdog") {
			unpause(q, m)
		}
	})
}

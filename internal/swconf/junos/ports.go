package junos

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/tree"
	"railyard/unit"
)

var (
	physical = regexp.MustCompile(`^(et|xe|ge|mge)-(\d+)/(\d+)/(\d+)(:\d+)?$`)
	bundled  = regexp.MustCompile(`^ae(\d+)$`)
)

// port is the interface of a name: a front panel port, a bundle, or nil (lo0, irb, em0).
func (p *parser) port(m *tree.Match, name string) *swconf.Port { return p.named(name, m.At("if")) }

func (p *parser) named(name string, at swconf.Place) *swconf.Port {
	if f := bundled.FindStringSubmatch(name); f != nil {
		n, err := strconv.Atoi(f[1])
		if b := p.c.Bundle(n); b != nil || err != nil || !p.c.Room(at, 1) {
			return b
		}
		q := &swconf.Port{Name: name, Number: n, At: at}
		p.c.Bundles = append(p.c.Bundles, q)
		return q
	}
	f := physical.FindStringSubmatch(name)
	if f == nil {
		return nil
	}
	if q := p.c.Port(name); q != nil || !p.c.Room(at, 1) {
		return q
	}
	q := &swconf.Port{Name: name, At: at}
	if n, err := strconv.Atoi(f[4]); err == nil && f[5] == "" && f[2] == "0" {
		q.Number = n + 1
	}
	p.c.Ports = append(p.c.Ports, q)
	return q
}

func (p *parser) portRows(g *tree.Grammar) {
	const i = "interfaces <if> "
	set := func(path string, do func(*swconf.Port, *tree.Match)) {
		g.Add(i+path, func(m *tree.Match) {
			if q := p.port(m, m.Word("if")); q != nil {
				do(q, m)
			}
		})
	}
	set("description <text>", func(q *swconf.Port, m *tree.Match) { q.Desc = tree.Say(m, "text", m.Word("text")) })
	set("mtu <n:int>", func(q *swconf.Port, m *tree.Match) {
		if n := m.Int("n"); n < 256 || n > 16_000 { // CLI reference, mtu
			p.bad(m, "n", "an MTU from 256 to 16000 bytes")
			return
		}
		q.MTU = tree.Say(m, "n", unit.Bytes(m.Int("n")))
	})
	speed := func(q *swconf.Port, m *tree.Match) {
		n, err := strconv.Atoi(strings.TrimRight(m.Word("s"), "gGmM"))
		scale := unit.Gbps
		if strings.HasSuffix(strings.ToLower(m.Word("s")), "m") {
			scale = unit.Mbps
		}
		if err == nil && n < 100_000 {
			q.Speed = tree.Say(m, "s", unit.Rate(n)*scale)
		} else if m.Word("s") != "auto" {
			p.bad(m, "s", "a speed such as 400g")
		}
	}
	set("speed <s>", speed)
	set("ether-options speed <s>", speed)
	set("disable", func(q *swconf.Port, m *tree.Match) { q.Down = tree.Say(m, "", true) })
	for _, o := range []string{"ether-options", "gigether-options"} {
		set(o+" 802.3ad <ae>", func(q *swconf.Port, m *tree.Match) {
			if f := bundled.FindStringSubmatch(m.Word("ae")); f != nil {
				n, _ := strconv.Atoi(f[1])
				q.Channel = tree.Say(m, "ae", n)
			} else {
				p.bad(m, "ae", "a bundle such as ae1")
			}
		})
		set(o+" fec <mode>", func(q *swconf.Port, m *tree.Match) { q.FEC = tree.Say(m, "mode", m.Word("mode")) })
		for _, w := range []string{"auto-negotiation", "no-auto-negotiation"} {
			set(o+" "+w, func(q *swconf.Port, m *tree.Match) { q.Nego = tree.Say(m, "", w[0] == 'a') })
			g.Pass(i + o + " " + w)
		}
		for _, w := range []string{"flow-control",
			"no-flow-control", "loopback", "ethernet-switch-profile", "redundant-parent",
			"source-filtering",
			"no-loopback", "source-address-filter", "link-mode", "configured-flow-control",
			"auto-reconnect",
			"autostate-exclude", "asynchronous-notification", "ignore-l3-incompletes", "mac-mode",
			"mdi-mode",
			"mru", "no-auto-mdix", "no-source-filtering", "speed"} {
			if o != "ether-options" || w != "speed" {
				g.Pass(i + o + " " + w)
			}
		}
		g.Add(i+o, nil)
	}
	set("aggregated-ether-options minimum-links <n:int>", func(q *swconf.Port, m *tree.Match) {
		q.Least = tree.Say(m, "n", int(min(m.Int("n"), 1e6)))
	})
	g.Add(i+"aggregated-ether-options", nil)
	set("aggregated-ether-options <what:lacp|no-lacp|system-priority|ethernet-switch-profile|local-bias|resilient-hash|link-protection|logical-interface-fpc-redundancy|source-filtering|loopback|no-loopback|fcoe-lag|rebalance-periodic|shared-scheduler|system-id|mac-address|targeted-distribution|source-address-filter|load-balance-stateful|lan-options|distribution|link-speed|load-balance|bfd-liveness-detection|flow-control|no-flow-control> <more...>", func(*swconf.Port, *tree.Match) {})
	p.sharedRows(g)
	p.unitRows(g)
	g.Pass("interfaces lo0", "interfaces apply-groups", i+"family", i+"redundant-ether-options",
		i+"link-settings",
		i+"interface-mib", i+"media-type", i+"mac", i+"fpc", i+"fabric-options", i+"auto-configure",
		i+"port-mirror",
		i+"stacked-vlan-tagging", i+"flexible-tag-profile", i+"mtu-discovery", i+"phy-timestamping",
		i+"apply-macro",
		i+"no-bulk-configuration", i+"anchor-point", i+"bond-options",
		i+"clocking",
		i+"sonet-options", i+"gigabit-options", i+"framing", i+"forwarding-class-accounting",
		i+"transmit-bucket",
		i+"schedulers", i+"aggregated-inline-services-options", i+"load-balancing-options",
		i+"receive-bucket",
		i+"per-unit-scheduler", i+"hierarchical-scheduler", i+"input-native-vlan-push", i+"layer2-policer",
		i+"optics", i+"traceoptions", i+"serial-options", i+"no-mac-learning",
		i+"policer-drop-probability-low")
	g.Pass(i+"hold-time", i+"flexible-vlan-tagging", i+"vlan-tagging", i+"native-vlan-id",
		i+"encapsulation",
		i+"number-of-sub-ports", i+"optics-options", i+"gratuitous-arp-reply", i+"traps", i+"no-traps",
		i+"unused",
		i+"link-mode", i+"otn-options", i+"accounting-profile", i+"damping", i+"passive-monitor-mode",
		i+"no-gratuitous-arp-request")
}

// unitRows are the rows of logical units: 0 is the interface itself, others are parts of it.
func (p *parser) unitRows(g *tree.Grammar) {
	const u = "interfaces <if> unit <unit> "
	set := func(path string, do func(*swconf.Port, *tree.Match)) {
		g.Add(u+path, func(m *tree.Match) {
			p.units[m.Word("if")] = p.units[m.Word("if")] || path != "disable" && !strings.HasPrefix(path,
				"description")
			q := p.port(m, m.Word("if"))
			if q == nil {
				return
			}
			if m.Word("unit") != "0" {
				name := q.Name + "." + m.Word("unit")
				s := p.c.Sub(name)
				if s == nil {
					s = &swconf.Port{Name: name, Parent: q.Name, At: m.At("unit")}
					p.c.Subs = append(p.c.Subs, s)
				}
				q = s
			}
			do(q, m)
		})
	}
	set("family inet address <prefix> <more...>", func(q *swconf.Port, m *tree.Match) {
		pre, err := netip.ParsePrefix(m.Word("prefix"))
		if a, alone := netip.ParseAddr(m.Word("prefix")); alone == nil {
			pre, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			p.bad(m, "prefix", "an address with a prefix length")
			return
		}
		q.Addrs = append(swconf.Without(q.Addrs, pre, true), tree.Say(m, "prefix", pre))
	})
	set("family inet6 <more...>", func(q *swconf.Port, m *tree.Match) { q.LinkOnly = tree.Say(m, "more", true) })
	set("vlan-id <n:int>", func(q *swconf.Port, m *tree.Match) {
		q.Tag = tree.Say(m, "n", int(min(m.Int("n"), 4094)))
	})
	set("disable", func(q *swconf.Port, m *tree.Match) { q.Down = tree.Say(m, "", true) })
	set("family ethernet-switching vlan members <vlan> <more...>", func(q *swconf.Port, m *tree.Match) {
		if n, err := strconv.Atoi(m.Word("vlan")); err == nil && !q.VLAN.Is() {
			q.VLAN = tree.Say(m, "vlan", n)
		} else if err != nil {
			p.multi.members = append(p.multi.members, member{q, tree.Say(m, "vlan", m.Word("vlan"))})
		}
	})
	set("family ethernet-switching interface-mode <mode>", func(q *swconf.Port, m *tree.Match) {
		p.multi.trunks[q] = m.Word("mode") == "trunk"
	})
	set("description <text>", func(q *swconf.Port, m *tree.Match) {
		if !q.Desc.Is() {
			q.Desc = tree.Say(m, "text", m.Word("text"))
		}
	})
	has := func(m *tree.Match) {
		p.units[m.Word("if")] = true
		p.port(m, m.Word("if"))
	}
	bare := func(m *tree.Match) { // without an address it carries nothing
		if p.port(m, m.Word("if")); !p.units[m.Word("if")] {
			p.units[m.Word("if")] = false
		}
	}
	g.Add(strings.TrimSpace(u), bare)
	g.Add(u+"encapsulation <what>", has)
	for _, family := range []string{"inet", "ethernet-switching", "iso", "mpls", "bridge", "vpls", "ccc",
		"tcc",
		"any", "primary", "preferred"} {
		if family == "inet" {
			g.Add(u+"family inet", bare)
			continue
		}
		if g.Add(u+"family "+family, has); family == "ethernet-switching" {
			continue
		}
		g.Add(u+"family "+family+" <what> <more...>", has)
	}
	for _, more := range []string{"mtu", "no-redirects", "filter", "rpf-check", "unnumbered-address",
		"sampling",
		"targeted-broadcast", "dhcp", "accounting", "policer", "no-neighbor-learn", "primary", "tunnel",
		"destination-udp-port", "dhcp-client", "negotiate-address", "service", "simple-filter",
		"arp-max-cache",
		"demux-destination", "address-primary", "primary-address", "load-balance",
		"destination-class-usage"} {
		do := bare
		if strings.Contains(more, "addr") || strings.Contains(more, "dhcp") {
			do = has
		}
		g.Add(u+"family inet "+more+" <more...>", do)
	}
	for _, more := range []string{"port-mode", "storm-control", "filter",
		"recovery-timeout",
		"vlan-id", "native-vlan-id", "reflective-relay", "policer", "vlan", "group", "inner-vlan-id-list"} {
		g.Add(u+"family ethernet-switching "+more+" <more...>", has)
	}
	for _, more := range []string{"mac", "proxy-macip-advertisement", "virtual-gateway-accept-data",
		"vlan-tags",
		"virtual-gateway-v4-mac", "virtual-gateway-v6-mac", "vlan-id-range", "vlan-id-list",
		"bandwidth", "tunnel", "input-vlan-map", "output-vlan-map", "no-dhcp-flood", "statistics",
		"traps",
		"no-traps", "arp-resp", "proxy-arp", "etree-ac-role", "virtual-gateway-esi", "accept-source-mac",
		"clear-dont-fragment-bit", "filter", "interface-state", "native-inner-vlan-id", "peer-unit",
		"ppp-options",
		"multipoint", "point-to-point", "traffic-control-profiles", "rpm", "mtu", "demux-options",
		"service",
		"swap-by-poppush", "no-auto-mdix", "accounting-profile", "copy-tos-to-outer-ip-header",
		"forwarding-class",
		"pppoe-options", "targeted-options", "vrrp-group", "load-balancing-options",
		"actual-transit-statistics",
		"host-prefix-only", "damping", "auto-configure", "no-irb-layer-2-copy", "output-traffic-control"} {
		g.Add(u+more+" <more...>", bare)
	}
}

package nvue

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/tree"
	"railyard/unit"
)

// uses are the profiles that an interface names, and its watchdog.
type uses struct {
	mapping, scheduler, congestion, pfc swconf.Said[string]
	watchdog, adaptive                  swconf.Said[bool]
	members                             []tree.Word
}

var (
	physical = regexp.MustCompile(`^swp(\d+)(s\d+)?$`)
	part     = regexp.MustCompile(`^(\w+)\.(\d+)$`)
)

// port returns the interface of a path: a front panel port, a bond, or nil for interfaces without queues (SVIs,
// loopback, eth0).
func (p *parser) port(m *tree.Match) *swconf.Port {
	name := m.Word("if")
	if q := p.c.Port(name); q != nil {
		return q
	}
	f := physical.FindStringSubmatch(name)
	if f == nil {
		if p.bonds[name] == nil && part.MatchString(name) {
			return p.sub(m)
		}
		return p.bonds[name]
	}
	q := &swconf.Port{Name: name, At: m.At("if")}
	if f[2] == "" {
		q.Number, _ = strconv.Atoi(f[1])
	}
	p.c.Ports = append(p.c.Ports, q)
	p.uses[q] = &uses{}
	return q
}

// sub makes a subinterface: swp1.10.
func (p *parser) sub(m *tree.Match) *swconf.Port {
	f := part.FindStringSubmatch(m.Word("if"))
	q := &swconf.Port{Name: f[0], At: m.At("if"), Parent: f[1]}
	if n, err := strconv.Atoi(f[2]); err == nil && n < 4095 {
		q.Tag = tree.Say(m, "if", n)
	}
	p.c.Subs = append(p.c.Subs, q)
	p.uses[q] = &uses{}
	return q
}

// unnamed is the first number of bonds that carry none in their name.
const unnamed = 100_000

// bond makes a port channel of a name.
func (p *parser) bond(name string, at swconf.Place) {
	if p.bonds[name] != nil {
		return
	}
	n, err := strconv.Atoi(strings.TrimPrefix(name, "bond"))
	if err != nil || n <= 0 || !strings.HasPrefix(name, "bond") || n >= unnamed {
		n = unnamed + len(p.c.Bundles)
	}
	q := &swconf.Port{Name: name, Number: n, At: at}
	p.c.Bundles = append(p.c.Bundles, q)
	p.bonds[name], p.uses[q] = q, &uses{}
}

// findBonds creates the port channels before their settings are read: a tree has no order.
func (p *parser) findBonds(list []*tree.Statement) {
	for _, s := range list {
		if w := s.Words; len(w) > 3 && w[0].Text == "interface" && (w[2].Text == "bond" ||
			w[2].Text == "type" && (w[3].Text == "bond" || w[3].Text == "peerlink" && w[1].Text == "peerlink")) {
			p.bond(w[1].Text, swconf.Place{File: p.c.File, Line: w[1].Line, Col: w[1].Col})
		}
	}
}

func (p *parser) portRows(g *tree.Grammar) {
	const i = "interface <if> "
	set := func(path string, do func(*swconf.Port, *tree.Match)) {
		g.Add(i+path, func(m *tree.Match) {
			if q := p.port(m); q != nil {
				do(q, m)
			}
		})
	}
	g.Add("interface <if>", func(m *tree.Match) { p.port(m) })
	g.Add(i+"type <kind:swp|bond|svi|loopback|eth|sub|peerlink|tunnel|bridge|vrr|ib|fnm|ipoib|nvl|bridge_pair>",
		func(m *tree.Match) { p.port(m) })
	set("description <text>", func(q *swconf.Port, m *tree.Match) { q.Desc = tree.Say(m, "text", m.Word("text")) })
	set("link mtu <n:int>", func(q *swconf.Port, m *tree.Match) {
		if n := m.Int("n"); n < 552 || n > 9216 {
			p.bad(m, "n", "an MTU from 552 to 9216")
			return
		}
		q.MTU = tree.Say(m, "n", bytes(m, "n"))
	})
	set("link speed <s>", func(q *swconf.Port, m *tree.Match) {
		if rate, ok := speed(m.Word("s")); ok {
			q.Speed = tree.Say(m, "s", rate)
		} else if m.Word("s") != "auto" {
			p.bad(m, "s", "a speed such as 400G, or auto")
		}
	})
	set("link fec <mode:auto|baser|off|rs>", func(q *swconf.Port, m *tree.Match) {
		q.FEC = tree.Say(m, "mode", m.Word("mode"))
	})
	set("link auto-negotiate "+onOff, func(q *swconf.Port, m *tree.Match) { q.Nego = tree.Say(m, "v", isOn(m)) })
	set("link state <v:up|down>", func(q *swconf.Port, m *tree.Match) {
		q.Down = tree.Say(m, "v", m.Word("v") == "down")
	})
	for _, family := range []string{"ip", "ipv4", "ipv6"} {
		set(family+" address <prefix>", p.address)
	}
	for _, path := range []string{"vrf <vrf>", "ip vrf <vrf>"} {
		set(path, func(q *swconf.Port, m *tree.Match) {
			if m.Word("vrf") != "default" {
				q.VRF = tree.Say(m, "vrf", m.Word("vrf"))
			}
		})
	}
	set("bridge domain <bridge>", func(q *swconf.Port, _ *tree.Match) { q.Switched = true })
	set("bridge domain <bridge> access <vlan:int>", p.vlan)
	set("bridge domain <bridge> untagged <vlan:int>", p.vlan)
	g.Add(i+"bond member <names>", func(m *tree.Match) {
		q := p.bonds[m.Word("if")]
		p.uses[q].members = append(p.uses[q].members, m.Rest("names")[0])
	})
	adaptive := func(q *swconf.Port, m *tree.Match) { p.uses[q].adaptive = tree.Say(m, "v", isOn(m)) }
	set("router adaptive-routing", adaptive)
	set("router adaptive-routing enable "+onOff, adaptive)
	set("router adaptive-routing state "+onOff, adaptive)
	lldp := func(q *swconf.Port, m *tree.Match) { q.LLDPOff = tree.Say(m, "v", !isOn(m)) }
	set("lldp enable "+onOff, lldp)
	set("lldp state "+onOff, lldp)
	g.Add(i+"ip", nil)
	for _, s := range portPassed {
		g.Pass(i + s)
	}
}

// portPassed are below an interface and do not affect the modelled data path.
var portPassed = []string{"link breakout", "link duplex", "link fec-override",
	"link flap-protection", "link fast-linkup", "link lanes", "link dot1x", "link protodown", "link train",
	"link eee", "link linkdown-hold", "link phy-detail", "link max-supported-mtu", "link tx-squelch",
	"link connection-mode", "link mac-address", "link stats", "link down-reason", "link traffic-state",
	"link link-training",
	"ip ipv4", "ip ipv6", "ip vrr", "ip vrrp", "ip gateway", "ip igmp", "ip mld", "ip neighbor",
	"ip neighbor-discovery", "ip arp", "ip nhrp", "ip dhcp-client", "ip dhcp-client6", "ip mtu", "ip forward",
	"ipv4 vrr", "ipv4 vrrp", "ipv4 forward", "ipv4 gateway", "ipv4 igmp", "ipv4 arp", "ipv4 dhcp-client",
	"ipv4 mtu", "ipv4 neighbor", "ipv6 vrr", "ipv6 vrrp", "ipv6 forward", "ipv6 gateway", "ipv6 state",
	"ipv6 mtu",
	"ipv6 enable", "ipv6 neighbor-discovery", "ipv6 neighbor", "ipv6 dhcp-client", "ipv6 mld",
	"bond mode", "bond lacp-bypass", "bond lacp-rate", "bond up-delay", "bond down-delay", "bond mlag",
	"bond lacp-port-priority", "bond lacp-individual", "bridge domain <bridge> vlan",
	"bridge domain <bridge> learning", "bridge domain <bridge> stp",
	"bridge domain <bridge> vlan-default-range",
	"evpn", "router ospf", "router ospf6", "router pim", "router pbr", "router arp-monitor",
	"router adaptive-routing link-utilization-threshold", "router adaptive-routing profile",
	"lldp dcbx-pfc-tlv",
	"lldp dcbx-ets-config-tlv", "lldp dcbx-ets-recomm-tlv", "lldp application-tlv", "lldp qos",
	"lldp neighbor",
	"lldp dot1-tlv", "acl", "ptp", "synce", "sync-e", "storm-control", "telemetry", "port-security",
	"tunnel", "vlan",
	"base-interface", "parent", "address", "dot1x", "port-mirror", "neighbor", "dhcp-snoop", "sflow",
	"counters",
	"pluggable", "ifindex", "snmp", "nat", "vpn", "transceiver", "component", "monitor", "mac", "icmp",
	"l2", "ib",
	"voice-vlan", "pvlan", "segment-routing", "watchdog", "link apsu-mode", "link module-precoding",
	"link debounce", "lldp tlv", "link-tracking", "security"}

func (p *parser) address(q *swconf.Port, m *tree.Match) {
	if m.Word("prefix") == "dhcp" {
		return
	}
	pre, err := netip.ParsePrefix(m.Word("prefix"))
	if err != nil {
		p.bad(m, "prefix", "an address with a prefix length")
		return
	}
	q.Addrs = append(swconf.Without(q.Addrs, pre, true), tree.Say(m, "prefix", pre))
}

func (p *parser) vlan(q *swconf.Port, m *tree.Match) {
	q.Switched = true
	if n := m.Int("vlan"); n >= 1 && n <= 4094 {
		q.VLAN = tree.Say(m, "vlan", int(n))
		return
	}
	p.bad(m, "vlan", "a VLAN from 1 to 4094")
}

var speedForm = regexp.MustCompile(`^(\d+)([GgMm])$`)

// speed reads 400G, 10G and 100M.
func speed(s string) (unit.Rate, bool) {
	f := speedForm.FindStringSubmatch(s)
	if f == nil {
		return 0, false
	}
	n, err := strconv.Atoi(f[1])
	scale := unit.Gbps
	if strings.EqualFold(f[2], "m") {
		scale = unit.Mbps
	}
	return unit.Rate(n) * scale, err == nil && n < 100_000
}

// enslave adds the members to bonds after parsing: a bond's QoS settings apply to members without their own.
func (p *parser) enslave() {
	for _, b := range p.c.Bundles {
		u := p.uses[b]
		for _, w := range u.members {
			at := swconf.Place{File: p.c.File, Line: w.Line, Col: w.Col}
			names, ok := expand(w.Text)
			if !ok || !p.c.Room(at, len(names)) {
				swconf.Report(p.c, at, swconf.Error, "bad-value", w.Text+" is not a list of ports",
					"NVUE refuses the line", "write ports such as swp1-4")
				continue
			}
			for _, n := range names {
				q := p.c.Port(n)
				if f := physical.FindStringSubmatch(n); q == nil && f != nil {
					q = &swconf.Port{Name: n, At: at}
					if f[2] == "" {
						q.Number, _ = strconv.Atoi(f[1])
					}
					p.c.Ports = append(p.c.Ports, q)
					p.uses[q] = &uses{}
				}
				if q == nil {
					continue
				}
				q.Channel = swconf.Say(b.Number, at)
				p.inherit(q, b)
			}
		}
	}
}

func (p *parser) inherit(q, b *swconf.Port) {
	own, from := p.uses[q], p.uses[b]
	for _, x := range []struct{ own, from *swconf.Said[string] }{{&own.mapping, &from.mapping},
		{&own.scheduler, &from.scheduler}, {&own.congestion, &from.congestion}, {&own.pfc, &from.pfc}} {
		if !x.own.Is() {
			*x.own = *x.from
		}
	}
	if !q.MTU.Is() {
		q.MTU = b.MTU
	}
	if !q.VLAN.Is() {
		q.VLAN = b.VLAN
	}
}

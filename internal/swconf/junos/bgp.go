package junos

import (
	"net/netip"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/tree"
	"railyard/unit"
)

// routing collects BGP.
type routing struct {
	asn    swconf.Said[uint32]
	id     swconf.Said[netip.Addr]
	groups map[string]*peers // by VRF and name
	order  []string
	all    map[string]*peers              // BGP's settings for all groups, by VRF
	vrfs   map[string]swconf.Said[string] // interface to VRF
}

// peers is a BGP group.
type peers struct {
	vrf              string
	remote, local    swconf.Said[string]
	list             []*swconf.Neighbor
	down             swconf.Said[bool]
	multipath, relax swconf.Said[bool]
	export           swconf.Said[string]
	keeps            swconf.Said[bool] // next hops of EVPN routes
	families         swconf.Family
}

func (r *routing) init() {
	r.groups, r.vrfs, r.all = map[string]*peers{}, map[string]swconf.Said[string]{}, map[string]*peers{}
}

func (r *routing) group(m *tree.Match) *peers {
	vrf, name := m.Word("vrf"), m.Word("group")
	key := vrf + "\x00" + name
	if r.groups[key] == nil {
		r.groups[key] = &peers{vrf: vrf}
		r.order = append(r.order, key)
	}
	return r.groups[key]
}

// neighbor returns that of an address or interface in a group.
func (x *peers) neighbor(m *tree.Match) *swconf.Neighbor {
	who := m.Word("who")
	a, err := netip.ParseAddr(who)
	for _, n := range x.list {
		if err == nil && n.Addr == a || err != nil && n.Port == strings.TrimSuffix(who, ".0") {
			return n
		}
	}
	n := &swconf.Neighbor{At: m.At("who"), Addr: a, VRF: x.vrf}
	if err != nil {
		n.Port = strings.TrimSuffix(who, ".0")
	}
	x.list = append(x.list, n)
	return n
}

func (p *parser) routingRows(g *tree.Grammar) {
	r := &p.bgp
	g.Pass("routing-options autonomous-system loops", "routing-options autonomous-system asdot-notation",
		"routing-options autonomous-system independent-domain")
	g.Add("routing-options autonomous-system <as> <more...>", func(m *tree.Match) {
		if n, ok := swconf.ASN(m.Word("as")); ok {
			r.asn = tree.Say(m, "as", n)
		} else {
			p.bad(m, "as", "an AS number from 1 to 4294967295")
		}
	})
	g.Add("routing-options router-id <id>", func(m *tree.Match) {
		if a, err := netip.ParseAddr(m.Word("id")); err == nil {
			r.id = tree.Say(m, "id", a)
		} else {
			p.bad(m, "id", "a router ID")
		}
	})
	for _, head := range []string{"", "routing-instances <vrf> "} {
		p.bgpRows(g, head+"protocols bgp ")
	}
	g.Add("routing-instances <vrf> interface <if>", func(m *tree.Match) {
		r.vrfs[strings.TrimSuffix(m.Word("if"), ".0")] = tree.Say(m, "vrf", m.Word("vrf"))
	})
	g.Pass("routing-options", "routing-instances", "policy-options")
	for _, w := range protocols {
		g.Pass("protocols "+w, "routing-instances <vrf> protocols "+w)
	}
}

// protocols are known and irrelevant ones.
var protocols = strings.Fields("amt ancp bfd bmp bridge connections dcbx dot1x dvmrp esis evpn fabric-multicast fcoe fip igmp igmp-snooping isis l2-learning l2circuit l2iw l2vpn lacp layer2-control ldp link-management lldp lldp-med loop-detect mac-vrf mc-lag mld mld-host mld-snooping mpls msdp mstp mvpn mvrp ndp neighbor-discovery oam ospf ospf3 ovsdb pcep pgm pim pim-snooping ppp ppp-service pppoe protection-group ptp rip ripng router-advertisement router-discovery rsvp rstp secure-neighbor-discovery sflow source-packet-routing stp svlbnh tunnel-services uplink-failure-detection vpls vrrp vstp vxlan clksyn apply-groups telemetry rift")

func (p *parser) bgpRows(g *tree.Grammar, c string) {
	r := &p.bgp
	group := func(path string, do func(*peers, *tree.Match)) {
		g.Add(c+"group <group> "+path, func(m *tree.Match) { do(r.group(m), m) })
		if strings.HasPrefix(path, "neighbor") || strings.HasPrefix(path, "peer-as") {
			g.Add(c+path, func(m *tree.Match) { do(r.group(m), m) }) // a group of their own
		}
	}
	group("peer-as <as>", func(x *peers, m *tree.Match) { x.remote = p.as(m) })
	group("peer-as-list <list> <more...>", func(x *peers, m *tree.Match) {
		if !x.remote.Is() {
			x.remote = tree.Say(m, "list", "external")
		}
	})
	group("shutdown <more...>", func(x *peers, m *tree.Match) { x.down = tree.Say(m, "", true) })
	group("type <what:external|internal>", func(x *peers, m *tree.Match) {
		if m.Word("what") == "internal" && !x.remote.Is() {
			x.remote = tree.Say(m, "what", "internal")
		}
	})
	families := []struct {
		word string
		bit  swconf.Family
	}{{"inet", swconf.IPv4}, {"inet6", swconf.IPv6}, {"evpn", swconf.EVPN}, {"inet-vpn",
		swconf.OtherFamily},
		{"inet6-vpn", swconf.OtherFamily}, {"inet-mvpn", swconf.OtherFamily}, {"l2vpn", swconf.OtherFamily},
		{"route-target", swconf.OtherFamily}, {"inet-mdt", swconf.OtherFamily}, {"traffic-engineering",
			swconf.OtherFamily}, {"iso-vpn", swconf.OtherFamily}, {"inet6-mvpn", swconf.OtherFamily}}
	one := func(m *tree.Match) *peers {
		x := r.group(m)
		x.neighbor(m)
		return x
	}
	// settings valid at BGP itself, at a group, and at its neighbours
	for _, level := range []struct {
		path string
		of   func(*tree.Match) *peers
	}{{"", r.whole}, {"group <group> ", r.group}, {"group <group> neighbor <who> ", one},
		{"neighbor <who> ", one}} {
		each := func(path string, do func(*peers, *tree.Match)) {
			g.Add(c+level.path+path, func(m *tree.Match) { do(level.of(m), m) })
		}
		each("multipath <more...>", func(x *peers, m *tree.Match) {
			x.multipath = tree.Say(m, "", true)
			if m.Word("more") == "multiple-as" {
				x.relax = tree.Say(m, "more", true)
			}
		})
		each("export <policy> <more...>", func(x *peers, m *tree.Match) {
			x.export = tree.Say(m, "policy", m.Word("policy"))
		})
		keeps := func(x *peers, m *tree.Match) { x.keeps = tree.Say(m, "", true) }
		each("multihop no-nexthop-change", keeps)
		each("no-nexthop-change", keeps)
		if strings.Contains(level.path, "neighbor") {
			continue
		}
		each("local-as <as> <more...>", func(x *peers, m *tree.Match) { x.local = p.as(m) })
		for _, f := range families {
			each("family "+f.word+" <more...>", func(x *peers, m *tree.Match) { x.families |= f.bit })
		}
	}
	group("neighbor <who>", func(x *peers, m *tree.Match) { x.neighbor(m) })
	group("neighbor <who> peer-as <as>", func(x *peers, m *tree.Match) { x.neighbor(m).Remote = p.as(m) })
	group("neighbor <who> local-as <as> <more...>", func(x *peers, m *tree.Match) { x.neighbor(m).Local = p.as(m) })
	group("neighbor <who> shutdown <more...>", func(x *peers, m *tree.Match) {
		x.neighbor(m).Down = tree.Say(m, "", true)
	})
	const dynamic = "group <group> dynamic-neighbor <name> "
	g.Add(c+dynamic+"peer-auto-discovery family inet6 ipv6-nd interface <who>",
		func(m *tree.Match) { r.group(m).neighbor(m) })
	for _, f := range families {
		group("neighbor <who> family "+f.word+" <more...>", func(x *peers, m *tree.Match) {
			x.neighbor(m).On |= f.bit
		})
	}
	for _, w := range neighborPassed {
		for _, head := range []string{"group <group> ", ""} {
			g.Add(c+head+"neighbor <who> "+w+" <more...>", func(m *tree.Match) { r.group(m).neighbor(m) })
		}
		g.Pass(c + "group <group> " + w)
		g.Pass(c + w)
	}
	g.Add(c+dynamic+"peer-auto-discovery interface <who>", func(m *tree.Match) { r.group(m).neighbor(m) })
	g.Pass(c+dynamic+"peer-auto-discovery", c+dynamic+"peer-auto-discovery-options", c+"group <group> type",
		c+"disable", c+"advertise-from-main-vpn-tables", c+"global-load-balancing", c+"rfc8950-compliant",
		c+"bgp-error-tolerance", c+"snmp-options",
		c+"egress-te-backup-paths", c+"sr-preference-override", c+"traffic-statistics-labeled-path",
		c+"rib-sharding",
		c+"update-threading", c+"graceful-shutdown", c+"unconfigured-peer-graceful-restart",
		c+"sender-based-rpf",
		c+"group <group>", c+"dynamic-neighbor")
}

// whole returns BGP's settings for all groups of its VRF.
func (r *routing) whole(m *tree.Match) *peers {
	if r.all[m.Word("vrf")] == nil {
		r.all[m.Word("vrf")] = &peers{}
	}
	return r.all[m.Word("vrf")]
}

// neighborPassed are valid at a neighbour, a group or BGP itself, and neither create nor break a session.
var neighborPassed = []string{"description", "local-address", "bfd-liveness-detection", "multihop",
	"import", "hold-time",
	"authentication-key", "graceful-restart", "log-updown", "traceoptions", "vpn-apply-export", "passive",
	"cluster",
	"mtu-discovery", "out-delay", "remove-private", "as-override", "allow", "advertise-inactive",
	"advertise-peer-as", "damping", "metric-out", "path-selection", "tcp-mss", "ttl",
	"add-path",
	"no-client-reflect", "rfc6514-compliant-safi129", "disable-4byte-as", "precision-timers",
	"minimum-hold-time",
	"idle-after-switch-over", "keep", "accept-remote-nexthop", "local-preference", "preference",
	"tcp-connect-port",
	"include-mp-next-hop", "enforce-first-as", "drop-path-attributes", "send-addpath-optimization",
	"strip-as-path",
	"tcp-aggressive-transmission", "apply-groups", "optimal-route-reflection", "output-queue-priority",
	"route-server-client", "forwarding-context", "instance", "egress-te", "bmp",
	"long-lived-graceful-restart",
	"link-local-address", "local-interface", "metric-in", "next-hop-self", "hold-down", "withdraw-priority",
	"no-aggregator-id", "no-nexthop-change", "default-address-selection", "no-advertise-peer-as", "unicast",
	"advertise-external", "advertise-bgp-static", "as-loops", "confederation", "session-mode",
	"auth-algorithm",
	"authentication-algorithm", "authentication-key-chain", "ipsec-sa", "delay-route-advertisements",
	"shared-tunnel",
	"outbound-route-filter", "prefix-limit", "accepted-prefix-limit", "rib-group", "peer-auto-discovery"}

// as reads an AS number.
func (p *parser) as(m *tree.Match) swconf.Said[string] {
	if _, ok := swconf.ASN(m.Word("as")); !ok {
		p.bad(m, "as", "an AS number from 1 to 4294967295")
	}
	return tree.Say(m, "as", m.Word("as"))
}

// grammar is the table of supported statements.
func (p *parser) grammar() *tree.Grammar {
	g := &tree.Grammar{}
	c := p.c
	g.Add("system host-name <name>", func(m *tree.Match) { c.Hostname = tree.Say(m, "name", m.Word("name")) })
	p.pairRows(g)
	g.Pass("system", "chassis", "version", "snmp", "security", "vlans",
		"event-options", "multi-chassis", "services", "apply-macro", "switch-options", "access",
		"applications",
		"dynamic-profiles", "chassis-control", "session-limit-group", "tenants", "unified-edge", "diameter",
		"jsrc", "routing-policy", "bridge", "class-of-service-options", "tacacs", "rcsid", "host-names",
		"wlan", "smtp", "tamper-detection", "system-services", "iccp", "fabric", "macsec", "process",
		"bridge-domains",
		"virtual-chassis", "poe", "ethernet-switching-options", "logical-systems", "accounting-options",
		"schedulers")
	p.portRows(g)
	p.cosRows(g)
	p.filterRows(g)
	p.routingRows(g)
	g.Add("protocols lldp interface <if>", func(m *tree.Match) {
		if !p.mute {
			c.LLDP = tree.Say(m, "if", true)
		}
	})
	g.Add("protocols lldp disable", func(m *tree.Match) {
		p.mute = true
		c.LLDP = tree.Say(m, "", false)
	})
	g.Add("protocols lldp interface <if> disable", func(m *tree.Match) {
		if q := p.port(m, m.Word("if")); q != nil {
			q.LLDPOff = tree.Say(m, "", true)
		}
	})
	const hash = "forwarding-options enhanced-hash-key "
	g.Add(hash+"hash-seed <n>", func(m *tree.Match) { c.HashSeed = tree.Say(m, "n", m.Word("n")) })
	dlb := func(mode string) func(*tree.Match) {
		return func(m *tree.Match) {
			if c.DLB == nil {
				c.DLB = &swconf.DLB{At: m.At(""), All: true}
			}
			c.DLB.Mode = tree.Say(m, "", mode)
		}
	}
	g.Add(hash+"ecmp-dlb per-packet <more...>", dlb("per-packet"))
	g.Add(hash+"ecmp-dlb flowlet", dlb("flowlet"))
	g.Add(hash+"ecmp-dlb flowlet inactivity-interval <n:int>", func(m *tree.Match) {
		dlb("flowlet")(m)
		c.DLB.Aging = tree.Say(m, "n", unit.Time(min(m.Int("n"), 1e9))*unit.Microsecond)
	})
	g.Pass(hash+"ecmp-dlb", hash+"hash-mode", hash+"inet", hash+"inet6", hash+"layer2",
		hash+"fabric-load-balance",
		hash+"ecmp-dlb sampling-rate", hash+"lag-dlb", hash+"gre", hash+"mpls", hash+"vxlan-vnid",
		hash+"hash-parameters", hash+"resilient-hash-seed",
		hash+"conditional-match",
		hash+"symmetric", hash+"selector", "forwarding-options")
	return g
}

// inherit copies BGP's own settings that a group does not set.
func (x *peers) inherit(all *peers) {
	if all == nil {
		return
	}
	if !x.multipath.Is() {
		x.multipath, x.relax = all.multipath, all.relax
	}
	if !x.export.Is() {
		x.export = all.export
	}
	if !x.local.Is() {
		x.local = all.local
	}
	if !x.keeps.Is() {
		x.keeps = all.keeps
	}
	if x.families == 0 {
		x.families = all.families
	}
}

package nvue

import (
	"net/netip"

	"railyard/internal/swconf"
	"railyard/internal/swconf/tree"
)

// routing collects BGP; its numbers apply to all VRFs, or to one.
type routing struct {
	b       *swconf.BGP
	asn     swconf.Said[uint32]
	id      swconf.Said[netip.Addr]
	on      swconf.Said[bool]
	peers   *swconf.Peers
	defined map[string]bool
}

func (r *routing) init() { r.peers, r.defined = swconf.NewPeers(), map[string]bool{} }

// open is the default VRF's BGP.
func (r *routing) open() *swconf.BGP {
	if r.b == nil {
		r.b = &swconf.BGP{MaxPaths: swconf.Said[int]{V: known.Int("bgp_paths")}}
	}
	return r.b
}

func (p *parser) routingRows(g *tree.Grammar) {
	r := &p.bgp
	asn := func(m *tree.Match) {
		n, ok := swconf.ASN(m.Word("as"))
		if !ok && m.Word("as") != "none" {
			p.bad(m, "as", "an AS number from 1 to 4294967295")
		}
		if ok && (!m.Has("vrf") || m.Word("vrf") == "default") {
			r.asn = tree.Say(m, "as", n)
		}
	}
	id := func(m *tree.Match) {
		a, err := netip.ParseAddr(m.Word("id"))
		if err != nil && m.Word("id") != "none" {
			p.bad(m, "id", "a router ID")
		} else if err == nil && (!m.Has("vrf") || m.Word("vrf") == "default") {
			r.id = tree.Say(m, "id", a)
		}
	}
	on := func(m *tree.Match) { r.on = tree.Say(m, "v", isOn(m)) }
	toggle(g, "router bgp", on)
	g.Add("router bgp autonomous-system <as>", asn)
	g.Add("router bgp router-id <id>", id)
	g.Pass("router bgp graceful-restart", "router bgp graceful-shutdown", "router bgp convergence-wait",
		"router bgp policy-update-timer", "router bgp queue-limit", "router bgp wait-for-install",
		"router bgp bfd",
		"router bgp rib-filter", "router policy", "router ospf", "router ospf6", "router pim", "router pbr",
		"router igmp", "router mld", "router vrr", "router vrrp", "router nexthop", "router nexthop-group",
		"router ptm", "router bfd", "router password-obfuscation", "router rib", "router segment-routing",
		"router allow-reserved-range", "router resource-limit", "router nexthop-tracking", "router isis",
		"router static")
	const v = "vrf <vrf> router bgp "
	g.Add(v+"autonomous-system <as>", asn)
	g.Add(v+"router-id <id>", id)
	own := func(path string, do func(b *swconf.BGP, m *tree.Match)) {
		g.Add(v+path, func(m *tree.Match) {
			if m.Word("vrf") == "default" {
				do(r.open(), m)
			}
		})
	}
	own("enable "+onOff, func(*swconf.BGP, *tree.Match) {})
	own("state "+onOff, func(*swconf.BGP, *tree.Match) {})
	own("path-selection multipath aspath-ignore "+onOff, func(b *swconf.BGP, m *tree.Match) {
		b.Relax = tree.Say(m, "v", isOn(m))
	})
	own("address-family ipv4-unicast multipaths <what:ebgp|ibgp> <n:int>", func(b *swconf.BGP,
		m *tree.Match) {
		if m.Word("what") == "ebgp" {
			b.MaxPaths = tree.Say(m, "n", int(min(m.Int("n"), 1e6)))
		}
	})
	connected := func(b *swconf.BGP, m *tree.Match) { b.Connected = tree.Say(m, "v", isOn(m)) }
	own("address-family ipv4-unicast redistribute connected", connected)
	own("address-family ipv4-unicast redistribute connected enable "+onOff, connected)
	own("address-family ipv4-unicast redistribute connected state "+onOff, connected)
	network := func(b *swconf.BGP, m *tree.Match) {
		pre, err := netip.ParsePrefix(m.Word("prefix"))
		if err != nil {
			p.bad(m, "prefix", "a prefix")
			return
		}
		b.Networks = append(b.Networks, tree.Say(m, "prefix", pre))
	}
	for _, word := range []string{"network", "static-network"} {
		own("address-family ipv4-unicast "+word+" <prefix>", network)
		g.Pass(v + "address-family ipv4-unicast " + word + " <prefix> route-map")
	}
	for _, what := range []string{"neighbor", "peer"} {
		p.neighborRows(g, v, what)
	}
	p.groupRows(g, v)
	g.Pass(v + "plane-id")
	g.Pass(v+"path-selection", v+"timers", v+"graceful-restart", v+"confederation", v+"cluster-id", v+"rd",
		v+"route-export", v+"route-import", v+"route-reflection", v+"dynamic-neighbor",
		v+"nexthop-tracking", v+"soo",
		v+"address-family", v+"soft-reconfiguration", v+"advertisement-interval", v+"bfd",
		v+"fast-external-failover",
		"vrf <vrf> loopback", "vrf <vrf> evpn", "vrf <vrf> table", "vrf <vrf> ptp", "vrf <vrf> router static",
		"vrf <vrf> router ospf", "vrf <vrf> router ospf6", "vrf <vrf> router pim", "vrf <vrf> router rib",
		"vrf <vrf> router nexthop-tracking", "vrf <vrf> router router-id", "vrf <vrf> router nexthop",
		"vrf <vrf> router segment-routing", "vrf <vrf> router vrrp", "vrf <vrf> router mld",
		"vrf <vrf> router igmp")
	g.Add("vrf <vrf>", nil)
}

// neighborRows are the rows of one neighbour, by address or by interface.
func (p *parser) neighborRows(g *tree.Grammar, v, what string) {
	r := &p.bgp
	each := func(path string, do func(n *swconf.Neighbor, m *tree.Match)) {
		g.Add(v+what+" <who>"+path, func(m *tree.Match) {
			peers := r.peers
			if m.Word("vrf") != "default" {
				peers = peers.In(m.Word("vrf"))
			}
			do(peers.Get(r.open(), m.Word("who"), m.At("who")), m)
		})
	}
	each("", func(*swconf.Neighbor, *tree.Match) {})
	each(" remote-as <as>", func(n *swconf.Neighbor, m *tree.Match) { n.Remote = p.remote(m) })
	each(" peer-group <group>", func(n *swconf.Neighbor, m *tree.Match) {
		n.Group = tree.Say(m, "group", groupName(m))
		p.c.Use(groupKind, n.Group.V, n.Group.At)
	})
	each(" type <kind:unnumbered|numbered>", func(*swconf.Neighbor, *tree.Match) {})
	ofPeer(each)
	g.Pass(passedBelow(v+what+" <who> ", neighborPassed)...)
}

// ofPeer are the common settings of a neighbour and a group.
func ofPeer(each func(string, func(*swconf.Neighbor, *tree.Match))) {
	off := func(n *swconf.Neighbor, m *tree.Match) { n.Off = !isOn(m) }
	evpn := func(n *swconf.Neighbor, m *tree.Match) {
		if n.On &^= swconf.EVPN; isOn(m) {
			n.On |= swconf.EVPN
		}
	}
	for path, do := range map[string]func(*swconf.Neighbor, *tree.Match){"ipv4-unicast": off,
		"l2vpn-evpn": evpn} {
		each(" address-family "+path, do)
		each(" address-family "+path+" enable "+onOff, do)
		each(" address-family "+path+" state "+onOff, do)
	}
	each(" address-family ipv4-unicast aspath allow-my-asn enable "+onOff, func(n *swconf.Neighbor,
		m *tree.Match) {
		n.Loops = isOn(m)
	})
	each(" local-as asn <as>", func(n *swconf.Neighbor, m *tree.Match) { n.Local = tree.Say(m, "as", m.Word("as")) })
	each(" shutdown "+onOff, func(n *swconf.Neighbor, m *tree.Match) { n.Down = tree.Say(m, "v", isOn(m)) })
}

const groupKind = "peer-group"

// groupName is a group's name with its VRF's, because each VRF has its own.
func groupName(m *tree.Match) string {
	if vrf := m.Word("vrf"); vrf != "default" {
		return vrf + " " + m.Word("group")
	}
	return m.Word("group")
}

func (p *parser) groupRows(g *tree.Grammar, v string) {
	r := &p.bgp
	each := func(path string, do func(n *swconf.Neighbor, m *tree.Match)) {
		g.Add(v+"peer-group <group>"+path, func(m *tree.Match) {
			name := groupName(m)
			if !r.defined[name] {
				r.defined[name] = true
				r.peers.Group(name, m.At("group"))
				p.c.Define(groupKind, name, m.At("group"), false)
			}
			do(r.peers.Known(name), m)
		})
	}
	each("", func(*swconf.Neighbor, *tree.Match) {})
	each(" remote-as <as>", func(n *swconf.Neighbor, m *tree.Match) { n.Remote = p.remote(m) })
	ofPeer(each)
	g.Pass(passedBelow(v+"peer-group <group> ", neighborPassed)...)
}

func passedBelow(path string, words []string) (out []string) {
	for _, w := range words {
		out = append(out, path+w)
	}
	return out
}

// neighborPassed are valid for a neighbour or a group, and neither create nor break its session.
var neighborPassed = []string{"address-family ipv4-unicast policy",
	"address-family ipv4-unicast soft-reconfiguration",
	"address-family ipv4-unicast add-path-tx", "address-family ipv4-unicast nexthop-setting",
	"address-family ipv4-unicast prefix-limits", "address-family ipv4-unicast default-route-origination",
	"address-family ipv4-unicast community-advertise", "address-family ipv4-unicast attribute-mod",
	"address-family ipv4-unicast aspath allow-my-asn occurrences",
	"address-family ipv4-unicast aspath allow-my-asn origin", "address-family ipv4-unicast aspath private-as",
	"address-family ipv4-unicast aspath replace-peer-as",
	"address-family ipv4-unicast route-reflector-client",
	"address-family ipv4-unicast route-server-client", "address-family ipv4-unicast weight",
	"address-family ipv4-unicast conditional-advertise",
	"address-family ipv6-unicast", "address-family l2vpn-evpn policy", "address-family l2vpn-evpn aspath",
	"address-family l2vpn-evpn nexthop-setting", "address-family l2vpn-evpn route-reflector-client",
	"address-family l2vpn-evpn soft-reconfiguration", "address-family l2vpn-evpn attribute-mod",
	"address-family l2vpn-evpn add-path-tx", "address-family l2vpn-evpn community-advertise", "bfd",
	"capabilities", "description",
	"enforce-first-as", "graceful-restart", "graceful-shutdown", "local-as prepend", "local-as replace",
	"local-as enable", "multihop-ttl",
	"nexthop-connected-check", "passive-mode", "password", "timers", "ttl-security", "update-source",
	"ebgp-policy",
	"enable", "state", "idle-hold-time", "out-delay", "tcp-mss", "max-session-ttl"}

// remote reads the AS of a neighbour or a group.
func (p *parser) remote(m *tree.Match) swconf.Said[string] {
	as := m.Word("as")
	if _, ok := swconf.ASN(as); !ok && as != "external" && as != "internal" {
		p.bad(m, "as", "external, internal or an AS number")
	}
	return tree.Say(m, "as", as)
}

// resolve gives the default VRF the numbers for all VRFs, and members the values of their groups.
func (r *routing) resolve(c *swconf.Config) {
	if r.on.Is() && !r.on.V || r.b == nil && !r.asn.Is() {
		return
	}
	b := r.open()
	b.ASN, b.RouterID = r.asn, r.id
	r.peers.Resolve(b)
	for _, n := range b.Neighbors {
		if n.Port == "" {
			continue
		}
		if q := c.Port(n.Port); q != nil {
			q.LinkOnly.V = true // IPv6 is on unless turned off
		}
		for _, q := range c.Bundles {
			if q.Name == n.Port {
				q.LinkOnly.V = true
			}
		}
	}
	c.BGP = b
}

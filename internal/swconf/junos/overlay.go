package junos

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"railyard/internal/swconf"
	"railyard/internal/swconf/tree"
)

// overlayRows add VLAN settings that must be equal on both switches of a pair: VNIs and route targets (EVPN User Guide,
// "vxlan", "vrf-target"), and hosts' gateway addresses (Junos, VRRP and virtual-gateway-address).
func (p *parser) overlayRows(g *tree.Grammar) {
	h := &p.multi
	g.Add("vlans <name> vlan-id <n:int>", func(m *tree.Match) {
		h.vlans[m.Word("name")] = p.within(m, "n", 1, 4094)
	})
	g.Add("vlans <name> vxlan vni <n:int>", func(m *tree.Match) {
		h.vnis[m.Word("name")] = p.within(m, "n", 1, 16_777_215)
	})
	both := func(m *tree.Match, at, what, value string) {
		p.c.Alike = swconf.Agreed(p.c.Alike, swconf.Alike{What: what, Said: tree.Say(m, at, value)})
	}
	g.Add("switch-options vrf-target <target>", func(m *tree.Match) {
		both(m, "target", "switch-options vrf-target", m.Word("target"))
	})
	g.Add("protocols evpn vni-options vni <n:int> vrf-target <target>", func(m *tree.Match) {
		both(m, "target", fmt.Sprintf("vrf-target of VNI %d", m.Int("n")), m.Word("target"))
	})
	const (
		address = " unit <unit> family inet address <prefix> "
		inet    = "interfaces irb" + address
	)
	own := func(m *tree.Match) {
		if a, err := netip.ParsePrefix(m.Word("prefix")); err == nil {
			h.own = append(h.own, a.Addr())
		}
	}
	for _, name := range []string{"irb", "lo0", "em0", "fxp0", "me0", "vme"} {
		g.Add("interfaces "+name+address+"<more...>", own)
	}
	g.Add(inet+"virtual-gateway-address <addr>", func(m *tree.Match) {
		own(m)
		both(m, "addr", fmt.Sprintf("virtual gateway of irb.%s", m.Word("unit")), m.Word("addr"))
	})
	g.Add(inet+"vrrp-group <n:int> virtual-address <addr>", func(m *tree.Match) {
		own(m)
		both(m, "addr", fmt.Sprintf("VRRP group %d of irb.%s", m.Int("n"), m.Word("unit")), m.Word("addr"))
	})
}

// numbered checks the VLANs: each ID belongs to one, and both switches of a pair assign it the same VNI.
func (p *parser) numbered() {
	ids := map[int]string{}
	names := slices.SortedFunc(maps.Keys(p.multi.vlans), func(a, b string) int {
		return p.multi.vlans[a].At.Line - p.multi.vlans[b].At.Line
	})
	for _, name := range names {
		id, vni := p.multi.vlans[name], p.multi.vnis[name]
		if first := ids[id.V]; id.Is() && first != "" {
			swconf.Report(p.c, id.At, swconf.Error, "duplicate-definition",
				fmt.Sprintf("VLAN %s has the ID of %s (line %d)", name, first, p.multi.vlans[first].At.Line),
				"Junos refuses the commit", "another vlan-id, or one of the two")
			continue
		}
		if ids[id.V] = name; id.Is() && vni.Is() {
			p.c.Alike = append(p.c.Alike, swconf.Alike{What: fmt.Sprintf("VNI of VLAN %d", id.V),
				Said: swconf.Say(fmt.Sprint(vni.V), vni.At)})
		}
	}
}

// iccpLocal checks that the pair communicates from an address of the switch.
func (p *parser) iccpLocal() {
	local, own := p.multi.local, p.multi.own
	for _, q := range slices.Concat(p.c.Ports, p.c.Bundles, p.c.Subs) {
		for _, a := range q.Addrs {
			own = append(own, a.V.Addr())
		}
	}
	addr, err := netip.ParseAddr(local.V)
	if err != nil || p.c.Part || len(own) == 0 || slices.Contains(own, addr) {
		return
	}
	swconf.Report(p.c, local.At, swconf.Error, "mlag",
		fmt.Sprintf("iccp local-ip-addr %s is the address of no interface", local.V),
		"the two switches never find each other, and every shared bundle stays down on one of them",
		"the address of an interface, such as "+own[0].String())
}

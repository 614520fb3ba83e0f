package frr

import (
	"net/netip"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

// ifupdown parses /etc/network/interfaces (ifupdown2's manual), a file next to frr.conf if Linux has the ports, or
// before it in one combined file: addresses, MTU, bonds and their members.
func (p *parser) ifupdown(r *cli.Mode) {
	r.On("iface <name> [ <afi:inet|inet6> <method> ]", func(m *cli.Match) *cli.Mode {
		port := p.port(m)
		r := cli.NewMode("iface")
		address := func(m *cli.Match) { p.c.Address(m, port, p.bad) }
		r.Set("address <prefix>", func(m *cli.Match) {
			if _, err := netip.ParseAddr(m.Word("prefix")); err != nil {
				address(m) // otherwise its netmask is on another line
			}
		})
		r.Set("alias <text...>", func(m *cli.Match) { port.Desc = swconf.SaidAt(p.c, m, "text", m.Word("text")) })
		r.Set("mtu <n:int>", func(m *cli.Match) {
			if n := m.Int("n"); n < 68 || n > 65_535 { // dev_set_mtu of Linux
				p.bad(m, "n", "an MTU from 68 to 65535 bytes")
				return
			}
			port.MTU = swconf.SaidAt(p.c, m, "n", unit.Bytes(m.Int("n")))
		})
		r.Set("link-speed <n:int>", func(m *cli.Match) {
			port.Speed = swconf.SaidAt(p.c, m, "n", unit.Rate(min(m.Int("n"), 10_000_000))*unit.Mbps)
		})
		r.Set("link-fec <mode>", func(m *cli.Match) { port.FEC = swconf.SaidAt(p.c, m, "mode", m.Word("mode")) })
		r.Set("link-autoneg <v:on|off|yes|no>", func(m *cli.Match) {
			v := m.Word("v")
			port.Nego = swconf.SaidAt(p.c, m, "v", v == "on" || v == "yes")
		})
		r.Set("bond-slaves <ports...>", func(m *cli.Match) { p.enslave(m, port) })
		r.Set("bond-min-links <n:int>", func(m *cli.Match) {
			port.Least = swconf.SaidAt(p.c, m, "n", int(min(m.Int("n"), 1024)))
		})
		r.Set("bridge-access <n:int>", func(m *cli.Match) {
			port.VLAN = swconf.SaidAt(p.c, m, "n", int(min(m.Int("n"), 4095)))
		})
		r.Set("vrf <name>", func(m *cli.Match) { port.VRF = swconf.SaidAt(p.c, m, "name", m.Word("name")) })
		return r.Skip(p.pass, "gateway", "up", "down", "pre-up", "post-up", "pre-down", "post-down",
			"vrf-table", "bond-mode", "bond-miimon", "bond-lacp-rate", "bond-lacp-bypass-allow",
			"bond-xmit-hash-policy",
			"bridge-ports", "bridge-vids", "bridge-vlan-aware", "bridge-stp", "bridge-pvid",
			"bridge-learning", "bridge-arp-nd-suppress", "mstpctl-bpduguard", "mstpctl-portadminedge",
			"mstpctl-portbpdufilter",
			"clag-id", "clagd-backup-ip", "clagd-peer-ip", "clagd-priority", "clagd-sys-mac",
			"clagd-vxlan-anycast-ip", "vlan-id", "vlan-raw-device", "vxlan-id", "vxlan-local-tunnelip",
			"vxlan-mcastgrp", "hwaddress", "address-virtual", "link-duplex",
			"link-down", "es-sys-mac", "broadcast", "netmask", "dns-nameservers", "dns-search")
	})
	r.Skip(p.pass, "auto", "allow-hotplug")
}

// enslave puts ports into a bond.
func (p *parser) enslave(m *cli.Match, bundle *swconf.Port) {
	for _, name := range strings.Fields(m.Word("ports")) {
		if port := p.c.Port(name); port != nil && bundle.Number > 0 {
			port.Channel = swconf.SaidAt(p.c, m, "ports", bundle.Number)
		} else if n := panel(name); n > 0 && bundle.Number > 0 && p.c.Room(p.c.At(m, "ports"), 1) {
			p.c.Ports = append(p.c.Ports, &swconf.Port{Name: name, Number: n, At: p.c.At(m, "ports"),
				Channel: swconf.SaidAt(p.c, m, "ports", bundle.Number)})
		}
	}
}

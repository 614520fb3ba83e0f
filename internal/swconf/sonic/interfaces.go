package sonic

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/platform"
	"railyard/unit"
)

// defaultMTU is the default of ports and port channels.
func defaultMTU() unit.Bytes {
	n, _ := platform.Of("sonic", "").Number("mtu")
	return unit.Bytes(n)
}

// readPorts fills the ports from PORT, INTERFACE and CABLE_LENGTH.
func (p *parser) readPorts() {
	table := p.table("PORT")
	if len(table.names()) == 0 {
		p.fragment()
		return
	}
	mtu := defaultMTU()
	for i, name := range table.keys {
		row := table.kids[i]
		port := &swconf.Port{Name: name, At: row.at}
		if v, ok := p.number(row, "index", 1<<20); ok {
			port.Number = int(v)
		}
		if port.Number == 0 {
			port.Number = aliasNumber(row.str("alias"))
		}
		if v, ok := p.number(row, "speed", 10_000_000); ok {
			port.Speed = swconf.Say(unit.Rate(v)*unit.Mbps, row.get("speed").at)
		}
		port.MTU.V = mtu
		if v, ok := p.number(row, "mtu", 65535); ok {
			if v < 68 || v > 9216 { // sonic-port.yang
				p.bad(row.get("mtu"), "mtu %d: 68 to 9216 bytes are accepted", v)
			} else {
				port.MTU = swconf.Say(unit.Bytes(v), row.get("mtu").at)
			}
		}
		if d := row.get("description"); d != nil {
			port.Desc = swconf.Say(d.text, d.at)
		}
		if f := row.get("fec"); f != nil {
			port.FEC = swconf.Say(f.text, f.at)
			if f.text != "none" && f.text != "rs" && f.text != "fc" && f.text != "auto" && f.text != "N/A" {
				p.bad(f, "fec %q: none, rs, fc or auto are accepted", f.text)
			}
		}
		if a := row.get("autoneg"); a != nil && a.text != "N/A" {
			port.Nego = swconf.Say(p.either(a, "autoneg", "on", "off"), a.at)
		}
		p.admin(port, row)
		if a := row.get("pfc_asym"); a != nil && p.either(a, "pfc_asym", "on", "off") {
			p.c.Apart = append(p.c.Apart, swconf.Say(name+" pauses the other end and is not paused by it (pfc_asym)", a.at))
		}
		p.ports[name], p.order[name] = port, len(p.c.Ports)
		p.c.Ports = append(p.c.Ports, port)
	}
	// Ports are down by default (portmgrd's DEFAULT_ADMIN_STATUS_STR); a file without any port that is up is a part of
	// a configuration.
	if slices.ContainsFunc(p.c.Ports, func(p *swconf.Port) bool { return p.Down.Is() }) {
		for _, port := range p.c.Ports {
			port.Down.V = port.Down.V || !port.Down.Is()
		}
	}
	p.attached()
}

// attached adds other tables' settings of ports.
func (p *parser) attached() {
	for _, list := range values(p.table("CABLE_LENGTH")) {
		for i, name := range list.keys {
			n := list.kids[i]
			mm, err := unit.ParseLength(n.text)
			if err != nil {
				p.bad(n, "cable length %q is not a length such as 5m", n.text)
			} else if port := p.ports[name]; port != nil && mm > 0 {
				port.CableMM = swconf.Say(mm, n.at)
			}
		}
	}
	p.addresses("INTERFACE", "PORT", func(name string) *swconf.Port { return p.ports[name] })
}

func (p *parser) admin(port *swconf.Port, row *node) {
	if a := row.get("admin_status"); a != nil {
		port.Down = swconf.Say(p.either(a, "admin_status", "down", "up"), a.at)
	}
}

// addresses parses a table of interfaces: a row for the interface, and one for each of its addresses.
func (p *parser) addresses(table, defines string, find func(name string) *swconf.Port) {
	ifaces := p.table(table)
	for i, row := range values(ifaces) {
		name, prefix, numbered := strings.Cut(ifaces.keys[i], "|")
		port := find(name)
		switch {
		case port == nil && p.elsewhere(defines):
		case port == nil:
			p.bad(row, "%s names %s, which %s does not have", table, name, defines)
		case !numbered:
			if f := row.get("ipv6_use_link_local_only"); f != nil {
				port.LinkOnly = swconf.Say(p.either(f, "ipv6_use_link_local_only", "enable", "disable"), f.at)
			}
			p.vrf(port, row)
		default:
			pre, err := netip.ParsePrefix(strings.TrimSpace(prefix))
			if err != nil {
				p.bad(row, "%q is not an address with a prefix length", prefix)
				continue
			}
			port.Addrs = append(port.Addrs, swconf.Say(pre, row.at))
		}
	}
}

func (p *parser) vrf(port *swconf.Port, row *node) {
	v := row.get("vrf_name")
	if net := row.get("vnet_name"); net != nil && net.text != "" { // a VRF with a tunnel (VNET)
		port.VRF = swconf.Say(net.text, net.at)
		return
	}
	if v == nil || v.text == "" || v.text == defaultVRF {
		return
	}
	if vrfs := p.table("VRF"); vrfs.get(v.text) == nil && !strings.HasPrefix(v.text, "Vnet") {
		p.bad(v, "vrf_name %q, which VRF does not have", v.text)
	}
	port.VRF = swconf.Say(v.text, v.at)
}

// subs reads VLAN_SUB_INTERFACE: Ethernet36.10, or Eth36.10 and Po1.10 for short.
func (p *parser) subs() {
	table := "VLAN_SUB_INTERFACE"
	t := p.table(table)
	by := map[string]*swconf.Port{}
	for i, row := range values(t) {
		name, _, numbered := strings.Cut(t.keys[i], "|")
		if numbered || !p.c.Room(row.at, 1) {
			continue
		}
		of, tag, _ := strings.Cut(name, ".")
		parent := p.long(of)
		if parent == nil && p.elsewhere("PORTCHANNEL") && strings.HasPrefix(of, "Po") {
			by[name] = &swconf.Port{} // a member of a channel in another file
			continue
		}
		if parent == nil {
			p.bad(row, "%s names %s, which is not a port or port channel of the configuration", table, of)
			by[name] = &swconf.Port{} // told once
			continue
		}
		s := &swconf.Port{Name: name, At: row.at, Parent: parent.Name}
		if v, err := strconv.Atoi(tag); err == nil {
			s.Tag = swconf.Say(v, row.at)
		}
		if v, ok := p.number(row, "vlan", 4094); ok {
			s.Tag = swconf.Say(int(v), row.get("vlan").at)
		}
		p.admin(s, row)
		by[name] = s
		p.c.Subs = append(p.c.Subs, s)
	}
	p.addresses(table, table, func(name string) *swconf.Port { return by[name] })
}

// long is the port or port channel of a name, which may be short.
func (p *parser) long(name string) *swconf.Port {
	if port := p.ports[name]; port != nil {
		return port
	}
	if tail, ok := strings.CutPrefix(name, "Eth"); ok && p.ports["Ethernet"+tail] != nil {
		return p.ports["Ethernet"+tail]
	}
	if tail, ok := strings.CutPrefix(name, "Po"); ok && !strings.HasPrefix(name, "PortChannel") {
		name = "PortChannel" + tail
	}
	if n, ok := channelNumber(name); ok {
		return p.c.Bundle(n)
	}
	return nil
}

// vlans reads which VLAN the untagged packets of ports and port channels are in.
func (p *parser) vlans() {
	t := p.table("VLAN_MEMBER")
	for i, row := range values(t) {
		vlan, name, _ := strings.Cut(t.keys[i], "|")
		tail, named := strings.CutPrefix(vlan, "Vlan")
		n, err := strconv.Atoi(tail)
		port := p.long(name)
		switch {
		case !named || err != nil || n < 1 || n > 4094:
			p.bad(row, "VLAN_MEMBER|%s is of no VLAN such as Vlan100", t.keys[i])
		case p.table("VLAN").get(vlan) == nil && !p.elsewhere("VLAN"):
			p.bad(row, "VLAN_MEMBER names %s, which VLAN does not have", vlan)
		case port == nil && p.elsewhere("PORTCHANNEL"):
		case port == nil:
			p.bad(row, "VLAN_MEMBER names %s, which is not a port or port channel of the configuration", name)
		case row.str("tagging_mode") != "tagged":
			port.VLAN = swconf.Say(n, row.at)
		}
	}
}

// aliasNumber reads the front panel number: etp3, Eth3, Ethernet3/1.
func aliasNumber(alias string) int {
	i := strings.IndexFunc(alias, func(r rune) bool { return r >= '0' && r <= '9' })
	if i < 0 {
		return 0
	}
	tail, _, _ := strings.Cut(alias[i:], "/")
	n, err := strconv.Atoi(tail)
	if err != nil {
		return 0
	}
	return n
}

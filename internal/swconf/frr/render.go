package frr

import (
	"fmt"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
)

// Naming says how ports are called where FRR runs.
type Naming func(number int) string

// Swp is the naming of Linux switches.
func Swp(n int) string { return fmt.Sprintf("swp%d", n) }

type writer struct {
	strings.Builder
	d    *design.Design
	s    *design.Switch
	name Naming
}

func (w *writer) line(indent int, format string, args ...any) {
	fmt.Fprintf(w, "%*s", indent, "")
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

// Render writes a switch's frr.conf and the list of daemons. FRR routes; queues,
// PFC and ECN belong to whatever drives the ports.
func Render(d *design.Design, s *design.Switch) ([]design.File, error) {
	if s.Peer != nil && d.Multihome == design.MLAG {
		return nil, design.Refuse(swconf.FRR, s, "MLAG is not FRR's; use --multihoming esi")
	}
	return []design.File{{Path: s.Name + "/frr.conf", Text: Config(d, s, Swp, true)},
		{Path: s.Name + "/daemons", Text: "zebra=yes\nbgpd=yes\nvtysh_enable=yes\n"}}, nil
}

// Config is the text of frr.conf. interfaces adds addresses and descriptions,
// for systems where FRR holds them.
func Config(d *design.Design, s *design.Switch, name Naming, interfaces bool) string {
	w := &writer{d: d, s: s, name: name}
	w.line(0, "! %s, %s switch of %s; written by railyard config render", s.Name, s.Role, d.Name)
	w.line(0, "frr defaults datacenter")
	w.line(0, "hostname %s", s.Name)
	w.line(0, "service integrated-vtysh-config")
	w.line(0, "!")
	if interfaces {
		w.interfaces()
	}
	w.bgp()
	w.line(0, "line vty")
	w.line(0, "!")
	return w.String()
}

func (w *writer) interfaces() {
	w.line(0, "interface lo")
	w.line(1, "ip address %v/32", w.s.RouterID)
	w.line(0, "exit")
	w.line(0, "!")
	for _, p := range w.s.Ports {
		far := p.FarPort
		if p.Far != nil {
			far = w.name(numberOf(p.FarPort))
		}
		w.line(0, "interface %s", w.name(p.Number))
		w.line(1, "description to %s %s", p.FarName, far)
		if p.Addr.IsValid() {
			w.line(1, "ip address %v", p.Addr)
		}
		w.line(0, "exit")
		w.line(0, "!")
	}
	if !w.d.EVPN() || w.s.Peer == nil {
		return
	}
	for _, c := range w.s.Channels() { // Ethernet segments of the bundles to hosts
		w.line(0, "interface bond%d", c.Channel)
		w.line(1, "description %s %s", c.FarName, c.VLAN.Name)
		w.line(1, "evpn mh es-id %d", c.Channel)
		w.line(1, "evpn mh es-sys-mac %s", w.s.ESIMAC(c.Channel))
		w.line(0, "exit")
		w.line(0, "!")
	}
}

func numberOf(far string) (n int) {
	fmt.Sscanf(far, "Eth%d", &n)
	return n
}

func (w *writer) bgp() {
	s, evpn := w.s, w.d.EVPN()
	if !s.Routed() {
		return
	}
	w.line(0, "router bgp %d", s.ASN)
	w.line(1, "bgp router-id %v", s.RouterID)
	w.line(1, "no bgp ebgp-requires-policy")
	w.line(1, "bgp bestpath as-path multipath-relax")
	w.line(1, "neighbor FABRIC peer-group")
	w.line(1, "neighbor FABRIC remote-as external")
	w.line(1, "neighbor FABRIC timers 1 3")
	w.line(1, "neighbor FABRIC advertisement-interval 0")
	for _, p := range s.Neighbors() {
		if p.Addr.IsValid() {
			w.line(1, "neighbor %v peer-group FABRIC", p.FarAddr)
		} else {
			w.line(1, "neighbor %s interface peer-group FABRIC", w.name(p.Number))
		}
	}
	w.line(1, "!")
	w.line(1, "address-family ipv4 unicast")
	w.line(2, "redistribute connected")
	w.line(2, "maximum-paths 64")
	w.line(1, "exit-address-family")
	if evpn {
		w.line(1, "!")
		w.line(1, "address-family l2vpn evpn")
		w.line(2, "neighbor FABRIC activate")
		if s.Peer != nil {
			w.line(2, "advertise-all-vni")
		}
		w.line(1, "exit-address-family")
	}
	w.line(0, "exit")
	w.line(0, "!")
}

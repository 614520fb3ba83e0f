package frr

import (
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
)

type writer struct{ design.Writer }

// Render writes a switch's frr.conf and the list of daemons. FRR routes; queues, PFC and ECN belong to the software
// of the ports.
func Render(d *design.Design, s *design.Switch) ([]design.File, error) {
	if s.Peer != nil && d.Multihome == design.MLAG {
		return nil, design.Refuse(swconf.FRR, s, "MLAG is not FRR's; use --multihoming esi")
	}
	return []design.File{{Path: s.Name + "/frr.conf", Text: Config(d, s, true)},
		{Path: s.Name + "/daemons", Text: "zebra=yes\n" + routing(s) + "=yes\nvtysh_enable=yes\n"}}, nil
}

// routing is the daemon with the routes.
func routing(s *design.Switch) string {
	if len(s.SIDs) > 0 {
		return "staticd"
	}
	return "bgpd"
}

// Config returns the contents of frr.conf. interfaces adds addresses and descriptions, for systems where FRR has them.
func Config(d *design.Design, s *design.Switch, interfaces bool) string {
	w := &writer{design.Writer{D: d, S: s, Step: 1}}
	w.Line(0, "! %s, %s switch of %s; written by railyard config render", s.Name, s.Role, d.Name)
	w.Line(0, "frr defaults datacenter")
	w.Line(0, "hostname %s", s.Name)
	w.Line(0, "service integrated-vtysh-config")
	w.Line(0, "!")
	if interfaces {
		w.interfaces()
	}
	w.segments()
	w.bgp()
	w.Line(0, "line vty")
	w.Line(0, "!")
	return w.String()
}

func (w *writer) interfaces() {
	w.Line(0, "interface lo")
	w.Line(1, "ip address %v/32", w.S.RouterID)
	w.Line(0, "exit")
	w.Line(0, "!")
	for _, p := range w.S.Ports {
		w.Line(0, "interface %s", p.Name)
		w.Line(1, "description %s", p.Description())
		if p.Addr.IsValid() {
			w.Line(1, "ip address %v", p.Addr)
		}
		if p.Addr6.IsValid() {
			w.Line(1, "ipv6 address %v", p.Addr6)
		}
		w.Line(0, "exit")
		w.Line(0, "!")
	}
	for _, v := range w.S.VLANs { // a pair's addresses are the anycast gateways of both switches
		if v.Gateway.IsValid() && w.S.Peer == nil {
			w.Line(0, "interface vlan%d", v.ID)
			w.Line(1, "description %s", v.Name)
			w.Line(1, "ip address %v/%d", v.Gateway, v.Subnet.Bits())
			w.Line(0, "exit")
			w.Line(0, "!")
		}
	}
	for _, t := range w.S.Trunks {
		w.Line(0, "interface %s", t.Name(swconf.FRR))
		w.Line(1, "description %s", t.Description(swconf.FRR))
		if t.Addr.IsValid() {
			w.Line(1, "ip address %v", t.Addr)
		}
		w.Line(0, "exit")
		w.Line(0, "!")
	}
	if !w.D.EVPN() || w.S.Peer == nil {
		return
	}
	for _, c := range w.S.Channels() { // Ethernet segments of the bundles to hosts
		w.Line(0, "interface bond%d", c.Channel)
		w.Line(1, "description %s %s", c.FarName, c.VLAN.Name)
		w.Line(1, "evpn mh es-id %d", c.Channel)
		w.Line(1, "evpn mh es-sys-mac %s", w.S.ESIMAC(c.Channel))
		w.Line(0, "exit")
		w.Line(0, "!")
	}
}

func (w *writer) bgp() {
	s, evpn := w.S, w.D.EVPN()
	if !s.Routed() {
		return
	}
	w.Line(0, "router bgp %d", s.ASN)
	w.Line(1, "bgp router-id %v", s.RouterID)
	w.Line(1, "no bgp ebgp-requires-policy")
	w.Line(1, "bgp bestpath as-path multipath-relax")
	w.Line(1, "neighbor FABRIC peer-group")
	w.Line(1, "neighbor FABRIC remote-as external")
	w.Line(1, "neighbor FABRIC timers 1 3")
	w.Line(1, "neighbor FABRIC advertisement-interval 0")
	for _, p := range s.Sessions(w.D.OS) {
		if p.Addr.IsValid() {
			w.Line(1, "neighbor %v peer-group FABRIC", p.FarAddr)
		} else {
			w.Line(1, "neighbor %s interface peer-group FABRIC", p.Port)
		}
	}
	w.Line(1, "!")
	w.Line(1, "address-family ipv4 unicast")
	w.Line(2, "redistribute connected")
	w.Line(2, "maximum-paths 64")
	w.Line(1, "exit-address-family")
	if evpn {
		w.Line(1, "!")
		w.Line(1, "address-family l2vpn evpn")
		w.Line(2, "neighbor FABRIC activate")
		if s.Peer != nil {
			w.Line(2, "advertise-all-vni")
		}
		w.Line(1, "exit-address-family")
	}
	w.Line(0, "exit")
	w.Line(0, "!")
}

package junos

import (
	"fmt"
	"net/netip"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/unit"
)

type writer struct {
	design.Writer
	profiles map[int64]string // congestion notification profiles by metres of cable
}

// set writes one command.
func (w *writer) set(format string, args ...any) { w.Line(0, "set "+format, args...) }

// Render writes a switch's set commands, for Junos and Junos Evolved on QFX.
func Render(d *design.Design, s *design.Switch) ([]design.File, error) {
	notes, err := fit(d, s)
	if err != nil {
		return nil, err
	}
	s.Notes = notes
	w := &writer{design.Writer{D: d, S: s}, map[int64]string{}}
	w.Line(0, "# %s, %s switch of %s; written by railyard config render", s.Name, s.Role, d.Name)
	w.Line(0, "# load set FILE in configuration mode, commit makes it count; statements differ between models: check yours")
	for _, n := range notes {
		w.Line(0, "# %s", n)
	}
	w.set("system host-name %s", s.Name)
	if n := aggregated(s); n > 0 {
		w.set("chassis aggregated-devices ethernet device-count %d", n)
	}
	w.classes()
	w.schedulers()
	w.pauses()
	w.interfaces()
	w.vlans()
	w.pair()
	w.routing()
	w.set("protocols lldp interface all")
	return []design.File{{Path: s.Name + "/junos.cfg", Text: w.String()}}, nil
}

// aggregated returns the number of bundles to configure: their numbers begin at 0.
func aggregated(s *design.Switch) (n int) {
	for _, p := range s.Ports {
		if c := channel(p); c > 0 {
			n = max(n, design.Aggregated(c)+1)
		}
	}
	return n
}

// channel is the bundle that a port is a member of, or 0.
func channel(p *design.Port) int {
	if p.Kind == design.ToPeer {
		return design.PeerChannel
	}
	return p.Channel
}

// name returns that of a bundle.
func name(channel int) string { return design.ChannelName(swconf.Junos, channel) }

func (w *writer) interfaces() {
	w.set("interfaces lo0 unit 0 family inet address %v/32", w.S.RouterID)
	whole := map[int32]bool{}
	for _, p := range w.S.Ports {
		w.port(p, whole)
	}
	for _, c := range w.S.Channels() {
		ae := name(c.Channel)
		w.bundle(ae, c.FarName+" "+c.VLAN.Name, 1)
		w.set("interfaces %s unit 0 family ethernet-switching interface-mode access", ae)
		w.set("interfaces %s unit 0 family ethernet-switching vlan members %s", ae, c.VLAN.Name)
		if w.S.Peer != nil {
			w.shared(ae, c.Channel)
		}
	}
	for _, t := range w.S.Trunks {
		ae := t.Name(swconf.Junos)
		w.bundle(ae, t.Description(swconf.Junos), t.Least)
		w.routed(ae, t.Addr, true)
	}
}

// port writes a front panel port. The speed of a part is set at the whole port.
func (w *writer) port(p *design.Port, whole map[int32]bool) {
	speed := p.Name
	if p.Jack.Parts > 1 {
		speed, _, _ = strings.Cut(p.Name, ":")
	}
	if p.Jack.Parts > 1 && !whole[p.Jack.Port] {
		w.set("interfaces %s number-of-sub-ports %d", speed, p.Jack.Parts)
	}
	if !whole[p.Jack.Port] {
		w.set("interfaces %s speed %dg", speed, p.Rate/unit.Gbps)
	}
	whole[p.Jack.Port] = p.Jack.Parts > 1
	w.set("interfaces %s description \"%s\"", p.Name, p.Description())
	if c := channel(p); c > 0 {
		w.set("interfaces %s ether-options 802.3ad %s", p.Name, name(c))
		return // the other settings belong to the bundle
	}
	w.set("interfaces %s mtu %d", p.Name, w.S.Spec.MTU)
	if p.VLAN != nil {
		w.set("interfaces %s unit 0 family ethernet-switching interface-mode access", p.Name)
		w.set("interfaces %s unit 0 family ethernet-switching vlan members %s", p.Name, p.VLAN.Name)
		return
	}
	w.routed(p.Name, p.Addr, p.Kind == design.ToSwitch)
}

// routed writes the addresses of a layer 3 interface. One to a switch without an address has a link-local one.
func (w *writer) routed(name string, addr netip.Prefix, toSwitch bool) {
	switch {
	case addr.IsValid():
		w.set("interfaces %s unit 0 family inet address %v", name, addr)
	case toSwitch:
		w.set("interfaces %s unit 0 family inet", name)
		w.set("interfaces %s unit 0 family inet6", name)
	}
}

// bundle opens an aggregated Ethernet interface.
func (w *writer) bundle(ae, description string, least int) {
	w.set("interfaces %s description \"%s\"", ae, description)
	w.set("interfaces %s mtu %d", ae, w.S.Spec.MTU)
	w.set("interfaces %s aggregated-ether-options lacp active", ae)
	if least > 1 {
		w.set("interfaces %s aggregated-ether-options minimum-links %d", ae, least)
	}
}

// shared writes a server bundle's settings on both switches of a pair: an Ethernet segment, or an mc-ae.
func (w *writer) shared(ae string, channel int) {
	mac := w.S.ESIMAC(channel)
	w.set("interfaces %s aggregated-ether-options lacp system-id %s", ae, mac)
	if w.D.EVPN() {
		w.set("interfaces %s esi 00:%s:00:00:00", ae, mac)
		w.set("interfaces %s esi all-active", ae)
		return
	}
	side, status := 0, "active"
	if !w.S.First {
		side, status = 1, "standby"
	}
	w.set("interfaces %s aggregated-ether-options lacp admin-key %d", ae, channel)
	for _, said := range []string{fmt.Sprint("mc-ae-id ", channel), fmt.Sprint("redundancy-group ", redundancyGroup),
		fmt.Sprint("chassis-id ", side), "mode active-active", "status-control " + status, "init-delay-time 240"} {
		w.set("interfaces %s aggregated-ether-options mc-ae %s", ae, said)
	}
}

const (
	redundancyGroup = 1 // redundancy group of a pair: both switches have one
	iccpVLAN        = 4094
)

// vlans writes VLANs and their gateways.
func (w *writer) vlans() {
	s, evpn := w.S, w.D.EVPN() && w.S.Peer != nil
	for _, v := range s.VLANs {
		w.set("vlans %s vlan-id %d", v.Name, v.ID)
		if evpn {
			w.set("vlans %s vxlan vni %d", v.Name, v.VNI)
		}
		if !v.Gateway.IsValid() {
			continue
		}
		w.set("vlans %s l3-interface irb.%d", v.Name, v.ID)
		w.set("interfaces irb mtu %d", s.Spec.MTU)
		address := fmt.Sprintf("interfaces irb unit %d family inet address %v/%d", v.ID, v.Own[s], v.Subnet.Bits())
		switch {
		case evpn:
			w.set("%s virtual-gateway-address %v", address, v.Gateway)
			w.set("interfaces irb unit %d virtual-gateway-accept-data", v.ID)
		case s.Peer != nil:
			w.set("%s vrrp-group 1 virtual-address %v", address, v.Gateway)
			w.set("%s vrrp-group 1 accept-data", address)
		default:
			w.set("%s", address)
		}
	}
}

// iccp returns the addresses of a pair's ICCP session, the switch's and its peer's: a separate /30 for each pair.
func iccp(s *design.Switch) (own, peer netip.Addr) {
	n := 4 * (s.PairID - 1)
	first := netip.AddrFrom4([4]byte{169, 254, byte(n >> 8), byte(n + 1)})
	if s.First {
		return first, first.Next()
	}
	return first.Next(), first
}

// pair writes the connection of two switches: ICCP and the protection link of MC-LAG, or tunnels of EVPN.
func (w *writer) pair() {
	s := w.S
	switch {
	case s.Peer == nil:
		return
	case w.D.EVPN():
		w.set("switch-options vtep-source-interface lo0.0")
		w.set("switch-options route-distinguisher %v:1", s.RouterID)
		w.set("switch-options vrf-target target:1:1")
		w.set("protocols evpn encapsulation vxlan")
		w.set("protocols evpn extended-vni-list all")
		for _, v := range s.VLANs {
			w.set("protocols evpn vni-options vni %d vrf-target target:%d:%d", v.VNI, v.VNI, v.VNI)
		}
		return
	}
	own, peer := iccp(s)
	ae := name(design.PeerChannel)
	w.bundle(ae, "peer link to "+s.Peer.Name, 1)
	w.set("interfaces %s unit 0 family ethernet-switching interface-mode trunk", ae)
	w.set("interfaces %s unit 0 family ethernet-switching vlan members all", ae)
	w.set("vlans iccp vlan-id %d", iccpVLAN)
	w.set("vlans iccp l3-interface irb.%d", iccpVLAN)
	w.set("interfaces irb unit %d family inet address %v/30", iccpVLAN, own)
	w.set("protocols iccp local-ip-addr %v", own)
	w.set("protocols iccp peer %v session-establishment-hold-time 50", peer)
	w.set("protocols iccp peer %v redundancy-group-id-list %d", peer, redundancyGroup)
	w.set("protocols iccp peer %v backup-liveness-detection backup-peer-ip %v", peer, s.Peer.Mgmt.Addr())
	w.set("protocols iccp peer %v liveness-detection minimum-interval 2000", peer)
	w.set("protocols iccp peer %v liveness-detection multiplier 4", peer)
	w.set("multi-chassis multi-chassis-protection %v interface %s", peer, ae)
	w.set("switch-options service-id %d", s.PairID)
}

// routing writes the underlay, ECMP, and the EVPN sessions between loopbacks.
func (w *writer) routing() {
	s := w.S
	w.set("forwarding-options enhanced-hash-key hash-seed %d", s.Seed)
	if !s.Routed() {
		return
	}
	switch mode, _ := w.D.Balanced(); mode {
	case "flowlet":
		w.set("forwarding-options enhanced-hash-key ecmp-dlb flowlet inactivity-interval %d",
			max(1, w.D.FlowletGap/unit.Microsecond))
	case "per-packet":
		w.set("forwarding-options enhanced-hash-key ecmp-dlb per-packet")
	}
	w.set("policy-options policy-statement DIRECT term 1 from protocol direct")
	w.set("policy-options policy-statement DIRECT term 1 then accept")
	w.set("policy-options policy-statement ECMP then load-balance per-packet")
	w.set("routing-options router-id %v", s.RouterID)
	w.set("routing-options autonomous-system %d", s.ASN)
	w.set("routing-options forwarding-table export ECMP")
	const bgp = "protocols bgp group FABRIC "
	w.set(bgp + "type external")
	w.set(bgp + "export DIRECT")
	w.set(bgp + "multipath multiple-as")
	if w.D.Addressing == design.Unnumbered {
		w.set(bgp + "family inet unicast extended-nexthop")
		w.set(bgp + "family inet6 unicast")
		w.set(bgp + "peer-as-list FABRIC")
		w.set(bgp + "dynamic-neighbor FABRIC peer-auto-discovery family inet6 ipv6-nd")
		w.set("policy-options as-list FABRIC members 1-4294967294")
	} else {
		w.set(bgp + "family inet unicast")
	}
	for _, n := range s.Sessions(swconf.Junos) {
		if n.Addr.IsValid() {
			w.set(bgp+"neighbor %v peer-as %d", n.FarAddr, n.Far.ASN)
			continue
		}
		w.set(bgp+"dynamic-neighbor FABRIC peer-auto-discovery interface %s.0", n.Port)
		w.set("protocols router-advertisement interface %s.0", n.Port)
	}
	if w.D.EVPN() {
		w.overlay()
	}
}

// overlay writes the EVPN sessions: a separate group, whose next hops a switch without tunnels does not change.
// Next hops of the underlay are the switch's own.
func (w *writer) overlay() {
	const bgp = "protocols bgp group EVPN "
	w.set(bgp + "type external")
	w.set(bgp+"local-address %v", w.S.RouterID)
	w.set(bgp + "family evpn signaling")
	w.set(bgp + "multihop ttl 2")
	if w.S.Peer == nil {
		w.set(bgp + "multihop no-nexthop-change")
	}
	said := map[*design.Switch]bool{}
	for _, n := range w.S.Sessions(swconf.Junos) {
		if !said[n.Far] {
			said[n.Far] = true
			w.set(bgp+"neighbor %v peer-as %d", n.Far.RouterID, n.Far.ASN)
		}
	}
}

package nxos

import (
	"fmt"
	"math"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/unit"
)

// writer writes one switch's configuration.
type writer struct {
	design.Writer
	split map[int32]bool // ports that are already split
}

// Render writes a switch's configuration.
func Render(d *design.Design, s *design.Switch) ([]design.File, error) {
	w := &writer{design.Writer{D: d, S: s, Step: 2}, map[int32]bool{}}
	if err := w.fits(); err != nil {
		return nil, err
	}
	w.Line(0, "! %s, %s switch of %s; written by railyard config render", s.Name, s.Role, d.Name)
	w.Line(0, "hostname %s", s.Name)
	w.features()
	w.qos()
	w.watchdog()
	w.balancing()
	w.pair()
	w.interfaces()
	w.bgp()
	return []design.File{{Path: s.Name + "/nxos.cfg", Text: w.String()}}, nil
}

// fits rejects settings that NX-OS cannot express.
func (w *writer) fits() error {
	spec := &w.S.Spec
	no := func(format string, args ...any) error { return design.Refuse(swconf.NXOS, w.S, format, args...) }
	if spec.TrimMask() != 0 {
		return no("packet trimming (switch.queues.*.trim), for which no NX-OS command is known; SONiC has one")
	}
	if err := w.S.Unsayable(swconf.NXOS); err != nil {
		return err
	}
	if spec.MTU > 9216 || spec.MTU < 576 {
		return no("an MTU of %d; 576 to 9216 are accepted", spec.MTU)
	}
	for i := range spec.Queues {
		k := &spec.Queues[i]
		if p := k.WRED.Probability.Percent(); p != math.Round(p) && math.Abs(p-math.Round(p)) > 1e-9 {
			return no("queue %d: a drop probability of %g %%; whole percents are accepted", i, p)
		}
		if _, ok := exponent(k.Alpha); k.Alpha > 0 && !ok {
			return no("queue %d: alpha %g; powers of two from 1/128 to 8 are accepted", i, k.Alpha)
		}
		if k.Lossless && k.XOff == 0 && (k.XOn > 0 || k.XOnOffset > 0) {
			return no("queue %d: xON %v and offset %v below a dynamic threshold; none is accepted (switch.queues.%d.xon=0B)", i, k.XOn, k.XOnOffset, i)
		}
	}
	if wd := spec.Watchdog; wd.On {
		if wd.Poll < 100*unit.Millisecond || wd.Poll > 1000*unit.Millisecond ||
			wd.Poll%unit.Millisecond != 0 || wd.Detect%wd.Poll != 0 || wd.Restore%wd.Poll != 0 {
			return no("a watchdog of %v, %v, %v; the interval must be 100ms to 1000ms and the others multiples of it (switch.watchdog)", wd.Poll, wd.Detect, wd.Restore)
		}
	}
	return nil
}

// exponent is n of "queue-limit dynamic n".
func exponent(a float64) (int, bool) {
	for n := range int64(11) {
		if alphaOf(n) == a {
			return int(n), true
		}
	}
	return 0, false
}

// jumbo is the default system jumbo MTU, and the largest.
const jumbo = 9216

func (w *writer) features() {
	feature := func(on bool, name string) {
		if on {
			w.Line(0, "feature %s", name)
		}
	}
	pair, evpn := w.S.Peer != nil, w.D.EVPN()
	if evpn {
		w.Line(0, "nv overlay evpn")
	}
	feature(w.S.Routed(), "bgp")
	feature(len(w.S.VLANs) > 0, "interface-vlan")
	feature(evpn && pair, "vn-segment-vlan-based")
	feature(pair && !evpn && len(w.S.VLANs) > 0 && w.S.Routed(), "hsrp")
	feature(len(w.S.Channels())+len(w.S.Trunks) > 0, "lacp")
	feature(pair && !evpn, "vpc")
	feature(true, "lldp")
	if evpn && pair {
		w.Line(0, "feature fabric forwarding")
	}
	if evpn {
		w.Line(0, "feature nv overlay")
	}
	// ports of VLANs accept 1500 bytes or this
	if mtu := w.S.Spec.MTU; len(w.S.VLANs) > 0 && mtu > 1500 && mtu < jumbo {
		w.Line(0, "system jumbomtu %d", mtu)
	}
	w.Line(0, "!")
}

// className names the class of a queue.
func (w *writer) className(i int) string {
	switch spec := &w.S.Spec; i {
	case int(spec.DSCP[w.D.DataDSCP]):
		return "ROCE"
	case int(spec.DSCP[w.D.CNPDSCP]):
		return "CNP"
	}
	return fmt.Sprintf("QUEUE%d", i)
}

// qos writes the source document's steps 1 to 5.
func (w *writer) qos() {
	spec := &w.S.Spec
	var sets [queue.Classes]string
	for i := range sets {
		sets[i] = swconf.DSCPSet(spec.DSCP, uint8(i))
	}
	for i := 1; i < queue.Classes; i++ {
		if sets[i] != "" {
			w.Line(0, "class-map type qos match-any %s", w.className(i))
			w.Line(1, "match dscp %s", sets[i])
		}
	}
	w.Line(0, "policy-map type qos CLASSIFY")
	for i := 1; i < queue.Classes; i++ {
		if sets[i] != "" {
			w.Line(1, "class %s", w.className(i))
			w.Line(2, "set qos-group %d", i)
		}
	}
	w.Line(1, "class class-default")
	w.Line(2, "set qos-group 0")
	w.Line(0, "policy-map type queuing EGRESS")
	level := 1
	for i := queue.Classes - 1; i >= 0; i-- {
		w.Line(1, "class type queuing c-out-8q-q%s", suffix(i))
		k := &spec.Queues[i]
		if k.Strict {
			w.Line(2, "priority level %d", level)
			level++
		} else {
			w.Line(2, "bandwidth remaining percent %d", k.Weight)
		}
		if r := k.WRED; r.Max > 0 {
			ecn := ""
			if r.ECN {
				ecn = " ecn"
			}
			w.Line(2,
				"random-detect minimum-threshold %s maximum-threshold %s drop-probability %.0f weight %d%s",
				amount(r.Min), amount(r.Max), r.Probability.Percent(), r.Weight, ecn)
		}
		switch {
		case k.Lossless:
		case k.Limit > 0:
			w.Line(2, "queue-limit %d bytes", k.Limit)
		case k.Alpha != 1:
			n, _ := exponent(k.Alpha)
			w.Line(2, "queue-limit dynamic %d", n)
		}
	}
	w.ingress()
	w.Line(0, "policy-map type network-qos FABRIC")
	for i := queue.Classes - 1; i >= 0; i-- {
		if !spec.Queues[i].Lossless && i > 0 {
			continue
		}
		w.Line(1, "class type network-qos c-8q-nq%s", suffix(i))
		w.Line(2, "mtu %d", spec.MTU)
		if spec.Queues[i].Lossless {
			w.Line(2, "pause pfc-cos %d", i)
		}
	}
	w.Line(0, "system qos")
	w.Line(1, "service-policy type network-qos FABRIC")
	w.Line(1, "service-policy type queuing output EGRESS")
	if spec.LosslessMask() != 0 {
		w.Line(1, "service-policy type queuing input %s", ingressAll)
	}
	w.Line(0, "!")
}

func suffix(i int) string {
	if i == 0 {
		return "-default"
	}
	return fmt.Sprint(i)
}

func amount(b unit.Bytes) string {
	if b%1000 == 0 {
		return fmt.Sprintf("%d kbytes", b/1000)
	}
	return fmt.Sprintf("%d bytes", b)
}

func (w *writer) watchdog() {
	wd := w.S.Spec.Watchdog
	if !wd.On {
		return
	}
	disable := ""
	if wd.Forward {
		disable = " disable-action"
	}
	w.Line(0, "priority-flow-control watch-dog-interval on%s", disable)
	w.Line(0, "priority-flow-control watch-dog interval %d", wd.Poll/unit.Millisecond)
	w.Line(0, "priority-flow-control watch-dog shutdown-multiplier %d", wd.Detect/wd.Poll)
	w.Line(0, "priority-flow-control auto-restore multiplier %d", wd.Restore/wd.Poll)
	w.Line(0, "!")
}

// balancing writes the hash seed and DLB on the ports to other switches.
func (w *writer) balancing() {
	if !w.S.Routed() {
		return
	}
	w.Line(0, "ip load-sharing address source-destination port source-destination universal-id %d", w.S.Seed)
	if len(w.S.Trunks) > 0 {
		w.Line(0, "port-channel load-balance src-dst ip-l4port")
	}
	mode, ok := w.D.Balanced()
	if !ok {
		w.Line(0, "!")
		return
	}
	w.Line(0, "hardware profile dlb")
	for _, p := range w.S.Neighbors() {
		w.Line(1, "dlb-interface %s", p.Name)
	}
	w.Line(1, "mac-address %s", strings.ToUpper(swconf.DefaultDLBMAC))
	w.Line(1, "mode %s", mode)
	if mode == "flowlet" {
		w.Line(1, "flowlet-aging %d", max(1, w.D.FlowletGap/unit.Microsecond))
	}
	w.Line(0, "!")
}

// pair writes VLANs and the connection of two switches: vPC, or EVPN multihoming.
func (w *writer) pair() {
	s := w.S
	for _, v := range s.VLANs {
		w.Line(0, "vlan %d", v.ID)
		w.Line(1, "name %s", v.Name)
		if w.D.EVPN() && s.Peer != nil {
			w.Line(1, "vn-segment %d", v.VNI)
		}
	}
	if s.Peer == nil {
		return
	}
	if w.D.EVPN() {
		w.Line(0, "evpn multihoming")
		w.Line(0, "fabric forwarding anycast-gateway-mac 0200.0000.00ff")
		return
	}
	w.Line(0, "vpc domain %d", s.PairID)
	w.Line(1, "role priority %d", map[bool]int{true: 1000, false: 2000}[s.First])
	w.Line(1, "peer-keepalive destination %v source %v vrf management", s.Peer.Mgmt.Addr(), s.Mgmt.Addr())
	w.Line(1, "peer-gateway")
	w.Line(1, "auto-recovery")
	w.Line(0, "interface mgmt0")
	w.Line(1, "ip address %v", s.Mgmt)
	w.Line(0, "interface port-channel%d", design.PeerChannel)
	w.Line(1, "description peer link to %s", s.Peer.Name)
	w.Line(1, "switchport")
	w.Line(1, "switchport mode trunk")
	w.bundled(s.PeerPorts())
	w.Line(1, "vpc peer-link")
}

func (w *writer) interfaces() {
	s, evpn := w.S, w.D.EVPN()
	w.Line(0, "interface loopback0")
	w.Line(1, "ip address %v/32", s.RouterID)
	for _, v := range s.VLANs {
		if !v.Gateway.IsValid() {
			continue
		}
		w.Line(0, "interface Vlan%d", v.ID)
		w.Line(1, "mtu %d", s.Spec.MTU)
		switch {
		case s.Peer == nil || evpn:
			w.Line(1, "ip address %v/%d", v.Gateway, v.Subnet.Bits())
			if evpn {
				w.Line(1, "fabric forwarding mode anycast-gateway")
			}
		default:
			w.Line(1, "ip address %v/%d", v.Own[s], v.Subnet.Bits())
			w.Line(1, "hsrp %d", v.ID)
			w.Line(2, "ip %v", v.Gateway)
		}
		w.Line(1, "no shutdown")
	}
	if evpn && s.Peer != nil {
		w.Line(0, "interface nve1")
		w.Line(1, "no shutdown")
		w.Line(1, "host-reachability protocol bgp")
		w.Line(1, "source-interface loopback0")
		for _, v := range s.VLANs {
			w.Line(1, "member vni %d", v.VNI)
			w.Line(2, "ingress-replication protocol bgp")
		}
	}
	for _, c := range s.Channels() {
		w.Line(0, "interface port-channel%d", c.Channel)
		w.Line(1, "description %s %s", c.FarName, c.VLAN.Name)
		w.Line(1, "switchport")
		w.Line(1, "switchport access vlan %d", c.VLAN.ID)
		w.bundled(w.members(c))
		switch {
		case evpn && s.Peer != nil:
			w.Line(1, "ethernet-segment")
			w.Line(2, "esi system-mac %s %d", dotted(s.ESIMAC(c.Channel)), c.Channel)
		case s.Peer != nil:
			w.Line(1, "vpc %d", c.Channel)
		}
	}
	for _, t := range s.Trunks {
		w.trunk(t)
	}
	for _, p := range s.Ports {
		w.interface_(p)
	}
	w.Line(0, "!")
}

func (w *writer) interface_(p *design.Port) {
	if j := p.Jack; j.Parts > 1 && !w.split[j.Port] {
		w.split[j.Port] = true
		w.Line(0, "interface breakout module 1 port %d map %dg-%dx", j.Port, p.Rate/unit.Gbps, j.Parts)
	}
	w.Line(0, "interface %s", p.Name)
	w.Line(1, "description %s", p.Description())
	switch {
	case p.Kind == design.ToPeer:
		w.Line(1, "switchport")
		w.Line(1, "switchport mode trunk")
	case p.VLAN != nil:
		w.Line(1, "switchport")
		w.Line(1, "switchport access vlan %d", p.VLAN.ID)
	default:
		w.Line(1, "no switchport")
	}
	w.Line(1, "mtu %d", w.S.Spec.MTU)
	w.Line(1, "speed %d", p.Rate/unit.Mbps)
	w.Line(1, "priority-flow-control mode %v", p.Mode())
	if w.S.Spec.Watchdog.On {
		w.Line(1, "priority-flow-control watch-dog-interval on")
	}
	w.Line(1, "lldp dcbx version ieee")
	if p.Channel == 0 {
		w.Line(1, "service-policy type qos input CLASSIFY")
	}
	switch {
	case p.Addr.IsValid():
		w.Line(1, "ip address %v", p.Addr)
	case p.Kind == design.ToSwitch && p.Trunk == nil:
		w.Line(1, "ip forward")
		w.Line(1, "ipv6 address use-link-local-only")
	}
	if p.Kind == design.ToSwitch && p.Trunk == nil {
		w.watched()
	}
	if p.Channel > 0 {
		w.Line(1, "channel-group %d mode active", p.Channel)
	}
	w.Line(1, "no shutdown")
	if name := w.ingressName(p.Headroom); name != ingressAll && p.Channel == 0 {
		w.Line(1, "service-policy type queuing input %s", name)
	}
}

func (w *writer) bgp() {
	s, evpn := w.S, w.D.EVPN()
	if !s.Routed() {
		return
	}
	w.Line(0, "route-map CONNECTED permit 10")
	transit := evpn && s.Peer == nil
	if transit {
		w.Line(0, "route-map UNCHANGED permit 10")
		w.Line(1, "set ip next-hop unchanged")
	}
	w.Line(0, "router bgp %d", s.ASN)
	w.Line(1, "router-id %v", s.RouterID)
	w.Line(1, "bestpath as-path multipath-relax")
	w.Line(1, "address-family ipv4 unicast")
	w.Line(2, "redistribute direct route-map CONNECTED")
	w.Line(2, "maximum-paths 64")
	if evpn {
		w.Line(1, "address-family l2vpn evpn")
		w.Line(2, "maximum-paths 64")
		if transit {
			w.Line(2, "nexthop route-map UNCHANGED")
			w.Line(2, "retain route-target all")
		}
	}
	for _, p := range s.Sessions(swconf.NXOS) {
		if p.Addr.IsValid() {
			w.Line(1, "neighbor %v", p.FarAddr)
		} else {
			w.Line(1, "neighbor %s", p.Port)
		}
		w.Line(2, "remote-as %d", p.Far.ASN)
		w.Line(2, "description %s", p.Far.Name)
		w.Line(2, "address-family ipv4 unicast")
		if evpn {
			w.Line(2, "address-family l2vpn evpn")
			w.Line(3, "send-community")
			w.Line(3, "send-community extended")
			w.Line(3, "rewrite-evpn-rt-asn")
			if transit {
				w.Line(3, "route-map UNCHANGED out")
			}
		}
	}
	if evpn && s.Peer != nil {
		w.Line(0, "evpn")
		for _, v := range s.VLANs {
			w.Line(1, "vni %d l2", v.VNI)
			w.Line(2, "rd auto")
			w.Line(2, "route-target import auto")
			w.Line(2, "route-target export auto")
		}
	}
}

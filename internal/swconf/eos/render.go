package eos

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/platform"
	"railyard/unit"
)

type writer struct{ design.Writer }

// Render writes a switch's configuration. Its buffer and load balancing commands differ between releases and chips: the
// header of the output notes that.
func Render(d *design.Design, s *design.Switch) ([]design.File, error) {
	w := &writer{design.Writer{D: d, S: s, Step: 3}}
	if s.Spec.TrimMask() != 0 {
		return nil, design.Refuse(swconf.EOS, s, "packet trimming (switch.queues.*.trim), for which no EOS command is known; SONiC has one")
	}
	if err := s.Unsayable(swconf.EOS); err != nil {
		return nil, err
	}
	for i := range s.Spec.Queues {
		if p := s.Spec.Queues[i].WRED.Probability.Percent(); math.Abs(p-math.Round(p)) > 1e-9 {
			return nil, design.Refuse(swconf.EOS, s,
				"queue %d: a mark probability of %g %%; whole percents are accepted", i, p)
		}
	}
	if err := fitWatchdog(s); err != nil {
		return nil, err
	}
	notes, err := fitBuffers(s)
	if err != nil {
		return nil, err
	}
	notes = append(notes, fitMTU(s)...)
	w.Line(0, "! %s, %s switch of %s; written by railyard config render", s.Name, s.Role, d.Name)
	w.Line(0, "! the mmu profile and load-balance commands differ between releases and chips: check them against yours")
	for _, n := range notes {
		w.Line(0, "! %s", n)
	}
	w.Line(0, "hostname %s", s.Name)
	w.Line(0, "service routing protocols model multi-agent")
	w.Line(0, "lldp run")
	w.Line(0, "ip routing")
	if d.Addressing == design.Unnumbered {
		w.Line(0, "ip routing ipv6 interfaces")
		w.Line(0, "ipv6 unicast-routing")
	}
	w.Line(0, "!")
	w.qos()
	w.balancing()
	w.pair()
	w.interfaces()
	w.bgp()
	return []design.File{{Path: s.Name + "/eos.cfg", Text: w.String()}}, nil
}

func (w *writer) qos() {
	spec := &w.S.Spec
	for i := range queue.Classes {
		if set := swconf.DSCPSet(spec.DSCP, uint8(i)); set != "" {
			w.Line(0, "qos map dscp %s to traffic-class %d", strings.ReplaceAll(set, ",", " "), i)
		}
	}
	for i := range queue.Classes - 1 { // EOS does not allow a mapping of the last one
		w.Line(0, "qos map traffic-class %d to tx-queue %d", i, i)
	}
	w.Line(0, "!")
	w.buffers()
	w.Line(0, "platform trident mmu queue profile FABRIC apply")
	w.Line(0, "!")
	w.Line(0, "qos profile FABRIC")
	w.Line(1, "qos trust dscp")
	if spec.LosslessMask() != 0 {
		w.Line(1, "priority-flow-control on")
	}
	for i := range spec.Queues {
		if spec.Queues[i].Lossless {
			w.Line(1, "priority-flow-control priority %d no-drop", i)
		}
	}
	for i := range spec.Queues {
		k := &spec.Queues[i]
		w.Line(1, "uc-tx-queue %d", i) // the name on chips with the memory of the profile above
		if k.Strict {
			w.Line(2, "priority strict")
		} else {
			w.Line(2, "no priority")
			if k.Weight > 0 { // EOS takes shares from 1 %
				w.Line(2, "bandwidth percent %d", k.Weight)
			}
		}
		if k.Lossless && spec.Watchdog.On { // without it the watchdog does not monitor the queue
			w.Line(2, "bandwidth guaranteed %d", floorKbps)
		}
		if r := k.WRED; r.Max > 0 && r.ECN {
			w.Line(2, "random-detect ecn minimum-threshold %s maximum-threshold %s max-mark-probability %.0f weight %d", amount(r.Min), amount(r.Max), r.Probability.Percent(), r.Weight)
		} else if r.Max > 0 {
			w.Line(2,
				"random-detect drop minimum-threshold %s maximum-threshold %s drop-probability %.0f weight %d", amount(r.Min), amount(r.Max), r.Probability.Percent(), r.Weight)
		}
	}
	w.Line(0, "!")
	if wd := spec.Watchdog; wd.On {
		w.Line(0, "! polls at least twice in each of the other times, as EOS wants it")
		w.Line(0, "priority-flow-control pause watchdog default timeout %s", seconds(wd.Detect))
		w.Line(0, "priority-flow-control pause watchdog default recovery-time %s", seconds(wd.Restore))
		w.Line(0, "priority-flow-control pause watchdog default polling-interval %s", seconds(wd.Poll))
		action := "drop"
		if wd.Forward {
			action = "notify-only"
		}
		w.Line(0, "priority-flow-control pause watchdog action %s", action)
		w.Line(0, "!")
	}
}

// floorKbps is the guaranteed bandwidth of a monitored queue. A starved queue would look stuck, and EOS monitors
// none without it. The least that guides give.
const floorKbps = 100

// fitWatchdog rounds the watchdog of a switch to EOS's times. A longer polling interval is reduced to EOS's
// maximum; the switch's Spec is changed accordingly.
func fitWatchdog(s *design.Switch) error {
	w := &s.Spec.Watchdog
	if !w.On {
		return nil
	}
	eos := platform.Of(string(swconf.EOS), "")
	for _, t := range []struct {
		what, key string
		v         unit.Time
		step      unit.Time
	}{{"timeout", "timeout", w.Detect, 10 * unit.Millisecond},
		{"recovery time", "recovery", w.Restore, 10 * unit.Millisecond}} {
		low, _ := eos.Number("watchdog_" + t.key + "_min_s")
		high, _ := eos.Number("watchdog_" + t.key + "_max_s")
		if v := t.v.Seconds(); v < low || v > high || t.v%t.step != 0 {
			return design.Refuse(swconf.EOS, s,
				"a watchdog %s of %v; %g to %g seconds in steps of %v are accepted",
				t.what, t.v, low, high, t.step)
		}
	}
	if most := min(w.Detect, w.Restore) / 2; w.Poll > most {
		w.Poll = most
	}
	low, _ := eos.Number("watchdog_polling_min_s")
	if w.Poll.Seconds() < low || w.Poll%unit.Millisecond != 0 {
		return design.Refuse(swconf.EOS, s,
			"a watchdog that polls every %v; %g seconds and more in steps of 1ms are accepted (switch.watchdog.poll)", w.Poll, low)
	}
	return nil
}

// fitMTU limits a switch's MTU to EOS's maximum, which excludes the Ethernet header; the switch's Spec is changed
// accordingly.
func fitMTU(s *design.Switch) []string {
	most, ok := platform.Of(string(swconf.EOS), "").Number("mtu_max")
	if !ok || float64(s.Spec.MTU) <= most {
		return nil
	}
	s.Spec.MTU = unit.Bytes(most)
	return []string{fmt.Sprintf("EOS takes MTUs to %.0f: packets without their Ethernet header", most)}
}

// share formats alpha like EOS: 1/8, 1, 2; others as a decimal.
func share(a float64) string {
	if a > 0 && a < 1 && 1/a == math.Round(1/a) {
		return fmt.Sprintf("1/%.0f", 1/a)
	}
	return strconv.FormatFloat(a, 'g', -1, 64)
}

func seconds(t unit.Time) string { return strconv.FormatFloat(t.Seconds(), 'g', -1, 64) }

func amount(b unit.Bytes) string {
	if b%1000 == 0 {
		return fmt.Sprintf("%d kbytes", b/1000)
	}
	return fmt.Sprintf("%d bytes", b)
}

func (w *writer) balancing() {
	w.Line(0, "ip load-sharing trident seed %d", w.S.Seed)
	if mode, ok := w.D.Balanced(); ok {
		w.Line(0, "load-balance policies")
		w.Line(1, "load-balance dynamic")
		w.Line(2, "mode %s", mode)
		if mode == "flowlet" {
			w.Line(2, "inactivity %d microseconds", max(1, w.D.FlowletGap/unit.Microsecond))
		}
	}
	w.Line(0, "!")
}

func (w *writer) pair() {
	s := w.S
	for _, v := range s.VLANs {
		w.Line(0, "vlan %d", v.ID)
		w.Line(1, "name %s", v.Name)
	}
	if s.Peer != nil && w.D.EVPN() { // servers are disconnected when no path to the fabric is left
		w.Line(0, "link tracking group %s", fabric)
		w.Line(1, "links minimum 1")
	}
	if s.Peer == nil || w.D.EVPN() {
		return
	}
	w.Line(0, "vlan 4094")
	w.Line(1, "name mlag-peer")
	w.Line(1, "trunk group mlag")
	w.Line(0, "no spanning-tree vlan-id 4094")
	w.Line(0, "interface Port-Channel%d", design.PeerChannel)
	w.Line(1, "description peer link to %s", s.Peer.Name)
	w.Line(1, "switchport mode trunk")
	w.Line(1, "switchport trunk group mlag")
	w.Line(1, "service-profile %s", fabric)
	w.Line(0, "interface Vlan4094")
	w.Line(1, "no autostate")
	own, peer := "169.254.0.0", "169.254.0.1"
	if !s.First {
		own, peer = peer, own
	}
	w.Line(1, "ip address %s/31", own)
	w.Line(0, "mlag configuration")
	w.Line(1, "domain-id pair-%d", s.PairID)
	w.Line(1, "local-interface Vlan4094")
	w.Line(1, "peer-address %s", peer)
	w.Line(1, "peer-link Port-Channel%d", design.PeerChannel)
	w.Line(0, "!")
}

func (w *writer) interfaces() {
	s, evpn := w.S, w.D.EVPN()
	w.Line(0, "interface Loopback0")
	w.Line(1, "ip address %v/32", s.RouterID)
	if len(s.VLANs) > 0 && s.Routed() {
		w.Line(0, "ip virtual-router mac-address 02:00:00:00:00:ff")
	}
	for _, v := range s.VLANs {
		if !v.Gateway.IsValid() {
			continue
		}
		w.Line(0, "interface Vlan%d", v.ID)
		w.Line(1, "mtu %d", s.Spec.MTU)
		switch {
		case evpn:
			w.Line(1, "ip address virtual %v/%d", v.Gateway, v.Subnet.Bits())
		case s.Peer != nil:
			w.Line(1, "ip address %v/%d", v.Own[s], v.Subnet.Bits())
			w.Line(1, "ip virtual-router address %v", v.Gateway)
		default:
			w.Line(1, "ip address %v/%d", v.Gateway, v.Subnet.Bits())
		}
	}
	if evpn && s.Peer != nil {
		w.Line(0, "interface Vxlan1")
		w.Line(1, "vxlan source-interface Loopback0")
		w.Line(1, "vxlan udp-port 4789")
		for _, v := range s.VLANs {
			w.Line(1, "vxlan vlan %d vni %d", v.ID, v.VNI)
		}
	}
	for _, c := range s.Channels() {
		w.Line(0, "interface Port-Channel%d", c.Channel)
		w.Line(1, "description %s %s", c.FarName, c.VLAN.Name)
		w.Line(1, "switchport access vlan %d", c.VLAN.ID)
		w.Line(1, "service-profile %s", fabric) // members have it too, because either may apply
		switch {
		case evpn && s.Peer != nil:
			w.Line(1, "link tracking group %s downstream", fabric)
			mac := strings.Split(s.ESIMAC(c.Channel), ":")
			id := strings.Join([]string{mac[0] + mac[1], mac[2] + mac[3], mac[4] + mac[5]}, ":")
			w.Line(1, "evpn ethernet-segment")
			w.Line(2, "identifier 0000:0000:%s", id)
			w.Line(2, "route-target import %s", s.ESIMAC(c.Channel))
			w.Line(1, "lacp system-id %s.%s.%s", mac[0]+mac[1], mac[2]+mac[3], mac[4]+mac[5])
		case s.Peer != nil:
			w.Line(1, "mlag %d", c.Channel)
		}
	}
	for _, t := range s.Trunks {
		w.trunk(t)
	}
	for _, p := range s.Ports {
		w.port(p)
	}
	w.Line(0, "!")
}

// trunk writes a layer 3 port channel.
func (w *writer) trunk(t *design.Trunk) {
	w.Line(0, "interface %s", t.Name(swconf.EOS))
	w.Line(1, "description %s", t.Description(swconf.EOS))
	w.Line(1, "mtu %d", w.S.Spec.MTU)
	w.Line(1, "no switchport")
	w.Line(1, "service-profile %s", fabric)
	if t.Least > 1 {
		w.Line(1, "port-channel min-links %d", t.Least)
	}
	if t.Addr.IsValid() {
		w.Line(1, "ip address %v", t.Addr)
	} else {
		w.Line(1, "ipv6 enable")
	}
	w.Line(1, "no shutdown")
}

func (w *writer) port(p *design.Port) {
	w.Line(0, "interface %s", p.Name)
	w.Line(1, "description %s", p.Description())
	w.Line(1, "mtu %d", w.S.Spec.MTU)
	w.Line(1, "speed %dg", p.Rate/unit.Gbps)
	w.Line(1, "service-profile FABRIC")
	if p.Mode() == swconf.PFCOff {
		w.Line(1, "no priority-flow-control")
	}
	if name := w.profileOf(p); name != fabric {
		w.Line(1, "platform trident mmu queue interface-profile %s", name)
	}
	w.Line(1, "dcbx mode ieee")
	if w.D.EVPN() && w.S.Peer != nil && p.Kind == design.ToSwitch && p.Trunk == nil {
		w.Line(1, "link tracking group %s upstream", fabric)
	}
	channel := p.Channel
	if p.Kind == design.ToPeer {
		channel = design.PeerChannel
	}
	switch {
	case channel > 0:
		w.Line(1, "channel-group %d mode active", channel)
	case p.VLAN != nil:
		w.Line(1, "switchport access vlan %d", p.VLAN.ID)
	default:
		w.Line(1, "no switchport")
	}
	switch {
	case p.Addr.IsValid():
		w.Line(1, "ip address %v", p.Addr)
	case p.VLAN == nil && p.Kind == design.ToSwitch && p.Trunk == nil:
		w.Line(1, "ipv6 enable")
	}
	w.Line(1, "no shutdown")
}

func (w *writer) bgp() {
	s, evpn := w.S, w.D.EVPN()
	if !s.Routed() {
		return
	}
	w.Line(0, "router bgp %d", s.ASN)
	w.Line(1, "router-id %v", s.RouterID)
	w.Line(1, "maximum-paths 64 ecmp 64")
	w.Line(1, "neighbor FABRIC peer group")
	if evpn {
		w.Line(1, "neighbor FABRIC send-community extended")
	}
	for _, p := range s.Sessions(swconf.EOS) {
		if p.Addr.IsValid() {
			w.Line(1, "neighbor %v peer group FABRIC", p.FarAddr)
			w.Line(1, "neighbor %v remote-as %d", p.FarAddr, p.Far.ASN)
		} else {
			w.Line(1, "neighbor interface %s peer-group FABRIC remote-as %d", p.Port, p.Far.ASN)
		}
	}
	w.Line(1, "redistribute connected")
	if evpn && s.Peer != nil {
		for _, v := range s.VLANs {
			w.Line(1, "vlan %d", v.ID)
			w.Line(2, "rd %v:%d", s.RouterID, v.ID)
			w.Line(2, "route-target both %d:%d", v.VNI, v.VNI)
			w.Line(2, "redistribute learned")
		}
	}
	if evpn {
		w.Line(1, "address-family evpn")
		if s.Peer == nil { // ends no tunnel, and passes on received routes
			w.Line(2, "bgp next-hop-unchanged")
		}
		w.Line(2, "neighbor FABRIC activate")
	}
	w.Line(1, "address-family ipv4")
	w.Line(2, "neighbor FABRIC activate")
	if !p2p(w.D) {
		w.Line(2, "neighbor FABRIC next-hop address-family ipv6 originate")
	}
	w.Line(0, "!")
}

func p2p(d *design.Design) bool { return d.Addressing == design.Numbered }

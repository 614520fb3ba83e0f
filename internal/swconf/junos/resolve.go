package junos

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/swconf"
	"railyard/unit"
)

// resolve applies class-of-service to ports, and builds BGP.
func (p *parser) resolve() {
	c, r := p.c, &p.bgp
	if dog := &c.Watchdog; !dog.Poll.Is() {
		dog.Poll.V = unit.Time(known.Int("watchdog_polling_ms")) * unit.Millisecond
	}
	c.Watchdog.Detect.V = c.Watchdog.Poll.V * unit.Time(known.Int("watchdog_detection"))
	if dog := &c.Watchdog; !dog.Restore.Is() {
		dog.Restore.V = unit.Time(known.Int("watchdog_recovery_ms")) * unit.Millisecond
	}
	if n := p.cos.polls; n.Is() {
		c.Watchdog.Detect = swconf.Say(c.Watchdog.Poll.V*unit.Time(n.V), n.At)
	}
	p.multihomed()
	p.treat()
	for _, list := range [][]*swconf.Port{c.Ports, c.Bundles, c.Subs} {
		for _, q := range list {
			q.VRF = r.vrfs[q.Name]
		}
	}
	if len(r.order) == 0 {
		return
	}
	b := &swconf.BGP{ASN: r.asn, RouterID: r.id, MaxPaths: swconf.Said[int]{V: known.Int("bgp_paths")}}
	for _, key := range r.order {
		x := r.groups[key]
		x.inherit(r.all[x.vrf])
		if x.vrf == "" && x.multipath.V { // all equal paths
			b.MaxPaths = swconf.Say(64, x.multipath.At)
		}
		if x.vrf == "" && x.relax.V {
			b.Relax = x.relax
		}
		if x.export.Is() && x.vrf == "" {
			b.Others = swconf.Say(true, x.export.At)
		}
		if x.local.Is() && !b.ASN.Is() {
			if n, ok := swconf.ASN(x.local.V); ok {
				b.ASN = swconf.Say(n, x.local.At)
			}
		}
		for _, n := range x.list {
			if !n.Remote.Is() {
				n.Remote = x.remote
			}
			if !n.Local.Is() {
				n.Local = x.local
			}
			if !n.Down.Is() {
				n.Down = x.down
			}
			n.Keeps = x.keeps
			n.On |= x.families
			n.Overlay = n.On != 0 && n.On&(swconf.IPv4|swconf.IPv6) == 0
			n.Active = true // inet unicast unless another family is named
			b.Neighbors = append(b.Neighbors, n)
		}
	}
	c.BGP = b
}

// treat applies class-of-service to ports.
func (p *parser) treat() {
	c := p.c
	whole := false
	for _, carries := range p.units {
		whole = whole || carries
	}
	if c.Part = !whole &&
		len(c.Ports) == 0; !whole { // a part of a configuration: its ports are the ports with settings
		for _, u := range p.cos.uses {
			p.named(u.pattern, u.at)
		}
	}
	for _, port := range c.Ports { // a split port itself carries nothing
		if whole, _, ok := strings.Cut(port.Name, ":"); ok && c.Port(whole) != nil {
			c.Port(whole).Down = swconf.Say(true, port.At)
		}
	}
	if whole {
		p.noUnit()
	}
	c.QoS = &swconf.QoS{}
	for _, u := range p.cos.uses {
		if len(c.Ports) == 0 && u.kind != "cnp" {
			c.QoS, _ = p.build(u.pattern)
			break
		}
	}
	seen := map[swconf.Print]*swconf.QoS{}
	for _, port := range c.Ports {
		var b *swconf.Port
		if port.Channel.Is() {
			b = c.Bundle(port.Channel.V)
		}
		if b != nil && b.MTU.Is() {
			port.MTU = b.MTU
		}
		if whole && !p.units[port.Name] && b == nil {
			continue // without an address or a VLAN it carries nothing
		}
		names := []string{port.Name}
		if b != nil {
			names = []string{b.Name, port.Name}
		}
		q, x := p.build(names...)
		key := q.Fingerprint()
		if seen[key] == nil {
			seen[key] = q
		}
		if port.QoS = seen[key]; x != nil {
			port.PFC = swconf.Say(swconf.PFCOn, p.cos.from(names, "cnp").At)
			if port.CableMM = x.cable; x.guards.V {
				port.Watchdog = x.guards
				c.Watchdog.On = x.guards
			}
		}
		if !port.MTU.Is() && !c.Part {
			port.MTU = swconf.Say(unit.Bytes(known.Int("mtu")), port.At)
		}
		if x != nil && x.mru.Is() && int64(x.mru.V) < int64(port.MTU.V) {
			p.once(x.mru.At, swconf.Error, "headroom", fmt.Sprintf("mru %d is below the MTU of ports with the profile: %s has %d",
				x.mru.V, names[0], port.MTU.V), "headroom is for frames of the mru: longer ones are lost while a pause takes effect",
				fmt.Sprintf("mru %d", port.MTU.V))
		}
	}
}

// noUnit notes ports with class-of-service of their own and without a unit, which carry no packets.
func (p *parser) noUnit() {
	var names []string
	var at swconf.Place
	for _, u := range p.cos.uses {
		q := p.c.Port(u.pattern)
		if !physical.MatchString(u.pattern) || p.units[u.pattern] || slices.Contains(names, u.pattern) ||
			q != nil && (q.Down.V || q.Channel.Is()) {
			continue
		}
		if names == nil {
			at = u.at
		}
		names = append(names, u.pattern)
	}
	if names == nil {
		return
	}
	idle := fmt.Sprintf("class-of-service of %s has no effect: no unit", swconf.Compress(names))
	p.c.Apart = append(p.c.Apart, swconf.Say(idle, at))
	swconf.Report(p.c, at, swconf.Info, "policy-unused", idle,
		"a port without a unit carries no packets, so that lint, show and simulation leave it out",
		fmt.Sprintf("set interfaces %s unit 0 family inet, with its address; or remove its class-of-service", names[0]))
}

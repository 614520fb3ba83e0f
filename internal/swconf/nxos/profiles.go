package nxos

import (
	"fmt"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

// profile is a port-profile: the default settings of interfaces that inherit it, once its state is enabled (Cisco,
// Nexus 9000 interfaces guide, "Port Profiles").
type profile struct {
	port    *swconf.Port
	enabled swconf.Said[bool]
}

func (p *parser) openProfile(m *cli.Match) *cli.Mode {
	name := m.Word("name")
	if m.No {
		delete(p.profiles, name)
		p.c.Undefine("port-profile", name)
		return nil
	}
	f := p.profiles[name]
	if f == nil {
		f = &profile{port: &swconf.Port{Name: name, At: p.c.At(m, "name")}}
		p.profiles[name], p.ports[f.port] = f, &applied{}
		p.define(m, "port-profile", name)
	}
	o := &opened{ports: []*swconf.Port{f.port}, profile: f}
	p.blocks = append(p.blocks, ifBlock{f.port, &o.applied})
	return p.modes.profile.Of(o)
}

// profileRules are the rules of interfaces, and the rules of profiles only.
func (p *parser) profileRules() *cli.Mode {
	r := p.portRules()
	r.Set("[no] state enabled", func(m *cli.Match) {
		swconf.Switch(p.c, m, &below(m).profile.enabled, "state", true)
	})
	return r.Skip(p.pass, "max-ports")
}

// inherit records the profile of an interface, or of a profile.
func (p *parser) inherit(q *swconf.Port, m *cli.Match) {
	name := swconf.SaidAt(p.c, m, "name", m.Word("name"))
	p.inherits[q] = swconf.Without(p.inherits[q], name.V, m.Has("name"))
	if !m.No {
		p.inherits[q] = append(p.inherits[q], name)
	}
}

// profileDepth bounds profiles that inherit profiles: NX-OS has four levels.
const profileDepth = 4

// inheritAll gives interfaces the settings of their profiles.
func (p *parser) inheritAll() {
	told := map[string]bool{}
	for _, q := range append(append(append([]*swconf.Port(nil), p.c.Ports...), p.c.Bundles...), p.c.Subs...) {
		p.inheritOne(q, q, 0, told)
	}
}

func (p *parser) inheritOne(to, from *swconf.Port, depth int, told map[string]bool) {
	for _, name := range p.inherits[from] {
		f := p.profiles[name.V]
		if f == nil || depth == profileDepth {
			continue
		}
		if !f.enabled.V {
			if !told[name.V] {
				told[name.V] = true
				swconf.Report(p.c, name.At, swconf.Warning, "policy-unused",
					fmt.Sprintf("port-profile %s is inherited and not enabled", name.V),
					"interfaces take nothing from it before it is", "state enabled in the profile")
			}
			continue
		}
		fill(to, f.port)
		a, b := p.ports[to], p.ports[f.port]
		a.qosIn, a.queueOut, a.queueIn = or(a.qosIn, b.qosIn), or(a.queueOut, b.queueOut), or(a.queueIn, b.queueIn)
		a.egress = append(a.egress, b.egress...)
		p.inheritOne(to, f.port, depth+1, told)
	}
}

// fill copies settings that an interface does not have from another.
func fill(to, from *swconf.Port) {
	fillOne(&to.Desc, from.Desc)
	fillOne(&to.Speed, from.Speed)
	fillOne(&to.MTU, from.MTU)
	fillOne(&to.Down, from.Down)
	fillOne(&to.LinkOnly, from.LinkOnly)
	fillOne(&to.Channel, from.Channel)
	fillOne(&to.Least, from.Least)
	fillOne(&to.VLAN, from.VLAN)
	fillOne(&to.PFC, from.PFC)
	fillOne(&to.Watchdog, from.Watchdog)
	fillOne(&to.LLDPOff, from.LLDPOff)
	fillOne(&to.DCBX, from.DCBX)
	fillOne(&to.VRF, from.VRF)
	if len(to.Addrs) == 0 {
		to.Addrs = from.Addrs
	}
}

func fillOne[T any](to *swconf.Said[T], from swconf.Said[T]) {
	if !to.Is() {
		*to = from
	}
}

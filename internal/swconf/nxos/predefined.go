package nxos

import (
	"fmt"
	"regexp"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

// given are the names of policies that switches predefine: default-in-policy, default-8q-out-policy,
// default-nq-7e-policy, fcoe-default-nq-policy.
var given = regexp.MustCompile(`^(fcoe-)?default-([0-9a-z]+-)*policy$`)

// idle reports whether a policy is predefined and has no effect.
func (p *parser) idle(key string) bool {
	pm := p.policies[key]
	return pm != nil && pm.given && len(pm.classes) == 0
}

// predefine adds the applied predefined policies that the configuration does not define. Policies of the platform have
// no explicit effect: all packets are in its default class, and its queues have their defaults. Applied at a port they
// precede the system's policies all the same.
//
// Those for FCoE put 802.1p priority 3 into class-fcoe. That is group 1, lossless, of 2158 bytes (Cisco, Nexus 5000
// QoS guide, "Information About QoS" and "Default System Classes"; operators' own policies repeat the size). The
// configuration does not contain their queues' shares.
//
// On the Nexus 7000 the templates default-nq-7e and below make priorities lossless whose queues the configuration
// does not name; they are ignored.
func (p *parser) predefine() {
	for key, at := range p.given {
		if p.policies[key] == nil {
			p.policies[key] = own(key, at)
		}
	}
}

// own returns the predefined policy of a name.
func own(key string, at swconf.Place) *policy {
	typ, name, _ := strings.Cut(key, "/")
	pm := &policy{typ: typ, name: name, at: at, given: true}
	if !strings.HasPrefix(name, "fcoe-") || typ == "queuing" {
		return pm
	}
	pc := &policyClass{name: fcoe, at: at}
	pc.Name, pc.At = fcoe, at
	if typ == "qos" {
		pc.group = swconf.Say(1, at)
	} else {
		pc.MTU, pc.Pause = swconf.Say(fcoeMTU, at), swconf.Say(fcoeCOS, at)
	}
	pm.classes = []*policyClass{pc}
	return pm
}

// eight are the classes of default-8q-out-policy, as a Nexus 9000 of release 9.2(2) shows them. The last queue is
// strict, and the remaining share is the default's. Only a copied policy contains them; where the template is
// applied directly, queues have their defaults.
func eight(at swconf.Place) (list []*policyClass) {
	for i := range queue.Classes {
		pc := &policyClass{name: fmt.Sprintf("c-out-8q-q%d", i), at: at}
		switch i {
		case 0:
			pc.name, pc.Share = "c-out-8q-q-default", swconf.Say(100, at)
		case queue.Classes - 1:
			pc.Strict = swconf.Say(true, at)
		default:
			pc.Share = swconf.Say(0, at)
		}
		pc.Name, pc.At = pc.name, at
		list = append(list, pc)
	}
	return list
}

// copyPolicy defines a policy that begins as a copy of another. default-8q-out-policy with the prefix X becomes
// X8q-out (Cisco, Nexus 9000 command reference 9.3, "qos copy policy-map"; a session of 9.2(2) has names).
func (p *parser) copyPolicy(m *cli.Match) {
	typ, from, at := m.Word("type"), m.Word("name"), p.c.At(m, "name")
	name, kind := from, kindOf("policy-map", typ)
	old := p.policies[typ+"/"+from]
	if given.MatchString(from) {
		name = strings.TrimSuffix(strings.Replace(from, "default-", "", 1), "-policy")
		if old == nil {
			old = own(typ+"/"+from, at)
		}
		if old.given && from == "default-8q-out-policy" {
			old.classes = eight(at)
		}
	} else {
		p.c.Use(kind, from, at)
	}
	name = m.Word("prefix") + name + m.Word("suffix")
	pm := &policy{typ: typ, name: name, at: at}
	for i := 0; old != nil && i < len(old.classes); i++ {
		pc := *old.classes[i]
		pm.classes = append(pm.classes, &pc)
	}
	p.policies[typ+"/"+name] = pm
	p.c.Define(kind, name, at, false)
}

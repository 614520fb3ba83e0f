package nxos

import (
	"fmt"
	"slices"

	"railyard/internal/swconf"
)

// Hierarchical queuing of the Nexus 7000 (Cisco, Nexus 7000 QoS guide, "Configuring Queuing and Scheduling on F-Series
// I/O Modules", hierarchical queuing policies): the outer policy has the drop and the no-drop class, c-4q-7e-drop-out
// and c-4q-7e-ndrop-out, and each names a policy that divides the class's share among its queues. Such a policy becomes
// one of all queues, with shares multiplied.

// unnest puts the classes of inner policies in the place of the classes that name them. There are two levels.
func (p *parser) unnest() {
	flat := map[*policy][]*policyClass{}
	for _, pm := range p.policies {
		if pm.typ == "queuing" && slices.ContainsFunc(pm.classes, nests) {
			flat[pm] = p.flatten(pm)
		}
	}
	for _, pm := range p.policies {
		if list, is := flat[pm]; is {
			pm.classes = list
		}
	}
	slices.SortFunc(p.c.Apart, func(a, b swconf.Said[string]) int { return a.At.Line - b.At.Line })
}

func nests(pc *policyClass) bool { return pc.under.Is() }

func (p *parser) flatten(pm *policy) (list []*policyClass) {
	for _, pc := range pm.classes {
		inner := p.policies["queuing/"+pc.under.V]
		if !nests(pc) || inner == nil || inner == pm {
			list = append(list, pc)
			continue
		}
		for _, q := range inner.classes {
			own := *q
			if own.under = (swconf.Said[string]{}); own.Share.Is() && pc.Share.Is() {
				own.Share.V = (own.Share.V*pc.Share.V + 50) / 100
			}
			if own.Strict.V && pc.Share.Is() {
				p.c.Apart = append(p.c.Apart,
					swconf.Say(fmt.Sprintf("%s of policy-map type queuing %s is strict within the %d %% of %s only", own.name, pm.name, pc.Share.V, pc.name), pc.under.At))
			}
			list = append(list, &own)
		}
	}
	return list
}

package nxos

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/unit"
)

// Watchdog defaults: polled every 100 ms, one silent interval is a storm, and a queue is restored after the
// multiplier's number of intervals.
const defaultPoll = 100 * unit.Millisecond

// resolve applies the policies to the ports.
func (p *parser) resolve() {
	c := p.c
	p.watchdog()
	p.listed()
	p.predefine()
	p.unnest()
	p.numberQueues()
	p.queues = p.called()
	cache := map[[4]string]*swconf.QoS{}
	alike := map[swconf.Print]*swconf.QoS{} // ports that do the same share one description
	build := func(a *applied, vlan swconf.Said[string]) *swconf.QoS {
		in, out := or(or(a.qosIn, vlan), p.system.qosIn), or(a.queueOut, p.system.queueOut)
		queueIn, network := or(a.queueIn, p.system.queueIn), p.system.network
		if p.idle("qos/" + in.V) { // the port classifies no packet, whatever the system policy
			in = swconf.Said[string]{}
		}
		key := [4]string{in.V, out.V, queueIn.V, network.V} // names of explicit settings; later ones are emptied
		if cache[key] == nil {
			q := p.qos(in, out, queueIn, network)
			if print := q.Fingerprint(); alike[print] == nil {
				alike[print] = q
			} else {
				q = alike[print]
			}
			cache[key] = q
		}
		return cache[key]
	}
	for _, b := range p.blocks {
		to := p.ports[b.port]
		to.qosIn, to.queueOut, to.queueIn = later(b.a.qosIn, to.qosIn), later(b.a.queueOut, to.queueOut),
			later(b.a.queueIn, to.queueIn)
		if b.a.queueOut.Is() && b.a.queueOut.V == "" {
			to.egress = nil
		}
		to.egress = append(to.egress, b.a.egress...)
	}
	p.inheritAll()
	c.Part = !p.features
	for _, s := range []*swconf.Said[string]{&p.system.qosIn, &p.system.queueOut, &p.system.queueIn,
		&p.system.network} {
		*s = later(*s, swconf.Said[string]{})
	}
	c.QoS = build(&applied{}, swconf.Said[string]{})
	for _, port := range slices.Concat(c.Ports, c.Bundles, c.Subs) {
		port.QoS, port.Policies = build(p.ports[port], p.byVLAN(port)), p.ports[port].said()
	}
	c.Settle()
	for _, port := range c.Ports {
		if p.pfcOff.V {
			port.PFC = swconf.Say(swconf.PFCOff, p.pfcOff.At)
		} else if !port.PFC.Is() {
			port.PFC.V = swconf.PFCAuto
		}
	}
	if c.BGP != nil {
		for _, n := range c.BGP.Neighbors {
			if t := p.peers[n.Group.V]; t != nil {
				n.On |= t.On
				n.Active, n.Loops = n.On != 0, n.Loops || t.Loops
				fillOne(&n.Remote, t.Remote)
				fillOne(&n.Local, t.Local)
				fillOne(&n.Down, t.Down)
				n.Maps = append(n.Maps, t.Maps...)
			}
			for _, m := range n.Maps {
				if p.keeps[m.Name] {
					n.Keeps = swconf.Say(true, m.At)
				}
			}
		}
	}
	p.dlb()
	p.unapplied()
}

// unapplied reports WRED thresholds in the wrong order in queuing policies that no port applies. Lint checks those of
// applied ones, by queue.
func (p *parser) unapplied() {
	const kind = "policy-map type queuing"
	for _, key := range slices.Sorted(maps.Keys(p.policies)) {
		pm := p.policies[key]
		used := func(r swconf.Ref) bool { return r.Kind == kind && r.Name == pm.name }
		if pm.given || pm.typ != "queuing" || slices.ContainsFunc(p.c.Refs, used) {
			continue
		}
		for _, pc := range pm.classes {
			if w := pc.WRED; w.V.Max > 0 && w.V.Min > w.V.Max {
				swconf.Report(p.c, w.At, swconf.Error, "threshold-order", fmt.Sprintf(
					"class %s of %s, which is never applied: WRED minimum %v is above its maximum %v", pc.name, pm.name,
					w.V.Min, w.V.Max),
					"the probability of marks rises from the minimum to the maximum: the switch refuses thresholds in this order, or marks by one of them only",
					"a WRED minimum below the maximum, for example 150 and 3000 kbytes")
			}
		}
	}
}

// called returns the names of queues without a class in a policy, as in the configuration's own policies, on
// switches of four queues without numbers.
func (p *parser) called() string {
	for _, pm := range p.policies {
		for _, pc := range pm.classes {
			if strings.HasPrefix(pc.name, "c-out-q") || strings.HasPrefix(pc.name, "c-nq") {
				return "c-out-q"
			}
		}
	}
	return "c-out-8q-q"
}

// said returns the interface's own setting.
func (a *applied) said() (list []swconf.Said[string]) {
	for _, x := range []struct {
		what string
		name swconf.Said[string]
	}{{"qos input ", a.qosIn}, {"queuing output ", a.queueOut}, {"queuing input ", a.queueIn}} {
		if x.name.Is() {
			list = append(list, swconf.Say(x.what+x.name.V, x.name.At))
		}
	}
	return list
}

// later returns the setting after a line: an empty name removes the earlier one.
func later(line, earlier swconf.Said[string]) swconf.Said[string] {
	if line.Is() && line.V == "" {
		return swconf.Said[string]{}
	}
	return or(line, earlier)
}

func or(a, b swconf.Said[string]) swconf.Said[string] {
	if a.Is() {
		return a
	}
	return b
}

// watchdog turns multiples of the interval into times.
func (p *parser) watchdog() {
	w := &p.c.Watchdog
	if !w.Poll.Is() {
		w.Poll.V = defaultPoll
	}
	for _, t := range []*swconf.Said[unit.Time]{&w.Detect, &w.Restore} {
		if !t.Is() || t.V == 0 {
			t.V = 1
		}
		t.V *= w.Poll.V
	}
}

// qos works out what happens to packets under a set of policies.
func (p *parser) qos(in, out, queueIn, network swconf.Said[string]) *swconf.QoS {
	q := &swconf.QoS{Input: in, Output: out, Network: network}
	for i := range q.Queues {
		q.Queues[i].Name = fmt.Sprintf("%s%d", p.queues, i)
	}
	q.Queues[0].Name = p.queues + "-default"
	if pm := p.policies["qos/"+in.V]; in.Is() && pm != nil {
		p.classify(q, pm)
	}
	if pm := p.policies["queuing/"+out.V]; out.Is() && pm != nil {
		for _, pc := range pm.classes {
			if pc.in {
				continue
			}
			p.byCOS(q, pc)
			to := &q.Queues[pc.queue]
			to.Name, to.At, to.Strict, to.Share, to.WRED, to.Limit, to.Alpha = pc.name, pc.at, pc.Strict,
				pc.Share, pc.WRED, pc.Limit, pc.Alpha
			if pc.PG.Is() {
				to.PG = pc.PG
			}
		}
	}
	if pm := p.policies["queuing/"+queueIn.V]; queueIn.Is() && pm != nil {
		for _, pc := range pm.classes {
			to := &q.Queues[pc.queue]
			if pc.PG.Is() {
				to.PG = pc.PG
			} else if pc.Alpha.Is() {
				to.PG = swconf.Say(swconf.Pause{Alpha: pc.Alpha.V}, pc.Alpha.At)
			}
		}
	}
	if pm := p.policies["network-qos/"+network.V]; network.Is() && pm != nil {
		for _, pc := range pm.classes {
			if pc.tagged {
				p.nettedByCOS(q, pc)
				continue
			}
			if pm.given {
				q.Stops[fcoeCOS] = swconf.Say(uint8(pc.queue), pc.at)
			}
			netted(q, pc, pc.queue, p.carried(q, pc))
		}
	}
	return q
}

// netted applies a class of a network-qos policy to a queue; pauses without a priority are of prio.
func netted(q *swconf.QoS, pc *policyClass, n, prio int) {
	to := &q.Queues[n]
	to.MTU, to.Pause, to.Net = pc.MTU, pc.Pause, pc.at
	if pc.PG.Is() && !to.PG.Is() {
		to.PG = pc.PG
	}
	if pc.drops.V {
		to.Pause = swconf.Say(prio, pc.drops.At)
		if prio != n && !q.COS[prio].Is() { // the priority of the class itself, whatever its number
			q.Stops[prio] = swconf.Say(uint8(n), pc.drops.At)
		}
	}
	if pc.congests.Is() && !to.WRED.Is() {
		to.WRED = swconf.Say(swconf.WRED{ECN: pc.congests.V}, pc.congests.At)
	}
}

// nettedByCOS does so for the queues of a class's 802.1p priorities, if the configuration defines these.
func (p *parser) nettedByCOS(q *swconf.QoS, pc *policyClass) {
	c := p.classes["network-qos/"+pc.name]
	for prio := range q.COS {
		if c.takesCOS(prio) && q.COS[prio].Is() {
			netted(q, pc, int(q.COS[prio].V), prio)
		}
	}
}

// carried returns the PFC priority of a paused class without one: the 802.1p priority that it matches, or sets, or
// that one of its packets has, or its queue's number.
func (p *parser) carried(q *swconf.QoS, pc *policyClass) int {
	for prio := range q.COS {
		if q.COS[prio].Is() && int(q.COS[prio].V) == pc.queue {
			return prio
		}
	}
	if pc.cos.Is() {
		return pc.cos.V
	}
	if pm := p.policies["qos/"+q.Input.V]; pm != nil {
		for _, fed := range pm.classes {
			if c := p.classOf(fed.name); c != nil && fed.group.V == pc.queue && c.all && len(c.cos) == 1 {
				if prio := slices.Index(c.cos[0][:], true); prio >= 0 {
					return prio
				}
			}
		}
	}
	return pc.queue
}

// classify sets the group of every DSCP: that of the first class that matches.
func (p *parser) classify(q *swconf.QoS, pm *policy) {
	for _, pc := range pm.classes {
		if c := p.classOf(pc.name); c != nil && q.Feeds[pc.group.V&7].Line == 0 {
			q.Feeds[pc.group.V&7] = c.matchAt
		}
	}
	for d := range q.DSCP {
		for _, pc := range pm.classes {
			if pc.name == "class-default" {
				if !q.DSCP[d].Is() {
					q.DSCP[d].V = uint8(pc.group.V) // a default, not explicit
				}
				continue
			}
			if c := p.classOf(pc.name); c != nil && c.takes(d) {
				q.DSCP[d] = pc.feeds()
				break
			}
		}
	}
	for cos := range q.COS {
		for _, pc := range pm.classes {
			if c := p.classOf(pc.name); c != nil && c.takesCOS(cos) {
				q.COS[cos] = pc.feeds()
				break
			}
		}
	}
}

// byCOS sets a queue's 802.1p priorities from its class-map, if there is no other classification by them. On the
// Nexus 7000 they select the queue (Cisco, Nexus 7000 QoS guide, "Queuing and Scheduling").
func (p *parser) byCOS(q *swconf.QoS, pc *policyClass) {
	c := p.classes["queuing/"+pc.name]
	for cos := range q.COS {
		if c != nil && !c.group.Is() && !q.COS[cos].Is() && c.takesCOS(cos) {
			q.COS[cos] = swconf.Say(uint8(pc.queue), c.matchAt)
		}
	}
}

// classOf returns the class-map of type qos of a name. class-fcoe matches 802.1p priority 3 by default (Cisco, Nexus
// 5000 QoS guide, "Default System Classes").
func (p *parser) classOf(name string) *classMap {
	c := p.classes["qos/"+name]
	if name == fcoe && (c == nil || len(c.matches)+len(c.cos) == 0 && !c.other) {
		c = &classMap{name: name, cos: [][64]bool{{fcoeCOS: true}}}
	}
	return c
}

// listed gives classes the DSCPs that their access lists permit; both address families share the names.
func (p *parser) listed() {
	var all []*classMap
	for _, c := range p.classes {
		if len(c.lists) > 0 {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *classMap) int { return cmp.Compare(a.at.Line, b.at.Line) })
	for _, c := range all {
		for _, l := range c.lists {
			taken, is := p.lists.Takes(l.V)
			if !is {
				c.other = true
				continue
			}
			p.c.ByList("class-map "+c.name, l, taken)
			c.matches = append(c.matches, taken.DSCP)
			if c.matchAt.Line == 0 {
				c.matchAt = l.At
			}
		}
	}
}

// feeds is the queue of a class's packets.
func (pc *policyClass) feeds() swconf.Said[uint8] {
	at := pc.group.At
	if !pc.group.Is() {
		at = pc.at
	}
	return swconf.Say(uint8(min(pc.group.V, queue.Classes-1)), at)
}

// dlb reports what load-balanced flows pass by: egress policies and transmit
// SPAN (seed, chapter 12).
func (p *parser) dlb() {
	d := p.c.DLB
	if d == nil {
		return
	}
	on := map[string]bool{}
	for _, n := range d.Ports {
		on[n.V] = true
	}
	p.hasDLB()
	for _, port := range p.c.Ports {
		if !on[port.Name] && !d.All {
			continue
		}
		for _, at := range p.ports[port].egress {
			swconf.Report(p.c, at, swconf.Warning, "dlb-egress-policy",
				fmt.Sprintf("%s balances dynamically and has an egress policy", port.Name),
				"flows under DLB skip egress QoS and access policies on the interface: the policy silently does nothing for them",
				"apply it at system qos or at the ingress, or take the interface out of DLB")
		}
	}
	for _, s := range p.spans {
		if on[s.name] || d.All {
			swconf.Report(p.c, s.at, swconf.Warning, "dlb-span",
				fmt.Sprintf("%s balances dynamically and is mirrored on transmit", s.name),
				"TX SPAN does not see flows under DLB: the capture misses the RoCE traffic",
				"mirror the neighbour's receive side (source interface ... rx)")
		}
	}
}

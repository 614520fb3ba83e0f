package nxos

import (
	"fmt"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/unit"
)

// Watchdog defaults: polled every 100 ms, one silent interval is a storm, and a
// queue is restored after as many intervals as the multiplier says.
const defaultPoll = 100 * unit.Millisecond

// resolve applies the policies to the ports.
func (p *parser) resolve() {
	c := p.c
	p.watchdog()
	cache := map[[4]swconf.Said[string]]*swconf.QoS{}
	alike := map[swconf.Print]*swconf.QoS{} // ports that do the same share one description
	build := func(a *applied) *swconf.QoS {
		key := [4]swconf.Said[string]{or(a.qosIn, p.system.qosIn), or(a.queueOut, p.system.queueOut),
			or(a.queueIn, p.system.queueIn), p.system.network}
		if cache[key] == nil {
			q := p.qos(key[0], key[1], key[2], key[3])
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
	for _, s := range []*swconf.Said[string]{&p.system.qosIn, &p.system.queueOut, &p.system.queueIn,
		&p.system.network} {
		*s = later(*s, swconf.Said[string]{})
	}
	c.QoS = build(&applied{})
	for _, port := range c.Ports {
		a := p.ports[port]
		if b := c.Bundle(port.Channel.V); port.Channel.Is() && b != nil {
			a = p.ports[b].over(a)
		}
		port.QoS = build(a)
		if !port.PFC.Is() {
			port.PFC.V = swconf.PFCAuto
		}
	}
	if c.BGP != nil {
		for _, n := range c.BGP.Neighbors {
			if t := p.inherit[n.Group.V]; t != nil {
				n.Active = n.Active || t.Active
				if !n.Remote.Is() {
					n.Remote = t.Remote
				}
			}
		}
	}
	p.dlb()
}

// over is what holds at a member of a port channel: the channel's policies, and its own where that has none.
func (a *applied) over(member *applied) *applied {
	both := *member
	both.qosIn, both.queueOut, both.queueIn = or(a.qosIn, member.qosIn), or(a.queueOut, member.queueOut),
		or(a.queueIn, member.queueIn)
	return &both
}

// later is what holds after a line: an empty name takes the earlier one away.
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
		q.Queues[i].Name = fmt.Sprintf("c-out-8q-q%d", i)
	}
	q.Queues[0].Name = "c-out-8q-q-default"
	if pm := p.policies["qos/"+in.V]; in.Is() && pm != nil {
		p.classify(q, pm)
	}
	if pm := p.policies["queuing/"+out.V]; out.Is() && pm != nil {
		for _, pc := range pm.classes {
			if pc.in {
				continue
			}
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
			to := &q.Queues[pc.queue]
			to.MTU, to.Pause, to.Net = pc.MTU, pc.Pause, pc.at
		}
	}
	return q
}

// classify gives every DSCP the group of the first class that takes it.
func (p *parser) classify(q *swconf.QoS, pm *policy) {
	for _, pc := range pm.classes {
		if c := p.classes[pc.name]; c != nil && q.Feeds[pc.group.V&7].Line == 0 {
			q.Feeds[pc.group.V&7] = c.matchAt
		}
	}
	for d := range q.DSCP {
		for _, pc := range pm.classes {
			if pc.name == "class-default" {
				if !q.DSCP[d].Is() {
					q.DSCP[d].V = uint8(pc.group.V) // by default: not said
				}
				continue
			}
			c := p.classes[pc.name]
			if c == nil || !c.takes(d) {
				continue
			}
			at := pc.group.At
			if !pc.group.Is() {
				at = pc.at
			}
			q.DSCP[d] = swconf.Say(uint8(min(pc.group.V, queue.Classes-1)), at)
			break
		}
	}
}

func (c *classMap) takes(d int) bool {
	if len(c.matches) == 0 || c.all && c.other {
		return false
	}
	for _, m := range c.matches {
		if m[d] != c.all {
			return !c.all
		}
	}
	return c.all
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
	for _, port := range p.c.Ports {
		if !on[port.Name] && !d.All {
			continue
		}
		for _, at := range p.ports[port].egress {
			swconf.Report(p.c, at, swconf.Warning, "dlb-egress-policy",
				fmt.Sprintf("%s balances dynamically and has an egress policy", port.Name),
				"flows under DLB skip egress QoS and access policies on the interface: the policy silently "+
					"does nothing for them",
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

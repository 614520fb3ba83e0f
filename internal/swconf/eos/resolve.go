package eos

import (
	"cmp"
	"slices"

	"railyard/internal/queue"
	"railyard/internal/swconf"
)

// resolve applies profiles to ports, and peer groups to their members.
func (p *parser) resolve() {
	c := p.c
	p.watched()
	c.QoS = p.qos(new(swconf.QoS), nil, nil)
	seen := map[swconf.Print]*swconf.QoS{}
	c.Settle()
	q := new(swconf.QoS)
	for _, port := range c.Ports {
		layers := p.layers(port)
		if use := p.profileAt(port); use.Is() {
			port.Policies = []swconf.Said[string]{swconf.Say("service-profile "+use.V, use.At)}
		}
		key := p.qos(q, port, layers).Fingerprint()
		if port.QoS = seen[key]; port.QoS == nil {
			port.QoS, seen[key], q = q, q, new(swconf.QoS)
		}
		port.Watchdog = swconf.Said[bool]{V: c.Watchdog.On.V}
		if c.Watchdog.On.V && p.perPort() {
			port.Watchdog.V = false
		}
		for i := len(layers) - 1; i >= 0; i-- {
			if w := layers[i].watch; w.Is() {
				port.Watchdog = w
			}
		}
	}
	p.subs()
	p.peers.Resolve(c.BGP)
	if c.BGP != nil {
		for _, n := range c.BGP.Neighbors {
			take(&n.Down, p.stopped[n.VRF])
		}
	}
	if p.keeps.Is() && c.BGP != nil {
		for _, n := range c.BGP.Neighbors {
			take(&n.Keeps, p.keeps)
		}
	}
	c.Shares.V = true // with Ethernet segments
	p.parts()
}

// subs classifies packets of subinterfaces with their own settings; unset values are their interface's.
func (p *parser) subs() {
	for _, s := range p.c.Subs {
		own := p.ports[s]
		if own.speaks().Line == 0 && !own.policy.Is() && !own.traffic.Is() && !p.uses[s].Is() {
			continue
		}
		layers := []*profile{own}
		if use := p.profiles[p.uses[s].V]; use != nil {
			layers = append(layers, use)
		}
		p.routed[s] = swconf.Said[bool]{V: true}
		if parent := p.known(s.Parent); parent != nil {
			layers = append(layers, p.layers(parent)...)
		}
		s.QoS = p.qos(new(swconf.QoS), s, layers)
	}
}

// parts removes undefined references of a configuration without a hostname, because it is partial.
func (p *parser) parts() {
	c := p.c
	if c.Part = !c.Hostname.Is(); !c.Part {
		return
	}
	kinds := map[string]bool{}
	for _, o := range c.Objects {
		kinds[o.Kind] = true
	}
	c.Refs = slices.DeleteFunc(c.Refs, func(r swconf.Ref) bool { return !kinds[r.Kind] })
}

// perPort reports whether only profiles and interfaces turn the watchdog on, and no line does for all ports.
func (p *parser) perPort() bool {
	for _, q := range p.profiles {
		if q.watch.V && q.watch.At == p.c.Watchdog.On.At {
			return true
		}
	}
	for _, q := range p.ports {
		if q.watch.V && q.watch.At == p.c.Watchdog.On.At {
			return true
		}
	}
	return false
}

// layers returns the settings of a port, in order of precedence: its channel, itself, the channel's profile or its
// own. Values that one does not set may be set by the next: lines of an interface add to a profile.
func (p *parser) layers(port *swconf.Port) (out []*profile) {
	if b := p.c.Bundle(port.Channel.V); port.Channel.Is() && b != nil {
		out = append(out, p.ports[b])
		if own, of := p.uses[port], p.uses[b]; own.Is() && of.Is() && own.V != of.V {
			p.idle(swconf.Idle{At: own.At, Text: "service-profile " + own.V, Port: port, By: b})
		}
	}
	if own := p.ports[port]; own != nil {
		out = append(out, own)
	}
	if use := p.profileAt(port); p.profiles[use.V] != nil {
		out = append(out, p.profiles[use.V])
	}
	return out
}

// profileAt returns the effective profile of a port: its channel's, or its own.
func (p *parser) profileAt(port *swconf.Port) swconf.Said[string] {
	if b := p.c.Bundle(port.Channel.V); port.Channel.Is() && b != nil && p.uses[b].Is() {
		return p.uses[b]
	}
	return p.uses[port]
}

// idle notes a line that does nothing, once.
func (p *parser) idle(i swconf.Idle) {
	for _, o := range p.c.Idle {
		if o.At == i.At && o.Port == i.Port {
			return
		}
	}
	p.c.Idle = append(p.c.Idle, i)
}

// trust returns the mark that a port uses: as configured, or the default of its kind.
func (p *parser) trust(port *swconf.Port, layers []*profile) (t swconf.Said[swconf.Trust]) {
	for _, x := range layers {
		take(&t, x.trust)
	}
	if port == nil {
		return swconf.Said[swconf.Trust]{V: swconf.TrustDSCP} // without a port: the maps' contents
	}
	routed := p.routed[port]
	if b := p.c.Bundle(port.Channel.V); port.Channel.Is() && b != nil {
		routed = p.routed[b]
	}
	if port.Switched = !routed.V; t.Is() {
		return t
	}
	words := map[string]swconf.Trust{"dscp": swconf.TrustDSCP, "cos": swconf.TrustCOS}
	if routed.V {
		return swconf.Said[swconf.Trust]{V: words[p.platform.Word("trust_routed")], At: routed.At}
	}
	return swconf.Said[swconf.Trust]{V: words[p.platform.Word("trust_switched")]}
}

// queueNames are the names of a port's queues.
var queueNames = [queue.Classes]string{"tx-queue 0", "tx-queue 1", "tx-queue 2", "tx-queue 3", "tx-queue 4",
	"tx-queue 5", "tx-queue 6", "tx-queue 7"}

// qos writes what happens to the packets of a port.
func (p *parser) qos(q *swconf.QoS, port *swconf.Port, layers []*profile) *swconf.QoS {
	*q = swconf.QoS{Trust: p.trust(port, layers), Default: true}
	p.marks(q, layers)
	var pfc swconf.Said[bool]
	for _, x := range layers {
		take(&pfc, x.pfc)
		if x.counts.Is() {
			p.told(&p.c.Apart, x.counts.At, x.counts.V)
		}
	}
	if port != nil {
		port.PFC = swconf.Said[swconf.PFCMode]{At: pfc.At}
		switch {
		case p.pfcOff.V:
			port.PFC.At = p.pfcOff.At
		case pfc.V:
			port.PFC.V = swconf.PFCOn
		}
	}
	for i := range q.Queues {
		k := &q.Queues[i]
		k.Name = queueNames[i]
		var drop swconf.Said[bool]
		for _, x := range layers {
			take(&drop, x.noDrop[i])
			fill(k, &x.queues[i])
			if out := p.policies[x.output.V]; x.output.Is() && out != nil && out.outs[i] != nil {
				fill(k, out.outs[i])
			}
		}
		if k.At.Line > 0 && port != nil {
			q.Output = swconf.Say(p.scheduler(port, layers), k.At)
		}
		for _, x := range layers {
			take(&k.WRED, x.marks)
		}
		if k.Floor.Is() && port != nil {
			port.Floors |= 1 << i
		}
		if drop.V {
			k.Pause = swconf.Say(i, drop.At)
		} else if port != nil {
			port.Unpaused[i] = drop.At
		}
		if port != nil {
			if x := p.profileOf(port); x != nil {
				x.give(k, i)
			}
		}
	}
	if p.c.Strict {
		served(q)
	}
	if p.platform.Word("shares_above_100") == "ratio" {
		q.Ratio = shared(q) > 100
	}
	return q
}

// scheduler returns what schedules the queues of a port: its profile, else the egress policy-map, else its own
// lines.
func (p *parser) scheduler(port *swconf.Port, layers []*profile) string {
	var output swconf.Said[string]
	for _, x := range layers {
		take(&output, x.output)
	}
	return cmp.Or(p.profileAt(port).V, output.V, "interface")
}

// served sets the default priority of queues: strict, down to the first that shares, which makes all lower ones
// share too (platform, tx_priority).
func served(q *swconf.QoS) {
	for i := len(q.Queues) - 1; i >= 0; i-- {
		k := &q.Queues[i]
		if k.Share.Is() && !k.Strict.V || k.Strict.Is() && !k.Strict.V {
			return
		}
		k.Strict.V = true
	}
}

// shared returns the sum of the percentages of sharing queues.
func shared(q *swconf.QoS) (sum int) {
	for i := range q.Queues {
		if k := &q.Queues[i]; !k.Strict.V {
			sum += k.Share.V
		}
	}
	return sum
}

// fill sets a queue's values from a layer if earlier layers did not.
func fill(k, from *swconf.Queue) {
	if from.At.Line == 0 {
		return
	}
	if k.At.Line == 0 {
		k.At, k.Name = from.At, from.Name
	}
	take(&k.Strict, from.Strict)
	take(&k.Share, from.Share)
	take(&k.WRED, from.WRED)
	take(&k.Floor, from.Floor)
}

// marks maps a port's packets to their queues, by policy and by the trusted mark.
func (p *parser) marks(q *swconf.QoS, layers []*profile) {
	dscp, cos := p.maps()
	var port swconf.Said[int]
	var input, traffic swconf.Said[string]
	for _, x := range layers {
		take(&traffic, x.traffic)
		take(&port, x.cos)
		take(&input, x.policy)
	}
	def, _ := p.platform.Number("cos")
	if port.Is() {
		def = float64(port.V)
	}
	untagged := cos[int(def)&7]
	switch q.Trust.V {
	case swconf.TrustDSCP:
	case swconf.TrustCOS:
		for d := range dscp { // a packet without a tag has the port's CoS
			dscp[d] = swconf.Said[int]{V: untagged.V}
		}
	default:
		for d := range dscp {
			dscp[d] = swconf.Said[int]{V: untagged.V}
		}
		for c := range cos {
			cos[c] = swconf.Said[int]{V: untagged.V}
		}
	}
	if x := p.policies[input.V]; input.Is() && x != nil {
		p.classify(x, &dscp, &cos)
	}
	if p.direct(traffic, &dscp) && !input.Is() {
		input = traffic
	}
	for d := range q.DSCP {
		to := p.toQueue[dscp[d].V]
		q.DSCP[d] = swconf.Said[uint8]{V: uint8(to), At: dscp[d].At}
		if f := &q.Feeds[to]; f.Line == 0 {
			*f = dscp[d].At
		}
	}
	for c := range q.COS {
		q.COS[c] = swconf.Said[uint8]{V: uint8(p.toQueue[cos[c].V]), At: cos[c].At}
	}
	if q.Input = input; !input.Is() && q.Trust.V != swconf.TrustNone {
		q.Input = p.implied(q.Trust, layers)
	}
	for c := range q.COS {
		if at := q.Input.At; q.Trust.V == swconf.TrustCOS && !q.COS[c].Is() {
			for _, x := range layers { // the platform's map, which applies to the port
				if at.Line == 0 {
					at = x.speaks()
				}
			}
			q.COS[c].At = at
		}
	}
}

// implied is the classification of a port without a policy: its trusted mark, if it is set or the configuration has
// settings of queues there. A switched port that trusts tags only by default does not classify by the mapped DSCPs.
func (p *parser) implied(t swconf.Said[swconf.Trust], layers []*profile) (in swconf.Said[string]) {
	in.V = "trust " + t.V.String()
	mapped := slices.ContainsFunc(p.toTC[:], swconf.Said[int].Is)
	speaks := swconf.Place{}
	for _, x := range layers {
		if at := x.speaks(); at.Line > 0 && speaks.Line == 0 {
			speaks = at
		}
	}
	switch {
	case t.Is() && (mapped || speaks.Line > 0):
		in.At = t.At
	case t.V == swconf.TrustCOS && !mapped:
		in.At = speaks
	}
	return in
}

// speaks returns the position where a profile or an interface configures queues.
func (x *profile) speaks() (at swconf.Place) {
	for _, s := range []swconf.Place{x.trust.At, x.pfc.At, x.output.At, x.at} {
		if s.Line > 0 && at.Line == 0 {
			at = s
		}
	}
	for i := range x.queues {
		for _, s := range []swconf.Place{x.queues[i].At, x.noDrop[i].At} {
			if s.Line > 0 && at.Line == 0 {
				at = s
			}
		}
	}
	return at
}

// maps returns the switch's maps of DSCPs and CoS to traffic classes, by default the platform's.
func (p *parser) maps() (dscp [64]swconf.Said[int], cos [8]swconf.Said[int]) {
	dscp, cos = p.toTC, p.cosTC
	if m, ok := p.platform.Map("dscp_to_tc", 64); ok {
		for d := range dscp {
			take(&dscp[d], swconf.Said[int]{V: m[d]})
		}
	}
	if m, ok := p.platform.Map("cos_to_tc", 8); ok {
		for c := range cos {
			take(&cos[c], swconf.Said[int]{V: m[c]})
		}
	}
	return dscp, cos
}

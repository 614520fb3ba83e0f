package dell

import (
	"slices"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/platform"
	"railyard/unit"
)

// known is the documented defaults of a switch (platform/dell.json).
var known = platform.Of("dell", "")

// defaults are the names that roce enable gives everything.
const defaults = "ROCE"

// roceTable returns a map of roce enable, with the documented defaults.
func (p *parser) roceTable(key string, n int) *table {
	t := &table{at: p.roce.At}
	to, _ := known.Map(key, n)
	for i, v := range to {
		t.to[i] = swconf.Say(v, p.roce.At)
	}
	return t
}

// enable expands roce enable, if the configuration does not contain the result (as show running-configuration does):
// maps, policies, and their use at every port without any.
func (p *parser) enable() {
	at := p.roce.At
	for _, kind := range []mapKind{dscpTC, dot1pTC, tcQueue, tcGroup, pfcQueue, pfcGroup} {
		if p.maps[kind][defaults] == nil {
			p.c.Define(kind.String(), defaults, at, true)
		}
	}
	if p.wreds[defaults] == nil {
		p.c.Define(wredKind, defaults, at, true)
	}
	if p.scheds[defaults] == nil {
		p.c.Define(schedKind, defaults, at, true)
	}
	for kind, key := range map[mapKind]string{dscpTC: "roce_dscp_to_tc", dot1pTC: "roce_cos_to_tc",
		tcQueue: "tc_to_queue", pfcQueue: "tc_to_queue"} {
		if p.maps[kind][defaults] == nil {
			n := 8
			if kind == dscpTC {
				n = 64
			}
			p.maps[kind][defaults] = p.roceTable(key, n)
		}
	}
	if p.wreds[defaults] == nil {
		p.wreds[defaults] = &wred{at: at, ecn: swconf.Say(true, at), w: swconf.Say(swconf.WRED{
			Min: unit.Bytes(known.Int("roce_ecn_min")), Max: unit.Bytes(known.Int("roce_ecn_max")),
			Percent: float64(known.Int("roce_ecn_percent"))}, at)}
	}
	if p.scheds[defaults] == nil {
		s := &scheduler{at: at}
		shares, _ := known.Map("roce_shares", queue.Classes)
		for i, n := range shares {
			if i == known.Int("roce_strict") {
				s.queues[i] = class{at: at, strict: swconf.Say(true, at)}
			} else if n > 0 {
				s.queues[i] = class{at: at, weight: swconf.Say(n, at)}
			}
		}
		p.scheds[defaults] = s
	}
	pauses, _ := known.Map("roce_pfc", 8)
	for _, port := range p.c.Ports {
		u := p.uses[port]
		if u.sched.Is() || len(u.maps) > 0 {
			continue
		}
		name := swconf.Say(defaults, at)
		u.sched, u.wreds[known.Int("roce_ecn")] = name, name
		for _, kind := range []mapKind{dscpTC, dot1pTC, tcQueue, pfcQueue} {
			u.maps[kind] = name
		}
		for i, on := range pauses {
			if on == 1 && !u.pfc[i].Is() {
				u.pfc[i] = swconf.Say(true, at)
			}
		}
	}
}

// resolve applies maps and policies to ports.
func (p *parser) resolve() {
	c := p.c
	if p.roce.V {
		p.enable()
	} else {
		p.excerpt()
	}
	c.QoS = &swconf.QoS{}
	seen := map[swconf.Print]*swconf.QoS{}
	for _, port := range c.Ports {
		u := p.uses[port]
		q := p.build(u)
		key := q.Fingerprint()
		if seen[key] == nil {
			seen[key] = q
		}
		port.QoS = seen[key]
		for i, on := range u.pfc {
			if on.V && !port.PFC.Is() {
				port.PFC = swconf.Say(swconf.PFCOn, on.At)
			} else if !on.V {
				port.Unpaused[i] = on.At
			}
		}
		if !port.MTU.Is() {
			port.MTU = swconf.Say(unit.Bytes(known.Int("mtu")), port.At)
		}
		if slash := strings.Split(port.Name, "/"); len(slash) == 3 && !port.Speed.Is() {
			port.Speed = p.broken[strings.TrimPrefix(slash[0], "Eth")+"/"+slash[1]]
		}
		port.Watchdog = u.wd
		p.watch(u)
	}
	w := &c.Watchdog
	for _, t := range []*swconf.Said[unit.Time]{&w.Poll, &w.Detect, &w.Restore} {
		if !t.Is() {
			t.V = unit.Time(known.Int("watchdog_ms")) * unit.Millisecond
		}
	}
	p.balance()
	p.peers.Resolve(c.BGP)
}

// excerpt detects partial configurations, such as the output of show running-configuration interface. Maps and
// policies of undefined kinds are then elsewhere.
func (p *parser) excerpt() {
	c := p.c
	if c.Hostname.Is() {
		return
	}
	has := map[string]bool{}
	for _, o := range c.Objects {
		has[o.Kind] = true
	}
	all := len(c.Refs)
	c.Refs = slices.DeleteFunc(c.Refs, func(r swconf.Ref) bool { return !has[r.Kind] })
	c.Part = len(c.Refs) < all
}

// watch uses a port's watchdog for the switch, because the model has one.
func (p *parser) watch(u *uses) {
	w := &p.c.Watchdog
	if !u.wd.V {
		return
	}
	if !w.On.V {
		w.On = u.wd
	}
	if !w.Detect.Is() {
		w.Detect = u.detect
	}
	if !w.Restore.Is() {
		w.Restore = u.restore
	}
	if !w.Forward.Is() {
		w.Forward = u.forward
	}
}

// of returns a port's map of a kind, nil for none.
func (p *parser) of(u *uses, kind mapKind) (*table, swconf.Said[string]) {
	name := u.maps[kind]
	if !name.Is() {
		return nil, name
	}
	return p.maps[kind][name.V], name
}

func (p *parser) build(u *uses) *swconf.QoS {
	q := &swconf.QoS{Ratio: true} // DWRR weights count among themselves
	for i := range q.Queues {
		q.Queues[i].Name = name(i)
	}
	to := func(tc int) uint8 { return uint8(tc) }
	if t, _ := p.of(u, tcQueue); t != nil {
		to = func(tc int) uint8 {
			if t.to[tc].Is() {
				return uint8(t.to[tc].V)
			}
			return 0
		}
	}
	if t, name := p.of(u, dscpTC); t != nil {
		q.Input = name
		for d := range q.DSCP {
			if s := t.to[d]; s.Is() {
				i := to(s.V)
				q.DSCP[d] = swconf.Say(i, s.At)
				if q.Feeds[i].Line == 0 {
					q.Feeds[i] = s.At
				}
			}
		}
	}
	if n := u.maps[dscpTC]; !q.Input.Is() && n.Is() && len(p.maps[dscpTC]) == 0 {
		q.Away = n
	}
	if t, name := p.of(u, dot1pTC); t != nil {
		if !q.Input.Is() {
			q.Input = name
		}
		for c := range q.COS {
			if s := t.to[c]; s.Is() {
				q.COS[c] = swconf.Say(to(s.V), s.At)
			}
		}
	}
	p.serve(u, q)
	p.pauses(u, q, to)
	return q
}

// serve is scheduling and marking.
func (p *parser) serve(u *uses, q *swconf.QoS) {
	if s := p.scheds[u.sched.V]; u.sched.Is() && s != nil {
		q.Output = u.sched
		for i, k := range s.queues {
			to := &q.Queues[i]
			if to.At = k.at; k.strict.Is() {
				to.Strict = k.strict
			}
			if k.weight.Is() && !k.strict.V {
				to.Share = k.weight
			}
		}
	}
	for i, name := range u.wreds {
		w := p.wreds[name.V]
		if !name.Is() || w == nil || !w.w.Is() {
			continue
		}
		v := w.w.V
		v.ECN, v.ECNAt = w.ecn.V, w.ecn.At
		q.Queues[i].WRED = swconf.Say(v, w.w.At)
		if q.Queues[i].At.Line == 0 {
			q.Queues[i].At = name.At
		}
	}
}

// pauses is PFC's queues, and the thresholds of its priority groups. A queue is paused by the priority that its map
// names; the group is that of the queue's traffic class.
func (p *parser) pauses(u *uses, q *swconf.QoS, to func(int) uint8) {
	stops, _ := p.of(u, pfcQueue)
	groups, _ := p.of(u, tcGroup)
	for prio := range u.pfc {
		if !u.pfc[prio].V {
			continue
		}
		i := prio
		if stops != nil && stops.to[prio].Is() {
			i = stops.to[prio].V
			q.Stops[prio] = swconf.Say(uint8(i), stops.to[prio].At)
		}
		k := &q.Queues[i]
		k.Pause = swconf.Say(prio, u.pfc[prio].At)
		group := prio
		for tc := range 8 {
			if groups != nil && groups.to[tc].Is() && int(to(tc)) == i {
				group = groups.to[tc].V
			}
		}
		if b := p.buffers[u.groups[group&7].V]; u.groups[group&7].Is() && b.Is() {
			k.PG = b
		}
		if k.At.Line == 0 {
			k.At = u.pfc[prio].At
		}
	}
}

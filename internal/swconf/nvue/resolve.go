package nvue

import (
	"fmt"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/platform"
	"railyard/unit"
)

// known is NVIDIA's documented defaults of a switch (platform/nvue.json).
var known = platform.Of("nvue", "")

// table is a map of the sheet; tests check that it is complete.
func table(key string, n int) []int {
	to, _ := known.Map(key, n)
	return to
}

var (
	priorities      = table("dscp_to_priority", 64)
	tags            = table("cos_to_priority", 8)
	queues          = table("priority_to_queue", 8)
	shares          = table("shares", queue.Classes)
	roceQueues      = table("roce_priority_to_queue", 8)
	roceShares      = table("roce_shares", queue.Classes)
	multiPriorities = table("multi_dscp_to_priority", 64)
	multiShares     = table("multi_shares", queue.Classes)
	multiMarks      = table("multi_ecn", queue.Classes)
	roceClass       = known.Int("roce_pfc")
	cnpClass        = known.Int("roce_strict")
	defaultMTU      = unit.Bytes(known.Int("mtu"))
)

// resolve applies profiles to ports, and RoCE's settings as defaults.
func (p *parser) resolve() {
	c := p.c
	p.enslave()
	q := &p.qos
	w := &c.Watchdog
	if !w.Poll.Is() {
		w.Poll.V = unit.Time(known.Int("watchdog_polling_ms")) * unit.Millisecond
	}
	w.Detect = swconf.Said[unit.Time]{V: w.Poll.V * unit.Time(known.Int("watchdog_robustness"))}
	if q.robustness.Is() {
		w.Detect = swconf.Say(w.Poll.V*unit.Time(q.robustness.V), q.robustness.At)
	}
	if !w.Restore.Is() { // guide: a polling interval without pauses restores
		w.Restore.V = w.Poll.V
	}
	p.pools()
	for _, port := range c.Ports { // a split port itself carries nothing
		if f := physical.FindStringSubmatch(port.Name); f[2] != "" && c.Port("swp"+f[1]) != nil {
			c.Port("swp" + f[1]).Down = swconf.Say(true, port.At)
		}
	}
	type treatment struct {
		profiles [4]string
		trims    [queue.Classes]swconf.Said[bool]
	}
	built := map[treatment]*swconf.QoS{}
	p.trimming()
	c.QoS = p.build(&uses{}, nil)
	for _, port := range c.Ports {
		u := p.uses[port]
		key := treatment{[4]string{u.mapping.V, u.scheduler.V, u.congestion.V, u.pfc.V}, p.trims(port)}
		if built[key] == nil {
			built[key] = p.build(u, port)
		}
		port.QoS = built[key]
		p.pauses(port, u)
		if !port.MTU.Is() {
			port.MTU = swconf.Say(defaultMTU, port.At)
		}
		port.Watchdog = u.watchdog
		if u.watchdog.V && !w.On.V {
			w.On = u.watchdog
		}
	}
	if q.adaptive.V { // otherwise the interfaces' settings have no effect
		c.DLB = &swconf.DLB{At: q.adaptive.At, Mode: swconf.Say("per-packet", q.adaptive.At)}
		for _, port := range c.Ports {
			if u := p.uses[port]; u.adaptive.V {
				c.DLB.Ports = append(c.DLB.Ports, swconf.Say(port.Name, u.adaptive.At))
			}
		}
	}
	p.bgp.resolve(c)
}

// pools are shares of one memory.
func (p *parser) pools() {
	last, of := map[string]pool{}, []string{}
	for _, x := range p.qos.pools {
		if _, ok := last[x.name]; !ok {
			of = append(of, x.name)
		}
		last[x.name] = x
	}
	sum := 0
	for _, name := range of {
		if sum += last[name].percent.V; sum > 100 {
			swconf.Report(p.c, last[name].percent.At, swconf.Error, "bad-value",
				fmt.Sprintf("traffic pools take %d %% of the memory", sum),
				"NVUE refuses pools of more than 100 %", "lower memory-percent until all pools add up to 100")
			return
		}
	}
}

// pfcOf returns the PFC profile of a port, nil for none.
func (p *parser) pfcOf(u *uses) *pfc {
	if x := p.qos.pfc[u.pfc.V]; u.pfc.Is() && x != nil {
		return x
	}
	return p.qos.pfc[global]
}

// losslessRoCE reports whether RoCE's own settings pause.
func (q *qos) losslessRoCE() bool {
	return q.roce.V && q.mode.V != "lossy" && q.mode.V != "lossy-multi-tc"
}

// pauses reports whether a port does PFC, and the length of its cable.
func (p *parser) pauses(port *swconf.Port, u *uses) {
	q, x := &p.qos, p.pfcOf(u)
	switch {
	case x != nil && x.tx.Is() && !x.tx.V:
		port.PFC = swconf.Say(swconf.PFCOff, x.tx.At)
	case x != nil && x.any:
		if port.PFC = swconf.Say(swconf.PFCOn, x.at); u.pfc.Is() {
			port.PFC.At = u.pfc.At
		}
	case q.losslessRoCE():
		port.PFC = swconf.Say(swconf.PFCOn, q.roce.At)
	}
	if port.CableMM = q.cable; x != nil && x.cable.Is() {
		port.CableMM = x.cable
	}
}

// build returns the treatment of packets of ports with these profiles.
func (p *parser) build(u *uses, port *swconf.Port) *swconf.QoS {
	q, s := &p.qos, &swconf.QoS{}
	if q.at.Line == 0 {
		return s
	}
	for i := range s.Queues {
		s.Queues[i].Name = fmt.Sprintf("TC %d", i)
	}
	p.classify(u, s)
	p.schedule(u, s)
	p.mark(u, s)
	p.pause(u, s)
	for i, said := range p.trims(port) {
		if said.V && !s.Queues[i].Pause.Is() {
			s.Queues[i].Trim = said
		}
	}
	if q.roce.V && !q.losslessRoCE() {
		s.Lossy = swconf.Say(true, q.mode.At)
	}
	for i := range s.Queues {
		k := &s.Queues[i]
		if !k.Pause.Is() {
			k.Alpha, k.Limit = q.limits[i].alpha, q.limits[i].bytes
		}
		for _, at := range []swconf.Place{k.Strict.At, k.WRED.At, k.Pause.At, k.PG.At} {
			if k.At.Line == 0 && at != q.at {
				k.At = at
			}
		}
	}
	return s
}

// class is the traffic class of a switch priority.
func (q *qos) class(sp int) int {
	switch to := q.queueOf[sp]; {
	case to.Is():
		return to.V
	case q.roce.V && !q.multi():
		return roceQueues[sp]
	}
	return queues[sp]
}

// multi reports RoCE's mode of several lossy traffic classes.
func (q *qos) multi() bool { return q.roce.V && q.mode.V == "lossy-multi-tc" }

func (p *parser) classify(u *uses, s *swconf.QoS) {
	q := &p.qos
	name := global
	if u.mapping.Is() {
		name = u.mapping.V
	}
	x := q.mappings[name]
	if x == nil {
		x = &mapping{}
	}
	trust := x.trust
	if !trust.Is() && q.roce.V && (name == global || q.mappings[name] == nil) {
		trust = swconf.Say("both", q.roce.At)
	}
	at := trust.At
	if !trust.Is() { // 802.1p is trusted by default
		if at = x.at; at.Line == 0 {
			return
		}
	}
	to := func(sp int, at swconf.Place) swconf.Said[uint8] {
		tc := q.class(sp)
		if f := &s.Feeds[tc]; f.Line == 0 {
			*f = at
		}
		return swconf.Say(uint8(tc), at)
	}
	s.Input = swconf.Say(name+", trust "+trust.V, at)
	switch trust.V {
	case "l3", "both":
		for d := range s.DSCP {
			if x.dscp[d].Is() {
				s.DSCP[d] = to(x.dscp[d].V, x.dscp[d].At)
				continue
			}
			sp := priorities[d]
			if q.multi() && name == global {
				sp = multiPriorities[d]
			}
			s.DSCP[d] = to(sp, at)
		}
	case "port":
		for d := range s.DSCP {
			s.DSCP[d] = to(x.port.V, at)
		}
	default:
		s.Input.V = name + ", trust " + known.Word("trust")
	}
	if trust.V == "l3" || trust.V == "port" {
		return
	}
	for c := range s.COS {
		if s.COS[c] = to(tags[c], at); x.pcp[c].Is() {
			s.COS[c] = to(x.pcp[c].V, x.pcp[c].At)
		}
	}
}

func (p *parser) schedule(u *uses, s *swconf.QoS) {
	q := &p.qos
	name := global
	if u.scheduler.Is() {
		name = u.scheduler.V
	}
	x := q.schedulers[name]
	for i := range s.Queues {
		k := &s.Queues[i]
		switch { // effective values below
		case name != global && x != nil:
		case q.multi():
			k.Share = swconf.Say(multiShares[i], q.roce.At)
		case q.roce.V:
			if i == cnpClass {
				k.Strict = swconf.Say(true, q.roce.At)
			} else {
				k.Share = swconf.Say(roceShares[i], q.roce.At)
			}
		default:
			k.Share = swconf.Say(shares[i], q.at)
		}
		if x == nil {
			continue
		}
		if x.strict[i].Is() {
			k.Strict = x.strict[i]
			if k.Strict.V {
				k.Share = swconf.Said[int]{}
			} else if !x.percent[i].Is() {
				k.Share = swconf.Say(0, x.strict[i].At)
			}
		}
		if x.percent[i].Is() && !k.Strict.V {
			k.Share = x.percent[i]
		}
	}
	switch {
	case x != nil:
		s.Output = swconf.Say(name, x.at)
	case q.roce.V:
		s.Output = swconf.Say("roce", q.roce.At)
	default:
		s.Output = swconf.Say(global, q.at)
	}
}

// marks are the sheet's thresholds.
func marks(key string) swconf.WRED {
	return swconf.WRED{Min: unit.Bytes(known.Int(key + "min")), Max: unit.Bytes(known.Int(key + "max")),
		Percent: float64(known.Int(key + "percent")), ECN: true}
}

func (p *parser) mark(u *uses, s *swconf.QoS) {
	q := &p.qos
	name := global
	if u.congestion.Is() {
		name = u.congestion.V
	}
	x := q.congestion[name]
	for i := range s.Queues {
		r := redOf{}
		if x != nil {
			r = x.tcs[i]
		}
		w := marks("ecn_")
		at := r.at
		if name == global || x == nil {
			switch {
			case q.multi():
				if multiMarks[i] == 1 && at.Line == 0 {
					at, w = q.roce.At, marks("multi_ecn_")
				}
			case q.roce.V && (i == known.Int("ecn_queue") || i == roceClass):
				if w.Max = unit.Bytes(known.Int("roce_ecn_max")); at.Line == 0 {
					at = q.roce.At
				}
			case i == known.Int("ecn_queue") && at.Line == 0:
				at = q.at
			}
		}
		if at.Line == 0 {
			continue
		}
		if r.least.Is() {
			w.Min, w.MinAt = r.least.V, r.least.At
		}
		if r.most.Is() {
			w.Max, w.MaxAt = r.most.V, r.most.At
		}
		if r.percent.Is() {
			w.Percent = r.percent.V
		}
		if r.ecn.Is() {
			w.ECN, w.ECNAt = r.ecn.V, r.ecn.At
		}
		if w.ECN || r.drop.V {
			s.Queues[i].WRED = swconf.Say(w, at)
		} else {
			s.Queues[i].At = w.ECNAt
		}
	}
}

func (p *parser) pause(u *uses, s *swconf.QoS) {
	q, x := &p.qos, p.pfcOf(u)
	set := func(sp int, at swconf.Place) {
		tc := q.class(sp)
		k := &s.Queues[tc]
		k.Pause = swconf.Say(sp, at)
		s.Stops[sp] = swconf.Say(uint8(tc), at)
		if g, where := p.thresholds(x); where.Line > 0 {
			k.PG = swconf.Say(g, where)
		}
	}
	switch {
	case x != nil && x.any:
		for sp := range x.priorities {
			if x.priorities[sp].Is() {
				set(sp, x.priorities[sp].At)
			}
		}
	case q.losslessRoCE():
		set(roceClass, q.roce.At)
	}
}

// thresholds returns the thresholds of the priority group of lossless switch priorities, if set. A port's buffer is
// the space before a pause plus the space after it, so the headroom is the remainder.
func (p *parser) thresholds(x *pfc) (g swconf.Pause, at swconf.Place) {
	if a := p.qos.lossless.alpha; a.Is() {
		g.Alpha, at = a.V, a.At
	}
	if x == nil {
		return g, at
	}
	if x.xoff.Is() {
		g.XOff, g.XOffAt, at = x.xoff.V, x.xoff.At, x.xoff.At
	}
	if x.xon.Is() && x.xoff.Is() && x.xon.V > x.xoff.V && !x.told {
		x.told = true
		swconf.Report(p.c, x.xon.At, swconf.Error, "threshold-order",
			fmt.Sprintf("xon-threshold %v exceeds xoff-threshold %v (line %d)", x.xon.V, x.xoff.V, x.xoff.At.Line),
			"xon-threshold is how far the buffer drains below xoff-threshold before senders resume: it cannot drain below empty",
			"an xon-threshold below xoff-threshold")
	}
	if x.xon.Is() { // bytes below xOFF
		if g.XOnAt = x.xon.At; x.xoff.Is() {
			g.XOn = max(x.xoff.V-x.xon.V, 0)
		} else {
			g.XOnOffset = x.xon.V
		}
	}
	if x.buffer.Is() && at.Line > 0 {
		g.Headroom, g.HeadAt = max(x.buffer.V-g.XOff, 0), x.buffer.At
	}
	return g, at
}

// Names expands a list of interfaces: swp1-4,swp6. Not ok is no such list.
func Names(list string) (names []string, ok bool) { return expand(list) }

package swconf

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"railyard/internal/queue"
	"railyard/unit"
)

// pfcClass compares the interfaces' PFC priorities with the classes' queues.
func (l *linter) pfcClass() {
	l.variants(func(v variant) {
		var found [queue.Classes]bool
		for i := range v.q.Queues {
			q := &v.q.Queues[i]
			cos, stops := v.q.COS[q.Pause.V&7], v.q.Stops[q.Pause.V&7] // the queue of that priority
			if q.Pause.Is() && q.Pause.V != i && !(cos.Is() && int(cos.V) == i) &&
				!(stops.Is() && int(stops.V) == i) {
				l.say(q.Pause.At, fmt.Sprintf("pause priority %d for the class of queue %d", i, i),
					"queue %d is paused by PFC priority %d: packets of priority %d would stop another queue",
					i, q.Pause.V, q.Pause.V)
				if own := v.c.words(q.Pause.At.Line); own == fmt.Sprintf("pause pfc-cos %d", q.Pause.V) {
					l.paste(v.c.beside(q.Pause.At, "no "+own, fmt.Sprintf("pause pfc-cos %d", i)))
				}
			}
			if q.Pause.Is() && stops.Is() && int(stops.V) != i {
				l.say(stops.At, fixStops(v.c, q.Pause.V, i),
					"queue %d is lossless by PFC priority %d, and a received pause of that priority stops queue %d",
					i, q.Pause.V, stops.V)
			}
			if q.Pause.Is() && !q.WRED.Is() && v.q.Input.Is() && !v.q.fed(i) && v.q.Queues[l.data(v.q)].Pause.Is() {
				l.advise(q.Pause.At, fmt.Sprintf("remove priority %d, or send a DSCP to queue %d", q.Pause.V, i),
					"PFC pauses priority %d here, and no DSCP goes to its queue %d", q.Pause.V, i)
			}
			if !q.PG.Is() || q.PG.V.XOff == 0 || q.Pause.Is() {
				continue
			}
			group := func(o *QoS) Place { return o.Queues[i].PG.At }
			if n, prio := v.pausing(i, group); n > 0 { // their common priorities are correct
				found[i] = true
				l.atPorts(v, l.say, prio, "queue %d has pause thresholds and no PFC; with the same thresholds, PFC runs on %s (priority %d)", i,
					unit.Plural(n, "port"), prio)
				continue
			}
			l.say(q.PG.At, "make the class lossless, or remove its pause thresholds",
				"queue %d has pause thresholds and is not lossless", i)
		}
		data := l.data(v.q)
		if q := &v.q.Queues[data]; !found[data] && v.roce() && v.q.DSCP[l.DataDSCP].Is() && !q.Pause.Is() && !l.Lossy &&
			!v.q.Lossy.V && !q.Trim.V {
			say := l.meant(v)
			if v.q.paused() == 0 && l.pauses(v.c, l.DataDSCP) {
				say = l.advise // a port of another kind, while others of the switch have it lossless
			}
			mapped := func(o *QoS) Place { return o.DSCP[l.DataDSCP].At }
			if n, prio := v.pausing(data, mapped); n > 0 {
				l.atPorts(v, say, prio, "RoCE data (DSCP %d) goes to queue %d, which no PFC priority pauses here; with the same map, PFC runs on %s (priority %d)",
					l.DataDSCP, data, unit.Plural(n, "port"), prio)
				return
			}
			at := first(q.Net, v.q.DSCP[l.DataDSCP].At)
			fix := fmt.Sprintf("pause priority %d for the class of queue %d", data, data)
			var lines []string
			other := slices.IndexFunc(v.q.Queues[:], func(q Queue) bool { return q.Pause.Is() })
			if i, dscp := v.q.pausedDSCP(l.DataDSCP); i >= 0 {
				fix = l.moved(i, dscp)
			} else if other >= 0 && !v.q.fed(other) { // paused priority without a queue: it is wrong, or the map
				wrong := v.q.Queues[other].Pause
				if q.WRED.Is() || q.PG.Is() {
					fix = fmt.Sprintf("pause priority %d in place of %d", data, wrong.V)
					lines = v.c.pauseInstead(v.q, data, wrong)
				} else {
					fix = fmt.Sprintf("put DSCP %d into queue %d, which PFC pauses", l.DataDSCP, other)
				}
				if wrong.V == data { // the priority is right, its queue is not
					fix, lines = fixStops(v.c, data, data), nil
					wrong.At = first(v.q.Stops[data&7].At, wrong.At)
				}
				if v.c.OS == SONiC { // SONiC's ports list their priorities
					at = wrong.At
				}
			}
			say(at, fix,
				"RoCE data (DSCP %d) goes to queue %d, which no PFC priority pauses", l.DataDSCP, data)
			l.paste(lines)
		}
	})
}

// pausing counts the switch's ports that pause a queue and classify by the lines of a treatment that does not pause
// it. prio is one of the priorities by which they pause it.
func (v variant) pausing(i int, of func(*QoS) Place) (ports, prio int) {
	for _, p := range v.c.Ports {
		if q := p.QoS; v.port != nil && q != nil && !p.Down.V && q.Queues[i].Pause.Is() && of(q) == of(v.q) {
			ports, prio = ports+1, q.Queues[i].Pause.V
		}
	}
	return ports, prio
}

// atPorts reports a priority that the ports of a treatment do not pause at each port's own line of PFC.
func (l *linter) atPorts(v variant, say func(at Place, fix, format string, args ...any), prio int, format string,
	args ...any) {
	for _, p := range v.c.Ports {
		if p.QoS == v.q && !p.Down.V {
			l.on = &[]string{p.Name}
			priority := uint8(1) << (prio & 7)
			say(p.unpaused(priority), fixPausing(v.c, p, priority, PFCOn), format, args...)
			l.pastePausing(v.c, p, priority, PFCOn)
		}
	}
}

// unpaused returns the line that prevents a port from pausing priorities: the line that removes the first of them,
// else PFC's, else the port's first line.
func (p *Port) unpaused(priorities uint8) Place {
	return first(p.Unpaused[bits.TrailingZeros8(priorities)&7], p.PFC.At, p.At)
}

// pausedDSCP returns the first DSCP that lines assign to a queue with PFC, in place of another one. The queue is -1
// for none.
func (q *QoS) pausedDSCP(instead int) (queue, dscp int) {
	for d, m := range q.DSCP {
		if d != instead && m.Is() && q.Queues[m.V&7].Pause.Is() {
			return int(m.V), d
		}
	}
	return -1, 0
}

// moved is the remedy if a DSCP other than that of RoCE data is lossless.
func (l *linter) moved(queue, dscp int) string {
	return fmt.Sprintf("put DSCP %d into queue %d, as DSCP %d is; or, if the NICs send DSCP %d, set --data-dscp %d, transport.data_dscp in the scenario",
		l.DataDSCP, queue, dscp, dscp, dscp)
}

// pauses reports whether a port of a switch has a DSCP lossless.
func (l *linter) pauses(c *Config, dscp int) bool { return losslessPorts([]*Config{c}, dscp) > 0 }

// pfcInterface finds ports that do no PFC while the switch has lossless classes.
func (l *linter) pfcInterface() {
	for _, c := range l.Configs {
		for _, p := range c.Ports {
			if p.QoS == nil || p.PFC.V != PFCOff || p.Down.V || !p.PFC.Is() && !l.wanted(c, p) {
				continue
			}
			say := l.say
			if !l.wanted(c, p) {
				say = l.advise // disabled, and without RoCE traffic: it leads elsewhere
			}
			if m := p.QoS.paused(); m != 0 {
				say(first(p.PFC.At, p.At), fixPausing(c, p, m, PFCOn),
					"%s does no PFC although priority %s is lossless", p.Name, Priorities(m))
				l.pastePausing(c, p, m, PFCOn)
			}
		}
	}
}

// wanted reports whether a port takes part in RoCE, because it is cabled or classifies.
func (l *linter) wanted(c *Config, p *Port) bool {
	return l.cabled(c, p) || p.QoS != nil && p.QoS.Input.Is()
}

func (l *linter) cabled(c *Config, p *Port) bool {
	n := l.nodes[c]
	if n < 0 || l.Graph.Nodes[n].Panel == nil {
		return n >= 0 && p.Number > 0 && p.Number <= l.Graph.Nodes[n].Ports
	}
	if l.plugged == nil {
		l.plugged = map[*Port]bool{}
		l.cables(func(a, b *end) { l.plugged[a.port], l.plugged[b.port] = true, true })
	}
	return l.plugged[p]
}

// paused is the set of priorities that the classes pause.
func (q *QoS) paused() (m uint8) {
	for i := range q.Queues {
		if q.Queues[i].Pause.Is() {
			m |= 1 << (q.Queues[i].Pause.V & 7)
		}
	}
	return m
}

// Paused is the set of PFC priorities that a port pauses and obeys.
func (p *Port) Paused() uint8 {
	if p.QoS == nil || p.PFC.V == PFCOff {
		return 0
	}
	return p.QoS.paused()
}

// Priorities writes a set of PFC priorities: 3,4.
func Priorities(m uint8) string {
	var s []string
	for i := range 8 {
		if m>>i&1 == 1 {
			s = append(s, fmt.Sprint(i))
		}
	}
	if len(s) == 0 {
		return "none"
	}
	return strings.Join(s, ",")
}

func (l *linter) pfcAllClasses() {
	l.variants(func(v variant) {
		m := v.q.paused()
		if bits.OnesCount8(m) < 4 {
			return
		}
		var at Place // the first class that is neither RoCE data
		for i := range v.q.Queues {
			if q := &v.q.Queues[i]; q.Pause.Is() && i != l.data(v.q) {
				at = q.Pause.At
				break
			}
		}
		l.say(at, "pause the RDMA class only", "PFC protects %d classes: priorities %s", bits.OnesCount8(m),
			Priorities(m))
	})
}

func (l *linter) pfcShared() {
	l.variants(func(v variant) {
		seen := map[int]int{}
		for i := range v.q.Queues {
			q := &v.q.Queues[i]
			if !q.Pause.Is() {
				continue
			}
			if j, ok := seen[q.Pause.V]; ok {
				l.say(q.Pause.At, "give every lossless class a priority of its own",
					"queues %d and %d share PFC priority %d", j, i, q.Pause.V)
			}
			seen[q.Pause.V] = i
		}
	})
}

func (l *linter) cnpStrict() {
	l.variants(func(v variant) {
		i, said := l.cnp(v.q)
		q := &v.q.Queues[i]
		if !said || i == l.data(v.q) || q.Strict.V || !v.q.Output.Is() {
			return
		}
		at := first(q.Strict.At, q.Share.At, q.At, v.q.Output.At)
		if v.c.OS == EOS && !q.Strict.Is() && !q.Share.Is() {
			l.say(at, "write priority strict below the queue",
				"CNPs (DSCP %d) go to queue %d, and the configuration does not set its scheduling", l.CNPDSCP, i)
			l.findings[len(l.findings)-1].Severity = Warning // strict by default on most platforms
			return
		}
		l.say(at, fixStrict.in(v.c), "CNPs (DSCP %d) go to queue %d, which has no strict priority", l.CNPDSCP, i)
		if v.c.OS == NXOS && at == q.Share.At {
			l.paste(v.c.beside(at, "no "+v.c.words(at.Line), "priority level 1"))
		}
	})
}

func (l *linter) cnpQueue() {
	l.variants(func(v variant) {
		if i, said := l.cnp(v.q); said && v.q.DSCP[l.DataDSCP].Is() && i == l.data(v.q) {
			say := l.meant(v)
			if len(v.c.ByPort) > 0 { // CNPs have the same destination port: a classification by port includes them
				say = l.advise
			}
			say(v.q.DSCP[l.CNPDSCP].At, "send CNPs to a queue with strict priority, 6 or 7",
				"CNPs (DSCP %d) share queue %d with RoCE data", l.CNPDSCP, i)
		}
	})
}

func (l *linter) cnpLossless() {
	l.variants(func(v variant) {
		i, said := l.cnp(v.q)
		if q := &v.q.Queues[i]; said && q.Pause.Is() && i != l.data(v.q) {
			l.say(q.Pause.At, "take the pause off the queue of CNPs", "queue %d carries CNPs and is paused by PFC", i)
		}
	})
}

func (l *linter) dataStrict() {
	l.variants(func(v variant) {
		i := l.data(v.q)
		cnp, _ := l.cnp(v.q)
		if q := &v.q.Queues[i]; v.q.DSCP[l.DataDSCP].Is() && q.Strict.V && q.Strict.Is() &&
			(l.CNPDSCP == Unsaid || i != cnp) {
			l.say(q.Strict.At, fixShare.in(v.c), "queue %d carries RoCE data with strict priority", i)
		}
	})
}

// noClassification finds ports without the classification of most ports.
func (l *linter) noClassification() {
	for _, c := range l.Configs {
		with := 0
		for _, p := range c.Ports {
			if p.QoS != nil && p.QoS.Input.Is() {
				with++
			}
		}
		if !c.HasQoS() || with == 0 && !l.anyPaused(c) {
			continue
		}
		for _, p := range c.Ports {
			if p.QoS == nil || p.QoS.Input.Is() || p.QoS.mapped() || p.QoS.Trust.V == TrustDSCP || p.Down.V ||
				!l.cabled(c, p) && len(p.Addrs) == 0 && !p.PFC.Is() && !c.schedules(p) {
				continue
			}
			say := l.say
			if with > 0 { // it may have no RoCE: a keepalive link, an uplink
				say = l.advise
			}
			say(p.At, "apply the classification to the port", "%s applies no classification", p.Name)
		}
		if with == 0 && len(c.Ports) == 0 {
			say := l.say
			if c.Part {
				say = l.advise
			}
			say(c.top(), "apply the classification to the ports", "no port applies a classification")
		}
	}
}

// schedules reports whether a port has queues set up for it, not only those of all ports.
func (c *Config) schedules(p *Port) bool {
	return p.QoS.Output.Is() && (c.QoS == nil || p.QoS.Output.At != c.QoS.Output.At)
}

// mapped reports whether DSCPs are assigned to queues, possibly by the switch for all of its ports.
func (q *QoS) mapped() bool {
	return slices.ContainsFunc(q.DSCP[:], func(s Said[uint8]) bool { return s.Is() })
}

func (l *linter) anyPaused(c *Config) bool { return c.QoS != nil && c.QoS.paused() != 0 }

// rdma reports whether a port treats packets as RoCE requires: at least one queue is paused or marked.
func (q *QoS) rdma() bool {
	for i := range q.Queues {
		if k := &q.Queues[i]; k.Pause.Is() || k.WRED.Is() && k.WRED.V.ECN || k.Trim.V {
			return true
		}
	}
	return false
}

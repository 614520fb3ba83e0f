package swconf

import (
	"fmt"
	"slices"

	"railyard/internal/queue"
	"railyard/internal/topo"
	"railyard/unit"
)

// thresholdOrder checks the order of thresholds: xON < WRED min < WRED max < xOFF. A violation is reported on both
// lines involved. A warning is a setting that devices accept and run. One is a pause that ends at its start
// threshold, which flaps (NX-OS 10.3 on a Nexus 93180YC-EX runs 12480 for both). The other is marks that begin
// below xON, which are only early. A switch whose configuration has no pause thresholds computes its own (Cisco,
// Nexus 9000 QoS guide 10.5: pause buffer-size is optional below 100 m), and a scenario only assumes them. WRED
// above the assumed xOFF is a note, and its xON is not compared.
func (l *linter) thresholdOrder() {
	const fix = "keep xON < WRED minimum < WRED maximum < xOFF, for example 100, 150, 3000 and 3500 kbytes"
	l.queues(func(v variant, i int, q *Queue) {
		w, g := q.WRED, q.PG
		if !w.Is() || w.V.Max == 0 {
			if g.Is() && g.V.XOff > 0 && g.V.XOn >= g.V.XOff {
				l.resumes(first(g.V.XOnAt, g.At), i, g.V.XOn, g.V.XOff)
			}
			return
		}
		if w.V.Min > w.V.Max { // equal thresholds are a step
			l.say(first(w.V.MinAt, w.At), fix, "queue %d: WRED minimum %v is above its maximum %v", i,
				w.V.Min, w.V.Max)
			last := &l.findings[len(l.findings)-1]
			last.Why = "the probability of marks rises from the minimum to the maximum: the switch refuses thresholds in this order, or marks by one of them only"
			if !q.Pause.Is() {
				last.Fix = "a WRED minimum below the maximum, for example 150 and 3000 kbytes"
			}
			return
		}
		if !q.Pause.Is() {
			return
		}
		p := platform(&l.Base, i)
		xoff, xon, alpha := p.XOff, p.XOn, p.Alpha
		if g.Is() {
			xoff, xon, alpha = g.V.XOff, g.V.XOn, g.V.Alpha
		}
		if xoff == 0 && alpha > 0 {
			l.dynamicXOff(i, &w, alpha, l.buffer(v.c))
			return
		}
		if xoff == 0 {
			return
		}
		if !g.Is() {
			if l.Base.Buffer > 0 && w.V.Max >= xoff { // a scenario names the platform
				l.say(first(w.V.MaxAt, w.At), fix, "queue %d: WRED maximum %v is not below xOFF %v of the scenario's switch block; the configuration sets no xOFF",
					i, size(w.V.Max), size(xoff))
				l.findings[len(l.findings)-1].Severity = Info
			}
			return
		}
		both := func(wred, pause Place, format string, args ...any) {
			msg := fmt.Sprintf("queue %d: ", i) + fmt.Sprintf(format, args...)
			wred = first(wred, w.At)
			l.say(wred, fix, "%s", msg)
			l.say(first(pause, g.At), fix, "%s (WRED is on line %d)", msg, wred.Line)
		}
		switch {
		case xon >= xoff:
			l.resumes(first(g.V.XOnAt, g.At), i, xon, xoff)
		case w.V.Max >= xoff:
			both(w.V.MaxAt, g.V.XOffAt, "WRED maximum %v is not below xOFF %v", size(w.V.Max), size(xoff))
		case xon >= w.V.Min:
			n := len(l.findings)
			both(w.V.MinAt, g.V.XOnAt, "xON %v is not below WRED minimum %v", size(xon), size(w.V.Min))
			l.warn(n)
		}
	})
}

// dynamicXOff compares the WRED maximum of a queue with the most ingress bytes that its PFC threshold ever allows.
// The threshold is alpha times the free buffer: a single priority group pauses at alpha / (1 + alpha) of the whole.
// That is a warning, because if several ports send to the queue it may fill before any of their groups pauses.
// Public configurations of SONiC have such settings.
func (l *linter) dynamicXOff(queue int, w *Said[WRED], alpha float64, buffer unit.Bytes) {
	most, n := alpha/(1+alpha)*float64(buffer), len(l.findings)
	if buffer == 0 || float64(w.V.Max) < most {
		return
	}
	l.say(first(w.V.MaxAt, w.At), "a lower WRED maximum, or a larger alpha",
		"queue %d: WRED maximum %v is not below xOFF, %.3gMB at most (alpha %g of the packet buffer of %v)", queue,
		size(w.V.Max), most/float64(unit.MB), alpha, size(buffer))
	l.warn(n)
}

// buffer returns the packet buffer of a switch, 0 if its size is unknown.
func (l *linter) buffer(c *Config) unit.Bytes {
	if c.Buffer.Is() {
		return c.Buffer.V
	}
	return l.Base.Buffer
}

// resumes reports a pause whose end threshold is above its start, which devices reject, or equal to it.
func (l *linter) resumes(at Place, queue int, xon, xoff unit.Bytes) {
	n := len(l.findings)
	l.say(at, "a resume threshold some packets below the pause threshold",
		"queue %d: xON %v is not below xOFF %v", queue, size(xon), size(xoff))
	l.findings[n].Why = "a pause ends at xON: above xOFF switches refuse it, and at xOFF pauses follow each other packet by packet"
	if xon == xoff {
		l.warn(n)
	}
}

func (l *linter) thresholdBuffer() {
	l.queues(func(v variant, i int, q *Queue) {
		buffer := l.buffer(v.c)
		if buffer == 0 {
			return // unknown size
		}
		const fix = "lower the threshold, or check the size of the buffer"
		if w := q.WRED; w.Is() && w.V.Max > buffer {
			l.say(first(w.V.MaxAt, w.At), fix, "queue %d: WRED maximum %v is above the packet buffer of %v",
				i, size(w.V.Max), buffer)
		}
		if g := q.PG; g.Is() && g.V.XOff+g.V.Headroom > buffer {
			l.say(g.At, fix, "queue %d: xOFF %v and headroom %v are above the packet buffer of %v", i,
				size(g.V.XOff), size(g.V.Headroom), buffer)
		}
		if q.Limit.Is() && q.Limit.V > buffer {
			l.say(q.Limit.At, fix, "queue %d: the queue limit %v is above the packet buffer of %v", i,
				size(q.Limit.V), buffer)
		}
	})
}

// bufferSum adds the bytes that lossless classes of all ports hold before and after their pauses. With more than
// the buffer, a static xOFF may not be reached in time (Zhu et al., SIGCOMM 2015, section 4: the threshold is below
// the buffer without headroom, divided among the ports' classes). SONiC shares headroom among ports, and its sum is
// no reservation.
func (l *linter) bufferSum() {
	for _, c := range l.Configs {
		buffer := l.buffer(c)
		if buffer == 0 || !c.HasQoS() {
			continue
		}
		var xoff, head, most, largest unit.Bytes
		var at Place
		ports := 0
		for _, p := range c.Ports {
			if p.QoS == nil || p.Down.V || p.Parent != "" || p.Number == 0 || p.PFC.V == PFCOff {
				continue
			}
			held, before := unit.Bytes(0), xoff
			for i := range p.QoS.Queues {
				if q := &p.QoS.Queues[i]; q.Pause.Is() && q.PG.Is() {
					g := &q.PG.V
					xoff, head, held = xoff+g.XOff, head+g.Headroom, held+g.XOff+g.Headroom
					if held > largest {
						largest, at = held, q.PG.At
					}
				}
			}
			if most = max(most, xoff-before); held > 0 {
				ports++
			}
		}
		switch of := unit.Plural(ports, "port"); {
		case ports < 2 || at.Line == 0:
		case head >= buffer && c.OS != SONiC:
			l.say(at, "less headroom, fewer lossless classes, or the size of the buffer",
				"the headroom of %s adds up to %v, which leaves nothing of the packet buffer of %v to share", of,
				size(head), size(buffer))
		case xoff > 0 && xoff+head > buffer:
			l.say(at, "a lower xOFF, or a dynamic threshold, if the pauses are to begin at xOFF in any case",
				"xOFF and headroom of %s add up to %v, above the packet buffer of %v: %d congested ports fill it before xOFF",
				of, size(xoff+head), size(buffer), max(2, int((buffer-head)/most)+1))
			l.findings[len(l.findings)-1].Severity = Info
		}
	}
}

// defaultCable is the length of cables of unknown length.
const defaultCable = 3000

// headroom compares a priority group's headroom with the requirement of its links. Without a scenario the ports' pause
// response time is unknown: headroom that is sufficient only for the packets in flight is a warning.
func (l *linter) headroom() {
	length, rate := map[*Port]int64{}, map[*Port]unit.Rate{}
	l.cables(func(a, b *end) {
		for _, e := range []*end{a, b} {
			if e.port != nil {
				length[e.port], rate[e.port] = e.link.LengthMM, e.link.Rate
			}
		}
	})
	for _, c := range l.Configs {
		worst, through := map[Place]unit.Bytes{}, l.Pipeline
		if n := l.nodes[c]; l.Graph != nil && n >= 0 {
			through = l.Graph.Nodes[n].Through(l.Pipeline)
		}
		for _, p := range c.Ports {
			if p.QoS == nil || p.Down.V {
				continue
			}
			r := p.Speed.V
			if rate[p] > 0 {
				r = rate[p]
			}
			mm := int64(defaultCable)
			if p.CableMM.Is() {
				mm = p.CableMM.V
			}
			if length[p] > 0 {
				mm = length[p]
			}
			mtu, ok := p.QoS.mtu(p)
			if r == 0 || !ok {
				continue
			}
			response := l.Response
			if response == 0 {
				response = queue.Response(r)
			}
			need := queue.Headroom(r, topo.CableDelay(mm), response, through, mtu)
			for i := range p.QoS.Queues {
				g := p.QoS.Queues[i].PG
				if !g.Is() || g.V.Headroom <= 0 || g.V.Headroom >= need || need <= worst[g.At] {
					continue
				}
				worst[g.At] = need
				// The standard's response time is the maximum: faster ports need less, and images contain values
				// for chips known to their makers. A scenario sets the time, or uses the standard's, and loses
				// packets there. RoCE's packets are no longer than its path MTU, whatever the port's MTU (SONiC
				// assumes 1024 bytes).
				frame := min(mtu, max(unit.Bytes(l.PathMTU), 256)+Headers)
				atOnce, n, or := queue.Headroom(r, topo.CableDelay(mm), 0, 0, frame), len(l.findings), ""
				quick := l.Response == 0 && l.Specs == nil && g.V.Headroom >= atOnce
				if quick {
					none := queue.Headroom(r, topo.CableDelay(mm), 0, through, mtu)
					or = inTime(g.V.Headroom, none, atOnce, l.PathMTU)
				}
				fix := fmt.Sprintf("give it at least %d bytes", need)
				if l.Specs != nil && l.Response == 0 && g.V.Headroom >= atOnce {
					fix += "; or, if the neighbor obeys earlier, its time in the scenario (fabric.pause_response)"
				}
				l.say(first(g.V.HeadAt, g.At), fix,
					"queue %d: %v of headroom; %s at %v with %.3g m of cable and MTU %v needs %v%s",
					i, g.V.Headroom, p.Name, r, float64(mm)/1000, mtu, need, or)
				if quick {
					l.warn(n)
				}
			}
		}
	}
}

// inTime describes the response time for which a port needs its headroom, and the requirement of a neighbor that
// responds at once: with frames of the port's MTU, and with RoCE's if only that is covered.
func inTime(have, none, ofRoCE unit.Bytes, pathMTU int) string {
	say := fmt.Sprintf(" if its neighbor takes the whole response time of IEEE 802.3 to obey a pause, %v if none", none)
	if have < none {
		say += fmt.Sprintf(" (%v with frames of path MTU %d)", ofRoCE, pathMTU)
	}
	return say
}

// ecnMissing requires ECN on every queue that has PFC.
func (l *linter) ecnMissing() {
	silent := map[*Config]bool{}
	for _, c := range l.Configs {
		silent[c] = c.nothingMarks()
	}
	l.queues(func(v variant, i int, q *Queue) {
		if !q.Pause.Is() || v.q.Trust.V == TrustCOS && !v.q.Output.Is() {
			return // or a partial configuration, for storage classified by tags, whose queues are elsewhere
		}
		fix := fixECN.in(v.c)
		say := l.say
		if silent[v.c] {
			say = l.advise
		}
		switch {
		case q.WRED.Is() && !q.WRED.V.ECN:
			l.say(first(q.WRED.V.ECNAt, q.WRED.At), fixDrops.in(v.c),
				"queue %d is lossless and its WRED drops instead of marking: ecn is missing", i)
			if v.c.OS == NXOS {
				l.paste(v.c.beside(q.WRED.At, v.c.words(q.WRED.At.Line)+" ecn"))
			}
		case !q.WRED.Is() && i == l.data(v.q):
			say(first(q.At, q.Pause.At), fix, "queue %d is lossless and has no ECN", i)
		case !q.WRED.Is() && v.q.Input.Is() && !v.q.fed(i): // pfc-class reports it
		case !q.WRED.Is(): // a queue that RoCE data do not use
			l.advise(first(q.At, q.Pause.At), fix, "queue %d has PFC and no ECN", i)
		}
	})
}

// fed reports whether a line puts a DSCP or a CoS into a queue.
func (q *QoS) fed(queue int) bool {
	in := func(m Said[uint8]) bool { return m.Is() && int(m.V) == queue }
	return slices.ContainsFunc(q.DSCP[:], in) || slices.ContainsFunc(q.COS[:], in)
}

func (l *linter) ecnNever() {
	l.queues(func(v variant, i int, q *Queue) {
		if w := q.WRED; w.Is() && w.V.ECN && (w.V.Max > 0 || w.V.MaxText != "") && w.V.Percent == 0 && !w.V.Open {
			l.say(w.At, "use a probability of 5 to 20 percent", "queue %d marks with probability 0", i)
		}
	})
}

func (l *linter) wredAverage() {
	l.queues(func(v variant, i int, q *Queue) {
		if w := q.WRED; w.Is() && w.V.Weight > 0 && q.Pause.Is() {
			l.say(w.At, fixWeight.in(v.c), "queue %d averages its length with weight %d", i, w.V.Weight)
			if own := v.c.words(w.At.Line); averages.MatchString(own) {
				l.paste(v.c.beside(w.At, averages.ReplaceAllString(own, "$1 0")))
			}
		}
	})
}

func (l *linter) bandwidthSum() {
	l.shares(func(v variant, sum, small, big int) {
		if sum > 100 && !v.q.Ratio {
			l.say(v.shareAt(big), "lower shares until they add up to 100",
				"bandwidth shares add up to %d %%, queue %d takes most", sum, big)
		}
	})
}

func (l *linter) bandwidthLeft() {
	l.shares(func(v variant, sum, small, big int) {
		if sum > 0 && sum < 100 && !v.q.Ratio {
			l.say(v.shareAt(small), "let the shares of all queues add up to 100",
				"the bandwidth shares add up to %d %%", sum)
		}
	})
}

// shareAt returns the line of a queue's share, or of another queue's that only this treatment has, if the first is
// shared with other ports of the switch.
func (v variant) shareAt(queue int) Place {
	at := func(q *QoS, i int) Place { return q.Queues[i].Share.At }
	shared := func(i int) bool {
		return slices.ContainsFunc(v.c.Ports, func(p *Port) bool {
			return p.QoS != nil && p.QoS != v.q && at(p.QoS, i) == at(v.q, i)
		})
	}
	for i := range v.q.Queues {
		if at(v.q, i).Line > 0 && shared(queue) && !shared(i) {
			return at(v.q, i)
		}
	}
	return at(v.q, queue)
}

// shares sums the bandwidth that strict priority leaves, and finds the queues with the smallest positive share and
// with the largest.
func (l *linter) shares(visit func(v variant, sum, small, big int)) {
	l.variants(func(v variant) {
		sum, small, big := 0, -1, -1
		for i := range v.q.Queues {
			q := &v.q.Queues[i]
			if q.Strict.V || !q.Share.Is() || q.Share.V == 0 {
				continue
			}
			sum += q.Share.V
			if small < 0 || q.Share.V < v.q.Queues[small].Share.V {
				small = i
			}
			if big < 0 || q.Share.V >= v.q.Queues[big].Share.V {
				big = i
			}
		}
		visit(v, sum, small, big)
	})
}

func (l *linter) dataStarved() {
	l.variants(func(v variant) {
		q := &v.q.Queues[l.data(v.q)]
		if q.Share.Is() && q.Share.V == 0 && !q.Strict.V && v.q.DSCP[l.DataDSCP].Is() {
			l.meant(v)(q.Share.At, "give the RoCE queue its share, for example 50",
				"queue %d carries RoCE data and gets 0 %% of the bandwidth", l.data(v.q))
		}
	})
}

package swconf

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// dscpUnmapped points to the line that maps DSCPs to the queue where the DSCP belongs.
func (l *linter) dscpUnmapped() {
	l.variants(func(v variant) {
		if !v.roce() || !v.q.Input.Is() || v.q.Trust.V == TrustCOS || v.q.Default && v.q.paused() == 0 {
			return // tags decide, or nothing is lossless and the platform's map applies
		}
		pauses := func(_ int, q *Queue) bool { return q.Pause.Is() }
		if v.q.byCOS(pauses) {
			return // also of CNPs, which have the data's tag
		}
		check := func(dscp int, what, flag string, assumed bool, belongs func(i int, q *Queue) bool) {
			m := &v.q.DSCP[dscp]
			if m.Is() || v.q.Default && dscp == l.CNPDSCP || belongs(int(m.V), &v.q.Queues[m.V&7]) {
				return
			}
			assumed = assumed && !slices.ContainsFunc(l.Configs, func(c *Config) bool { return c.maps(dscp) })
			at, say := v.q.Input.At, l.advise // no map entry exists for them
			for i := range v.q.Queues {
				if belongs(i, &v.q.Queues[i]) {
					if say = l.say; v.q.Feeds[i].Line > 0 {
						at = v.q.Feeds[i]
					}
				}
			}
			fix := fmt.Sprintf("classify DSCP %d", dscp)
			if i, other := v.q.pausedDSCP(dscp); i >= 0 && dscp == l.DataDSCP {
				fix = l.moved(i, other)
			} else if assumed {
				fix += fmt.Sprintf(", or set %s to the one that the NICs send", flag)
			}
			from := ""
			if assumed {
				from = fmt.Sprintf(", assumed without %s", flag)
			}
			say(at, fix,
				"%s (DSCP %d%s) is not classified and goes to queue %d with everything else", what, dscp, from, m.V)
		}
		check(l.DataDSCP, "RoCE data", "--data-dscp", l.Assumed.Data, pauses)
		if l.CNPDSCP == Unsaid {
			return
		}
		check(l.CNPDSCP, "CNP traffic", "--cnp-dscp", l.Assumed.CNP, func(_ int, q *Queue) bool { return q.Strict.V })
	})
}

// maps reports whether a line of a configuration gives a DSCP a queue.
func (c *Config) maps(dscp int) bool {
	return slices.ContainsFunc(c.Ports, func(p *Port) bool { return p.QoS != nil && p.QoS.DSCP[dscp].Is() })
}

// treatment is the treatment of a packet at a switch. Queue numbers are only names. End to end, four properties
// must agree: whether the queue is lossless, its PFC priority on the wire (IEEE 802.1Qbb), its scheduling and its
// marking.
type treatment struct {
	lossless             bool
	priority             int // of PFC
	strict, marks, trims bool
	open                 bool // lossy, and no line schedules it: strict or not
}

// String names a treatment in a remedy.
func (t treatment) String() string {
	switch {
	case t.lossless:
		return fmt.Sprintf("lossless by PFC priority %d", t.priority)
	case t.strict:
		return "strict"
	case t.trims:
		return "trimmed"
	case t.marks:
		return "marked by ECN"
	}
	return "best effort"
}

// treats returns the treatment of a DSCP.
func (v variant) treats(d int) treatment { return v.serves(&v.q.Queues[v.q.DSCP[d].V&7]) }

// serves returns the treatment by a queue.
func (v variant) serves(q *Queue) (t treatment) {
	if q.Pause.Is() {
		return treatment{lossless: true, priority: q.Pause.V}
	}
	t.marks, t.trims = q.WRED.V.ECN, q.Trim.V
	if t.open = !q.Strict.Is() && !q.Share.Is() && (v.c.Strict || !v.q.Output.Is()); !t.open {
		t.strict = q.Strict.V
	}
	return t
}

// like reports whether two treatments may be one.
func (t treatment) like(o treatment) bool {
	if t.open || o.open {
		t.open, t.strict = o.open, o.strict
	}
	return t == o
}

// dscpDiffers compares the treatment of DSCPs by all switches, and by the ports of one.
func (l *linter) dscpDiffers() {
	var all, tagged []variant
	l.variants(func(v variant) {
		switch {
		case !v.q.Input.Is():
		case v.q.Trust.V == TrustCOS || v.q.byTags():
			tagged = append(tagged, v)
		default:
			all = append(all, v)
		}
	})
	l.tagsDiffer(all, tagged)
	type fault struct {
		at       Place
		from, to uint8
		fix, on  string
		silent   bool // no line maps them
		// whether it is not RoCE's, and mapped by another map of the same configuration or lossless nowhere
		apart  bool
		unused bool // whether it is not RoCE's, and no line of any switch maps it
		lossy  bool // here and elsewhere
	}
	bad := map[fault][]int{}
	var order []fault
	for d := range 64 {
		var said, silent []treatment
		for _, v := range all {
			if m := v.q.DSCP[d]; m.Is() {
				said = append(said, v.treats(d))
			} else {
				silent = append(silent, v.treats(d))
			}
		}
		paused := slices.ContainsFunc(said, func(t treatment) bool { return t.lossless })
		unused := len(said) == 0 && d != l.DataDSCP && d != l.CNPDSCP // whether only the platforms' maps apply
		// on a tie, switches that map it are assumed correct
		most := majority(append(said, silent...))
		right := map[uint8]bool{}
		for _, v := range all {
			if v.treats(d) == most {
				right[v.q.DSCP[d].V] = true
			}
		}
		for _, v := range all {
			m, t := v.q.DSCP[d], v.treats(d)
			if right[m.V] || t.like(most) {
				continue // equal, or different in other settings of one queue, which other rules compare
			}
			lossy := !most.lossless && !t.lossless
			if unused && lossy {
				continue
			}
			to := elsewhere(all, v, d, most)
			at := m.At
			if !m.Is() { // unmapped here, mapped elsewhere
				at = v.q.Input.At
				if !v.q.Default { // the class of the queue, where a line would add the DSCP
					at = first(v.q.Feeds[to&7], at)
				}
			}
			apart := d != l.DataDSCP && d != l.CNPDSCP && (!paused || slices.ContainsFunc(all,
				func(o variant) bool { return o.c == v.c && o.treats(d) == most && o.q.Input.V != v.q.Input.V }))
			on := l.others()
			if o := l.other(v.c); o != nil && slices.ContainsFunc(all, func(x variant) bool {
				return x.c == o && x.treats(d) == most
			}) {
				on = o.Name()
			}
			f := fault{at, m.V, to, v.remap(to, most, on), on, !m.Is(), apart, unused, lossy}
			if bad[f] == nil {
				order = append(order, f)
			}
			bad[f] = append(bad[f], d)
		}
	}
	for _, f := range order {
		d := bad[f]
		sort.Ints(d)
		say, how := l.say, ""
		if f.apart {
			say = l.advise
		}
		if f.silent {
			how = " by default (no line sets it)"
		}
		say(f.at, f.fix, "DSCP %s goes to queue %d here%s and to queue %d on "+f.on, ranges(slices.Compact(d)),
			f.from, how, f.to)
		last := &l.findings[len(l.findings)-1]
		if f.unused {
			last.Severity = Info
		}
		if f.lossy {
			last.Why = "packets have strict priority, or ECN, at one hop and not at the next"
		}
	}
}

// remap is the remedy for a DSCP that most switches have in another kind of queue: the switch's own queue of that
// number, if it treats packets as theirs do, or another one that does. on names these switches.
func (v variant) remap(to uint8, most treatment, on string) string {
	own := slices.IndexFunc(v.q.Queues[:], func(q Queue) bool { return v.serves(&q) == most })
	if k := &v.q.Queues[to&7]; v.serves(k) == most || own < 0 && v.serves(k).like(most) {
		return fmt.Sprintf("map it to queue %d as on %s, or change all", to, on)
	}
	if own >= 0 {
		return fmt.Sprintf("map it to queue %d, which is %v as on %s, or change all", own, most, on)
	}
	return fmt.Sprintf("map it to a queue that is %v as on %s, or change all", most, on)
}

// elsewhere is the queue in which most switches have the same treatment of a DSCP, in v's own language if any.
func elsewhere(all []variant, v variant, d int, most treatment) uint8 {
	var own, others []uint8
	for _, o := range all {
		switch {
		case o.treats(d) != most:
		case o.c.OS == v.c.OS:
			own = append(own, o.q.DSCP[d].V)
		default:
			others = append(others, o.q.DSCP[d].V)
		}
	}
	if len(own) > 0 {
		return majority(own)
	}
	return majority(others)
}

// tagsDiffer finds routed ports that classify by the VLAN tag, which their packets lack, while others have the DSCP of
// RoCE data lossless.
func (l *linter) tagsDiffer(byDSCP, tagged []variant) {
	lossless := func(v variant) bool {
		m := v.q.DSCP[l.DataDSCP]
		return m.Is() && v.q.Queues[m.V&7].Pause.Is()
	}
	if !slices.ContainsFunc(byDSCP, lossless) {
		return
	}
	for _, v := range tagged {
		p, to := v.port, v.q.DSCP[l.DataDSCP].V&7
		if p == nil || !p.routed() || p.Tag.Is() || v.q.Queues[to].Pause.Is() {
			continue
		}
		l.say(first(v.q.Trust.At, v.q.Input.At), "classify by DSCP as the others do",
			"CoS decides here, and DSCP %d on "+l.others()+
				": RoCE data of a routed port has no VLAN tag and goes to queue %d, which no PFC priority pauses",
			l.DataDSCP, to)
	}
}

// ranges writes 24,26-29.
func ranges(d []int) string {
	var s []string
	for i := 0; i < len(d); {
		j := i
		for j+1 < len(d) && d[j+1] == d[j]+1 {
			j++
		}
		if j > i {
			s = append(s, fmt.Sprintf("%d-%d", d[i], d[j]))
		} else {
			s = append(s, fmt.Sprint(d[i]))
		}
		i = j + 1
	}
	return strings.Join(s, ",")
}

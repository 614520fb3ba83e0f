package swconf

import "slices"

// ofFabrics are rules about what a RoCE fabric needs. A switch that stands in none, by what is known, and
// neither pauses nor marks anything may do without: there they are advice.
var ofFabrics = []string{"bgp-no-multipath", "bgp-silent", "no-classification", "dscp-unmapped", "mtu-small",
	"cnp-not-strict", "cnp-in-roce-queue", "dscp-differs", "bgp-neighbor-missing"}

// soften turns errors that suppose a RoCE fabric into warnings for switches that are in none.
func (l *linter) soften() {
	if l.Graph != nil {
		return
	}
	meant := map[string]bool{}
	for _, c := range l.Configs {
		meant[c.File] = meant[c.File] || c.carriesRoCE()
	}
	for i := range l.findings {
		f := &l.findings[i]
		if f.Severity == Error && !meant[f.File] && slices.Contains(ofFabrics, f.Rule) {
			f.Severity = Warning
		}
	}
}

// advise is say, of what a text alone cannot be blamed for: without a fabric it is a warning.
func (l *linter) advise(at Place, fix, format string, args ...any) {
	l.say(at, fix, format, args...)
	if f := &l.findings[len(l.findings)-1]; l.Graph == nil && f.Severity == Error {
		f.Severity = Warning
	}
}

// warn makes the findings from the n-th on warnings.
func (l *linter) warn(n int) {
	for i := range l.findings[n:] {
		l.findings[n+i].Severity = Warning
	}
}

// sayOf is say of a whole text, and advise of a part, where what is missing may stand elsewhere.
func (l *linter) sayOf(c *Config) func(at Place, fix, format string, args ...any) {
	if c.Part {
		return l.advise
	}
	return l.say
}

// nothingMarks reports whether no queue of a text marks, or drops early: a design of pauses alone.
func (c *Config) nothingMarks() bool {
	early := func(q *QoS) bool {
		return q != nil && slices.ContainsFunc(q.Queues[:], func(k Queue) bool { return k.WRED.Is() })
	}
	return !early(c.QoS) && !slices.ContainsFunc(c.Ports, func(p *Port) bool { return early(p.QoS) })
}

// carriesRoCE reports whether a text pauses a class of packets, or marks one.
func (c *Config) carriesRoCE() bool {
	all := []*QoS{c.QoS}
	for _, p := range c.Ports {
		if len(all) == 0 || all[len(all)-1] != p.QoS {
			all = append(all, p.QoS)
		}
	}
	return slices.ContainsFunc(all, func(q *QoS) bool { return q != nil && (q.paused() != 0 || q.marks()) })
}

// byCOS reports whether a queue that belongs to a kind of packets gets them by their 802.1p priority, while
// nothing of the kind is classified by its DSCP.
func (q *QoS) byCOS(belongs func(i int, q *Queue) bool) bool {
	byDSCP, byCOS := false, false
	for d := range q.DSCP {
		byDSCP = byDSCP || q.DSCP[d].Is() && belongs(int(q.DSCP[d].V), &q.Queues[q.DSCP[d].V&7])
	}
	for p := range q.COS {
		byCOS = byCOS || q.COS[p].Is() && belongs(int(q.COS[p].V), &q.Queues[q.COS[p].V&7])
	}
	return byCOS && !byDSCP
}

// meant is say where a treatment has something of RoCE's, pauses or marks of its data, and advise where the
// DSCPs that are taken for RoCE's may be anybody's.
func (l *linter) meant(v variant) func(at Place, fix, format string, args ...any) {
	if w := v.q.Queues[l.data(v.q)].WRED; v.q.paused() != 0 || w.Is() && w.V.ECN {
		return l.say
	}
	return l.advise
}

// others returns the ports that a treatment is compared with: the ports of one switch, or switches.
func (l *linter) others() string {
	if len(l.Configs) == 1 {
		return "other ports"
	}
	return "most switches"
}

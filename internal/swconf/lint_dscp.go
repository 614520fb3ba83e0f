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
			return // tags decide, or nothing is lossless and the platform's map holds
		}
		pauses := func(_ int, q *Queue) bool { return q.Pause.Is() }
		if v.q.byCOS(pauses) {
			return // of CNPs too, which have the data's tag
		}
		check := func(dscp int, what string, belongs func(i int, q *Queue) bool) {
			m := &v.q.DSCP[dscp]
			if m.Is() || v.q.Default && dscp == l.CNPDSCP || belongs(int(m.V), &v.q.Queues[m.V&7]) {
				return
			}
			at, say := v.q.Input.At, l.advise // nothing is there for them at all
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
			}
			say(at, fix,
				"%s (DSCP %d) is not classified and goes to queue %d with everything else", what, dscp, m.V)
		}
		check(l.DataDSCP, "RoCE data", pauses)
		if l.CNPDSCP == Unsaid {
			return
		}
		check(l.CNPDSCP, "CNP traffic", func(_ int, q *Queue) bool { return q.Strict.V })
	})
}

// dscpDiffers compares the maps of all switches, and of the ports of one.
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
		silent   bool // no line maps them
		apart    bool // not RoCE's, and by another map of the same configuration, or lossless nowhere
	}
	bad := map[fault][]int{}
	var order []fault
	for d := range 64 {
		var said, silent []uint8
		for _, v := range all {
			if m := v.q.DSCP[d]; m.Is() {
				said = append(said, m.V)
			} else {
				silent = append(silent, m.V)
			}
		}
		paused := slices.ContainsFunc(all, func(v variant) bool {
			return v.q.DSCP[d].Is() && v.q.Queues[v.q.DSCP[d].V&7].Pause.Is()
		})
		most := majority(append(said, silent...)) // on a tie, those that map it are right
		for _, v := range all {
			m := v.q.DSCP[d]
			if m.V == most {
				continue
			}
			at := m.At
			if !m.Is() { // unmapped here, mapped elsewhere
				at = v.q.Input.At
				if !v.q.Default { // the class of the queue, where a line would add the DSCP
					at = first(v.q.Feeds[most], at)
				}
			}
			apart := d != l.DataDSCP && d != l.CNPDSCP && (!paused || slices.ContainsFunc(all,
				func(o variant) bool { return o.c == v.c && o.q.DSCP[d].V == most && o.q.Input.V != v.q.Input.V }))
			f := fault{at, m.V, most, !m.Is(), apart}
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
		say(f.at, fmt.Sprintf("map it to queue %d as the others do, or change all", f.to),
			"DSCP %s goes to queue %d here%s and to queue %d on "+l.others(), ranges(slices.Compact(d)),
			f.from, how, f.to)
	}
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

package swconf

import (
	"fmt"
	"math"
	"slices"

	"railyard/internal/queue"
	"railyard/unit"
)

// mark is the ECN of a queue: its thresholds, and the percentage marked just below the upper one.
type mark struct {
	low, high         unit.Bytes
	lowText, highText string // thresholds not in bytes
	percent           float64
	open              bool // the configuration has no percentage
}

// marked returns the ECN of a queue, and whether the configuration has its thresholds.
func (q *Queue) marked() (mark, bool) {
	w := q.WRED.V
	return mark{w.Min, w.Max, w.MinText, w.MaxText, w.Percent, w.Open},
		q.WRED.Is() && w.ECN && w.Min <= w.Max && (w.Max > 0 || w.MaxText != "") // else threshold-order's
}

// near reports whether two values differ only by notation: thresholds in units of 1000 or 1024 and in cells of a packet
// memory, up to 5 %, and whole percents. A percentage of 0 is a finding of ecn-never.
func (m mark) near(o mark) bool {
	return alikeSize(m.low, o.low) && alikeSize(m.high, o.high) && m.lowText == o.lowText && m.highText == o.highText &&
		(m.open || o.open || m.percent == 0 || math.Abs(m.percent-o.percent) <= 0.5)
}

// alikeSize reports whether two thresholds are equal in different units.
func alikeSize(a, b unit.Bytes) bool { return math.Abs(float64(a-b)) <= 0.05*float64(max(a, b)) }

// differing returns the position of the first difference from another mark.
func (q *Queue) differing(m, o mark) Place {
	switch w := &q.WRED.V; {
	case !alikeSize(m.low, o.low):
		return first(w.MinAt, q.WRED.At)
	case !alikeSize(m.high, o.high):
		return first(w.MaxAt, q.WRED.At)
	}
	return q.WRED.At
}

func (m mark) String() string {
	low, high, percent := fmt.Sprint(size(m.low)), fmt.Sprint(size(m.high)), ""
	if m.highText != "" {
		low, high = m.lowText, m.highText
	}
	if !m.open {
		percent = fmt.Sprintf(" with %.3g %%", m.percent)
	}
	return low + " to " + high + percent
}

// peerGroup is the key of switches that should mark equally: system, model, tier, rate of the port, and the
// packets. The packets are included because queues of one number may have different ones.
type peerGroup struct {
	os    OS
	model string
	tier  int
	rate  unit.Rate
	dscp  int // DSCP of these packets, or -1 minus the queue's number for a queue without one
}

// carried returns the DSCP of the packets in a queue: the data's, or the lowest mapped one; -1 for none.
func (l *linter) carried(q *QoS, queue int) int {
	if q.DSCP[l.DataDSCP].Is() && queue == l.data(q) {
		return l.DataDSCP
	}
	return slices.IndexFunc(q.DSCP[:], func(d Said[uint8]) bool { return d.Is() && int(d.V&7) == queue })
}

func (g peerGroup) String() string {
	if g.tier > 0 {
		return fmt.Sprintf("switches of tier %d", g.tier)
	}
	return "switches"
}

// defaultWRED is the WRED of a scenario without one.
var defaultWRED = func() queue.WRED { s := queue.Default(); return s.Queues[s.DSCP[24]].WRED }()

// ecnDiffers compares the ECN of each queue with the scenario's or, if that is unknown, with that of most switches
// of the same kind.
func (l *linter) ecnDiffers() {
	usual := l.usualMarks()
	l.queues(func(v variant, i int, q *Queue) {
		m, ok := q.marked()
		if !ok {
			return
		}
		if n := l.nodes[v.c]; l.Specs != nil && n >= 0 && m.highText == "" {
			dscp, spec := l.carried(v.q, i), l.Specs(n)
			if dscp < 0 {
				return // no packets are marked here
			}
			j := int(spec.DSCP[dscp])
			w := spec.Queues[j].WRED
			want := mark{low: w.Min, high: w.Max, percent: w.Probability.Percent()}
			if w.ECN && w.Max > 0 && !m.near(want) {
				fix := fmt.Sprintf("%v, or these thresholds in the scenario (switch.queues.%d: wred_min, wred_max, probability)", want, j)
				if w == defaultWRED {
					fix += "; the scenario has the default, which is the same at any rate"
				}
				l.say(q.differing(m, want), fix,
					"queue %d marks from %v, and in the scenario from %v", i, m, want)
				l.paste(v.c.marks(q.WRED, want))
			}
			return
		}
		for _, g := range v.groups(l, i) {
			u := usual[g]
			if o := u.other(v.c); g.tier > 0 && u.of == 2 && m.far(o) {
				l.say(q.differing(m, o[0].mark), "the thresholds that are meant, on both switches",
					"queue %d marks from %v, and on %s, the other of two %v, from %v", i, m, o[0].c.Name(), g,
					o[0].mark)
				return
			}
			if u.of < 3 || len(u.most) == 0 || u.has(m) {
				continue
			}
			l.say(q.differing(m, u.most[0].mark), "the thresholds of the other switches, or one set for all",
				"queue %d marks from %v, and on %d of %d %v from %v", i, m, u.most[0].n, u.of, g, u.most[0].mark)
			l.paste(v.c.marks(q.WRED, u.most[0].mark))
			return
		}
	})
}

// usualMarks is the ECN of a group's switches, and that of more than half of them.
type usualMarks struct {
	of   int // switches
	all  []ownMark
	most []usualMark
}

type ownMark struct {
	mark
	c *Config
}

// other returns the ECN of the group's switches other than c.
func (u usualMarks) other(c *Config) (out []ownMark) {
	for _, x := range u.all {
		if x.c != c {
			out = append(out, x)
		}
	}
	return out
}

// far reports whether a threshold is above twice or below half of that of every other mark. If two switches differ
// less, each may be intended.
func (m mark) far(others []ownMark) bool {
	apart := func(a, b float64) bool { return max(a, b) > 2*min(a, b) }
	for _, o := range others {
		low, high := m.values()
		if l, h := o.values(); m.lowText == "" != (o.lowText == "") || !apart(low, l) && !apart(high, h) {
			return false
		}
	}
	return len(others) > 0
}

// values returns the thresholds as numbers, in the configuration's unit.
func (m mark) values() (low, high float64) {
	low, high = float64(m.low), float64(m.high)
	if m.highText != "" {
		_, _ = fmt.Sscanf(m.lowText, "%g", &low)
		_, _ = fmt.Sscanf(m.highText, "%g", &high)
	}
	return low, high
}

type usualMark struct {
	mark
	n int
}

func (u usualMarks) has(m mark) bool {
	for _, x := range u.most {
		if m.near(x.mark) {
			return true
		}
	}
	return false
}

// usualMarks counts the switches of each group by their ECN. Ports to hosts and to switches may have different
// ones, so a switch counts for each.
func (l *linter) usualMarks() map[peerGroup]usualMarks {
	type use struct {
		g peerGroup
		m mark
	}
	count, order, of := map[use]int{}, []use{}, map[peerGroup]int{}
	seenMark, seenGroup := map[use]*Config{}, map[peerGroup]*Config{}
	out := map[peerGroup]usualMarks{}
	l.queues(func(v variant, i int, q *Queue) {
		m, ok := q.marked()
		if !ok {
			return
		}
		for _, g := range v.groups(l, i) {
			u := use{g, m}
			if seenGroup[g] != v.c {
				seenGroup[g] = v.c
				of[g]++
			}
			if seenMark[u] != v.c {
				seenMark[u] = v.c
				x := out[g]
				x.all = append(x.all, ownMark{m, v.c})
				out[g] = x
				if count[u]++; count[u] == 1 {
					order = append(order, u)
				}
			}
		}
	})
	for _, u := range order {
		x, n := out[u.g], of[u.g]
		if x.of = n; 2*count[u] > n {
			x.most = append(x.most, usualMark{u.m, count[u]})
		}
		out[u.g] = x
	}
	return out
}

// groups returns the groups of the ports of a treatment, one for each rate.
func (v variant) groups(l *linter, queue int) (out []peerGroup) {
	g := peerGroup{os: v.c.OS, model: v.c.HwSKU.V, tier: l.tier(v.c), dscp: l.carried(v.q, queue)}
	if g.dscp < 0 {
		g.dscp = -1 - queue
	}
	if v.port == nil {
		return []peerGroup{g}
	}
	seen := map[unit.Rate]bool{}
	for _, p := range v.c.Ports {
		if p.QoS == v.q && !p.Down.V && !seen[p.Speed.V] {
			seen[p.Speed.V] = true
			g.rate = p.Speed.V
			out = append(out, g)
		}
	}
	return out
}

// fewPackets is the length of a queue without congestion: packets that arrive together from different ports.
const fewPackets = 4

// largestBuffer is the largest packet memory on a switch chip (Cisco Silicon One G200, data sheet: 256 MB shared by all
// ports). Memory outside the chip (deep buffers) is larger.
const largestBuffer = 256 * unit.MB

// ecnRange finds marking of uncongested queues, and marking that begins above a queue's capacity. With the
// threshold of a share, alpha of the free memory, one queue or priority group can have alpha / (1 + alpha) of the
// whole memory. Lossless queues in a memory of known size are threshold-order's.
func (l *linter) ecnRange() {
	few := fewPackets * unit.Bytes(l.PathMTU+Headers)
	l.queues(func(v variant, i int, q *Queue) {
		w := q.WRED.V
		if !q.WRED.Is() || !w.ECN || w.Max == 0 {
			return
		}
		if w.Min < few && !q.Trim.V { // queues that trim are short on purpose
			l.say(first(w.MinAt, q.WRED.At), fmt.Sprintf("a minimum of at least %d packets, %v at path MTU %d", fewPackets, few, l.PathMTU),
				"queue %d marks from %v on, less than %d packets of path MTU %d", i, size(w.Min), fewPackets, l.PathMTU)
		}
		if q.Limit.Is() && q.Limit.V > 0 && !q.Pause.Is() {
			if w.Max > q.Limit.V {
				l.say(first(w.MaxAt, q.WRED.At), "a maximum below the queue limit",
					"queue %d: WRED maximum %v is above the queue limit %v", i, size(w.Max), size(q.Limit.V))
			}
			return
		}
		alpha, buffer, whose := q.Alpha.V, l.buffer(v.c), "the packet buffer of"
		if q.Pause.Is() {
			alpha = q.PG.V.Alpha
			if q.PG.V.XOff > 0 || buffer > 0 {
				return
			}
		}
		if buffer == 0 {
			buffer, whose = largestBuffer, "the largest memory of a switch chip,"
		}
		share := buffer
		if alpha > 0 {
			share = unit.Bytes(alpha / (1 + alpha) * float64(buffer))
		}
		if w.Max > share {
			l.say(first(w.MaxAt, q.WRED.At), "a maximum below the share, or a larger alpha; switches with memory outside the chip hold more",
				"queue %d: WRED maximum %v is above what the queue can hold, %.3g MB (alpha %.3g of %s %v)", i,
				size(w.Max), float64(share)/float64(unit.MB), alpha, whose, size(buffer))
		}
	})
}

package eos

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

// profile is a qos profile, or the same commands under an interface.
type profile struct {
	at      swconf.Place
	trust   swconf.Said[swconf.Trust]
	cos     swconf.Said[int]    // priority of packets whose marking is not trusted or absent
	policy  swconf.Said[string] // ingress policy-map
	output  swconf.Said[string] // egress policy-map
	traffic swconf.Said[string] // ingress traffic-policy
	counts  swconf.Said[string] // packet size assumed by the scheduler
	pfc     swconf.Said[bool]
	watch   swconf.Said[bool] // the PFC watchdog
	times   swconf.Watchdog
	noDrop  [queue.Classes]swconf.Said[bool]
	queues  [queue.Classes]swconf.Queue
	marks   swconf.Said[swconf.WRED] // ECN of queues without settings of their own
}

// mapRules read the maps from marks to traffic classes, and from these to queues.
func (p *parser) mapRules(r *cli.Mode) {
	r.Set("[no] qos map dscp <list...>", p.dscpMap)
	r.Set("[no] qos map cos <list...>", p.cosMap)
	r.Set("[no] qos map traffic-class <list...>", p.classMap)
	r.Set("[no] qos traffic-class <n:int> name <name>", p.names(p.tcNames))
	r.Set("[no] qos <what:tx-queue|uc-tx-queue> <n:int> name <name>", p.names(p.queueNames))
	r.Set("[no] qos random-detect ecn global-buffer <more...>", p.unsimulated)
	r.Skip(p.pass, "qos map exp", "qos rewrite", "qos random-detect ecn allow", "qos mc-tx-queue")
}

// dscpMap reads "24 26 to traffic-class 3 [drop-precedence 1]".
func (p *parser) dscpMap(m *cli.Match) {
	list, tail, _ := strings.Cut(m.Word("list"), " to ")
	set, err := swconf.DSCPs(list)
	p.toClass(m, p.toTC[:], set[:], err == nil, tail, "a list of DSCPs and their class, as in 24 to traffic-class 3")
}

// cosMap reads "3 4 to traffic-class 3".
func (p *parser) cosMap(m *cli.Match) {
	list, tail, _ := strings.Cut(m.Word("list"), " to ")
	set, ok := eight(list)
	p.toClass(m, p.cosTC[:], set[:], ok, tail, "a list of CoS values and their class, as in 3 to traffic-class 3")
}

// toClass sets the traffic class, named in tail, of the values in a set, or removes it. want describes the accepted
// form.
func (p *parser) toClass(m *cli.Match, classes []swconf.Said[int], set []bool, ok bool, tail, want string) {
	var tc int
	if !m.No || !ok {
		f := strings.Fields(tail)
		if !ok || len(f) < 2 || !strings.HasPrefix("traffic-class", f[0]) {
			p.bad(m, "list", want)
			return
		}
		if tc, ok = p.trafficClass(m, "list", f[1]); !ok {
			return
		}
	}
	for v := range set {
		switch {
		case !set[v]:
		case m.No:
			classes[v] = swconf.Said[int]{}
		default:
			classes[v] = swconf.SaidAt(p.c, m, "list", tc)
		}
	}
}

// trafficClass parses a traffic class by its number or its configured name.
func (p *parser) trafficClass(m *cli.Match, at, word string) (int, bool) {
	tc, err := strconv.Atoi(word)
	if n, named := p.tcNames[word]; named {
		tc, err = n, nil
	}
	if (err != nil || tc < 0 || tc > 7) && !m.No {
		p.bad(m, at, "a traffic class from 0 to 7")
		return 0, false
	}
	return tc, true
}

// queue parses a queue by its number or its configured name.
func (p *parser) queue(m *cli.Match) (int, bool) {
	n, err := strconv.Atoi(m.Word("n"))
	if q, named := p.queueNames[m.Word("n")]; named {
		n, err = q, nil
	}
	if err != nil || n < 0 || n > 7 {
		p.bad(m, "n", "a queue from 0 to 7")
		return 0, false
	}
	return n, true
}

// names parses the configured name of a traffic class or a queue.
func (p *parser) names(of map[string]int) func(*cli.Match) {
	return func(m *cli.Match) {
		if n := m.Int("n"); m.No {
			delete(of, m.Word("name"))
		} else if n > 7 {
			p.bad(m, "n", "a number from 0 to 7")
		} else {
			of[m.Word("name")] = int(n)
		}
	}
}

// unsimulated notes a line that affects packets and that is not simulated.
func (p *parser) unsimulated(m *cli.Match) {
	text := m.Line.Text
	p.c.Apart = slices.DeleteFunc(p.c.Apart, func(s swconf.Said[string]) bool {
		return "no "+s.V == text || s.V == text || m.No && strings.HasPrefix("no "+s.V, text)
	})
	if !m.No {
		p.c.Apart = append(p.c.Apart, swconf.Say(text, swconf.Place{File: p.c.File, Line: m.Line.Num,
			Col: m.Line.Words[0].Col}))
	}
}

// eight reads a list of numbers from 0 to 7: "1 2 4-6".
func eight(s string) (set [8]bool, ok bool) {
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }) {
		lo, hi, ranged := strings.Cut(part, "-")
		if !ranged {
			hi = lo
		}
		a, err1 := strconv.Atoi(lo)
		b, err2 := strconv.Atoi(hi)
		if err1 != nil || err2 != nil || a < 0 || b > 7 || a > b {
			return set, false
		}
		for ok = true; a <= b; a++ {
			set[a] = true
		}
	}
	return set, ok
}

// classMap parses "3 4 to tx-queue 3". Other targets of a traffic class, such as marks and PFC priorities, affect
// no queue.
func (p *parser) classMap(m *cli.Match) {
	list, tail, ok := strings.Cut(m.Word("list"), " to ")
	set, fine := eight(list)
	if tc, named := p.tcNames[list]; named {
		set[tc], fine = true, true
	}
	if !fine {
		p.bad(m, "list", "a traffic class from 0 to 7")
		return
	}
	if m.No {
		for tc := range set {
			if set[tc] {
				p.toQueue[tc] = tc
			}
		}
		return
	}
	f := strings.Fields(tail)
	if !ok || len(f) < 2 {
		p.bad(m, "list", "traffic classes and a queue, as in 3 to tx-queue 3")
		return
	}
	switch f[0] {
	case "tx-queue", "uc-tx-queue":
		q, err := strconv.Atoi(f[1])
		if n, named := p.queueNames[f[1]]; named {
			q, err = n, nil
		}
		if err != nil || q < 0 || q > 7 {
			p.bad(m, "list", "traffic classes and a queue from 0 to 7, as in 3 to tx-queue 3")
			return
		}
		for tc := range set {
			if set[tc] {
				p.toQueue[tc] = q
			}
		}
	case "mc-tx-queue", "cos", "dscp", "exp", "priority-group", "pfc", "pfc-priority", "network-qos":
	default:
		p.bad(m, "list", "traffic classes and a tx-queue, cos, dscp, exp or priority-group")
	}
}

// pfc turns PFC on, or off with all its priorities (no priority-flow-control).
func (p *parser) pfc(q *profile, m *cli.Match) {
	swconf.Switch(p.c, m, &q.pfc, "on", true)
	if m.No && !m.Has("on") {
		q.noDrop = [queue.Classes]swconf.Said[bool]{}
	}
}

// qosCommands are the common commands of a qos profile and an interface.
func (p *parser) qosCommands(r *cli.Mode, to func(*cli.Match) []*profile) {
	each := func(f func(*profile, *cli.Match)) func(*cli.Match) {
		return func(m *cli.Match) {
			for _, q := range to(m) {
				f(q, m)
			}
		}
	}
	r.Set("[no] qos trust <what:dscp|cos>", each(func(q *profile, m *cli.Match) {
		trust := map[string]swconf.Trust{"dscp": swconf.TrustDSCP, "cos": swconf.TrustCOS}[m.Word("what")]
		switch {
		case !m.Has("trust"): // no qos alone
		case m.Default:
			q.trust = swconf.Said[swconf.Trust]{}
		case m.No:
			q.trust = swconf.SaidAt(p.c, m, "trust", swconf.TrustNone)
		default:
			q.trust = swconf.SaidAt(p.c, m, "what", trust)
		}
	}))
	r.Set("[no] qos cos <n:int>", each(func(q *profile, m *cli.Match) {
		if m.Int("n") > 7 {
			p.bad(m, "n", "a CoS from 0 to 7")
			return
		}
		swconf.Assign(p.c, m, &q.cos, "n", int(m.Int("n")))
	}))
	r.Skip(p.pass, "qos dscp <n>", "mc-tx-queue <n:int>")
	r.Set("[no] shape rate <n:num> [ <unit:percent|kbps|mbps|pps> ] [ adaptive ]", func(*cli.Match) {})
	r.Set("[no] service-policy type <what:qos|quality-of-service> input <name>",
		each(func(q *profile, m *cli.Match) {
			swconf.Assign(p.c, m, &q.policy, "name", m.Word("name"))
			p.c.Refer(m, "policy-map", "name")
		}))
	r.Set("[no] tx-scheduler packet size adjustment [ <more...> ]", each(func(q *profile, m *cli.Match) {
		swconf.Assign(p.c, m, &q.counts, "tx-scheduler", m.Line.Text)
	}))
	r.Set("[no] traffic-policy input <name>", each(func(q *profile, m *cli.Match) {
		swconf.Assign(p.c, m, &q.traffic, "name", m.Word("name"))
	}))
	r.Set("[no] service-policy type tx-queue output <name>", each(func(q *profile, m *cli.Match) {
		swconf.Assign(p.c, m, &q.output, "name", m.Word("name"))
		p.c.Refer(m, "policy-map", "name")
	}))
	r.Set("[no] priority-flow-control on", each(func(q *profile, m *cli.Match) { p.pfc(q, m) }))
	r.Set("[no] priority-flow-control mode on", each(func(q *profile, m *cli.Match) { p.pfc(q, m) }))
	r.Set("[no] priority-flow-control priority <n:int> <what:no-drop|drop>",
		each(func(q *profile, m *cli.Match) {
			if m.Int("n") > 7 {
				p.bad(m, "n", "a priority from 0 to 7")
				return
			}
			swconf.Switch(p.c, m, &q.noDrop[m.Int("n")], "n", m.Word("what") == "no-drop")
		}))
	p.portWatchdog(r, each)
	below := p.txQueue()
	txQueue := func(m *cli.Match) *cli.Mode {
		n, ok := p.queue(m)
		if !ok {
			return below.Of([]*swconf.Queue(nil))
		}
		if m.No {
			for _, q := range to(m) {
				q.queues[n] = swconf.Queue{}
			}
			return nil
		}
		var qs []*swconf.Queue
		for _, q := range to(m) {
			if q.queues[n].At.Line == 0 || q.queues[n].Name == "" {
				q.queues[n].At, q.queues[n].Name = p.c.At(m, "n"), fmt.Sprintf("tx-queue %d", n)
			}
			qs = append(qs, &q.queues[n])
		}
		return below.Of(qs)
	}
	r.On("[no] tx-queue <n>", txQueue)
	r.On("[no] uc-tx-queue <n>", txQueue)
	// the threshold of all queues of the port, on chips with virtual output queues
	r.Set("[no] random-detect ecn delay threshold <n:num> <u:milliseconds|microseconds>",
		each(func(q *profile, m *cli.Match) { swconf.Assign(p.c, m, &q.marks, "random-detect", late(m)) }))
	r.Set("[no] random-detect ecn count", func(*cli.Match) {})
}

const (
	sizes  = "bytes|kbytes|mbytes|segments|packets|percent|milliseconds|microseconds"
	range1 = "minimum-threshold <min:num> <u1:" + sizes + "> maximum-threshold <max:num> <u2:" + sizes + ">"
)

func (p *parser) txQueue() *cli.Mode {
	each := func(f func(*swconf.Queue, *cli.Match)) func(*cli.Match) {
		return func(m *cli.Match) {
			for _, q := range m.Of.([]*swconf.Queue) {
				f(q, m)
			}
		}
	}
	r := cli.NewMode("tx-queue")
	r.Set("[no] bandwidth percent <n:int>", each(func(q *swconf.Queue, m *cli.Match) {
		swconf.Assign(p.c, m, &q.Share, "n", int(min(m.Int("n"), 1000)))
	}))
	r.Set("[no] priority strict", each(func(q *swconf.Queue, m *cli.Match) {
		swconf.Switch(p.c, m, &q.Strict, "strict", true)
	}))
	r.Set("[no] priority", each(func(q *swconf.Queue, m *cli.Match) {
		swconf.Switch(p.c, m, &q.Strict, "priority", true)
	}))
	r.Set("[no] random-detect ecn "+range1+" [ max-mark-probability <p:num> ] [ weight <w:int> ]",
		each(func(q *swconf.Queue, m *cli.Match) {
			w := p.thresholds(m)
			w.ECN, w.Percent = true, 100
			if m.Has("p") {
				w.Percent = m.Num("p")
			}
			if w.Percent > 100 && !m.No {
				p.bad(m, "p", "a probability of at most 100 percent")
				return
			}
			swconf.Assign(p.c, m, &q.WRED, "random-detect", w)
		}))
	// marks packets that were queued for this time
	r.Set("[no] random-detect ecn delay threshold <n:num> <u:milliseconds|microseconds>",
		each(func(q *swconf.Queue, m *cli.Match) { swconf.Assign(p.c, m, &q.WRED, "random-detect", late(m)) }))
	drop := each(func(q *swconf.Queue, m *cli.Match) {
		if m.Has("d") && m.Word("d") != "0" { // packets that a policy prioritizes, which are not RoCE's
			return
		}
		w := p.thresholds(m)
		w.Percent = m.Num("p")
		swconf.Assign(p.c, m, &q.WRED, "random-detect", w)
	})
	const dropped = " drop-probability <p:num> [ weight <w:int> ]"
	r.Set("[no] random-detect drop "+range1+" [ drop-precedence <d> ]"+dropped, drop)
	r.Set("[no] random-detect drop drop-precedence <d> "+range1+dropped, drop)
	r.Set("no random-detect <what:ecn|drop> [ <more...> ]", each(func(q *swconf.Queue, m *cli.Match) {
		q.WRED = swconf.Said[swconf.WRED]{}
	}))
	r.Set("[no] random-detect ecn <what:count|delay> [ <more...> ]", func(*cli.Match) {})
	r.Set("[no] bandwidth guaranteed [ <unit:percent|kbps|mbps|pps> ] <n:num> [ <u2:kbps|mbps|gbps|pps> ]",
		each(func(q *swconf.Queue, m *cli.Match) {
			u := m.Word("unit")
			if m.Has("u2") {
				u = m.Word("u2")
			} else if u == "" {
				u = "kbps"
			}
			swconf.Assign(p.c, m, &q.Floor, "n", m.Word("n")+" "+u)
		}))
	r.Set("[no] shape rate <n:num> [ <unit:percent|kbps|mbps|pps> ] [ adaptive ]", func(*cli.Match) {})
	r.Set("[no] <what:scheduler|latency|lag> <more...>", func(*cli.Match) {})
	return r
}

// late sets the marking by queueing time.
func late(m *cli.Match) swconf.WRED {
	text := m.Word("n") + " " + m.Word("u")
	return swconf.WRED{MinText: text, MaxText: text, Percent: 100, ECN: true}
}

// thresholds returns the thresholds of a line of random detection in bytes, if they can be converted.
func (p *parser) thresholds(m *cli.Match) (w swconf.WRED) {
	w.Weight = int(min(m.Int("w"), 1000))
	low, ok1 := p.size(m.Num("min"), m.Word("u1"))
	high, ok2 := p.size(m.Num("max"), m.Word("u2"))
	if !ok1 || !ok2 {
		w.MinText = m.Word("min") + " " + m.Word("u1")
		w.MaxText = m.Word("max") + " " + m.Word("u2")
		return w
	}
	w.Min, w.Max = low, high
	return w
}

// size is an amount in bytes. A segment is the chip's allocation unit, which depends on the model. A time cannot be
// converted, because the bytes that leave a queue in it depend on the other queues.
func (p *parser) size(n float64, u string) (unit.Bytes, bool) {
	scale, ok := map[string]float64{"bytes": 1, "kbytes": 1e3, "mbytes": 1e6}[u]
	if u == "segments" {
		scale, ok = p.platform.Number("segment_bytes")
	}
	return unit.Bytes(min(n*scale, 1e15)), ok
}

// fraction reads 1/8, 1 or 2.
func fraction(s string) (float64, bool) {
	num, den, ok := strings.Cut(s, "/")
	a, err1 := strconv.ParseFloat(num, 64)
	b := 1.0
	var err2 error
	if ok {
		b, err2 = strconv.ParseFloat(den, 64)
	}
	if err1 != nil || err2 != nil || !(b > 0) || !(a >= 0) || a/b > 1024 {
		return 0, false
	}
	return a / b, true
}

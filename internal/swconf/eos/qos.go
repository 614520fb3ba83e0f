package eos

import (
	"fmt"
	"strconv"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

// dscpMap reads "24 26 to traffic-class 3".
func (p *parser) dscpMap(m *cli.Match) {
	list, tail, ok := strings.Cut(m.Word("list"), " to ")
	set, err := swconf.DSCPs(list)
	if m.No && err == nil {
		for d := range set {
			if set[d] {
				p.toTC[d] = swconf.Said[int]{}
			}
		}
		return
	}
	f := strings.Fields(tail)
	if !ok || err != nil || len(f) < 2 || !strings.HasPrefix("traffic-class", f[0]) {
		p.bad(m, "list", "a list of DSCPs and their class, as in 24 to traffic-class 3")
		return
	}
	tc, err := strconv.Atoi(f[1])
	if err != nil || tc < 0 || tc > 7 {
		p.bad(m, "list", "a traffic class from 0 to 7")
		return
	}
	for d := range set {
		if set[d] {
			p.toTC[d] = swconf.SaidAt(p.c, m, "list", tc)
		}
	}
}

// pfc turns it on, or off with all its priorities (no priority-flow-control).
func (p *parser) pfc(q *profile, m *cli.Match) {
	swconf.Switch(p.c, m, &q.pfc, "on", true)
	if m.No && !m.Has("on") {
		q.noDrop = [queue.Classes]swconf.Said[bool]{}
	}
}

// qosCommands are those a qos profile and an interface have in common.
func (p *parser) qosCommands(r *cli.Mode, to func() []*profile) {
	each := func(f func(*profile, *cli.Match)) func(*cli.Match) {
		return func(m *cli.Match) {
			for _, q := range to() {
				f(q, m)
			}
		}
	}
	r.Set("[no] qos trust <what:dscp|cos>", each(func(q *profile, m *cli.Match) {
		swconf.Switch(p.c, m, &q.trust, "what", m.Word("what") == "dscp")
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
	r.Set("[no] priority-flow-control pause watchdog", func(*cli.Match) {})
	r.Set("[no] priority-flow-control pause watchdog <what:disable|port> [ <more...> ]",
		func(*cli.Match) {})
	txQueue := func(m *cli.Match) *cli.Mode {
		n := m.Int("n")
		if m.No && n <= 7 {
			for _, q := range to() {
				q.queues[n] = swconf.Queue{}
			}
			return nil
		}
		if n > 7 {
			p.bad(m, "n", "a queue from 0 to 7")
			return p.txQueue(nil)
		}
		var qs []*swconf.Queue
		for _, q := range to() {
			q.queues[n].At, q.queues[n].Name = p.c.At(m, "n"), fmt.Sprintf("tx-queue %d", n)
			qs = append(qs, &q.queues[n])
		}
		return p.txQueue(qs)
	}
	r.On("[no] tx-queue <n:int>", txQueue)
	r.On("[no] uc-tx-queue <n:int>", txQueue)
}

func (p *parser) txQueue(qs []*swconf.Queue) *cli.Mode {
	each := func(f func(*swconf.Queue, *cli.Match)) func(*cli.Match) {
		return func(m *cli.Match) {
			for _, q := range qs {
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
	r.Set("[no] random-detect ecn minimum-threshold <min:num> <u1:bytes|kbytes|mbytes> maximum-threshold "+
		"<max:num> <u2:bytes|kbytes|mbytes> [ max-mark-probability <p:num> ] [ weight <w:int> ]",
		each(func(q *swconf.Queue, m *cli.Match) {
			w := swconf.WRED{Min: size(m, "min", "u1"), Max: size(m, "max", "u2"), Percent: 100,
				Weight: int(min(m.Int("w"), 1000)), ECN: true}
			if m.Has("p") {
				w.Percent = m.Num("p")
			}
			swconf.Assign(p.c, m, &q.WRED, "random-detect", w)
		}))
	r.Set("[no] random-detect drop minimum-threshold <min:num> <u1:bytes|kbytes|mbytes> maximum-threshold "+
		"<max:num> <u2:bytes|kbytes|mbytes> [ drop-precedence <d> ] drop-probability <p:num> [ weight "+
		"<w:int> ]",
		each(func(q *swconf.Queue, m *cli.Match) {
			swconf.Assign(p.c, m, &q.WRED, "random-detect",
				swconf.WRED{Min: size(m, "min", "u1"), Max: size(m, "max", "u2"), Percent: m.Num("p"),
					Weight: int(min(m.Int("w"), 1000))})
		}))
	r.Set("no random-detect <what:ecn|drop> [ <more...> ]", each(func(q *swconf.Queue, m *cli.Match) {
		q.WRED = swconf.Said[swconf.WRED]{}
	}))
	r.Set("[no] random-detect ecn <what:count|delay> [ <more...> ]", func(*cli.Match) {})
	r.Set("[no] bandwidth guaranteed [ <unit:percent|kbps|pps> ] <n:int>", func(*cli.Match) {})
	r.Set("[no] shape rate <n:num> [ <unit:percent|kbps|mbps|pps> ] [ adaptive ]", func(*cli.Match) {})
	r.Set("[no] <what:scheduler|latency|lag> <more...>", func(*cli.Match) {})
	return r
}

func size(m *cli.Match, n, u string) unit.Bytes {
	scale := map[string]float64{"bytes": 1, "kbytes": 1e3, "mbytes": 1e6}[m.Word(u)]
	return unit.Bytes(min(m.Num(n)*scale, 1e15))
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

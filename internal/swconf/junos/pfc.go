package junos

import (
	"fmt"
	"slices"
	"strconv"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/tree"
	"railyard/unit"
)

func (p *parser) cnpRows(g *tree.Grammar) {
	const c = "class-of-service congestion-notification-profile <name> "
	of := func(m *tree.Match) *cnp {
		x := named(p.cos.cnps, m.Word("name"))
		if x.at.Line == 0 {
			x.at = m.At("name")
			p.c.Define("congestion-notification-profile", m.Word("name"), x.at, false)
		}
		return x
	}
	for _, kind := range []struct {
		word string
		bits int
	}{{"dscp", 6}, {"ieee-802.1", 3}} {
		at := c + "input " + kind.word + " code-point <point>"
		g.Add(at+" pfc <more...>", func(m *tree.Match) { // mru among what may follow
			n, ok := p.point(m, "point", kind.bits)
			for i, w := range m.Rest("more") {
				if mru, err := strconv.Atoi(w.Text); err == nil && i > 0 && m.Rest("more")[i-1].Text == "mru" &&
					(!of(m).mru.Is() || mru < of(m).mru.V) {
					of(m).mru = tree.Say(m, "more", mru)
				}
			}
			switch x := of(m); {
			case ok && kind.bits == 6:
				x.dscp[n] = tree.Say(m, "point", true)
			case ok:
				x.pcp[n] = tree.Say(m, "point", true)
			}
		})
		for _, more := range []string{"", " mru <n>", " xon <n>", " xoff <n>", " priority-group <n>"} {
			g.Add(at+more, func(m *tree.Match) { of(m) })
		}
	}
	g.Add(c+"input cable-length <metres:int>", func(m *tree.Match) {
		of(m).cable = tree.Say(m, "metres", min(m.Int("metres"), 1e6)*1000)
	})
	g.Add(c+"output ieee-802.1 code-point <point> flow-control-queue <n:int>", func(m *tree.Match) {
		of(m).out = true
		if n, ok := p.point(m, "point", 3); ok && m.Int("n") >= 0 && m.Int("n") < queue.Classes {
			of(m).stops[n] = append(of(m).stops[n], tree.Say(m, "n", int(m.Int("n"))))
		}
	})
	g.Add(c+"output ieee-802.1 code-point <point>", func(m *tree.Match) { of(m) })
	guard := func(m *tree.Match) *cnp {
		x := of(m)
		x.guards = tree.Say(m, "", true)
		return x
	}
	const w = c + "pfc-watchdog"
	dog := &p.c.Watchdog
	g.Add(w, func(m *tree.Match) { guard(m) })
	g.Add(w+" poll-interval <ms:int>", func(m *tree.Match) {
		guard(m)
		dog.Poll = tree.Say(m, "ms", unit.Time(min(m.Int("ms"), 1e6))*unit.Millisecond)
	})
	g.Add(w+" detection <n:int>", func(m *tree.Match) {
		guard(m)
		p.cos.polls = tree.Say(m, "n", int(min(m.Int("n"), 1e6)))
	})
	g.Add(w+" recovery <ms:int>", func(m *tree.Match) {
		guard(m)
		dog.Restore = tree.Say(m, "ms", unit.Time(min(m.Int("ms"), 1e6))*unit.Millisecond)
	})
	for _, action := range []string{" watchdog-action ", " pfc-watchdog-action "} {
		g.Add(w+action+"<what:drop|forward>", func(m *tree.Match) {
			guard(m)
			dog.Forward = tree.Say(m, "what", m.Word("what") == "forward")
		})
	}
	g.Pass(c+"input headroom", c+"output dscp")
}

// once reports findings about a profile or a filter once for all its ports.
func (p *parser) once(at swconf.Place, s swconf.Severity, rule, message, why, fix string) {
	if key := fmt.Sprint(at, message); !p.cos.told[key] {
		p.cos.told[key] = true
		swconf.Report(p.c, at, s, rule, message, why, fix)
	}
}

// pause parses PFC's input: a priority by its 802.1p code point, or by the DSCPs whose class has one.
func (p *parser) pause(q *swconf.QoS, x *cnp) {
	k := &p.cos
	for prio, list := range x.stops {
		for _, s := range list {
			if !q.Stops[prio].Is() {
				q.Stops[prio] = swconf.Say(uint8(s.V), s.At)
			}
		}
	}
	for d, on := range x.dscp {
		if !on.V {
			continue
		}
		f := k.classes[q.Queues[q.DSCP[d].V&7].Name]
		if f == nil || f.at.Line == 0 && !f.lossless.V {
			p.once(on.At, swconf.Warning, "pfc-class",
				fmt.Sprintf("PFC is on for DSCP %d, which goes to no lossless class", d),
				"its packets are dropped when the buffer is full", "classify it into a class with no-loss")
			continue
		}
		prio := f.queue.V
		if f.priority.Is() {
			prio = f.priority.V
		} else if f.at.Line > 0 {
			p.once(f.at, swconf.Warning, "pfc-class",
				fmt.Sprintf("the class of DSCP %d has no pfc-priority", d),
				"a pause frame names a priority, and a DSCP has none of its own",
				"write pfc-priority after no-loss")
		}
		if f.at.Line > 0 && !f.lossless.V {
			p.once(f.at, swconf.Error, "pfc-class",
				fmt.Sprintf("PFC is on for DSCP %d, and its class has no no-loss", d),
				"without no-loss a class has no headroom: packets are lost while a pause is in flight",
				"write no-loss after the queue's number")
		}
		p.stop(q, x, f.queue.V, prio, on.At)
	}
	for prio, on := range x.pcp {
		if !on.V {
			continue
		}
		to := prio
		switch {
		case q.COS[prio].Is():
			to = int(q.COS[prio].V)
		case q.Stops[prio].Is():
			to = int(q.Stops[prio].V)
		}
		if f := k.classes[q.Queues[to&7].Name]; f != nil && f.at.Line > 0 && !f.lossless.V {
			p.once(f.at, swconf.Warning, "pfc-class", fmt.Sprintf(
				"PFC is on for 802.1p priority %d, and its class has no no-loss", prio),
				"a class of the configuration is lossless with no-loss only",
				"write no-loss after the queue's number")
		}
		p.stop(q, x, to, prio, on.At)
	}
	if s := k.headroom; s.Is() && s.V == 0 && pauses(q) {
		p.once(s.At, swconf.Error, "headroom",
			"PFC is on, and the partition of lossless headroom has 0 percent",
			"packets that arrive while a pause is in flight are lost", "give it some, 10 percent and more")
	}
}

// stop makes a queue lossless by a priority. Pauses of the priority that the output part maps to the queue stop it.
// Without such a part, pauses of priorities 3 and 4 stop the queues of these numbers.
func (p *parser) stop(q *swconf.QoS, x *cnp, queue, prio int, at swconf.Place) {
	to := &q.Queues[queue&7]
	to.Pause = swconf.Say(prio, at)
	if p.cos.lossless.Is() {
		to.PG = swconf.Say(swconf.Pause{Alpha: p.cos.lossless.V}, p.cos.lossless.At)
	}
	for _, s := range x.stops[prio&7] {
		if s.V == queue {
			q.Stops[prio&7] = swconf.Say(uint8(queue), s.At)
		}
	}
	if q.Stops[prio&7].Is() {
		return
	}
	q.Stops[prio&7] = swconf.Say(uint8(queue), at)
	if x.out || queue != prio || prio != 3 && prio != 4 {
		p.once(at, swconf.Warning, "pfc-class", fmt.Sprintf(
			"queue %d sends pauses of priority %d, and pauses of that priority do not stop it", queue,
			prio),
			"without an output part, pauses of priority 3 stop queue 3 and pauses of 4 stop queue 4; with one, the queues that it names",
			fmt.Sprintf("output ieee-802.1 code-point %03b flow-control-queue %d", prio, queue))
	}
}

func pauses(q *swconf.QoS) bool {
	return slices.ContainsFunc(q.Queues[:], func(k swconf.Queue) bool { return k.Pause.Is() })
}

package eos

import (
	"fmt"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

// watchdogRules read the PFC watchdog of the switch.
func (p *parser) watchdogRules(r *cli.Mode) {
	c := p.c
	on := func(m *cli.Match) {
		if w := &c.Watchdog; !m.No {
			w.On = swconf.SaidAt(p.c, m, "watchdog", true)
		} else if !w.Poll.Is() && !w.Detect.Is() && !w.Restore.Is() {
			w.On = swconf.Said[bool]{}
		}
	}
	set := func(to *swconf.Said[unit.Time], what, name string) func(*cli.Match) {
		return func(m *cli.Match) {
			p.period(m, to, what, name)
			on(m)
		}
	}
	const watchdog = "[no] priority-flow-control pause watchdog "
	r.Set(watchdog+"default timeout <s:num>", set(&c.Watchdog.Detect, "timeout", "s"))
	r.Set(watchdog+"default recovery-time <s:num> [ forced ]", set(&c.Watchdog.Restore, "recovery", "s"))
	r.Set(watchdog+"default polling-interval <s:num>", set(&c.Watchdog.Poll, "polling", "s"))
	r.Set(watchdog+"default polling-interval auto", func(m *cli.Match) {
		c.Watchdog.Poll = swconf.Said[unit.Time]{}
		on(m)
	})
	action := func(m *cli.Match) {
		swconf.Assign(p.c, m, &c.Watchdog.Forward, "what", m.Word("what") == "no-drop" ||
			m.Word("what") == "notify-only")
	}
	const actions = "action <what:drop|no-drop|errdisable|notify-only>"
	r.Set(watchdog+actions, action)
	// one line for all ports, as in guides
	r.Set(watchdog+"default "+actions+" [ timer <t:num> <u1:milliseconds|seconds> ] [ polling-interval <i:num> <u2:milliseconds|seconds> ]", func(m *cli.Match) {
		action(m)
		w := &c.Watchdog
		if m.No || m.Has("t") {
			swconf.Assign(p.c, m, &w.Detect, "t", span(m.Num("t"), m.Word("u1")))
		}
		if m.No || m.Has("i") {
			swconf.Assign(p.c, m, &w.Poll, "i", span(m.Num("i"), m.Word("u2")))
		}
		on(m)
	})
	r.Skip(p.pass, "priority-flow-control pause watchdog override", "priority-flow-control pause watchdog hardware")
	r.Set("no priority-flow-control [ pause [ watchdog [ default ] ] ]", func(*cli.Match) {
		c.Watchdog = swconf.Watchdog{}
	})
	r.Set("[no] priority-flow-control all off", func(m *cli.Match) { swconf.Switch(p.c, m, &p.pfcOff, "off", true) })
}

// span is a time as a guide's line gives it.
func span(n float64, u string) unit.Time {
	if u == "milliseconds" {
		n /= 1000
	}
	return ofSeconds(n)
}

func ofSeconds(n float64) unit.Time { return unit.Time(min(n, 1e6)*1000+0.5) * unit.Millisecond }

// period sets a time of the watchdog, which the platform takes within bounds.
func (p *parser) period(m *cli.Match, to *swconf.Said[unit.Time], what, name string) {
	low, ok1 := p.platform.Number("watchdog_" + what + "_min_s")
	high, ok2 := p.platform.Number("watchdog_" + what + "_max_s")
	if n := m.Num(name); !m.No && ok1 && ok2 && (n < low || n > high) {
		swconf.Report(p.c, p.c.At(m, name), swconf.Error, "watchdog-range",
			fmt.Sprintf("%s seconds are not from %g to %g", m.Word(name), low, high), "EOS refuses the line",
			fmt.Sprintf("a time from %g to %g seconds", low, high))
	}
	swconf.Assign(p.c, m, to, name, ofSeconds(m.Num(name)))
}

// portWatchdog parses the watchdog settings of a profile or an interface.
func (p *parser) portWatchdog(r *cli.Mode, each func(func(*profile, *cli.Match)) func(*cli.Match)) {
	const watchdog = "[no] priority-flow-control pause watchdog"
	r.Set(watchdog, each(func(q *profile, m *cli.Match) { swconf.Switch(p.c, m, &q.watch, "watchdog", true) }))
	r.Set(watchdog+" disable", each(func(q *profile, m *cli.Match) {
		q.watch = swconf.SaidAt(p.c, m, "disable", m.No)
	}))
	r.Set(watchdog+" port action <what:drop|no-drop|errdisable|notify-only>",
		each(func(q *profile, m *cli.Match) {
			swconf.Assign(p.c, m, &q.times.Forward, "what", m.Word("what") == "no-drop" ||
				m.Word("what") == "notify-only")
		}))
	r.Set(watchdog+" port timer timeout <t:num> polling-interval <i> recovery-time <r:num> [ forced ]",
		each(func(q *profile, m *cli.Match) {
			p.period(m, &q.times.Detect, "timeout", "t")
			p.period(m, &q.times.Restore, "recovery", "r")
			if q.times.Poll = (swconf.Said[unit.Time]{}); m.Word("i") != "auto" {
				p.period(m, &q.times.Poll, "polling", "i")
			}
		}))
}

// watched sets the switch's times from its ports if it has none itself, and compares the ports. EOS's default times
// are undocumented: they stay unset.
func (p *parser) watched() {
	w := &p.c.Watchdog
	for _, port := range p.c.Ports {
		for _, q := range p.layers(port) {
			if !q.watch.V {
				continue
			}
			if !w.On.Is() {
				w.On = q.watch
			}
			take(&w.Detect, q.times.Detect)
			take(&w.Restore, q.times.Restore)
			take(&w.Poll, q.times.Poll)
			take(&w.Forward, q.times.Forward)
		}
	}
	least := min(w.Detect.V, w.Restore.V)
	if w.Poll.Is() && w.Detect.Is() && w.Restore.Is() && 2*w.Poll.V > least {
		swconf.Report(p.c, w.Poll.At, swconf.Warning, "watchdog-range",
			fmt.Sprintf("polling every %v is more than half of %v, the smaller of timeout and recovery time",
				w.Poll.V, least),
			"EOS polls at its own interval instead, and reports it in its log only",
			fmt.Sprintf("a polling interval of at most %v", least/2))
		w.Poll.V = least / 2
	}
	if !w.Poll.Is() && w.Detect.Is() && w.Restore.Is() {
		w.Poll.V = least / 2 // the poll interval as EOS computes it
	}
}

func take[T any](to *swconf.Said[T], from swconf.Said[T]) {
	if !to.Is() {
		*to = from
	}
}

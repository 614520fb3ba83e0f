package junos

import (
	"fmt"
	"strconv"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/tree"
)

// cos is the class-of-service settings.
type cos struct {
	classes     map[string]*class
	classifiers map[string]*classifier // by type and name
	drops       map[string]*drop
	schedulers  map[string]*scheduler
	maps        map[string]map[string]swconf.Said[string] // scheduler maps: class to scheduler
	profiles    map[string]swconf.Said[string]            // traffic control profile to scheduler map
	cnps        map[string]*cnp
	aliases     map[string]int
	uses        []use
	lossless    swconf.Said[float64] // part of the free buffer that a lossless priority group may take
	headroom    swconf.Said[int]     // percentage of the buffer for lossless headroom
	polls       swconf.Said[int]     // polls before the watchdog acts
	told        map[string]bool      // messages reported once for all ports
}

// class is a forwarding class.
type class struct {
	at       swconf.Place
	queue    swconf.Said[int]
	lossless swconf.Said[bool]
	priority swconf.Said[int]
	multi    bool // whether it is for multicast, with its own queues
}

// classifier gives code points their classes.
type classifier struct {
	at    swconf.Place
	to    [64]swconf.Said[string]
	basis string // the classifier on which it is based
}

type drop struct {
	fill, probability []float64
	at                []swconf.Place // times of the fill levels
}

type scheduler struct {
	at      swconf.Place
	percent swconf.Said[int]
	strict  swconf.Said[bool]
	ecn     swconf.Said[bool]
	drop    swconf.Said[string]
	alpha   swconf.Said[float64]
}

// cnp is a congestion notification profile: a port's paused priorities, and the queues that pauses stop.
type cnp struct {
	at     swconf.Place
	dscp   [64]swconf.Said[bool]
	pcp    [8]swconf.Said[bool]
	stops  [8][]swconf.Said[int]
	out    bool // the profile sets the queues that pauses stop
	cable  swconf.Said[int64]
	mru    swconf.Said[int] // the smallest
	guards swconf.Said[bool]
}

// use is the settings of interfaces of a name or pattern.
type use struct {
	pattern string
	kind    string
	name    swconf.Said[string]
	at      swconf.Place
}

func (c *cos) init() {
	c.classes, c.classifiers = map[string]*class{}, map[string]*classifier{}
	c.drops, c.schedulers = map[string]*drop{}, map[string]*scheduler{}
	c.maps, c.profiles = map[string]map[string]swconf.Said[string]{}, map[string]swconf.Said[string]{}
	c.cnps, c.told = map[string]*cnp{}, map[string]bool{}
	c.aliases = map[string]int{"be": 0, "ef": 46, "nc1": 48, "nc2": 56}
	for name, key := range map[string]string{"best-effort": "best_effort", "fcoe": "fcoe",
		"no-loss":         "no_loss",
		"network-control": "network_control"} {
		c.classes[name] = &class{queue: swconf.Said[int]{V: known.Int(key)},
			lossless: swconf.Said[bool]{V: name == "fcoe" || name == "no-loss"}}
	}
	for name, n := range map[string]int{"be": 0, "be1": 1, "nc": 7, "expedited-forwarding": 1,
		"assured-forwarding": 2} { // the names of other models
		c.classes[name] = &class{queue: swconf.Said[int]{V: n}}
	}
	c.classes["mcast"] = &class{multi: true}
	for kind, n := range map[string]int{"dscp": 64, "ieee-802.1": 8} {
		x := &classifier{}
		to, _ := known.Map(map[string]string{"dscp": "dscp_to_queue", "ieee-802.1": "cos_to_queue"}[kind], n)
		for i, q := range to {
			x.to[i].V = c.standing(q)
		}
		c.classifiers[kind+" default"] = x
	}
}

// standing returns the class that Junos itself assigns to a queue, or "".
func (c *cos) standing(queue int) string {
	for _, n := range []string{"best-effort", "fcoe", "no-loss", "network-control"} {
		if c.classes[n].queue.V == queue {
			return n
		}
	}
	return ""
}

// named returns the entry of a name, and creates it on first mention.
func named[T any](of map[string]*T, name string) *T {
	if of[name] == nil {
		of[name] = new(T)
	}
	return of[name]
}

// point reads a code point: bits, or an alias.
func (p *parser) point(m *tree.Match, name string, bits int) (int, bool) {
	w := m.Word(name)
	if n, err := strconv.ParseUint(w, 2, 8); err == nil && len(w) == bits {
		return int(n), true
	}
	if n, ok := p.cos.aliases[w]; ok && n < 1<<bits {
		return n, true
	}
	if set, err := swconf.DSCPs(w); err == nil && bits == 6 && !strings.ContainsAny(w, "0,-") {
		for d := range set {
			if set[d] {
				return d, true
			}
		}
	}
	p.bad(m, name, fmt.Sprintf("a code point of %d bits", bits))
	return 0, false
}

func (p *parser) cosRows(g *tree.Grammar) {
	const c = "class-of-service "
	k := &p.cos
	g.Add(c+"forwarding-classes class <class> <more...>", p.forwardingClass)
	g.Add(c+"forwarding-classes queue <n:int> <class> <more...>", func(m *tree.Match) {
		f := k.said(m)
		if f.queue = tree.Say(m, "n", int(min(m.Int("n"), queue.Classes-1))); m.Int("n") >= queue.Classes {
			f.multi = true
		}
		p.forwardingClass(m)
	})
	g.Add(c+"code-point-aliases <type:dscp|dscp-ipv6|ieee-802.1|exp|inet-precedence> <alias> <bits>",
		func(m *tree.Match) {
			if n, err := strconv.ParseUint(m.Word("bits"), 2, 6); err == nil {
				k.aliases[m.Word("alias")] = int(n)
			}
		})
	const entry = " <name> forwarding-class <class> loss-priority <loss> code-points <point>"
	g.Add(c+"classifiers dscp"+entry, func(m *tree.Match) { p.classify(m, "dscp", 6) })
	g.Add(c+"classifiers ieee-802.1"+entry, func(m *tree.Match) { p.classify(m, "ieee-802.1", 3) })
	g.Add(c+"classifiers <type:dscp|ieee-802.1> <name> import <from>", func(m *tree.Match) {
		p.classifier(m, m.Word("type")).basis = m.Word("from")
		p.c.Use("classifier", m.Word("from"), m.At("from"))
	})
	g.Pass(c+"classifiers dscp-ipv6", c+"classifiers inet-precedence", c+"classifiers exp")
	for _, interpolate := range []string{"", "interpolate "} {
		g.Add(c+"drop-profiles <name> "+interpolate+"fill-level <n:int>", func(m *tree.Match) {
			p.level(p.drop(m), m)
		})
		g.Add(c+"drop-profiles <name> "+interpolate+"drop-probability <n:int>", func(m *tree.Match) {
			p.chance(p.drop(m), m, "n")
		})
	}
	g.Add(c+"drop-profiles <name> fill-level <n:int> drop-probability <p:int>", func(m *tree.Match) {
		p.level(p.drop(m), m)
		p.chance(p.drop(m), m, "p")
	})
	p.schedulerRows(g)
	p.cnpRows(g)
	p.useRows(g)
	p.bufferRows(g)
	g.Pass(c+"dedicated-buffer", c+"dedicated-buffer-profile", c+"rewrite-rules", c+"host-outbound-traffic",
		c+"forwarding-class-sets", c+"forwarding-class-sets-parameters",
		c+"system-defaults", c+"routing-instances", c+"loss-priority-maps", c+"fragmentation-maps",
		c+"adaptive-shapers", c+"cos-buffer-monitor", c+"non-strict-priority-scheduling", c+"copy-plp-all",
		c+"loss-priority-rewrites", c+"translation-table", c+"application-maps",
		c+"application-traffic-control",
		c+"multi-destination",
		c+"monitoring-profile", c+"fabric", c+"tri-color", c+"policy-map", c+"restricted-queues",
		c+"explicit-congestion-notification", c+"traceoptions")
}

// forwardingClass reads queue-num, no-loss and pfc-priority, one or all on a line.
func (p *parser) forwardingClass(m *tree.Match) {
	f := p.cos.said(m)
	rest := m.Rest("more")
	for i := 0; i < len(rest); i++ {
		at := swconf.Place{File: m.File, Line: rest[i].Line, Col: rest[i].Col}
		value := func(bound int) (n int, ok bool) {
			if i+1 < len(rest) {
				i++
				n, err := strconv.Atoi(rest[i].Text)
				if err == nil && n >= 0 && n < bound {
					return n, true
				}
			}
			swconf.Report(p.c, at, swconf.Error, "bad-value",
				fmt.Sprintf("%s has no number from 0 to %d after it",
					rest[min(i, len(rest)-1)].Text, bound-1), "Junos refuses the line", "write a number")
			return 0, false
		}
		switch rest[i].Text {
		case "queue-num":
			if n, ok := value(12); ok && n < queue.Classes {
				f.queue, f.multi = swconf.Say(n, at), false
			} else if ok {
				f.multi = true
			}
		case "no-loss":
			f.lossless = swconf.Say(true, at)
		case "pfc-priority":
			if n, ok := value(8); ok {
				f.priority = swconf.Say(n, at)
			}
		}
	}
}

// said returns the class of a statement. Its explicit settings of fcoe and no-loss make these lossy, unless they
// contain no-loss.
func (k *cos) said(m *tree.Match) *class {
	f := named(k.classes, m.Word("class"))
	if f.at.Line == 0 {
		f.at, f.lossless.V = m.At("class"), false
	}
	return f
}

func (p *parser) classifier(m *tree.Match, kind string) *classifier {
	k := named(p.cos.classifiers, kind+" "+m.Word("name"))
	if k.at.Line == 0 {
		k.at = m.At("name")
		p.c.Define("classifier", m.Word("name"), k.at, false)
	}
	return k
}

func (p *parser) classify(m *tree.Match, kind string, bits int) {
	k := p.classifier(m, kind)
	if n, ok := p.point(m, "point", bits); ok {
		k.to[n] = tree.Say(m, "point", m.Word("class"))
	}
}

func (p *parser) schedulerRows(g *tree.Grammar) {
	const c = "class-of-service schedulers <name> "
	k := &p.cos
	of := func(m *tree.Match) *scheduler {
		s := named(k.schedulers, m.Word("name"))
		if s.at.Line == 0 {
			s.at = m.At("name")
			p.c.Define("scheduler", m.Word("name"), s.at, true)
		}
		return s
	}
	g.Add(c+"buffer-dynamic-threshold <n:int>", func(m *tree.Match) {
		if a, ok := p.share(m, "n"); ok {
			of(m).alpha = tree.Say(m, "n", a)
		}
	})
	g.Add(c+"transmit-rate percent <n:int>", func(m *tree.Match) {
		of(m).percent = tree.Say(m, "n", int(min(m.Int("n"), 1000)))
	})
	g.Add(c+"transmit-rate percent <n:int> <how:exact|rate-limit>", func(m *tree.Match) {
		of(m).percent = tree.Say(m, "n", int(min(m.Int("n"), 1000)))
	})
	g.Add(c+"transmit-rate <rate>", func(m *tree.Match) { of(m) })
	g.Add(c+"priority <what:low|medium-low|medium-high|high|strict-high>", func(m *tree.Match) {
		of(m).strict = tree.Say(m, "what", m.Word("what") == "strict-high")
	})
	g.Add(c+"explicit-congestion-notification", func(m *tree.Match) { of(m).ecn = tree.Say(m, "", true) })
	g.Add(c+"drop-profile-map loss-priority <loss> drop-profile <drop>", p.dropMap)
	g.Add(c+"drop-profile-map loss-priority <loss> protocol <protocol> drop-profile <drop>", p.dropMap)
	for _, w := range []string{"buffer-size", "shaping-rate", "excess-rate", "excess-priority",
		"rate-limit", "shaping", "drop-probability", "adjust-minimum", "adjust-percent"} {
		g.Add(c+w+" <more...>", func(m *tree.Match) { of(m) })
	}
	g.Add("class-of-service scheduler-maps <map> forwarding-class <class> scheduler <name>",
		func(m *tree.Match) {
			name := m.Word("map")
			if k.maps[name] == nil {
				k.maps[name] = map[string]swconf.Said[string]{}
				p.c.Define("scheduler-map", name, m.At("map"), false)
			}
			p.c.Use("scheduler", m.Word("name"), m.At("name"))
			k.maps[name][m.Word("class")] = tree.Say(m, "name", m.Word("name"))
		})
	const tcp = "class-of-service traffic-control-profiles <name> "
	g.Add(tcp+"scheduler-map <map>", func(m *tree.Match) {
		p.c.Use("scheduler-map", m.Word("map"), m.At("map"))
		k.profiles[m.Word("name")] = tree.Say(m, "map", m.Word("map"))
	})
	g.Pass(tcp+"guaranteed-rate", tcp+"shaping-rate", tcp+"excess-rate", tcp+"delay-buffer-rate")
}

// dropMap stores the profile of packets that are dropped last, RoCE's.
func (p *parser) dropMap(m *tree.Match) {
	s := named(p.cos.schedulers, m.Word("name"))
	p.c.Use("drop-profile", m.Word("drop"), m.At("drop"))
	if l := m.Word("loss"); l == "any" || l == "low" || !s.drop.Is() {
		s.drop = tree.Say(m, "drop", m.Word("drop"))
	}
}

// drop is the drop profile of a statement.
func (p *parser) drop(m *tree.Match) *drop {
	if p.cos.drops[m.Word("name")] == nil {
		p.c.Define("drop-profile", m.Word("name"), m.At("name"), true)
	}
	return named(p.cos.drops, m.Word("name"))
}

// level adds a fill level, in percent of the queue's buffer. Levels are connected by straight lines (CLI reference,
// interpolate).
func (p *parser) level(d *drop, m *tree.Match) {
	n := p.percentage(m, "n")
	if i := len(d.fill) - 1; i >= 0 && n <= d.fill[i] {
		swconf.Report(p.c, m.At("n"), swconf.Error, "threshold-order",
			fmt.Sprintf("fill level %g %% of %s follows %g %% (line %d)", n, m.Word("name"), d.fill[i], d.at[i].Line),
			"levels go up from one to the next: Junos refuses the profile, or marks at the other one",
			"the smaller level first")
	}
	d.fill, d.at = append(d.fill, n), append(d.at, m.At("n"))
}

// chance adds a drop probability, in percent.
func (p *parser) chance(d *drop, m *tree.Match, name string) {
	d.probability = append(d.probability, p.percentage(m, name))
}

// percentage returns a number from 0 to 100; another one is reported.
func (p *parser) percentage(m *tree.Match, name string) float64 {
	if n := m.Num(name); n < 0 || n > 100 {
		p.bad(m, name, "a percentage from 0 to 100")
	}
	return min(max(m.Num(name), 0), 100)
}

// share reads a dynamic threshold: 7 equals the free buffer, each step doubles it.
func (p *parser) share(m *tree.Match, name string) (float64, bool) {
	if n := m.Int(name); n >= 0 && n <= 10 {
		return float64(int64(1)<<n) / 128, true
	}
	p.bad(m, name, "a dynamic threshold from 0 to 10")
	return 0, false
}

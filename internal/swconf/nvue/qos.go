package nvue

import (
	"strconv"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/tree"
	"railyard/unit"
)

// global is the profile of every port without one.
const global = "default-global"

// qos is the settings of queues, profile by profile.
type qos struct {
	at         swconf.Place // its first line
	roce       swconf.Said[bool]
	mode       swconf.Said[string]
	cable      swconf.Said[int64]
	mappings   map[string]*mapping
	schedulers map[string]*scheduler
	congestion map[string]*congestion
	pfc        map[string]*pfc
	queueOf    [8]swconf.Said[int] // switch priority to traffic class
	limits     [queue.Classes]limit
	lossless   limit // ingress buffer of all lossless priorities together
	pools      []pool
	robustness swconf.Said[int]
	adaptive   swconf.Said[bool]
	trim       trim
}

type mapping struct {
	at    swconf.Place
	trust swconf.Said[string]
	port  swconf.Said[int]
	dscp  [64]swconf.Said[int]
	pcp   [8]swconf.Said[int]
}

type scheduler struct {
	at      swconf.Place
	strict  [queue.Classes]swconf.Said[bool]
	percent [queue.Classes]swconf.Said[int]
}

type congestion struct {
	at  swconf.Place
	tcs [queue.Classes]redOf
}

// redOf is the settings of one traffic class; at is their first position.
type redOf struct {
	at          swconf.Place
	least, most swconf.Said[unit.Bytes]
	percent     swconf.Said[float64]
	ecn, drop   swconf.Said[bool]
}

type pfc struct {
	at         swconf.Place
	priorities [8]swconf.Said[bool]
	any        bool
	tx, rx     swconf.Said[bool]
	xoff, xon  swconf.Said[unit.Bytes]
	told       bool // xon above xoff was reported
	buffer     swconf.Said[unit.Bytes]
	cable      swconf.Said[int64]
}

type limit struct {
	alpha swconf.Said[float64]
	bytes swconf.Said[unit.Bytes]
}

type pool struct {
	name    string
	percent swconf.Said[int]
}

func (q *qos) init() {
	q.mappings, q.schedulers = map[string]*mapping{}, map[string]*scheduler{}
	q.congestion, q.pfc = map[string]*congestion{}, map[string]*pfc{}
}

// profile returns that of a name, and creates it on first mention.
func profile[T any](p *parser, of map[string]*T, kind string, m *tree.Match) *T {
	name := m.Word("profile")
	if of[name] == nil {
		of[name] = new(T)
		p.c.Define(kind, name, m.At("profile"), name == global)
	}
	return of[name]
}

// Kinds of profiles, as messages call them.
const (
	mappingKind    = "qos mapping"
	schedulerKind  = "egress-scheduler"
	congestionKind = "congestion-control"
	pfcKind        = "qos pfc"
)

func (p *parser) qosRows(g *tree.Grammar) {
	add := func(path string, do func(m *tree.Match)) {
		g.Add("qos "+path, func(m *tree.Match) { p.about(m.At("")); do(m) })
	}
	p.roceRows(add)
	p.mappingRows(add)
	p.scheduleRows(add)
	p.pfcRows(add)
	p.bufferRows(add)
	use := func(path, kind string, of func(*uses) *swconf.Said[string]) {
		g.Add("interface <if> qos "+path+" profile <profile>", func(m *tree.Match) {
			if q := p.port(m); q != nil {
				*of(p.uses[q]) = tree.Say(m, "profile", m.Word("profile"))
				p.c.Use(kind, m.Word("profile"), m.At("profile"))
				p.about(m.At(""))
			}
		})
	}
	use("mapping", mappingKind, func(u *uses) *swconf.Said[string] { return &u.mapping })
	use("egress-scheduler", schedulerKind, func(u *uses) *swconf.Said[string] { return &u.scheduler })
	use("congestion-control", congestionKind, func(u *uses) *swconf.Said[string] { return &u.congestion })
	use("pfc", pfcKind, func(u *uses) *swconf.Said[string] { return &u.pfc })
	toggle(g, "interface <if> qos pfc-watchdog", func(m *tree.Match) {
		if q := p.port(m); q != nil {
			p.uses[q].watchdog = tree.Say(m, "v", isOn(m))
		}
	})
	g.Pass("interface <if> qos remark", "interface <if> qos egress-shaper", "interface <if> qos link-pause",
		"interface <if> qos headroom", "interface <if> qos shared-headroom-pool", "interface <if> qos roce",
		"interface <if> qos egress-queue-mapping", "interface <if> qos buffer",
		"qos remark", "qos egress-shaper", "qos link-pause", "qos hierarchical-scheduler")
}

// about records the first position with settings of queues: then NVIDIA's defaults apply to unset ones.
func (p *parser) about(at swconf.Place) {
	if p.qos.at.Line == 0 {
		p.qos.at = at
	}
}

func (p *parser) roceRows(add func(string, func(*tree.Match))) {
	q := &p.qos
	on := func(m *tree.Match) { q.roce = tree.Say(m, "v", isOn(m)) }
	add("roce", on)
	add("roce enable "+onOff, on)
	add("roce state "+onOff, on)
	mode := func(m *tree.Match) {
		q.mode = tree.Say(m, "mode", m.Word("mode"))
		if !q.roce.Is() {
			q.roce = tree.Say(m, "mode", true)
		}
	}
	const modes = "<mode:lossless|lossy|lossless-single-ipool|lossy-multi-tc>"
	add("roce mode "+modes, mode)
	add("roce "+modes, mode) // 5.0
	add("roce cable-length <metres:int>", func(m *tree.Match) {
		if n := m.Int("metres"); n < 1 || n > 100_000 {
			p.bad(m, "metres", "a length from 1 to 100000 m")
		} else {
			q.cable = tree.Say(m, "metres", n*1000)
		}
	})
}

// within parses a list below a bound, or returns an error.
func (p *parser) within(m *tree.Match, name string, bound int, what string) []int {
	set, ok := numbers(m.Word(name), bound)
	if !ok {
		p.bad(m, name, what)
	}
	return set
}

// one parses a single number below a bound.
func (p *parser) one(m *tree.Match, name string, bound int64, what string) (int, bool) {
	n := m.Int(name)
	if n >= bound {
		p.bad(m, name, what)
	}
	return int(min(n, bound-1)), n < bound
}

const (
	aPriority = "a switch priority from 0 to 7"
	aClass    = "a traffic class from 0 to 7"
)

func (p *parser) mappingRows(add func(string, func(*tree.Match))) {
	of := func(m *tree.Match) *mapping {
		x := profile(p, p.qos.mappings, mappingKind, m)
		if x.at.Line == 0 {
			x.at = m.At("profile")
		}
		return x
	}
	add("mapping <profile>", func(m *tree.Match) { of(m) })
	add("mapping <profile> trust <what:l2|l3|port|both>", func(m *tree.Match) {
		of(m).trust = tree.Say(m, "what", m.Word("what"))
	})
	add("mapping <profile> port-default-sp <sp:int>", func(m *tree.Match) {
		if n, ok := p.one(m, "sp", 8, aPriority); ok {
			of(m).port = tree.Say(m, "sp", n)
		}
	})
	add("mapping <profile> dscp <list> switch-priority <sp:int>", func(m *tree.Match) {
		if n, ok := p.one(m, "sp", 8, aPriority); ok {
			for _, d := range p.within(m, "list", 64, "a list of DSCPs from 0 to 63") {
				of(m).dscp[d] = tree.Say(m, "sp", n)
			}
		}
	})
	add("mapping <profile> pcp <list> switch-priority <sp:int>", func(m *tree.Match) {
		if n, ok := p.one(m, "sp", 8, aPriority); ok {
			for _, c := range p.within(m, "list", 8, "a list of 802.1p values from 0 to 7") {
				of(m).pcp[c] = tree.Say(m, "sp", n)
			}
		}
	})
	add("egress-queue-mapping <profile> switch-priority <list> traffic-class <tc:int>", func(m *tree.Match) {
		if n, ok := p.one(m, "tc", 8, aClass); ok {
			for _, sp := range p.within(m, "list", 8, aPriority) {
				p.qos.queueOf[sp] = tree.Say(m, "tc", n)
			}
		}
	})
}

func (p *parser) scheduleRows(add func(string, func(*tree.Match))) {
	add("egress-scheduler <profile>", func(m *tree.Match) {
		profile(p, p.qos.schedulers, schedulerKind, m).at = m.At("profile")
	})
	each := func(path string, do func(*scheduler, int, *tree.Match)) {
		add("egress-scheduler <profile> traffic-class <list> "+path, func(m *tree.Match) {
			s := profile(p, p.qos.schedulers, schedulerKind, m)
			if s.at.Line == 0 {
				s.at = m.At("profile")
			}
			for _, i := range p.within(m, "list", queue.Classes, aClass) {
				do(s, i, m)
			}
		})
	}
	each("mode <what:dwrr|strict>", func(s *scheduler, i int, m *tree.Match) {
		s.strict[i] = tree.Say(m, "what", m.Word("what") == "strict")
	})
	each("bw-percent <n:int>", func(s *scheduler, i int, m *tree.Match) {
		s.percent[i] = tree.Say(m, "n", int(min(m.Int("n"), 1000)))
	})
	red := func(path string, do func(*redOf, *tree.Match)) {
		add("congestion-control <profile> traffic-class <list>"+path, func(m *tree.Match) {
			x := profile(p, p.qos.congestion, congestionKind, m)
			if x.at.Line == 0 {
				x.at = m.At("profile")
			}
			for _, i := range p.within(m, "list", queue.Classes, aClass) {
				if x.tcs[i].at.Line == 0 {
					x.tcs[i].at = m.At("")
				}
				do(&x.tcs[i], m)
			}
		})
	}
	red("", func(*redOf, *tree.Match) {})
	for _, unit := range []string{"", "-bytes"} {
		red(" min-threshold"+unit+" <n:int>", func(r *redOf, m *tree.Match) {
			r.least = tree.Say(m, "n", bytes(m, "n"))
		})
		red(" max-threshold"+unit+" <n:int>", func(r *redOf, m *tree.Match) {
			r.most = tree.Say(m, "n", bytes(m, "n"))
		})
	}
	red(" probability <n:num>", func(r *redOf, m *tree.Match) {
		if m.Num("n") > 100 {
			p.bad(m, "n", "a probability from 1 to 100 %")
			return
		}
		r.percent = tree.Say(m, "n", m.Num("n"))
	})
	red(" ecn "+onOff, func(r *redOf, m *tree.Match) { r.ecn = tree.Say(m, "v", isOn(m)) })
	red(" red "+onOff, func(r *redOf, m *tree.Match) { r.drop = tree.Say(m, "v", isOn(m)) })
}

func (p *parser) pfcRows(add func(string, func(*tree.Match))) {
	each := func(path string, do func(*pfc, *tree.Match)) {
		add("pfc <profile>"+path, func(m *tree.Match) {
			x := profile(p, p.qos.pfc, pfcKind, m)
			if x.at.Line == 0 {
				x.at = m.At("profile")
			}
			do(x, m)
		})
	}
	each("", func(*pfc, *tree.Match) {})
	each(" switch-priority <list>", func(x *pfc, m *tree.Match) {
		for _, i := range p.within(m, "list", 8, aPriority) {
			x.priorities[i], x.any = tree.Say(m, "list", true), true
		}
	})
	each(" tx "+onOff, func(x *pfc, m *tree.Match) { x.tx = tree.Say(m, "v", isOn(m)) })
	each(" rx "+onOff, func(x *pfc, m *tree.Match) { x.rx = tree.Say(m, "v", isOn(m)) })
	each(" xoff-threshold <n:int>", func(x *pfc, m *tree.Match) { x.xoff = tree.Say(m, "n", bytes(m, "n")) })
	each(" xon-threshold <n:int>", func(x *pfc, m *tree.Match) { x.xon = tree.Say(m, "n", bytes(m, "n")) })
	each(" port-buffer <n:int>", func(x *pfc, m *tree.Match) { x.buffer = tree.Say(m, "n", bytes(m, "n")) })
	each(" cable-length <metres:int>", func(x *pfc, m *tree.Match) {
		if n := m.Int("metres"); n < 1 || n > 100_000 {
			p.bad(m, "metres", "a length from 1 to 100000 m")
		} else {
			x.cable = tree.Say(m, "metres", n*1000)
		}
	})
	each(" small-packet-probability <n:int>", func(*pfc, *tree.Match) {})
	w := &p.c.Watchdog
	add("pfc-watchdog polling-interval <ms:int>", func(m *tree.Match) {
		w.Poll = tree.Say(m, "ms", unit.Time(min(m.Int("ms"), 1e9))*unit.Millisecond)
	})
	add("pfc-watchdog recovery-interval <ms:int>", func(m *tree.Match) {
		w.Restore = tree.Say(m, "ms", unit.Time(min(m.Int("ms"), 1e9))*unit.Millisecond)
	})
	add("pfc-watchdog robustness <n:int>", func(m *tree.Match) {
		p.qos.robustness = tree.Say(m, "n", int(min(m.Int("n"), 1000)))
	})
	add("pfc-watchdog <what:rx-pause-duration|rx-pause-threshold|transmit-queue-threshold|tx-frames-threshold> <more...>", func(*tree.Match) {})
}

func (p *parser) bufferRows(add func(string, func(*tree.Match))) {
	add("traffic-pool <pool>", func(*tree.Match) {})
	add("traffic-pool <pool> memory-percent <n:int>", func(m *tree.Match) {
		p.qos.pools = append(p.qos.pools, pool{m.Word("pool"), tree.Say(m, "n", int(min(m.Int("n"), 1000)))})
	})
	add("traffic-pool <pool> switch-priority <list>", func(m *tree.Match) { p.within(m, "list", 8, aPriority) })
	const buffers = "advance-buffer-config <profile> "
	share := func(m *tree.Match, l *limit) {
		if a, ok := alpha(m.Word("alpha")); ok {
			l.alpha = tree.Say(m, "alpha", a)
		} else {
			p.bad(m, "alpha", "a share such as alpha_1_8 or alpha_2")
		}
	}
	add(buffers+"ingress-lossless-buffer shared-alpha <alpha>", func(m *tree.Match) { share(m, &p.qos.lossless) })
	add(buffers+"ingress-lossless-buffer shared-bytes <n:int>", func(m *tree.Match) {
		p.qos.lossless.bytes = tree.Say(m, "n", bytes(m, "n"))
	})
	const class = buffers + "egress-lossy-buffer traffic-class <list> "
	add(class+"shared-alpha <alpha>", func(m *tree.Match) {
		for _, i := range p.within(m, "list", queue.Classes, aClass) {
			share(m, &p.qos.limits[i])
		}
	})
	add(class+"shared-bytes <n:int>", func(m *tree.Match) {
		for _, i := range p.within(m, "list", queue.Classes, aClass) {
			p.qos.limits[i].bytes = tree.Say(m, "n", bytes(m, "n"))
		}
	})
	for _, more := range []string{
		"ingress-lossless-buffer <what:service-pool|reserved|name|headroom> <more...>",
		"egress-lossy-buffer traffic-class <list> <what:service-pool|reserved|name> <more...>",
		"egress-lossy-buffer <what:multicast-port|multicast-switch-priority> <more...>",
		"<what:egress-lossless-buffer|egress-mgmt-buffer|ingress-mgmt-buffer> <more...>",
		"<what:ingress-lossy-buffer|shared-headroom> <more...>",
		"<what:ingress-pool|egress-pool|ingress-service-pool|egress-service-pool> <more...>"} {
		add(buffers+more, func(*tree.Match) {})
	}
}

// alpha parses alpha_1_8, alpha_1 and alpha_64 (reference, advance-buffer-config shared-alpha); infinity is larger than
// every finite share, including 1024.
func alpha(s string) (float64, bool) {
	s, ok := strings.CutPrefix(s, "alpha_")
	if !ok {
		return 0, false
	}
	if s == "infinity" {
		return 1024, true
	}
	one, under, split := strings.Cut(s, "_")
	a, err := strconv.Atoi(one)
	b := 1
	if split && err == nil {
		b, err = strconv.Atoi(under)
	}
	ok = err == nil && a >= 0 && a <= 64 && b > 0 && b <= 128 && (!split || a == 1)
	return float64(a) / float64(max(b, 1)), ok
}

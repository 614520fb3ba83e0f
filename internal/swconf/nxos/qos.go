package nxos

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

// classMap is a class-map: which DSCPs it takes.
type classMap struct {
	name    string
	at      swconf.Place
	all     bool // match-all
	matches [][64]bool
	other   bool // matches on something else than DSCP
	matchAt swconf.Place
}

// policy is a policy-map of one of the three types.
type policy struct {
	typ, name string
	at        swconf.Place
	classes   []*policyClass
}

type policyClass struct {
	name  string
	queue int // of queuing and network-qos classes: what their fixed names say
	in    bool
	at    swconf.Place
	group swconf.Said[int] // set qos-group
	swconf.Queue
}

// qosRules adds steps 1 to 5 of the seed.
func (p *parser) qosRules(r *cli.Mode) {
	match := func(*cli.Match) *cli.Mode { return nil }
	r.On("[no] class-map [ type <type:qos|queuing|network-qos|control-plane> ] [ <how:match-any|match-all> "+
		"] <name>", func(m *cli.Match) *cli.Mode {
		name, typ := m.Word("name"), m.Word("type")
		if typ == "queuing" || typ == "network-qos" || typ == "control-plane" {
			return cli.NewMode("cmap").On("[no] match <what...>", match).On("[no] description <text...>",
				match)
		}
		if m.No {
			delete(p.classes, name)
			p.c.Undefine("class-map", name)
			return nil
		}
		c := p.classes[name]
		if c != nil {
			swconf.Duplicate(p.c, "class-map", name, p.c.At(m, "name"), c.at)
		} else {
			c = &classMap{name: name, at: p.c.At(m, "name"), all: m.Word("how") == "match-all" ||
				!m.Has("how")}
			p.classes[name] = c
			p.define(m, "class-map", name)
		}
		return p.classMode(c)
	})
	r.On("[no] policy-map [ type <type:qos|queuing|network-qos|control-plane> ] <name>",
		func(m *cli.Match) *cli.Mode {
			typ, name := m.Word("type"), m.Word("name")
			if typ == "" {
				typ = "qos"
			}
			if typ == "control-plane" {
				return p.block("pmap", "class", "police", "set")
			}
			if m.No {
				delete(p.policies, typ+"/"+name)
				p.c.Undefine("policy-map type "+typ, name)
				return nil
			}
			pm := p.policies[typ+"/"+name]
			if pm != nil {
				swconf.Duplicate(p.c, "policy-map type "+typ, name, p.c.At(m, "name"), pm.at)
			} else {
				pm = &policy{typ: typ, name: name, at: p.c.At(m, "name")}
				p.policies[typ+"/"+name] = pm
				p.define(m, "policy-map type "+typ, name)
			}
			return p.policyMode(pm)
		})
	r.On("system qos", func(*cli.Match) *cli.Mode {
		s := cli.NewMode("sys-qos")
		p.servicePolicy(s, &p.system)
		return s
	})
}

func (p *parser) classMode(c *classMap) *cli.Mode {
	r := cli.NewMode("cmap-qos")
	r.Set("[no] match [ not ] [ ip ] dscp <list...>", func(m *cli.Match) {
		set, err := swconf.DSCPs(m.Word("list"))
		if err != nil {
			p.fault(m, "list", swconf.Error, "bad-value", err.Error(), "the class matches nothing",
				"write DSCPs as 24, 24-31 or 24,26, or their names such as cs3")
			return
		}
		c.match(p.c.At(m, "list"), set, m.Has("not"), m.No)
	})
	r.Set("[no] match [ ip ] precedence <list...>", func(m *cli.Match) {
		set, err := swconf.Precedences(m.Word("list"))
		if err != nil {
			p.fault(m, "list", swconf.Error, "bad-value", err.Error(), "the class matches nothing",
				"write precedences as 3, 3-5 or 3,5, or their names such as flash")
			return
		}
		c.match(p.c.At(m, "list"), set, false, m.No)
	})
	r.Set("[no] match <what:cos|access-group|protocol|qos-group|ip|packet|discard-class> [ <more...> ]",
		func(m *cli.Match) {
			c.other = !m.No
		})
	r.Set("[no] description <text...>", func(*cli.Match) {})
	return r
}

// match adds what a line matches, or takes it away again.
func (c *classMap) match(at swconf.Place, set [64]bool, not, no bool) {
	if not {
		for i := range set {
			set[i] = !set[i]
		}
	}
	if !no {
		c.matches, c.matchAt = append(c.matches, set), at
		return
	}
	c.matches = slices.DeleteFunc(c.matches, func(have [64]bool) bool { return have == set })
	if not {
		return
	}
	for i := range c.matches { // of a longer list
		for d := range set {
			c.matches[i][d] = c.matches[i][d] && !set[d]
		}
	}
	c.matches = slices.DeleteFunc(c.matches, func(have [64]bool) bool { return have == [64]bool{} })
}

var queueName = regexp.MustCompile(`^c-(?:(in|out)-)?(?:[48]q-)?n?q(?:-default|([0-7]))$`)

// queueOf reads the fixed names of queues: c-out-8q-q3, c-in-q3, c-8q-nq3 and
// the defaults.
func queueOf(name string) (n int, in, ok bool) {
	f := queueName.FindStringSubmatch(strings.ToLower(name))
	if f == nil {
		return 0, false, false
	}
	n, _ = strconv.Atoi(f[2])
	return n, f[1] == "in", true
}

func (p *parser) policyMode(pm *policy) *cli.Mode {
	r := cli.NewMode("pmap-" + pm.typ)
	open := func(m *cli.Match) *cli.Mode {
		if m.No {
			pm.classes = slices.DeleteFunc(pm.classes, func(c *policyClass) bool {
				return c.name == m.Word("name")
			})
			p.c.Unuse("class-map", m.Word("name"))
			return nil
		}
		pc := &policyClass{name: m.Word("name"), at: p.c.At(m, "name")}
		pc.Name, pc.At = pc.name, pc.at
		if pm.typ == "qos" {
			if pc.name != "class-default" {
				p.c.Use("class-map", pc.name, pc.at)
			}
		} else {
			n, in, ok := queueOf(pc.name)
			if !ok {
				p.fault(m, "name", swconf.Error, "policy-undefined",
					fmt.Sprintf("%q is not a %s class", pc.name, pm.typ),
					"the switch refuses it; the queues keep their defaults",
					"use the fixed names, such as c-out-8q-q3 or c-8q-nq3")
				return p.policyClassMode(pm, pc) // what it says goes nowhere
			}
			pc.queue, pc.in = n, in
		}
		for _, old := range pm.classes {
			if old.name == pc.name {
				swconf.Duplicate(p.c, "class", pc.name, pc.at, old.at)
			}
		}
		pm.classes = append(pm.classes, pc)
		return p.policyClassMode(pm, pc)
	}
	r.On("[no] class [ type <type:qos|queuing|network-qos> ] <name>", open)
	r.Set("[no] description <text...>", func(*cli.Match) {})
	return r
}

const bytesUnits = "<unit:bytes|kbytes|mbytes>"

// size reads a number with a unit of bytes, kbytes or mbytes, in powers of ten.
func size(m *cli.Match, n, u string) unit.Bytes {
	scale := map[string]float64{"bytes": 1, "kbytes": 1e3, "mbytes": 1e6, "": 1}[m.Word(u)]
	return unit.Bytes(min(m.Num(n)*scale, 1e15))
}

func (p *parser) policyClassMode(pm *policy, q *policyClass) *cli.Mode {
	r := cli.NewMode("pmap-c-" + pm.typ)
	switch pm.typ {
	case "qos":
		r.Set("[no] set qos-group <n:int>", func(m *cli.Match) {
			if m.No {
				q.group = swconf.Said[int]{}
				return
			}
			q.group = swconf.SaidAt(p.c, m, "n", int(min(m.Int("n"), 1000)))
			if m.Int("n") > 7 {
				p.fault(m, "n", swconf.Error, "bad-value",
					fmt.Sprintf("qos-group %d does not exist, they are 0 to 7", m.Int("n")),
					"the switch refuses the line and the class stays in group 0", "use a group from 0 to 7")
				q.group.V = 0
			}
		})
		r.Set("[no] set <what:dscp|cos|precedence> <v>", func(*cli.Match) {})
		r.Set("[no] police <more...>", func(*cli.Match) {})
	case "queuing":
		r.Set("[no] bandwidth [ remaining ] percent <n:int>", func(m *cli.Match) {
			swconf.Assign(p.c, m, &q.Share, "n", int(min(m.Int("n"), 1000)))
		})
		r.Set("[no] priority [ level <n:int> ]", func(m *cli.Match) {
			swconf.Switch(p.c, m, &q.Strict, "priority", true)
		})
		r.Set("[no] random-detect minimum-threshold <min:num> "+bytesUnits+" maximum-threshold <max:num> "+
			"<unit2:bytes|kbytes|mbytes> drop-probability <p:num> [ weight <w:int> ] [ cap-average ] [ "+
			"<mark:ecn|non-ecn> ]",
			func(m *cli.Match) {
				swconf.Assign(p.c, m, &q.WRED, "random-detect", swconf.WRED{Min: size(m, "min", "unit"),
					Max: size(m, "max", "unit2"), Percent: m.Num("p"),
					Weight: int(min(m.Int("w"), 1000)), ECN: m.Word("mark") == "ecn"})
			})
		r.Set("[no] random-detect [ threshold <what:burst-optimized|mesh-optimized> ] [ ecn ]",
			func(m *cli.Match) {
				swconf.Assign(p.c, m, &q.WRED, "random-detect", swconf.WRED{ECN: m.Has("ecn")})
			})
		r.Set("no queue-limit", func(*cli.Match) {
			q.Alpha, q.Limit = swconf.Said[float64]{}, swconf.Said[unit.Bytes]{}
		})
		r.Set("[no] queue-limit dynamic <n:int>", func(m *cli.Match) {
			swconf.Assign(p.c, m, &q.Alpha, "n", alphaOf(m.Int("n")))
		})
		r.Set("[no] queue-limit <n:num> "+bytesUnits, func(m *cli.Match) {
			swconf.Assign(p.c, m, &q.Limit, "n", size(m, "n", "unit"))
		})
		r.Set("[no] pause buffer-size <size:int> pause-threshold <xoff:int> resume-threshold <xon:int> [ "+
			"pfc-cos <cos:int> ]", func(m *cli.Match) {
			if m.No {
				q.PG = swconf.Said[swconf.Pause]{}
				return
			}
			g := swconf.Pause{XOff: unit.Bytes(m.Int("xoff")), XOn: unit.Bytes(m.Int("xon"))}
			g.Headroom = unit.Bytes(m.Int("size")) - g.XOff
			q.PG = swconf.SaidAt(p.c, m, "pause", g)
			if m.Has("cos") && m.Int("cos") != int64(q.queue) {
				p.fault(m, "cos", swconf.Error, "pfc-class",
					fmt.Sprintf("thresholds of queue %d pause PFC priority %d", q.queue, m.Int("cos")),
					"a full queue stops another class, and its own packets are lost",
					fmt.Sprintf("pfc-cos %d", q.queue))
			}
			if g.Headroom <= 0 {
				p.fault(m, "size", swconf.Error, "headroom",
					fmt.Sprintf("buffer-size %v is not above pause-threshold %v: no headroom",
						unit.Bytes(m.Int("size")), g.XOff),
					"what is under way when the pause is sent finds no room and is lost",
					"make buffer-size the pause-threshold plus the headroom of rate, cable and MTU")
			}
		})
		r.Set("[no] shape <more...>", func(*cli.Match) {})
		r.Set("[no] set <more...>", func(*cli.Match) {})
	case "network-qos":
		r.Set("[no] mtu <n:int>", func(m *cli.Match) {
			swconf.Assign(p.c, m, &q.MTU, "n", unit.Bytes(min(m.Int("n"), 1<<20)))
		})
		r.Set("[no] pause [ no-drop ] pfc-cos <list> [ receive ]", func(m *cli.Match) {
			if m.No {
				q.Pause = swconf.Said[int]{}
				return
			}
			n, err := strconv.Atoi(m.Word("list"))
			if err != nil || n < 0 || n > 7 {
				p.fault(m, "list", swconf.Error, "bad-value",
					fmt.Sprintf("pfc-cos %q is not one priority of 0 to 7", m.Word("list")),
					"the class is not paused", "write the one priority that is paused")
				return
			}
			q.Pause = swconf.SaidAt(p.c, m, "pause", n)
		})
		r.Set("[no] <what:congestion-control|set|match|queue-limit|multicast-optimize> <more...>",
			func(*cli.Match) {})
	}
	return r
}

// alphaOf turns "queue-limit dynamic n" into alpha: 7 is 1, each step a factor
// of two, from 1/128 at 0 to 8 at 10.
func alphaOf(n int64) float64 {
	a := 1.0 / 128
	for range min(n, 10) {
		a *= 2
	}
	return a
}

func (p *parser) servicePolicy(r *cli.Mode, a *applied) {
	r.Set("[no] service-policy [ type <type:qos|queuing|network-qos> ] [ <dir:input|output> ] <name> [ "+
		"no-stats ]", func(m *cli.Match) {
		typ, dir, name := m.Word("type"), m.Word("dir"), m.Word("name")
		if typ == "" {
			typ = "qos"
		}
		if strings.HasPrefix(name, "default-") {
			return // predefined
		}
		ref := swconf.SaidAt(p.c, m, "name", name)
		if m.No { // which takes away what an earlier block has said
			ref.V = ""
			a.egress = nil
			p.c.Unuse("policy-map type "+typ, name)
		} else {
			p.c.Use("policy-map type "+typ, name, ref.At)
		}
		switch {
		case typ == "network-qos":
			a.network = ref
		case typ == "queuing" && dir == "input":
			a.queueIn = ref
		case typ == "queuing":
			a.queueOut = ref
			a.egressPolicy(ref)
		case dir == "output":
			a.egressPolicy(ref)
		default:
			a.qosIn = ref
		}
	})
}

// egressPolicy notes one where it applies.
func (a *applied) egressPolicy(ref swconf.Said[string]) {
	if ref.V != "" {
		a.egress = append(a.egress, ref.At)
	}
}

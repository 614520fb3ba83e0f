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

// classMap is a class-map: the DSCPs and CoS values that it matches, or the group's packets.
type classMap struct {
	name    string
	at      swconf.Place
	all     bool // match-all
	matches [][64]bool
	cos     [][64]bool            // priorities of 802.1p; the first eight count
	lists   []swconf.Said[string] // access lists whose packets it matches: "ip NAME"
	other   bool                  // matches on another field
	matchAt swconf.Place
	group   swconf.Said[int] // QoS group of types queuing and network-qos
}

// policy is a policy-map of one of the three types.
type policy struct {
	typ, name string
	at        swconf.Place
	classes   []*policyClass
	given     bool // predefined by the switch
}

type policyClass struct {
	name  string
	queue int // queue of queuing and network-qos classes: from their fixed names, or their class-maps
	in    bool
	// whether it has the 802.1p priorities of its class-map instead of one queue
	tagged bool
	at     swconf.Place
	group  swconf.Said[int] // set qos-group
	swconf.Queue
	drops    swconf.Said[bool]   // pauses without a priority: the class's own
	cos      swconf.Said[int]    // set cos of network-qos
	under    swconf.Said[string] // queuing policy that divides the class's share (Nexus 7000)
	congests swconf.Said[bool]   // congestion-control random-detect of network-qos, with ECN
}

const mapTypes = "<type:qos|queuing|network-qos|control-plane>"

// qosRules adds the commands of the source document's steps 1 to 5: classification, queues, ECN, PFC.
func (p *parser) qosRules(r *cli.Mode) {
	r.On("[no] class-map [ type "+mapTypes+" ] [ <how:match-any|match-all> ] <name>", p.openClass)
	r.On("[no] policy-map [ type "+mapTypes+" ] <name>", p.openPolicy)
	// on the Nexus 7000 the policy belongs to one of the switch's sets of classes
	r.On("[no] policy-map type <type:network-qos> <name> template <set>", p.openPolicy)
	const copied = "qos copy policy-map type <type:queuing|network-qos> <name> "
	r.Set(copied+"prefix <prefix>", p.copyPolicy)
	r.Set(copied+"suffix <suffix>", p.copyPolicy)
	s := cli.NewMode("sys-qos")
	p.servicePolicy(s, func(*cli.Match) *applied { return &p.system })
	s.Skip(p.pass, "fex")
	r.On("system qos", func(*cli.Match) *cli.Mode { return s })
}

// kindOf returns the words for a class-map or policy-map of a type.
func kindOf(what, typ string) string {
	if what == "class-map" && typ == "qos" {
		return what
	}
	return what + " type " + typ
}

func (p *parser) openClass(m *cli.Match) *cli.Mode {
	name, typ := m.Word("name"), m.Word("type")
	switch typ {
	case "":
		typ = "qos"
	case "control-plane":
		return p.block("cmap", "match", "description")
	}
	key, kind := typ+"/"+name, kindOf("class-map", typ)
	if m.No {
		delete(p.classes, key)
		p.c.Undefine(kind, name)
		return nil
	}
	c := p.classes[key]
	if c != nil { // a repeated command continues its block
		if m.Has("how") && c.all != (m.Word("how") == "match-all") {
			swconf.Contrary(p.c, kind, name, p.c.At(m, "how"), c.at)
		}
	} else {
		c = &classMap{name: name, at: p.c.At(m, "name"), all: m.Word("how") == "match-all" ||
			!m.Has("how") && typ == "qos"}
		p.classes[key] = c
		p.c.Define(kind, name, c.at, fixed(typ, name))
	}
	if typ == "qos" {
		return p.classMode(c)
	}
	return p.groupMode(c)
}

func (p *parser) openPolicy(m *cli.Match) *cli.Mode {
	typ, name := m.Word("type"), m.Word("name")
	switch typ {
	case "":
		typ = "qos"
	case "control-plane":
		return p.block("pmap", "class", "police", "set", "logging", "description")
	}
	key, kind := typ+"/"+name, kindOf("policy-map", typ)
	if m.No {
		delete(p.policies, key)
		p.c.Undefine(kind, name)
		return nil
	}
	pm := p.policies[key]
	if pm == nil { // a repeated command continues its block
		pm = &policy{typ: typ, name: name, at: p.c.At(m, "name")}
		p.policies[key] = pm
		p.c.Define(kind, name, pm.at, given.MatchString(name))
	}
	return p.policyMode(pm)
}

func (p *parser) classMode(c *classMap) *cli.Mode {
	r := cli.NewMode("cmap-qos")
	set := func(numbers func(string) ([64]bool, error), fix string, to *[][64]bool) func(*cli.Match) {
		return func(m *cli.Match) {
			set, err := numbers(m.Word("list"))
			if err != nil {
				p.fault(m, "list", swconf.Error, "bad-value", err.Error(), "the class matches nothing", fix)
				return
			}
			c.match(p.c.At(m, "list"), to, set, m.Has("not"), m.No)
		}
	}
	r.Set("[no] match [ not ] [ ip ] dscp <list...>", set(swconf.DSCPs,
		"write DSCPs as 24, 24-31 or 24,26, or their names such as cs3", &c.matches))
	r.Set("[no] match [ not ] [ ip ] precedence <list...>", set(swconf.Precedences,
		"write precedences as 3, 3-5 or 3,5, or their names such as flash", &c.matches))
	r.Set("[no] match [ not ] cos <list...>", set(priorities, "write 802.1p priorities as 3, 3-5 or 3,5", &c.cos))
	r.Set("[no] match access-group name <name>", func(m *cli.Match) {
		list := swconf.Say(m.Word("name"), p.c.At(m, "name"))
		c.lists = slices.DeleteFunc(c.lists, func(l swconf.Said[string]) bool { return l.V == list.V })
		if !m.No {
			c.lists = append(c.lists, list)
		}
	})
	r.Set("[no] match [ not ] <what:access-group|protocol|qos-group|ip|packet|discard-class|mpls|vlan|class-map> [ <more...> ]", func(m *cli.Match) {
		c.other = !m.No
	})
	r.Set("[no] description <text...>", func(*cli.Match) {})
	return r
}

// groupMode is a class-map of packets that the qos policy has put into a group.
func (p *parser) groupMode(c *classMap) *cli.Mode {
	r := cli.NewMode("cmap-group")
	r.Set("[no] match qos-group <n:int>", func(m *cli.Match) {
		if m.Int("n") > 7 && !m.No {
			p.fault(m, "n", swconf.Error, "bad-value",
				fmt.Sprintf("qos-group %d does not exist, they are 0 to 7", m.Int("n")),
				"the switch refuses the line and the class takes nothing", "use a group from 0 to 7")
			return
		}
		swconf.Assign(p.c, m, &c.group, "n", int(m.Int("n")&7))
	})
	r.Set("[no] match cos <list...>", func(m *cli.Match) {
		if set, err := priorities(m.Word("list")); err == nil {
			c.match(p.c.At(m, "list"), &c.cos, set, false, m.No)
			return
		}
		p.fault(m, "list", swconf.Error, "bad-value",
			fmt.Sprintf("%q are not 802.1p priorities", m.Word("list")), "the class takes nothing",
			"write 802.1p priorities as 3, 3-5 or 3,5")
	})
	r.Set("[no] match <what:protocol|ip> [ <more...> ]", func(m *cli.Match) { c.other = !m.No })
	return r.Skip(p.pass, "description")
}

// match adds the match of a line, or removes it.
func (c *classMap) match(at swconf.Place, list *[][64]bool, set [64]bool, not, no bool) {
	if not {
		for i := range set {
			set[i] = !set[i]
		}
	}
	if !no {
		*list, c.matchAt = append(*list, set), at
		return
	}
	*list = slices.DeleteFunc(*list, func(have [64]bool) bool { return have == set })
	if not {
		return
	}
	for i := range *list { // the rest of a longer list
		for d := range set {
			(*list)[i][d] = (*list)[i][d] && !set[d]
		}
	}
	*list = slices.DeleteFunc(*list, func(have [64]bool) bool { return have == [64]bool{} })
}

// takes reports whether a class matches packets by their DSCP alone, and takesCOS by their 802.1p priority alone. A
// class-map that requires several kinds of match matches nothing by only one of them.
func (c *classMap) takes(d int) bool    { return c.among(c.matches, c.cos, d) }
func (c *classMap) takesCOS(p int) bool { return c.among(c.cos, c.matches, p) }

func (c *classMap) among(list, others [][64]bool, n int) bool {
	if len(list) == 0 || c.all && (c.other || len(others) > 0) {
		return false
	}
	for _, m := range list {
		if m[n] != c.all {
			return !c.all
		}
	}
	return c.all
}

// priorities reads 802.1p priorities: 3, 3-5, 3,5.
func priorities(list string) (set [64]bool, err error) {
	for _, part := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		lo, err1 := strconv.Atoi(from)
		hi, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || lo < 0 || hi > 7 || hi < lo {
			return set, fmt.Errorf("%q is not an 802.1p priority, they are 0 to 7", part)
		}
		for ; lo <= hi; lo++ {
			set[lo] = true
		}
	}
	return set, nil
}

var queueName = regexp.MustCompile(`^(?:c-(?:(in|out)-)?(?:[48]q-)?n?q(?:-default|([0-7]))|class-default)$`)

// queueOf reads the fixed names of queues: c-out-8q-q3, c-in-q3, c-8q-nq3 and
// the defaults, class-default among them.
func queueOf(name string) (n int, in, ok bool) {
	f := queueName.FindStringSubmatch(strings.ToLower(name))
	if f == nil {
		return 0, false, false
	}
	n, _ = strconv.Atoi(f[2])
	return n, f[1] == "in", true
}

// seven are the names of queues on the Nexus 7000: 1p7q4t-out-pq1, -q2 to -q7, -q-default.
// On the Nexus 7700 they are called 8e-4q8q-out-q1.
var seven = regexp.MustCompile(
	`^(?:(?:\dp)?\dq\dt(?:-\de(?:-4q4q)?)?|\de-\dq\dq)-(in|out)-(?:pq|q)(?:([0-7])|-default)$`)

// fcoe is the class of Fibre Channel over Ethernet, which Nexus 5000 have by default.
const fcoe = "class-fcoe"

// fcoeCOS and fcoeMTU are its 802.1p priority and its largest frame.
const (
	fcoeCOS = 3
	fcoeMTU = unit.Bytes(2158)
)

// other are the names of queues on platforms without uniform numbers (Nexus 7000), and their predefined classes.
var other = regexp.MustCompile(`^(\d\S*q\d*t?(-\de)?-(in|out)-\S+|c-\d[qe]-\S+-(in|out)|` +
	`\de-\dq\dq-(in|out)-\S+|c-dflt-\S+|c-nq-\d+e\S*|class-(fcoe|all-flood|ip-multicast))$`)

// fixed reports whether a class needs no class-map: it is the platform's own.
func fixed(typ, name string) bool {
	if name == "class-default" {
		return true
	}
	_, _, ok := queueOf(name)
	return ok && typ != "qos" || other.MatchString(strings.ToLower(name))
}

func (p *parser) policyMode(pm *policy) *cli.Mode {
	r := cli.NewMode("pmap-" + pm.typ)
	kind := kindOf("class-map", pm.typ)
	open := func(m *cli.Match) *cli.Mode {
		name := m.Word("name")
		if m.No {
			pm.classes = slices.DeleteFunc(pm.classes, func(c *policyClass) bool { return c.name == name })
			p.c.Unuse(kind, name)
			return nil
		}
		pc := &policyClass{name: name, at: p.c.At(m, "name")}
		pc.Name, pc.At = pc.name, pc.at
		if !fixed(pm.typ, name) {
			p.c.Use(kind, name, pc.at)
		}
		for _, old := range pm.classes {
			if old.name == name {
				return p.policyClassMode(pm, old) // a repeated command continues its block
			}
		}
		at := slices.IndexFunc(pm.classes, func(c *policyClass) bool { return c.name == m.Word("next") })
		if at < 0 {
			at = len(pm.classes)
		}
		pm.classes = slices.Insert(pm.classes, at, pc)
		return p.policyClassMode(pm, pc)
	}
	r.On("[no] class [ type <type:qos|queuing|network-qos> ] <name>", open)
	r.On("[no] class [ type <type:qos|queuing|network-qos> ] <name> insert-before <next>", open)
	r.Set("[no] description <text...>", func(*cli.Match) {})
	return r
}

// numberQueues assigns queues to the classes of queuing and network-qos policies once all class-maps are known: by
// fixed names, or by the matched groups. It drops packets without one.
func (p *parser) numberQueues() {
	for _, pm := range p.policies {
		if pm.typ == "qos" {
			continue
		}
		pm.classes = slices.DeleteFunc(pm.classes, func(pc *policyClass) bool {
			n, in, ok := queueOf(pc.name)
			if f := seven.FindStringSubmatch(strings.ToLower(pc.name)); f != nil && pm.typ == "queuing" {
				n, _ = strconv.Atoi(f[2])
				in, ok = f[1] == "in", true
			}
			if pc.name == fcoe { // the group that it has on a Nexus 5000
				n, ok = 1, true
			}
			if c := p.classes[pm.typ+"/"+pc.name]; c != nil && (!ok || c.group.Is()) {
				n, in, ok = c.group.V, false, c.group.Is()
			}
			pc.queue, pc.in = n, in
			return !ok && !p.byPriority(pm, pc)
		})
	}
}

// byPriority reports whether a class of network-qos matches 802.1p priorities, as on the Nexus 7000; their
// classification determines its queues.
func (p *parser) byPriority(pm *policy, pc *policyClass) bool {
	c := p.classes["network-qos/"+pc.name]
	pc.tagged = pm.typ == "network-qos" && c != nil && !c.group.Is() && len(c.cos) > 0
	return pc.tagged
}

// alphaOf converts "queue-limit dynamic n" to alpha: 7 is 1, and each step is a factor of two, from 1/128 at 0 to 8
// at 10.
func alphaOf(n int64) float64 {
	a := 1.0 / 128
	for range min(n, 10) {
		a *= 2
	}
	return a
}

// servicePolicy returns the command that applies a policy to the target of a line.
func (p *parser) servicePolicy(r *cli.Mode, to func(*cli.Match) *applied) {
	r.Set("[no] service-policy [ type <type:qos|queuing|network-qos> ] [ <dir:input|output> ] <name> [ no-stats ]", func(m *cli.Match) {
		a, typ, dir, name := to(m), m.Word("type"), m.Word("dir"), m.Word("name")
		if typ == "" {
			typ = "qos"
		}
		predefined, key := given.MatchString(name), typ+"/"+name
		ref := swconf.SaidAt(p.c, m, "name", name)
		if m.No { // "no" removes settings of an earlier block
			ref.V = ""
			a.egress = nil
			p.c.Unuse("policy-map type "+typ, name)
		} else if predefined {
			if _, known := p.given[key]; !known {
				p.given[key] = ref.At
			}
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
			a.egressPolicy(ref, predefined)
		case dir == "output":
			a.egressPolicy(ref, predefined)
		default:
			a.qosIn = ref
		}
	})
}

// egressPolicy records one if it has an effect. Predefined ones have none.
func (a *applied) egressPolicy(ref swconf.Said[string], predefined bool) {
	if ref.V != "" && !predefined {
		a.egress = append(a.egress, ref.At)
	}
}

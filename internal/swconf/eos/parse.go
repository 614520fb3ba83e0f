// Package eos reads and writes Arista EOS configuration. Public samples of its
// buffer commands disagree between releases and chips; what is written here
// must be checked against the release it is meant for.
package eos

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

// Looks reports whether text looks like EOS.
func Looks(text string) int {
	return swconf.Score(text, "! device:", "transceiver qsfp", "qos profile ", "qos map dscp", "tx-queue ", "service-profile ", "priority-flow-control on", "no-drop", "priority-flow-control pause watchdog",
		"management api", "service routing protocols model", "random-detect ecn minimum-threshold", "platform trident mmu", "interface Ethernet1\n", "maximum-paths 64 ecmp", "dcbx mode")
}

type parser struct {
	c        *swconf.Config
	toTC     [64]swconf.Said[int]
	toQueue  [8]int
	profiles map[string]*profile
	ports    map[*swconf.Port]*profile // what an interface says itself
	uses     map[*swconf.Port]swconf.Said[string]
	peers    *swconf.Peers
	mmu      map[string]*[queue.Classes]swconf.Queue
	mmuApply string
}

// profile is a qos profile, or the same commands under an interface.
type profile struct {
	at     swconf.Place
	trust  swconf.Said[bool]
	pfc    swconf.Said[bool]
	noDrop [queue.Classes]swconf.Said[bool]
	queues [queue.Classes]swconf.Queue
}

// Commands is the table of global commands, for tests.
func Commands() *cli.Mode { return newParser("").root() }

func newParser(file string) *parser {
	p := &parser{c: &swconf.Config{OS: swconf.EOS, File: file}, profiles: map[string]*profile{}, ports: map[*swconf.Port]*profile{},
		uses: map[*swconf.Port]swconf.Said[string]{}, peers: swconf.NewPeers(), mmu: map[string]*[queue.Classes]swconf.Queue{}}
	p.c.LLDP.V = true
	for i := range p.toQueue {
		p.toQueue[i] = i
	}
	return p
}

// Parse reads a configuration.
func Parse(file string, text []byte) (*swconf.Config, error) {
	lines, err := cli.Scan(file, text)
	if err != nil {
		return nil, err
	}
	p := newParser(file)
	p.c.Total = len(lines)
	if err := swconf.ReadLines(p.c, lines, p.root()); err != nil {
		return nil, err
	}
	p.resolve()
	return p.c, nil
}

func (p *parser) bad(m *cli.Match, name, what string) {
	swconf.Report(p.c, p.c.At(m, name), swconf.Error, "bad-value", fmt.Sprintf("%q is not %s", m.Word(name), what), "EOS refuses the line", "write "+what)
}

func (p *parser) pass(*cli.Match) { p.c.Passed++ }

func (p *parser) root() *cli.Mode {
	c := p.c
	r := cli.NewMode("config")
	r.Set("[no] hostname <name>", func(m *cli.Match) { swconf.Assign(c, m, &c.Hostname, "name", m.Word("name")) })
	r.Set("[no] lldp run", func(m *cli.Match) { c.LLDP = swconf.SaidAt(p.c, m, "lldp", !m.No || m.Default) }) // it runs unless told not to
	r.Set("[no] qos map dscp <list...>", p.dscpMap)
	r.Set("[no] qos map traffic-class <tc:int> to <what:tx-queue|uc-tx-queue|priority-group|pfc> [ priority ] <q:int>", func(m *cli.Match) {
		tc, q := m.Int("tc"), m.Int("q")
		if tc > 7 || q > 7 {
			p.bad(m, "tc", "a traffic class and a queue from 0 to 7")
		} else if m.No {
			p.toQueue[tc] = int(tc)
		} else if strings.HasSuffix(m.Word("what"), "tx-queue") {
			p.toQueue[tc] = int(q)
		}
	})
	r.On("[no] qos profile <name>", func(m *cli.Match) *cli.Mode {
		name := m.Word("name")
		if m.No {
			delete(p.profiles, name)
			c.Undefine("qos profile", name)
			return nil
		}
		if old := p.profiles[name]; old != nil {
			swconf.Duplicate(c, "qos profile", name, p.c.At(m, "name"), old.at)
		} else {
			p.profiles[name] = &profile{at: p.c.At(m, "name")}
			c.Define("qos profile", name, p.c.At(m, "name"), false)
		}
		sub := cli.NewMode("qos-profile")
		p.qosCommands(sub, func() []*profile { return []*profile{p.profiles[name]} })
		return sub
	})
	r.On("[no] interface <names...>", p.openInterface)
	seconds := func(to *swconf.Said[unit.Time], name string) func(*cli.Match) {
		return func(m *cli.Match) {
			swconf.Assign(p.c, m, to, name, unit.Time(min(m.Num(name), 1e6)*1000+0.5)*unit.Millisecond)
			if w := &c.Watchdog; !m.No {
				w.On = swconf.SaidAt(p.c, m, "watchdog", true)
			} else if !w.Poll.Is() && !w.Detect.Is() && !w.Restore.Is() {
				w.On = swconf.Said[bool]{}
			}
		}
	}
	r.Set("[no] priority-flow-control pause watchdog default timeout <s:num>", seconds(&c.Watchdog.Detect, "s"))
	r.Set("[no] priority-flow-control pause watchdog default recovery-time <s:num> [ forced ]", seconds(&c.Watchdog.Restore, "s"))
	r.Set("[no] priority-flow-control pause watchdog default polling-interval <s:num>", seconds(&c.Watchdog.Poll, "s"))
	r.Set("no priority-flow-control [ pause [ watchdog [ default ] ] ]", func(*cli.Match) { c.Watchdog = swconf.Watchdog{} })
	r.Set("[no] priority-flow-control pause watchdog action <what:drop|no-drop|errdisable|notify-only>", func(m *cli.Match) {
		swconf.Assign(p.c, m, &c.Watchdog.Forward, "what", m.Word("what") == "no-drop" || m.Word("what") == "notify-only")
	})
	r.Set("[no] ip load-sharing <chip> seed <n>", func(m *cli.Match) { swconf.Assign(c, m, &c.HashSeed, "n", m.Word("n")) })
	r.Set("[no] ip load-sharing <chip> <more...>", func(*cli.Match) {})
	r.On("[no] load-balance policies", func(m *cli.Match) *cli.Mode {
		if m.No {
			c.DLB = nil
			return nil
		}
		return p.loadBalance()
	})
	p.mmuRules(r)
	r.On("[no] router bgp <asn>", p.openBGP)
	r.On("[no] route-map <name> <action:permit|deny> <seq:int>", func(m *cli.Match) *cli.Mode {
		if p.define(m, "route-map"); m.No {
			return nil
		}
		sub := cli.NewMode("route-map")
		sub.Set("[no] match ip address prefix-list <name>", func(m *cli.Match) { p.use(m, "prefix-list", "name") })
		sub.Set("[no] <what:match|set|description|continue> <more...>", func(*cli.Match) {})
		return sub
	})
	r.On("[no] ip prefix-list <name> [ <entry...> ]", func(m *cli.Match) *cli.Mode {
		if p.define(m, "prefix-list"); m.No {
			return nil
		}
		return cli.NewMode("prefix-list").On("[no] seq <entry...>", func(*cli.Match) *cli.Mode { return nil })
	})
	r.Skip(p.pass, passed...)
	return r
}

var passed = []string{"transceiver", "service", "spanning-tree", "username", "aaa", "management", "ntp", "clock", "logging", "snmp-server", "banner", "vrf", "ip routing", "ipv6 unicast-routing", "ip route",
	"ip name-server", "ip domain", "dns", "vlan", "mlag", "hardware", "queue-monitor", "daemon", "event-handler", "enable", "boot", "alias", "terminal", "agent", "system", "ip virtual-router", "ip access-list", "ipv6 access-list",
	"lldp", "lacp", "errdisable", "platform", "port-channel", "monitor", "sflow", "tacacs-server", "radius-server", "trunk", "router multicast", "router general", "peer-filter", "interface defaults", "qos rewrite", "dcbx", "switchport default", "end"}

func (p *parser) define(m *cli.Match, kind string) {
	if m.No {
		p.c.Undefine(kind, m.Word("name"))
		return
	}
	p.c.Define(kind, m.Word("name"), p.c.At(m, "name"), false)
}

// use notes a reference; under "no" nothing refers to that name.
func (p *parser) use(m *cli.Match, kind, name string) {
	if m.No {
		p.c.Unuse(kind, m.Word(name))
		return
	}
	p.c.Use(kind, m.Word(name), p.c.At(m, name))
}

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
	r.Set("[no] priority-flow-control priority <n:int> <what:no-drop|drop>", each(func(q *profile, m *cli.Match) {
		if m.Int("n") > 7 {
			p.bad(m, "n", "a priority from 0 to 7")
			return
		}
		swconf.Switch(p.c, m, &q.noDrop[m.Int("n")], "n", m.Word("what") == "no-drop")
	}))
	r.Set("[no] priority-flow-control pause watchdog [ <more...> ]", func(*cli.Match) {})
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
			n = 0
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
	r.Set("[no] bandwidth percent <n:int>", each(func(q *swconf.Queue, m *cli.Match) { swconf.Assign(p.c, m, &q.Share, "n", int(min(m.Int("n"), 1000))) }))
	r.Set("[no] priority strict", each(func(q *swconf.Queue, m *cli.Match) { swconf.Switch(p.c, m, &q.Strict, "strict", true) }))
	r.Set("[no] priority", each(func(q *swconf.Queue, m *cli.Match) { swconf.Switch(p.c, m, &q.Strict, "priority", true) }))
	r.Set("[no] random-detect ecn minimum-threshold <min:num> <u1:bytes|kbytes|mbytes> maximum-threshold <max:num> <u2:bytes|kbytes|mbytes> [ max-mark-probability <p:num> ] [ weight <w:int> ]",
		each(func(q *swconf.Queue, m *cli.Match) {
			w := swconf.WRED{Min: size(m, "min", "u1"), Max: size(m, "max", "u2"), Percent: 100, Weight: int(min(m.Int("w"), 1000)), ECN: true}
			if m.Has("p") {
				w.Percent = m.Num("p")
			}
			swconf.Assign(p.c, m, &q.WRED, "random-detect", w)
		}))
	r.Set("[no] random-detect drop minimum-threshold <min:num> <u1:bytes|kbytes|mbytes> maximum-threshold <max:num> <u2:bytes|kbytes|mbytes> [ drop-precedence <d> ] drop-probability <p:num> [ weight <w:int> ]",
		each(func(q *swconf.Queue, m *cli.Match) {
			swconf.Assign(p.c, m, &q.WRED, "random-detect", swconf.WRED{Min: size(m, "min", "u1"), Max: size(m, "max", "u2"), Percent: m.Num("p"), Weight: int(min(m.Int("w"), 1000))})
		}))
	r.Set("[no] random-detect <what:ecn|drop> [ <more...> ]", each(func(q *swconf.Queue, m *cli.Match) {
		if m.No {
			q.WRED = swconf.Said[swconf.WRED]{}
		}
	}))
	r.Set("[no] <what:shape|scheduler|latency|lag|bandwidth> <more...>", func(*cli.Match) {})
	return r
}

func size(m *cli.Match, n, u string) unit.Bytes {
	scale := map[string]float64{"bytes": 1, "kbytes": 1e3, "mbytes": 1e6}[m.Word(u)]
	return unit.Bytes(min(m.Num(n)*scale, 1e15))
}

// mmuRules read the buffer profile: thresholds of priority groups and queues.
func (p *parser) mmuRules(r *cli.Mode) {
	r.On("[no] platform trident mmu queue profile <name>", func(m *cli.Match) *cli.Mode {
		if m.No {
			delete(p.mmu, m.Word("name"))
			p.c.Undefine("mmu profile", m.Word("name"))
			return nil
		}
		q := &[queue.Classes]swconf.Queue{}
		p.mmu[m.Word("name")] = q
		p.define(m, "mmu profile")
		sub := cli.NewMode("mmu")
		sub.Set("[no] ingress priority-group <n:int> headroom <h:int> bytes threshold <xoff:int> bytes resume <xon:int> bytes", func(m *cli.Match) {
			if m.Int("n") > 7 {
				p.bad(m, "n", "a priority group from 0 to 7")
				return
			}
			swconf.Assign(p.c, m, &q[m.Int("n")].PG, "ingress", swconf.Pause{XOff: unit.Bytes(m.Int("xoff")), XOn: unit.Bytes(m.Int("xon")), Headroom: unit.Bytes(m.Int("h"))})
		})
		sub.Set("[no] ingress priority-group <n:int> [ headroom <h:int> bytes ] threshold <alpha>", func(m *cli.Match) {
			a, ok := fraction(m.Word("alpha"))
			if !ok && !m.No || m.Int("n") > 7 {
				p.bad(m, "alpha", "a share such as 1/8 or 2")
				return
			}
			swconf.Assign(p.c, m, &q[m.Int("n")].PG, "ingress", swconf.Pause{Alpha: a, Headroom: unit.Bytes(m.Int("h"))})
		})
		sub.Set("[no] egress unicast queue <n:int> threshold <alpha> [ bytes ]", func(m *cli.Match) {
			if m.Int("n") > 7 {
				p.bad(m, "n", "a queue from 0 to 7")
				return
			}
			to := &q[m.Int("n")]
			if m.No {
				to.Limit, to.Alpha = swconf.Said[unit.Bytes]{}, swconf.Said[float64]{}
				return
			}
			if m.Has("bytes") {
				n, err := strconv.ParseInt(m.Word("alpha"), 10, 48)
				if err != nil {
					p.bad(m, "alpha", "a number of bytes")
					return
				}
				to.Limit = swconf.SaidAt(p.c, m, "alpha", unit.Bytes(n))
			} else if a, ok := fraction(m.Word("alpha")); ok {
				to.Alpha = swconf.SaidAt(p.c, m, "alpha", a)
			} else {
				p.bad(m, "alpha", "a share such as 1/8 or 2")
			}
		})
		return sub
	})
	r.Set("[no] platform trident mmu queue profile <name> apply", func(m *cli.Match) {
		if p.mmuApply = m.Word("name"); m.No {
			p.mmuApply = ""
		}
		p.use(m, "mmu profile", "name")
	})
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

func (p *parser) loadBalance() *cli.Mode {
	r := cli.NewMode("load-balance")
	r.On("[no] load-balance cluster [ <name> ]", func(*cli.Match) *cli.Mode { return nil })
	dynamic := cli.NewMode("dlb")
	dynamic.Set("[no] mode <mode:flowlet|per-packet|random>", func(m *cli.Match) {
		if m.No {
			p.c.DLB = nil
			return
		}
		p.c.DLB = &swconf.DLB{At: p.c.At(m, "mode"), Mode: swconf.SaidAt(p.c, m, "mode", m.Word("mode")), All: true}
	})
	dynamic.Set("[no] inactivity <n:int> <u:microseconds|milliseconds>", func(m *cli.Match) {
		if p.c.DLB != nil {
			scale := map[string]unit.Time{"microseconds": unit.Microsecond, "milliseconds": unit.Millisecond}[m.Word("u")]
			swconf.Assign(p.c, m, &p.c.DLB.Aging, "n", unit.Time(min(m.Int("n"), 1e9))*scale)
		}
	})
	r.On("[no] load-balance dynamic", func(*cli.Match) *cli.Mode { return dynamic })
	return r
}

var portForm = regexp.MustCompile(`(?i)^(et|eth|ethernet|po|port-channel|lo|loopback|vl|vlan|ma|management|vx|vxlan)\s*([0-9].*)$`)

// openInterface opens Ethernet3, Ethernet3/1, Et1-4 and others, which are
// passed over.
func (p *parser) openInterface(m *cli.Match) *cli.Mode {
	f := portForm.FindStringSubmatch(m.Word("names"))
	if f != nil && !strings.HasPrefix(strings.ToLower(f[1]), "et") {
		if m.No {
			return nil
		}
		return p.interfaceMode(nil)
	}
	if !p.c.Room(p.c.At(m, "names"), 1) {
		return nil
	}
	names, ok := portRange(m.Word("names"))
	if !p.c.Room(p.c.At(m, "names"), len(names)) {
		return nil
	}
	if !ok {
		p.bad(m, "names", "an interface such as Ethernet3 or Ethernet1-4")
	}
	if m.No { // as a port without any configuration
		for _, n := range names {
			if q := p.c.Port(n); q != nil {
				*q = swconf.Port{Name: n, At: q.At, Number: q.Number}
				p.ports[q] = &profile{}
				delete(p.uses, q)
			}
		}
		return nil
	}
	var ports []*swconf.Port
	for _, n := range names {
		ports = append(ports, p.port(m, n))
	}
	return p.interfaceMode(ports)
}

// maxRange bounds a range of interfaces.
const maxRange = 4096

// portRange reads Et1-4,Et7 or Ethernet3/1 into full names.
func portRange(s string) (names []string, ok bool) {
	f := portForm.FindStringSubmatch(s)
	if f == nil {
		return nil, false
	}
	for _, part := range strings.Split(f[2], ",") {
		part = strings.TrimSpace(part)
		if m := portForm.FindStringSubmatch(part); m != nil { // Et1-4,Et7
			part = m[2]
		}
		lo, hi, ranged := strings.Cut(part, "-")
		head := ""
		if i := strings.LastIndexByte(lo, '/'); i >= 0 && ranged {
			head, lo = lo[:i+1], lo[i+1:]
		}
		if !ranged {
			names = append(names, "Ethernet"+lo)
			continue
		}
		a, err1 := strconv.Atoi(lo)
		b, err2 := strconv.Atoi(hi[strings.LastIndexByte(hi, '/')+1:])
		if err1 != nil || err2 != nil || b < a || b-a > maxRange {
			return nil, false
		}
		for ; a <= b; a++ {
			names = append(names, fmt.Sprintf("Ethernet%s%d", head, a))
		}
	}
	return names, true
}

func (p *parser) port(m *cli.Match, name string) *swconf.Port {
	if q := p.c.Port(name); q != nil {
		return q
	}
	q := &swconf.Port{Name: name, At: p.c.At(m, "interface")}
	tail := strings.TrimSuffix(strings.TrimPrefix(name, "Ethernet"), "/1")
	q.Number, _ = strconv.Atoi(tail)
	p.ports[q] = &profile{}
	p.c.Ports = append(p.c.Ports, q)
	return q
}

func (p *parser) interfaceMode(ports []*swconf.Port) *cli.Mode {
	r := cli.NewMode("config-if")
	each := func(f func(*swconf.Port, *cli.Match)) func(*cli.Match) {
		return func(m *cli.Match) {
			if !p.c.Room(p.c.At(m, "interface"), len(ports)) {
				return
			}
			for _, q := range ports {
				f(q, m)
			}
		}
	}
	r.Set("[no] description <text...>", each(func(q *swconf.Port, m *cli.Match) { swconf.Assign(p.c, m, &q.Desc, "text", m.Word("text")) }))
	r.Set("[no] mtu <n:int>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.MTU, "n", unit.Bytes(min(m.Int("n"), 1<<20)))
	}))
	r.Set("[no] speed [ forced ] <s>", each(func(q *swconf.Port, m *cli.Match) {
		if rate, ok := speed(m.Word("s")); m.No {
			q.Speed = swconf.Said[unit.Rate]{}
		} else if ok {
			q.Speed = swconf.SaidAt(p.c, m, "s", rate)
		}
	}))
	r.Set("[no] shutdown", each(func(q *swconf.Port, m *cli.Match) { q.Down = swconf.SaidAt(p.c, m, "shutdown", !m.No) }))
	r.Set("[no] ip address <prefix> [ secondary ]", each(func(q *swconf.Port, m *cli.Match) {
		if m.No && !m.Has("prefix") {
			q.Addrs = nil
			return
		}
		pre, err := netip.ParsePrefix(m.Word("prefix"))
		if err != nil {
			p.bad(m, "prefix", "an address with a prefix length")
			return
		}
		if q.Addrs = swconf.Without(q.Addrs, pre, true); !m.No {
			q.Addrs = append(q.Addrs, swconf.SaidAt(p.c, m, "prefix", pre))
		}
	}))
	r.Set("[no] ipv6 enable", each(func(q *swconf.Port, m *cli.Match) { swconf.Switch(p.c, m, &q.LinkOnly, "ipv6", true) }))
	r.Set("[no] service-profile <name>", each(func(q *swconf.Port, m *cli.Match) {
		if p.use(m, "qos profile", "name"); m.No {
			delete(p.uses, q)
			return
		}
		p.uses[q] = swconf.SaidAt(p.c, m, "name", m.Word("name"))
	}))
	r.Set("[no] service-policy type qos input <name>", each(func(q *swconf.Port, m *cli.Match) {}))
	r.Set("[no] switchport access vlan <n:int>", each(func(q *swconf.Port, m *cli.Match) { swconf.Assign(p.c, m, &q.VLAN, "n", int(min(m.Int("n"), 1e6))) }))
	r.Set("[no] channel-group <n:int> mode <mode:active|on|passive>", each(func(q *swconf.Port, m *cli.Match) { swconf.Assign(p.c, m, &q.Channel, "n", int(min(m.Int("n"), 1e6))) }))
	r.Set("[no] lldp <what:transmit|receive>", each(func(q *swconf.Port, m *cli.Match) { q.LLDPOff = swconf.SaidAt(p.c, m, "what", m.No && !m.Default) }))
	r.Set("[no] dcbx mode <v:ieee|cee|none>", each(func(q *swconf.Port, m *cli.Match) { swconf.Assign(p.c, m, &q.DCBX, "v", m.Word("v")) }))
	p.qosCommands(r, func() (out []*profile) {
		for _, q := range ports {
			out = append(out, p.ports[q])
		}
		return out
	})
	inner := cli.NewMode("sub").On("[no] <anything...>", func(*cli.Match) *cli.Mode { return nil })
	for _, s := range []string{"switchport", "ip", "ipv6", "mlag", "evpn", "vxlan", "lacp", "load-interval", "logging", "spanning-tree", "flowcontrol", "error-correction", "bfd", "storm-control", "vrf",
		"mac", "snmp", "traffic-policy", "phy", "ptp", "sflow", "encapsulation", "dcbx", "port-channel", "link-debounce", "l2", "arp"} {
		r.On("[no] "+s+" [ <more...> ]", func(*cli.Match) *cli.Mode {
			if s == "evpn" {
				return inner
			}
			return nil
		})
	}
	return r
}

var speedForm = regexp.MustCompile(`^(\d+)g(-\d+|full)?$`)

// speed reads 400g, 400g-8, 100gfull.
func speed(s string) (unit.Rate, bool) {
	f := speedForm.FindStringSubmatch(strings.ToLower(s))
	if f == nil {
		return 0, false
	}
	n, err := strconv.Atoi(f[1])
	return unit.Rate(n) * unit.Gbps, err == nil && n < 100_000
}

// Package eos reads and writes Arista EOS configuration. Public samples of its
// buffer commands disagree between releases and chips; what is written here
// must be checked against the release it is meant for.
package eos

import (
	"fmt"
	"net/netip"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

// Looks reports whether text looks like EOS.
func Looks(text string) int {
	return swconf.Score(text, "! device:", "transceiver qsfp", "qos profile ", "qos map dscp", "tx-queue ",
		"service-profile ", "priority-flow-control on", "no-drop", "priority-flow-control pause watchdog",
		"management api", "service routing protocols model", "random-detect ecn minimum-threshold",
		"platform trident mmu", "interface Ethernet1\n", "maximum-paths 64 ecmp", "dcbx mode")
}

type parser struct {
	c        *swconf.Config
	toTC     [64]swconf.Said[int]
	toQueue  [8]int
	profiles map[string]*profile
	ports    map[*swconf.Port]*profile // what an interface says itself
	uses     map[*swconf.Port]swconf.Said[string]
	peers    *swconf.Peers
	mmu      map[string]*mmu
	mmuApply string
	mmuOwn   map[*swconf.Port]swconf.Said[string]
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
	p := &parser{c: &swconf.Config{OS: swconf.EOS, File: file}, profiles: map[string]*profile{},
		ports: map[*swconf.Port]*profile{},
		uses:  map[*swconf.Port]swconf.Said[string]{}, peers: swconf.NewPeers(),
		mmu: map[string]*mmu{}, mmuOwn: map[*swconf.Port]swconf.Said[string]{}}
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
	swconf.Report(p.c, p.c.At(m, name), swconf.Error, "bad-value", fmt.Sprintf("%q is not %s", m.Word(name),
		what), "EOS refuses the line", "write "+what)
}

func (p *parser) pass(*cli.Match) { p.c.Passed++ }

func (p *parser) root() *cli.Mode {
	c := p.c
	r := cli.NewMode("config")
	r.Set("[no] hostname <name>", func(m *cli.Match) {
		swconf.Assign(c, m, &c.Hostname, "name", m.Word("name"))
	})
	// it runs unless told not to
	r.Set("[no] lldp run", func(m *cli.Match) { c.LLDP = swconf.SaidAt(p.c, m, "lldp", !m.No || m.Default) })
	r.Set("[no] qos map dscp <list...>", p.dscpMap)
	r.Set("[no] qos map traffic-class <tc:int> to <what:tx-queue|uc-tx-queue|priority-group|pfc> [ "+
		"priority ] <q:int>", func(m *cli.Match) {
		tc, q := m.Int("tc"), m.Int("q")
		if tc > 7 {
			p.bad(m, "tc", "a traffic class from 0 to 7")
		} else if q > 7 {
			p.bad(m, "q", "a queue from 0 to 7")
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
	r.Set("[no] priority-flow-control pause watchdog default timeout <s:num>",
		seconds(&c.Watchdog.Detect, "s"))
	r.Set("[no] priority-flow-control pause watchdog default recovery-time <s:num> [ forced ]",
		seconds(&c.Watchdog.Restore, "s"))
	r.Set("[no] priority-flow-control pause watchdog default polling-interval <s:num>",
		seconds(&c.Watchdog.Poll, "s"))
	r.Set("no priority-flow-control [ pause [ watchdog [ default ] ] ]", func(*cli.Match) {
		c.Watchdog = swconf.Watchdog{}
	})
	r.Set("[no] priority-flow-control pause watchdog action <what:drop|no-drop|errdisable|notify-only>",
		func(m *cli.Match) {
			swconf.Assign(p.c, m, &c.Watchdog.Forward, "what", m.Word("what") == "no-drop" ||
				m.Word("what") == "notify-only")
		})
	const chips = "[no] ip load-sharing <chip:arad|fm6000|petraA|sand|trident>"
	r.Set(chips+" seed <n>", func(m *cli.Match) { swconf.Assign(c, m, &c.HashSeed, "n", m.Word("n")) })
	r.Set(chips+" <hash:int>", func(*cli.Match) {})
	r.Set(chips+" <what:fields|profile|symmetric> [ <more...> ]", func(*cli.Match) {})
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
		sub.Set("[no] match ip address prefix-list <name>", func(m *cli.Match) {
			p.use(m, "prefix-list", "name")
		})
		sub.Families(p.pass, routeMapFamilies)
		return sub
	})
	const entry = "<action:permit|deny> <prefix> [ eq <eq:int> ] [ ge <ge:int> ] [ le <le:int> ]"
	prefixList := func(m *cli.Match) *cli.Mode {
		if p.prefix(m); m.No && (m.Has("seq") || m.Has("action")) {
			return nil // an entry
		}
		if p.define(m, "prefix-list"); m.No {
			return nil
		}
		sub := cli.NewMode("prefix-list")
		sub.Set("[no] [ seq <n:int> ] "+entry, p.prefix)
		sub.Set("no seq <n:int>", func(*cli.Match) {})
		return sub.Skip(p.pass, "remark")
	}
	r.On("[no] ip prefix-list <name>", prefixList)
	r.On("[no] ip prefix-list <name> [ seq <n:int> ] "+entry, prefixList)
	r.On("no ip prefix-list <name> seq <n:int>", prefixList)
	r.Skip(p.pass, passed...)
	return r
}

var passed = []string{"transceiver", "service", "spanning-tree", "username", "aaa", "management", "ntp",
	"clock", "logging", "snmp-server", "banner", "vrf", "ip routing", "ipv6 unicast-routing", "ip route",
	"ip name-server", "ip domain", "dns", "vlan", "mlag", "hardware", "queue-monitor", "daemon",
	"event-handler", "enable", "boot", "alias", "terminal", "agent", "system", "ip virtual-router",
	"ip access-list", "ipv6 access-list",
	"lldp", "lacp", "errdisable", "platform <chip:arad|barefoot|fm6000|petraA|sand|sfe>",
	"platform trident <what:fabric|forwarding-table|l2|l3|routing-table|tcam>", "port-channel",
	"monitor", "sflow", "tacacs-server",
	"radius-server", "trunk", "router multicast", "router general", "peer-filter", "interface defaults",
	"qos rewrite", "dcbx", "switchport default", "end"}

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

// prefix holds what an entry of a list names to being one.
func (p *parser) prefix(m *cli.Match) {
	if _, err := netip.ParsePrefix(m.Word("prefix")); err != nil && m.Has("prefix") {
		p.bad(m, "prefix", "a prefix such as 10.0.0.0/8")
	}
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
		p.c.DLB = &swconf.DLB{At: p.c.At(m, "mode"), Mode: swconf.SaidAt(p.c, m, "mode", m.Word("mode")),
			All: true}
	})
	dynamic.Set("[no] inactivity <n:int> <u:microseconds|milliseconds>", func(m *cli.Match) {
		if p.c.DLB != nil {
			scale := map[string]unit.Time{
				"microseconds": unit.Microsecond,
				"milliseconds": unit.Millisecond,
			}[m.Word("u")]
			swconf.Assign(p.c, m, &p.c.DLB.Aging, "n", unit.Time(min(m.Int("n"), 1e9))*scale)
		}
	})
	r.On("[no] load-balance dynamic", func(*cli.Match) *cli.Mode { return dynamic })
	return r
}

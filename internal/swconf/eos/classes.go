package eos

import (
	"slices"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

// class is the match of a class-map.
type class struct {
	dscp  [64]bool
	cos   [8]bool
	lists []swconf.Said[string] // access lists whose packets it also matches: "ip NAME"
	other bool                  // matches other properties than marks
}

// policy is the classes of a policy-map with their actions, in order.
type policy struct {
	name string
	acts []*act
	outs map[int]*swconf.Queue // of transmit queues
}

// act is the action on one class of a policy.
type act struct {
	class string
	at    swconf.Place
	tc    swconf.Said[int]
}

// classRules parses class-maps, policy-maps and their access lists.
func (p *parser) classRules(r *cli.Mode) {
	r.On("[no] class-map type <what:qos|quality-of-service> match-any <name>", p.openClass)
	r.On("[no] policy-map type <what:qos|quality-of-service> <name>", p.openPolicy)
	r.On("[no] policy-map type tx-queue <name>", p.openQueuePolicy)
	const other = "control-plane|copp|pbr|pdp|vlan"
	r.Skip(p.pass, "class-map type <what:"+other+">", "policy-map type <what:"+other+">")
	for _, family := range []string{"ip ", "ipv6 "} {
		r.On("[no] "+family+"access-list <name>", func(m *cli.Match) *cli.Mode {
			p.pass(m)
			return p.lists.Open(family+m.Word("name"), m.No)
		})
	}
	for _, other := range []string{"mac access-list", "ip access-list standard", "ipv6 access-list standard"} {
		r.On("[no] "+other+" <name>", func(m *cli.Match) *cli.Mode {
			if p.pass(m); m.No {
				return nil
			}
			return cli.NewMode("access-list").Skip(p.pass, entries...)
		})
	}
}

func (p *parser) openClass(m *cli.Match) *cli.Mode {
	if m.No {
		delete(p.classes, m.Word("name"))
		return nil
	}
	k := p.classes[m.Word("name")]
	if k == nil {
		k = &class{}
		p.classes[m.Word("name")] = k
	}
	sub := cli.NewMode("class-map")
	marks := func(read func(string) ([64]bool, error)) func(*cli.Match) {
		return func(m *cli.Match) {
			set, err := read(m.Word("list"))
			if err != nil {
				p.bad(m, "list", "a list of DSCPs or precedences")
				return
			}
			for d := range set {
				k.dscp[d] = k.dscp[d] && !set[d] || set[d] && !m.No
			}
		}
	}
	sub.Set("[no] [ <seq:int> ] match [ ip ] dscp <list...>", marks(func(s string) ([64]bool, error) {
		s, _, _ = strings.Cut(s, " ecn ")
		return swconf.DSCPs(s)
	}))
	sub.Set("[no] [ <seq:int> ] match ip precedence <list...>", marks(swconf.Precedences))
	sub.Set("[no] [ <seq:int> ] match cos <list...>", func(m *cli.Match) {
		set, ok := eight(m.Word("list"))
		if !ok {
			p.bad(m, "list", "a list of CoS values from 0 to 7")
			return
		}
		for c := range set {
			k.cos[c] = k.cos[c] && !set[c] || set[c] && !m.No
		}
	})
	sub.Set("[no] [ <seq:int> ] match <family:ip|ipv6> access-group <name>", func(m *cli.Match) {
		list := swconf.Say(m.Word("family")+" "+m.Word("name"), p.c.At(m, "name"))
		k.lists = slices.DeleteFunc(k.lists, func(l swconf.Said[string]) bool { return l.V == list.V })
		if !m.No {
			k.lists = append(k.lists, list)
		}
	})
	return sub.Skip(func(m *cli.Match) { k.other = true; p.pass(m) },
		"[ <seq:int> ] match <what:dei|ecn|inner|mac|mpls|vlan>",
		"description")
}

func (p *parser) newPolicy(m *cli.Match) *policy {
	if p.define(m, "policy-map"); m.No {
		delete(p.policies, m.Word("name"))
		return nil
	}
	x := p.policies[m.Word("name")]
	if x == nil {
		x = &policy{name: m.Word("name"), outs: map[int]*swconf.Queue{}}
		p.policies[x.name] = x
	}
	return x
}

func (p *parser) openPolicy(m *cli.Match) *cli.Mode {
	x := p.newPolicy(m)
	if x == nil {
		return nil
	}
	sub := cli.NewMode("policy-map")
	sub.On("[no] [ <seq:int> ] class [ built-in ] <name>", func(m *cli.Match) *cli.Mode {
		i := slices.IndexFunc(x.acts, func(a *act) bool { return a.class == m.Word("name") })
		if m.No {
			if i >= 0 {
				x.acts = slices.Delete(x.acts, i, i+1)
			}
			return nil
		}
		if i < 0 { // a repeated class continues it, in its position
			i = len(x.acts)
			x.acts = append(x.acts, &act{class: m.Word("name"), at: p.c.At(m, "name")})
		}
		a := x.acts[i]
		mode := cli.NewMode("policy-map-class")
		mode.Set("[no] set traffic-class <n>", func(m *cli.Match) {
			if tc, ok := p.trafficClass(m, "n", m.Word("n")); ok {
				swconf.Assign(p.c, m, &a.tc, "n", tc)
			}
		})
		return mode.Skip(p.pass, "set <what:cos|dscp|drop-precedence|ecn>", "police", "description")
	})
	return sub.Skip(p.pass, "description")
}

// openQueuePolicy reads a policy of transmit queues, as some guides have it.
func (p *parser) openQueuePolicy(m *cli.Match) *cli.Mode {
	x := p.newPolicy(m)
	if x == nil {
		return nil
	}
	sub := cli.NewMode("policy-map-tx-queue")
	return sub.On("[no] class tx-queue <n>", func(m *cli.Match) *cli.Mode {
		n, ok := p.queue(m)
		if !ok {
			return p.txQueue().Of([]*swconf.Queue(nil))
		}
		if m.No {
			delete(x.outs, n)
			return nil
		}
		if x.outs[n] == nil { // a repeated command continues its block
			x.outs[n] = &swconf.Queue{Name: "tx-queue " + strconv.Itoa(n), At: p.c.At(m, "n")}
		}
		return p.txQueue().Of([]*swconf.Queue{x.outs[n]})
	})
}

// entries begin the lines of access lists.
var entries = []string{"permit", "deny", "remark", "counters", "statistics", "fragment-rules",
	"<seq:int> <what:permit|deny|remark>"}

// takes reports whether a class of a policy matches packets of a DSCP, and of a CoS.
func (p *parser) takes(name string) (dscp [64]bool, cos [8]bool) {
	k := p.classes[name]
	if k == nil {
		return dscp, cos
	}
	dscp, cos = k.dscp, k.cos
	for _, l := range k.lists {
		taken, is := p.lists.Takes(l.V)
		if !is {
			continue
		}
		p.c.ByList("class-map "+name, l, taken)
		for d := range dscp {
			dscp[d] = dscp[d] || taken.DSCP[d]
		}
	}
	return dscp, cos
}

// classify assigns marks the traffic classes of a policy: of the first class that matches. Unmatched ones keep theirs,
// unless class-default sets another.
func (p *parser) classify(x *policy, dscp *[64]swconf.Said[int], cos *[8]swconf.Said[int]) {
	var seen [64]bool
	var tagged [8]bool
	for _, a := range x.acts {
		if _, known := p.classes[a.class]; !known && a.class != "class-default" {
			p.c.Use("class-map", a.class, a.at)
		}
		d, c := p.takes(a.class)
		for i := range d {
			if (d[i] || a.class == "class-default") && !seen[i] {
				seen[i] = true
				if a.tc.Is() {
					dscp[i] = a.tc
				}
			}
		}
		for i := range c {
			if (c[i] || a.class == "class-default") && !tagged[i] {
				tagged[i] = true
				if a.tc.Is() {
					cos[i] = a.tc
				}
			}
		}
	}
}

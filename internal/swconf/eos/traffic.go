package eos

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

// Traffic policies (Arista, "Traffic Policies"; words as in aristanetworks/avd, traffic-policies) have matches of
// addresses, protocols, ports and DSCPs. The first one that matches a packet sets its traffic class, or drops it.
// Their effect is computed for RoCE's packets, which are UDP to port 4791, by DSCP. A match of other protocols or
// ports matches no RoCE packet; one with an address matches some, so it decides nothing here.
type trafficPolicy struct{ matches []*trafficMatch }

type trafficMatch struct {
	name      string
	dscp      swconf.Said[[64]bool]
	asks      map[string]bool // conditions other than DSCP: source prefix, ttl
	protocols map[string]reach
	class     swconf.Said[int]
	drops     swconf.Said[bool]
}

// reach is the set of RoCE packets that a protocol line matches.
type reach uint8

const (
	none    reach = iota
	some          // packets of certain source ports, or of ports that are named elsewhere
	all           // of their protocol
	allPort       // by their port
)

func (p *parser) trafficRules(r *cli.Mode) {
	r.On("[no] traffic-policies", func(m *cli.Match) *cli.Mode {
		if m.No {
			clear(p.traffic)
			return nil
		}
		sub := cli.NewMode("traffic-policies")
		sub.On("[no] traffic-policy <name>", func(m *cli.Match) *cli.Mode {
			if p.defineQuiet(m, "traffic-policy"); m.No {
				delete(p.traffic, m.Word("name"))
				return nil
			}
			x := p.traffic[m.Word("name")]
			if x == nil { // a repeated command continues its block
				x = &trafficPolicy{}
				p.traffic[m.Word("name")] = x
			}
			return p.trafficPolicy(x)
		})
		return sub.Skip(p.pass, "field-set", "counter", "transforms", "vrf", "cpu")
	})
}

// defineQuiet notes a policy, or that there is none. Templates define more than they apply.
func (p *parser) defineQuiet(m *cli.Match, kind string) {
	if m.No {
		p.c.Undefine(kind, m.Word("name"))
		return
	}
	p.c.Define(kind, m.Word("name"), p.c.At(m, "name"), true)
}

func (p *parser) trafficPolicy(x *trafficPolicy) *cli.Mode {
	sub := cli.NewMode("traffic-policy")
	sub.On("[no] match <name> <family:ipv4|ipv6> [ before <next> ] [ after <last> ]",
		func(m *cli.Match) *cli.Mode {
			named := func(name string) int {
				return slices.IndexFunc(x.matches, func(t *trafficMatch) bool { return t.name == name })
			}
			i := named(m.Word("name"))
			if m.No {
				if i >= 0 {
					x.matches = slices.Delete(x.matches, i, i+1)
				}
				return nil
			}
			if i < 0 { // a repeated command continues its block
				i = len(x.matches)
				if at := named(m.Word("next")); at >= 0 {
					i = at
				} else if at := named(m.Word("last")); at >= 0 {
					i = at + 1
				}
				x.matches = slices.Insert(x.matches, i, &trafficMatch{name: m.Word("name"),
					asks: map[string]bool{}, protocols: map[string]reach{}})
			}
			return p.trafficMatch(x.matches[i])
		})
	sub.On("no match <name>", func(m *cli.Match) *cli.Mode {
		x.matches = slices.DeleteFunc(x.matches, func(t *trafficMatch) bool { return t.name == m.Word("name") })
		return nil
	})
	return sub.Skip(p.pass, "counter", "description")
}

func (p *parser) trafficMatch(t *trafficMatch) *cli.Mode {
	sub := cli.NewMode("traffic-match")
	sub.Set("[no] dscp <list...>", func(m *cli.Match) {
		set, err := swconf.DSCPs(strings.ReplaceAll(m.Word("list"), ",", " "))
		if err != nil && !m.No {
			p.bad(m, "list", "a list of DSCPs")
			return
		}
		swconf.Assign(p.c, m, &t.dscp, "list", set)
	})
	sub.Set("[no] protocol <what> [ <more...> ]", func(m *cli.Match) {
		if key := m.Word("what") + " " + m.Word("more"); m.No {
			delete(t.protocols, key)
		} else {
			t.protocols[key] = reaches(m.Word("what"), m.Word("more"))
		}
	})
	const others = "source|destination|ttl|fragment|vlan|ip|length|packet|encapsulation|teid"
	sub.Set("[no] <what:"+others+"> [ <more...> ]",
		func(m *cli.Match) { t.asks[m.Word("what")+" "+m.Word("more")] = !m.No })
	sub.On("[no] actions", func(m *cli.Match) *cli.Mode {
		if m.No {
			t.class, t.drops = swconf.Said[int]{}, swconf.Said[bool]{}
			return nil
		}
		act := cli.NewMode("traffic-actions")
		class := func(m *cli.Match) {
			if m.Int("n") > 7 && !m.No {
				swconf.Report(p.c, p.c.At(m, "n"), swconf.Warning, "bad-value",
					fmt.Sprintf("%q is not a traffic class from 0 to 7", m.Word("n")),
					"queues exist for these, and the line is not considered here", "write one from 0 to 7")
				return
			}
			swconf.Assign(p.c, m, &t.class, "n", int(m.Int("n")&7))
		}
		act.Set("[no] set traffic class <n:int>", class)
		act.Set("[no] set traffic-class <n:int>", class)
		act.Set("[no] drop", func(m *cli.Match) { swconf.Switch(p.c, m, &t.drops, "drop", true) })
		return act.Skip(p.pass, "count", "log", "set dscp", "set aggregation", "police", "redirect", "mirror",
			"sample", "trim", "apply", "goto")
	})
	return sub
}

// reaches returns which of RoCE's packets a protocol line matches: udp destination port 4791.
func reaches(protocol, more string) reach {
	if !slices.ContainsFunc(strings.Split(protocol, ","), isUDP) {
		return none
	}
	source, destination, found := strings.Cut(" "+more, " destination port ")
	if source = strings.TrimSpace(source); source != "" && source != "source port all" {
		if found && !strings.HasPrefix(destination, "field-set") && !amongPorts(destination) {
			return none
		}
		return some
	}
	switch {
	case !found || destination == "all":
		return all
	case strings.HasPrefix(destination, "field-set"):
		return some
	case amongPorts(destination):
		return allPort
	}
	return none
}

func isUDP(word string) bool {
	lo, hi, ranged := strings.Cut(word, "-")
	if !ranged {
		hi = lo
	}
	from, err1 := strconv.Atoi(lo)
	to, err2 := strconv.Atoi(hi)
	return word == "udp" || err1 == nil && err2 == nil && from <= 17 && 17 <= to
}

// amongPorts reports whether RoCE's UDP port (IBTA annex A17) is in a list: 1,10-20,4791.
func amongPorts(list string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }),
		func(part string) bool {
			lo, hi, ranged := strings.Cut(part, "-")
			if !ranged {
				hi = lo
			}
			from, err1 := strconv.Atoi(lo)
			to, err2 := strconv.Atoi(hi)
			return err1 == nil && err2 == nil && from <= 4791 && 4791 <= to
		})
}

// takes returns which of RoCE's packets a match accepts, for any DSCP.
func (t *trafficMatch) takes() (r reach) {
	if len(t.protocols) == 0 {
		r = all
	}
	for _, of := range t.protocols {
		r = max(r, of)
	}
	for _, asked := range t.asks {
		if asked {
			r = min(r, some)
		}
	}
	return r
}

// direct sets the traffic classes of DSCPs from a traffic policy, which overrides the maps and a policy-map.
func (p *parser) direct(name swconf.Said[string], dscp *[64]swconf.Said[int]) (any bool) {
	x := p.traffic[name.V]
	if x == nil {
		return false
	}
	var decided [64]bool
	for _, t := range x.matches {
		what := fmt.Sprintf("match %s of traffic-policy %s", t.name, name.V)
		switch r := t.takes(); {
		case r == none:
			continue
		case r == some:
			if t.class.Is() {
				p.told(&p.c.Apart, t.class.At, what+" matches more than DSCPs and RoCE's port")
			}
			continue
		case r == allPort && t.class.Is():
			p.told(&p.c.ByPort, t.class.At, what+" takes RoCE's packets by their UDP port")
		}
		for d := range decided {
			if decided[d] || t.dscp.Is() && !t.dscp.V[d] {
				continue
			}
			if decided[d] = true; t.drops.V {
				p.told(&p.c.Apart, t.drops.At, what+" drops packets that RoCE's are among")
			} else if t.class.Is() {
				dscp[d], any = t.class, true
			}
		}
	}
	return any
}

// told adds a note once, for any number of ports.
func (p *parser) told(to *[]swconf.Said[string], at swconf.Place, text string) {
	if s := swconf.Say(text, at); !slices.Contains(*to, s) {
		*to = append(*to, s)
	}
}

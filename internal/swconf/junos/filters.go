package junos

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/tree"
)

// filters are the firewall filters that classify packets. A packet that matches a term at a port has the term's
// class, which overrides the classifier. Their effect is computed for RoCE's packets, which are UDP to port 4791,
// by DSCP. A term of other protocols or ports matches no RoCE packet; one with an address matches some, so it
// decides nothing here.
type filters struct {
	terms map[string]map[string]*term // by family and name, by term
	order map[string][]string
	uses  map[string][]swconf.Said[string] // interface to filters
}

type term struct {
	dscp  [64]bool
	cos   [8]bool
	asks  bool // for DSCPs
	tags  bool // for 802.1p priorities
	other bool // a condition other than DSCP and RoCE's port
	class swconf.Said[string]
	drops swconf.Said[string] // discard, reject
	next  bool                // continues with the next term

	ethers, protocols, ports oneOf
}

// oneOf is a condition with several alternatives: whether it is present, and whether RoCE's packets match.
type oneOf struct{ asked, holds bool }

func (o *oneOf) add(holds bool) { o.asked, o.holds = true, o.holds || holds }

// fails reports whether no packet of RoCE meets the condition.
func (o oneOf) fails() bool { return o.asked && !o.holds }

// rocePort is the UDP destination port of RoCEv2 (IBTA annex A17).
const rocePort = 4791

// hasPort reports whether a word includes RoCE's port: 4791, 4000-5000, or a service's name.
func hasPort(word string) bool {
	from, to, ranged := strings.Cut(word, "-")
	if !ranged {
		to = from
	}
	lo, err1 := strconv.Atoi(from)
	hi, err2 := strconv.Atoi(to)
	return err1 == nil && err2 == nil && lo <= rocePort && rocePort <= hi
}

func (p *parser) filterRows(g *tree.Grammar) {
	f := &p.filters
	f.terms, f.order = map[string]map[string]*term{}, map[string][]string{}
	f.uses = map[string][]swconf.Said[string]{}
	of := func(m *tree.Match) *term {
		key := m.Word("family") + " " + m.Word("filter")
		if f.terms[key] == nil {
			f.terms[key] = map[string]*term{}
		}
		if f.terms[key][m.Word("term")] == nil {
			f.terms[key][m.Word("term")] = &term{}
			f.order[key] = append(f.order[key], m.Word("term"))
		}
		return f.terms[key][m.Word("term")]
	}
	for _, head := range []string{"firewall family <family> ", "firewall "} {
		c := head + "filter <filter> term <term> "
		g.Add(c+"then forwarding-class <class>", func(m *tree.Match) {
			of(m).class = tree.Say(m, "class", m.Word("class"))
		})
		g.Add(c+"then next term", func(m *tree.Match) { of(m).next = true })
		drop := func(m *tree.Match) { of(m).drops = tree.Say(m, "what", m.Word("what")) }
		g.Add(c+"then <what:discard|reject>", drop)
		g.Add(c+"then <what:reject> <more...>", drop)
		g.Add(c+"then accept", func(m *tree.Match) { of(m) })
		for _, w := range []string{"protocol", "ip-protocol", "next-header", "payload-protocol"} {
			g.Add(c+"from "+w+" <what>", func(m *tree.Match) {
				of(m).protocols.add(m.Word("what") == "udp" || m.Word("what") == "17")
			})
		}
		for _, w := range []string{"destination-port", "port"} { // a source port is arbitrary
			g.Add(c+"from "+w+" <what>", func(m *tree.Match) { of(m).ports.add(hasPort(m.Word("what"))) })
		}
		g.Add(c+"from destination-port-except <what>", func(m *tree.Match) {
			of(m).ports.add(!hasPort(m.Word("what")))
		})
		for _, w := range []string{"ether-type", "ip-version"} {
			g.Add(c+"from "+w+" <what>", func(m *tree.Match) {
				w := m.Word("what")
				of(m).ethers.add(w == "ipv4" || w == "ipv6" || w == "0x800" || w == "0x86dd")
			})
		}
		asks := func(m *tree.Match) {
			t := of(m)
			t.asks = true
			if n, err := strconv.Atoi(m.Word("point")); err == nil && n >= 0 && n < 64 && len(m.Word("point")) < 3 {
				t.dscp[n] = true
			} else if n, ok := p.point(m, "point", 6); ok {
				t.dscp[n] = true
			}
		}
		g.Add(c+"from dscp <point>", asks)
		g.Add(c+"from traffic-class <point>", asks) // IPv6's
		for _, w := range []string{"learn-vlan-1p-priority", "user-vlan-1p-priority"} {
			g.Add(c+"from "+w+" <n:int>", func(m *tree.Match) {
				if t, n := of(m), m.Int("n"); n >= 0 && n < 8 {
					t.tags, t.cos[n] = true, true
				}
			})
		}
		g.Add(c+"from <what> <more...>", func(m *tree.Match) { of(m).other = true })
	}
	g.Pass("firewall")
	for _, w := range []string{"inet", "ethernet-switching", "inet6"} {
		for _, in := range []string{"input", "input-list"} {
			g.Add("interfaces <if> unit <unit> family "+w+" filter "+in+" <name>", func(m *tree.Match) {
				p.named(m.Word("if"), m.At("if"))
				p.units[m.Word("if")] = true
				f.uses[m.Word("if")] = append(f.uses[m.Word("if")], tree.Say(m, "name", w+" "+m.Word("name")))
			})
		}
	}
}

// filtered applies the filters of an interface.
func (p *parser) filtered(q *swconf.QoS, names []string) {
	for _, n := range names {
		for _, use := range p.filters.uses[n] {
			key := use.V
			if p.filters.terms[key] == nil && len(key) > 5 && key[:5] == "inet " {
				key = key[4:] // without a family: IPv4's
			}
			p.filter(q, key, use)
		}
	}
}

func (p *parser) filter(q *swconf.QoS, key string, use swconf.Said[string]) {
	var dscp [64]bool
	var cos [8]bool
	for _, name := range p.filters.order[key] {
		t := p.filters.terms[key][name]
		f := p.cos.classes[t.class.V]
		if t.ethers.fails() || t.protocols.fails() || t.ports.fails() {
			continue // a filter of other packets than RoCE's
		}
		if t.other { // a filter of some packets only
			if t.class.Is() {
				p.told(&p.c.Apart, t.class.At,
					"filter %s gives %s by more than DSCPs and RoCE's port (term %s)",
					key, t.class.V, name)
			}
			continue
		}
		if t.ports.asked && t.class.Is() {
			p.told(&p.c.ByPort, t.class.At, "filter %s takes RoCE's packets by their UDP port (term %s)", key, name)
		}
		if t.drops.Is() && !t.tags && slices.Contains(dscp[:], false) {
			p.told(&p.c.Apart, t.drops.At, "filter %s drops packets that RoCE's are among (term %s)", key, name)
		}
		for d := range dscp {
			if dscp[d] || t.tags || t.asks && !t.dscp[d] {
				continue
			}
			if dscp[d] = !t.next; t.class.Is() && f != nil && !f.multi {
				q.DSCP[d] = swconf.Say(uint8(f.queue.V), t.class.At)
				if q.Feeds[f.queue.V&7].Line == 0 {
					q.Feeds[f.queue.V&7] = t.class.At
				}
				q.Default = false
				if !q.Input.Is() {
					_, name, _ := strings.Cut(use.V, " ")
					q.Input = swconf.Say(name, use.At)
				}
			}
		}
		for i := range cos {
			if cos[i] || t.asks || t.ports.asked || t.tags && !t.cos[i] {
				continue
			}
			if cos[i] = !t.next; t.class.Is() && f != nil && !f.multi && t.tags {
				q.COS[i] = swconf.Say(uint8(f.queue.V), t.class.At)
			}
		}
	}
	// the implicit last term of every Junos filter
	if slices.Contains(dscp[:], false) && len(p.filters.order[key]) > 0 {
		p.told(&p.c.Apart, use.At, "filter %s drops what no term of it takes", key)
	}
}

// told adds a note once, for any number of ports.
func (p *parser) told(to *[]swconf.Said[string], at swconf.Place, format string, args ...any) {
	args[0] = strings.TrimSpace(args[0].(string))
	if s := swconf.Say(fmt.Sprintf(format, args...), at); !slices.Contains(*to, s) {
		*to = append(*to, s)
	}
}

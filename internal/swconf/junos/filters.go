package junos

import (
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/tree"
)

// filters are firewall filters, as far as they give packets a class: what arrives at a port and fits a
// term is
// of its class, whatever the classifier says.
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
	other bool // for something that no DSCP tells
	class swconf.Said[string]
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
		g.Add(c+"then <what:accept|discard|reject> <more...>", func(m *tree.Match) { of(m) })
		g.Add(c+"from dscp <point>", func(m *tree.Match) {
			t := of(m)
			t.asks = true
			if n, err := strconv.Atoi(m.Word("point")); err == nil && n >= 0 && n < 64 &&
				len(m.Word("point")) < 3 {
				t.dscp[n] = true
			} else if n, ok := p.point(m, "point", 6); ok {
				t.dscp[n] = true
			}
		})
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
				p.units[m.Word("if")] = true
				f.uses[m.Word("if")] = append(f.uses[m.Word("if")], tree.Say(m, "name",
					w+" "+m.Word("name")))
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
		if t.other {
			continue // of some packets only
		}
		for d := range dscp {
			if dscp[d] || t.tags || t.asks && !t.dscp[d] {
				continue
			}
			if dscp[d] = true; t.class.Is() && f != nil && !f.multi {
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
			if cos[i] || t.asks || t.tags && !t.cos[i] {
				continue
			}
			if cos[i] = true; t.class.Is() && f != nil && !f.multi && t.tags {
				q.COS[i] = swconf.Say(uint8(f.queue.V), t.class.At)
			}
		}
	}
}

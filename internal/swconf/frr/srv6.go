package frr

import (
	"net/netip"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/design"
)

// segments writes a switch's uSIDs and the static routes to its neighbours' (FRR's manual, zebra and staticd):
// locators of F3216 need FRR 8.5, static-sids 10.3.
func (w *writer) segments() {
	if len(w.S.SIDs) == 0 {
		return
	}
	for _, way := range w.S.Ways {
		w.Line(0, "ipv6 route %v %v %s", way.Prefix, way.By.FarAddr6, way.By.Name)
	}
	w.Line(0, "!")
	w.Line(0, "segment-routing")
	w.Line(1, "srv6")
	w.Line(2, "locators")
	for _, s := range w.S.SIDs {
		w.Line(3, "locator %s", s.Name)
		w.Line(4, "prefix %v block-len %d node-len %d func-bits 16", s.Prefix, design.BlockLen, design.NodeLen)
		w.Line(4, "behavior usid")
		w.Line(3, "exit")
		w.Line(3, "!")
	}
	w.Line(2, "exit")
	w.Line(2, "!")
	w.Line(2, "static-sids")
	for _, s := range w.S.SIDs {
		w.Line(3, "sid %v locator %s behavior uN", s.Prefix, s.Name)
	}
	w.Line(2, "exit")
	w.Line(2, "!")
	w.Line(1, "exit")
	w.Line(1, "!")
	w.Line(0, "exit")
	w.Line(0, "!")
}

// segmentRouting reads them.
func (p *parser) segmentRouting(r *cli.Mode) {
	none := func(m *cli.Match) bool {
		if m.No {
			p.c.SRv6 = swconf.SRv6{}
		}
		return m.No
	}
	r.On("[no] segment-routing", func(m *cli.Match) *cli.Mode {
		if none(m) {
			return nil
		}
		r := cli.NewMode("config-sr")
		r.On("[no] srv6", func(m *cli.Match) *cli.Mode {
			if none(m) {
				return nil
			}
			return p.srv6()
		})
		return r.Skip(p.pass, "traffic-eng")
	})
	r.Set("[no] ipv6 route <prefix> <next> [ <port> ] [ <more...> ]", p.route)
}

func (p *parser) srv6() *cli.Mode {
	r := cli.NewMode("config-srv6")
	r.On("[no] locators", func(m *cli.Match) *cli.Mode {
		if m.No {
			p.c.SRv6.Locators = nil
			return nil
		}
		r := cli.NewMode("config-srv6-locators")
		r.On("[no] locator <name>", p.locator)
		return r
	})
	r.On("[no] static-sids", func(m *cli.Match) *cli.Mode {
		if m.No {
			p.c.SRv6.SIDs = nil
			return nil
		}
		r := cli.NewMode("config-srv6-sids")
		r.Set("[no] sid <prefix> locator <name> behavior <what> [ <more...> ]", p.sid)
		r.Set("no sid <prefix>", p.sid)
		return r
	})
	return r.Skip(p.pass, "encapsulation", "formats")
}

func (p *parser) locator(m *cli.Match) *cli.Mode {
	at, name := p.c.At(m, "name"), m.Word("name")
	list := &p.c.SRv6.Locators
	for i := range *list {
		if (*list)[i].Name == name && m.No {
			*list = append((*list)[:i], (*list)[i+1:]...)
			break
		}
	}
	if p.define(m, "locator", "name"); m.No {
		return nil
	}
	*list = append(*list, swconf.Locator{Name: name, At: at, Func: 16})
	l := &(*list)[len(*list)-1]
	r := cli.NewMode("config-srv6-locator")
	r.Set("[no] prefix <prefix> [ block-len <block:int> ] [ node-len <node:int> ] [ func-bits <func:int> ]",
		func(m *cli.Match) {
			if m.No {
				l.Prefix = netip.Prefix{}
				return
			}
			pre, err := netip.ParsePrefix(m.Word("prefix"))
			if err != nil || !pre.Addr().Is6() {
				p.bad(m, "prefix", "an IPv6 prefix")
				return
			}
			l.Prefix, l.Node = pre, 24 // FRR's default
			if m.Has("node") {
				l.Node = int(min(m.Int("node"), 128))
			}
			if l.Block = pre.Bits() - l.Node; m.Has("block") {
				l.Block = int(min(m.Int("block"), 128))
			}
			if m.Has("func") {
				l.Func = int(min(m.Int("func"), 128))
			}
			if l.Block < 1 || l.Block+l.Node != pre.Bits() {
				p.bad(m, "prefix", "as long as block-len and node-len together")
				l.Prefix, l.Block = netip.Prefix{}, 0
			}
		})
	r.Set("[no] behavior usid", func(*cli.Match) {})
	return r.Skip(p.pass, "format")
}

func (p *parser) sid(m *cli.Match) {
	pre, err := netip.ParsePrefix(m.Word("prefix"))
	if err != nil || !pre.Addr().Is6() {
		p.bad(m, "prefix", "an IPv6 prefix")
		return
	}
	list := &p.c.SRv6.SIDs
	for i := range *list {
		if (*list)[i].Prefix == pre {
			*list = append((*list)[:i], (*list)[i+1:]...)
			break
		}
	}
	if m.No {
		return
	}
	what := m.Word("what")
	if known := "uN uA uDT4 uDT6 uDT46 uDX4 uDX6 uB6"; !strings.Contains(known+" ", what+" ") {
		p.bad(m, "what", "one of "+known)
		return
	}
	p.c.Refer(m, "locator", "name")
	*list = append(*list, swconf.SID{Prefix: pre, Locator: m.Word("name"), Action: what, At: p.c.At(m, "prefix")})
}

// route reads a static route: to an address, by a port, or both. What only drops is none.
func (p *parser) route(m *cli.Match) {
	pre, err := netip.ParsePrefix(m.Word("prefix"))
	if err != nil || !pre.Addr().Is6() {
		p.bad(m, "prefix", "an IPv6 prefix")
		return
	}
	r := swconf.Route{Prefix: pre, At: p.c.At(m, "prefix")}
	switch a, err := netip.ParseAddr(m.Word("next")); {
	case err == nil:
		r.Next = a
		// the next word may be a port, or another parameter such as a distance
		if port := m.Word("port"); p.c.Port(port) != nil {
			r.Port = port
		}
	case strings.EqualFold(m.Word("next"), "null0"), m.Word("next") == "blackhole", m.Word("next") == "reject":
		return
	default:
		r.Port = m.Word("next")
	}
	for i := range p.c.Routes {
		if o := p.c.Routes[i]; o.Prefix == r.Prefix && o.Next == r.Next && o.Port == r.Port {
			p.c.Routes = append(p.c.Routes[:i], p.c.Routes[i+1:]...)
			break
		}
	}
	if !m.No {
		p.c.Routes = append(p.c.Routes, r)
	}
}

package junos

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/tree"
)

// multihome collects bundles that end on two switches: MC-LAG (mc-ae, ICCP, the protection link) and the Ethernet
// segments of EVPN (Junos Multichassis Link Aggregation User Guide; EVPN User Guide, ESI).
type multihome struct {
	bundles map[*swconf.Port]*bundle
	order   []*swconf.Port
	service swconf.Said[string] // switch-options service-id
	local   swconf.Said[string] // ICCP's own address
	peer    swconf.Said[netip.Addr]
	groups  []swconf.Said[int] // redundancy groups of the peer
	link    swconf.Said[string]
	at      swconf.Place // first statement of ICCP or of the protection link

	vlans   map[string]swconf.Said[int] // VLAN IDs by name
	vnis    map[string]swconf.Said[int]
	own     []netip.Addr // addresses of interfaces other than ports
	members []member
	trunks  map[*swconf.Port]bool
}

// bundle holds the statements of one shared interface.
type bundle struct {
	at             swconf.Place // of mc-ae
	group, chassis swconf.Said[int]
	mode, status   swconf.Said[string]
	announce       swconf.Said[string]
	system         bool // whether its LACP system ID is set
}

// member is a port and the name of the first VLAN that it is in.
type member struct {
	port *swconf.Port
	name swconf.Said[string]
}

func (h *multihome) init() {
	h.bundles, h.trunks = map[*swconf.Port]*bundle{}, map[*swconf.Port]bool{}
	h.vlans, h.vnis = map[string]swconf.Said[int]{}, map[string]swconf.Said[int]{}
}

// of returns the record of an interface.
func (h *multihome) of(q *swconf.Port) *bundle {
	if h.bundles[q] == nil {
		h.bundles[q] = &bundle{}
		h.order = append(h.order, q)
	}
	return h.bundles[q]
}

// began notes the first statement about the pair of switches.
func (h *multihome) began(m *tree.Match) {
	if h.at.Line == 0 {
		h.at = m.At("")
	}
}

// sharedRows add the statements of interfaces: mc-ae, esi, and the LACP system ID that both switches announce.
func (p *parser) sharedRows(g *tree.Grammar) {
	h := &p.multi
	const i = "interfaces <if> "
	add := func(path string, do func(*swconf.Port, *tree.Match)) {
		g.Add(i+path, func(m *tree.Match) {
			if q := p.port(m, m.Word("if")); q != nil {
				do(q, m)
			}
		})
	}
	mcae := func(path string, do func(*swconf.Port, *bundle, *tree.Match)) {
		add("aggregated-ether-options mc-ae"+path, func(q *swconf.Port, m *tree.Match) {
			if !bundled.MatchString(q.Name) {
				p.bad(m, "if", "a bundle, which mc-ae needs")
				return
			}
			b := h.of(q)
			if b.at.Line == 0 {
				b.at = m.At("")
			}
			do(q, b, m)
		})
	}
	mcae("", func(*swconf.Port, *bundle, *tree.Match) {})
	mcae(" mc-ae-id <n:int>", func(q *swconf.Port, _ *bundle, m *tree.Match) {
		q.MLAG = p.within(m, "n", 1, 65_535)
	})
	mcae(" redundancy-group <n:int>", func(q *swconf.Port, b *bundle, m *tree.Match) {
		b.group = p.within(m, "n", 1, 4_294_967_294)
		alike(q, m, "n", "redundancy group", fmt.Sprint(b.group.V))
	})
	mcae(" chassis-id <n:int>", func(_ *swconf.Port, b *bundle, m *tree.Match) {
		b.chassis = p.within(m, "n", 0, 1)
	})
	mcae(" mode <what:active-active|active-standby>", func(q *swconf.Port, b *bundle, m *tree.Match) {
		b.mode = tree.Say(m, "what", m.Word("what"))
		alike(q, m, "what", "mc-ae mode", b.mode.V)
	})
	mcae(" status-control <what:active|standby>", func(_ *swconf.Port, b *bundle, m *tree.Match) {
		b.status = tree.Say(m, "what", m.Word("what"))
	})
	mcae(" <what:init-delay-time|events|enhanced-convergence|revert-time|recovery-delay|switchover-mode> <more...>",
		func(*swconf.Port, *bundle, *tree.Match) {})
	const lacp = "aggregated-ether-options lacp "
	add(lacp+"system-id <mac>", func(q *swconf.Port, m *tree.Match) {
		if octets(m.Word("mac"), 6) == nil {
			p.bad(m, "mac", "a MAC address such as 02:00:00:01:00:01")
			return
		}
		h.of(q).system = true
		alike(q, m, "mac", "LACP system ID", strings.Join(octets(m.Word("mac"), 6), ":"))
	})
	add(lacp+"admin-key <n:int>", func(q *swconf.Port, m *tree.Match) {
		alike(q, m, "n", "LACP admin key", fmt.Sprint(p.within(m, "n", 0, 65_535).V))
	})
	add(lacp+"<what:active|passive>", func(q *swconf.Port, m *tree.Match) {
		h.of(q).announce = tree.Say(m, "what", m.Word("what"))
	})
	for _, at := range []string{"", "unit <unit> "} {
		add(at+"esi <what:df-election-granularity|df-election-type|source-bmac> <more...>",
			func(*swconf.Port, *tree.Match) {})
		add(at+"esi <what:all-active|single-active>", func(q *swconf.Port, m *tree.Match) {
			alike(q, m, "what", "redundancy mode", m.Word("what"))
		})
		add(at+"esi <id>", func(q *swconf.Port, m *tree.Match) {
			if !esi(m.Word("id")) {
				p.bad(m, "id", "an ESI of 10 octets, such as 00:02:00:00:01:00:01:00:00:00")
				return
			}
			q.Segment = tree.Say(m, "id", true)
			h.of(q)
			q.ESI = tree.Say(m, "id", strings.Join(octets(m.Word("id"), 10), ":"))
		})
		add(at+"esi auto-derive <how>", func(q *swconf.Port, m *tree.Match) {
			q.Segment = tree.Say(m, "how", true)
			h.of(q)
		})
	}
	for _, at := range []string{"", "unit <unit> "} {
		g.Add(i+at+"multi-chassis-protection <peer> interface <link>", func(m *tree.Match) {
			h.began(m)
			h.link = tree.Say(m, "link", strings.TrimSuffix(m.Word("link"), ".0"))
		})
	}
}

// within returns a number of a range; one outside is reported, and replaced by the nearest of the range.
func (p *parser) within(m *tree.Match, name string, low, high int64) swconf.Said[int] {
	n := min(max(m.Int(name), low), high)
	if n != m.Int(name) {
		p.bad(m, name, fmt.Sprintf("a number from %d to %d", low, high))
	}
	return tree.Say(m, name, int(n))
}

// alike records the last value set, which must be equal on both switches of a shared bundle.
func alike(q *swconf.Port, m *tree.Match, at, what, value string) {
	q.Alike = swconf.Agreed(q.Alike, swconf.Alike{What: what, Said: tree.Say(m, at, value)})
}

// octets are the n octets of a word with colons, as two digits each, or nil.
func octets(word string, n int) []string {
	out := strings.Split(strings.ToLower(word), ":")
	if len(out) != n {
		return nil
	}
	for i, o := range out {
		v, err := strconv.ParseUint(o, 16, 8)
		if err != nil || len(o) > 2 {
			return nil
		}
		out[i] = fmt.Sprintf("%02x", v)
	}
	return out
}

// esi reports whether a word is an Ethernet segment identifier: 10 octets, neither all 0 nor all 1 (RFC 7432,
// section 5).
func esi(word string) bool {
	list := octets(word, 10)
	is := func(o string) bool { return !slices.ContainsFunc(list, func(x string) bool { return x != o }) }
	return list != nil && !is("00") && !is("ff")
}

// pairRows add the statements of the switch itself: ICCP, the protection link, the service ID, tunnels, VLANs.
func (p *parser) pairRows(g *tree.Grammar) {
	h := &p.multi
	address := func(m *tree.Match, name string) (netip.Addr, bool) {
		a, err := netip.ParseAddr(m.Word(name))
		if err != nil {
			p.bad(m, name, "an address")
		}
		return a, err == nil
	}
	const iccp = "protocols iccp "
	g.Add(iccp+"local-ip-addr <addr>", func(m *tree.Match) {
		h.began(m)
		if _, ok := address(m, "addr"); ok {
			h.local = tree.Say(m, "addr", m.Word("addr"))
		}
	})
	peer := func(m *tree.Match) {
		h.began(m)
		if a, ok := address(m, "addr"); ok && !h.peer.Is() {
			h.peer = tree.Say(m, "addr", a)
		}
	}
	g.Add(iccp+"peer <addr>", peer)
	g.Add(iccp+"peer <addr> redundancy-group-id-list <n:int>", func(m *tree.Match) {
		peer(m)
		h.groups = append(h.groups, tree.Say(m, "n", int(m.Int("n"))))
	})
	g.Add(iccp+"peer <addr> <what:liveness-detection|backup-liveness-detection|session-establishment-hold-time|local-ip-addr|authentication-key|apply-groups> <more...>", peer)
	g.Pass(iccp+"session-establishment-hold-time", iccp+"authentication-key", iccp+"traceoptions")
	g.Add("multi-chassis multi-chassis-protection <peer> interface <link>", func(m *tree.Match) {
		h.began(m)
		h.link = tree.Say(m, "link", strings.TrimSuffix(m.Word("link"), ".0"))
	})
	g.Add("switch-options service-id <n:int>", func(m *tree.Match) {
		h.service = tree.Say(m, "n", fmt.Sprint(p.within(m, "n", 1, 65_535).V))
	})
	for _, head := range []string{"switch-options", "routing-instances <vrf>"} {
		g.Add(head+" vtep-source-interface <source> <more...>", func(m *tree.Match) {
			p.c.VTEP = tree.Say(m, "source", true)
		})
	}
	p.overlayRows(g)
}

// multihomed applies the collected values: VLANs by name, and the pair of switches.
func (p *parser) multihomed() {
	h, c := &p.multi, p.c
	for _, x := range h.members {
		if id := h.vlans[x.name.V]; id.Is() && !x.port.VLAN.Is() {
			x.port.VLAN = swconf.Say(id.V, x.name.At)
		}
	}
	for q, trunk := range h.trunks {
		if !trunk {
			continue
		}
		q.VLAN = swconf.Said[int]{}
	}
	p.numbered()
	if h.at.Line > 0 {
		p.iccpLocal()
		c.MLAG = &swconf.MLAG{At: h.at, Domain: h.service, Local: h.local, Peer: h.peer, Link: h.link}
	}
	ids, segments := map[int]*swconf.Port{}, map[string]*swconf.Port{}
	for _, q := range h.order {
		b := h.bundles[q]
		if q.Segment.V && !c.Shares.Is() { // no statement enables it
			c.Shares = q.Segment
		}
		if b.at.Line > 0 {
			p.shared(q, b)
		}
		if old := ids[q.MLAG.V]; q.MLAG.Is() && old != nil {
			p.twice(q.MLAG.At, "mc-ae-id", q, old, old.MLAG.At)
		} else if q.MLAG.Is() {
			ids[q.MLAG.V] = q
		}
		if old := segments[q.ESI.V]; q.ESI.Is() && old != nil {
			p.twice(q.ESI.At, "ESI", q, old, old.ESI.At)
		} else if q.ESI.Is() {
			segments[q.ESI.V] = q
		}
		if (q.Segment.Is() || q.MLAG.Is()) && b.announce.Is() && !b.system {
			swconf.Report(c, b.announce.At, swconf.Error, "mlag",
				fmt.Sprintf("%s ends on two switches, and has no LACP system ID", q.Name),
				"each switch uses its own: the host disables the links to one of them",
				"the same lacp system-id on both switches")
		}
	}
}

// twice reports an identifier that two interfaces have.
func (p *parser) twice(at swconf.Place, what string, q, old *swconf.Port, first swconf.Place) {
	swconf.Report(p.c, at, swconf.Error, "duplicate-definition",
		fmt.Sprintf("%s has the %s of %s (line %d)", q.Name, what, old.Name, first.Line),
		"both bundles are one to the other switch: Junos refuses the commit", "another "+what)
}

// shared checks a bundle of the pair, from which it learns which of the two the switch is.
func (p *parser) shared(q *swconf.Port, b *bundle) {
	h, c := &p.multi, p.c
	say := func(at swconf.Place, fix, format string, args ...any) {
		swconf.Report(c, at, swconf.Error, "mlag", fmt.Sprintf(format, args...), "the bundle stays down on this switch",
			fix)
	}
	var lacks []string
	for _, w := range []struct {
		said bool
		what string
	}{{q.MLAG.Is(), "mc-ae-id"}, {b.chassis.Is(), "chassis-id"}, {b.mode.Is(), "mode"},
		{b.status.Is(), "status-control"}} {
		if !w.said {
			lacks = append(lacks, w.what)
		}
	}
	if len(lacks) > 0 && !c.Part {
		say(b.at, "set it", "mc-ae of %s has no %s", q.Name, strings.Join(lacks, ", "))
	}
	if b.group.Is() && len(h.groups) > 0 && !slices.ContainsFunc(h.groups, func(s swconf.Said[int]) bool {
		return s.V == b.group.V
	}) {
		say(b.group.At, fmt.Sprintf("redundancy-group-id-list %d for the peer", b.group.V),
			"redundancy group %d of %s is not among those of the ICCP peer", b.group.V, q.Name)
	}
	if c.MLAG == nil {
		return
	}
	if !c.MLAG.Side.Is() {
		c.MLAG.Side = b.chassis
	}
	if !c.MLAG.Active.Is() && b.status.Is() {
		c.MLAG.Active = swconf.Say(b.status.V == "active", b.status.At)
	}
}

package sonic

import (
	"fmt"
	"net/netip"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
)

// SONiC's static SRv6 (doc/srv6/srv6_static_config_hld.md of sonic-net/SONiC, sonic-srv6.yang) has a locator for
// each uSID of the switch, the uSID itself (uN: shift, and at the last one decapsulate), and static routes to those
// of its neighbours. A switch's change of the outer DSCP, as of a trimmed packet, reaches the NIC by
// decap_dscp_mode uniform only.
const (
	locatorTable = "SRV6_MY_LOCATORS"
	sidTable     = "SRV6_MY_SIDS"
	routeTable   = "STATIC_ROUTE"
	defaultVRF   = "default"
)

func segments(s *design.Switch, put putter) {
	for _, sid := range s.SIDs {
		put(locatorTable, sid.Name, row{"prefix": sid.Prefix.Addr().String(),
			"block_len": fmt.Sprint(design.BlockLen), "node_len": fmt.Sprint(design.NodeLen),
			"func_len": "16", "arg_len": "0"})
		put(sidTable, fmt.Sprintf("%s|%v", sid.Name, sid.Prefix), row{"action": "uN",
			"decap_dscp_mode": "uniform"})
	}
	for _, w := range s.Ways {
		put(routeTable, fmt.Sprintf("%s|%v", defaultVRF, w.Prefix),
			row{"nexthop": w.By.FarAddr6.String(), "ifname": w.By.Name})
	}
}

// srv6 reads it.
func (p *parser) srv6() {
	locators, sids := p.table(locatorTable), p.table(sidTable)
	for i, r := range values(locators) {
		l := swconf.Locator{Name: locators.keys[i], At: r.at, Block: 32, Node: 16, Func: 16}
		for _, part := range []struct {
			field string
			to    *int
		}{{"block_len", &l.Block}, {"node_len", &l.Node}, {"func_len", &l.Func}} {
			if v, ok := p.number(r, part.field, 128); ok {
				*part.to = int(v)
			}
		}
		n := r.get("prefix")
		if n == nil {
			p.bad(r, "locator %s without a prefix", l.Name)
			continue
		}
		text, bits, _ := strings.Cut(n.text, "/") // number with or without a length
		if bits != "" && bits != fmt.Sprint(l.Block+l.Node) {
			p.bad(n, "prefix %q has not the %d + %d bits of its block and node", n.text, l.Block, l.Node)
			continue
		}
		a, err := netip.ParseAddr(text)
		if err != nil || !a.Is6() || l.Block+l.Node > 128 {
			p.bad(n, "prefix %q with %d + %d bits is not a locator: an IPv6 address such as fcbb:bb00:1::", n.text,
				l.Block, l.Node)
			continue
		}
		l.Prefix = netip.PrefixFrom(a, l.Block+l.Node)
		p.c.SRv6.Locators = append(p.c.SRv6.Locators, l)
	}
	for i, r := range values(sids) {
		p.sid(sids.keys[i], r)
	}
	routes := p.table(routeTable)
	for i, r := range values(routes) {
		p.route(routes.keys[i], r)
	}
}

// sid reads a row of a locator's SID.
func (p *parser) sid(key string, r *node) {
	locator, prefix, _ := strings.Cut(key, "|")
	pre, err := netip.ParsePrefix(prefix)
	if err != nil || !pre.Addr().Is6() {
		p.bad(r, "SID %q is not a locator and IPv6 prefix such as MAIN|fcbb:bb00:1::/48", key)
		return
	}
	p.c.Use(locatorTable, locator, r.at)
	s := swconf.SID{Prefix: pre, Locator: locator, At: r.at}
	if n := r.get("action"); n != nil {
		if s.Action = n.text; n.text != "uN" && n.text != "uDT46" {
			p.bad(n, "action %q: uN and uDT46 are accepted", n.text)
		}
	}
	if n := r.get("decap_dscp_mode"); n != nil {
		s.Pipe = swconf.Say(p.either(n, "decap_dscp_mode", "pipe", "uniform"), n.at)
	}
	p.c.SRv6.SIDs = append(p.c.SRv6.SIDs, s)
}

// route reads a static route: its next hops and ports are lists of equal length. Routes of other VRFs, and IPv4
// routes, are not routes of segments.
func (p *parser) route(key string, r *node) {
	vrf, prefix, named := strings.Cut(key, "|")
	if !named {
		vrf, prefix = defaultVRF, key
	}
	pre, err := netip.ParsePrefix(prefix)
	if err != nil {
		p.bad(r, "%q is not a prefix of a static route", prefix)
		return
	}
	if vrf != defaultVRF || !pre.Addr().Is6() {
		return
	}
	next, names := split(r.get("nexthop")), split(r.get("ifname"))
	if n := r.get("nexthop"); n != nil && len(names) > 0 && len(names) != len(next) {
		p.bad(n, "%d next hops and %d ports of a route: as many are accepted", len(next), len(names))
		return
	}
	for i := range max(len(next), len(names)) {
		w := swconf.Route{Prefix: pre, At: r.at}
		if i < len(next) && next[i] != "" {
			if w.Next, err = netip.ParseAddr(next[i]); err != nil {
				p.bad(r.get("nexthop"), "next hop %q is not an address", next[i])
				continue
			}
		}
		if i < len(names) {
			w.Port = names[i]
		}
		p.c.Routes = append(p.c.Routes, w)
	}
}

func split(n *node) []string {
	if n == nil {
		return nil
	}
	return strings.Split(n.text, ",")
}

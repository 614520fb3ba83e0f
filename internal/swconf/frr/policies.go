package frr

import (
	"strconv"
	"strings"

	"railyard/internal/swconf/cli"
)

// defaults reads the profile of defaults and the release: where eBGP needs no policies (FRR's manual, BGP,
// ebgp-requires-policy; RFC 8212 since 7.4) its own running text says nothing of it.
func (p *parser) defaults(r *cli.Mode) {
	r.Set("[no] frr defaults <profile:datacenter|traditional>", func(m *cli.Match) {
		p.free, p.named = m.Word("profile") == "datacenter" && !m.No, true
	})
	r.Set("frr version <release> [ <more...> ]", func(m *cli.Match) {
		major, rest, _ := strings.Cut(m.Word("release"), ".")
		minor := strings.IndexFunc(rest+"x", func(c rune) bool { return c < '0' || c > '9' })
		a, err := strconv.Atoi(major)
		b, _ := strconv.Atoi(rest[:minor])
		p.named = true
		p.free = p.free || err == nil && (a < 7 || a == 7 && b < 4)
	})
}

// routeMap reads an entry of a route-map: what it looks at and which others it calls.
func (p *parser) routeMap(m *cli.Match) *cli.Mode {
	if p.define(m, "route-map", "name"); m.No {
		return nil
	}
	r := cli.NewMode("route-map")
	r.Set("[no] match <afi:ip|ipv6> <what:address|next-hop|route-source> prefix-list <name>",
		func(m *cli.Match) { p.use(m, "prefix-list", "name") })
	r.Set("[no] call <name>", func(m *cli.Match) { p.use(m, "route-map", "name") })
	return r.Families(p.pass, routeMapFamilies)
}

// applications are lines outside of BGP that apply route-maps.
func (p *parser) applications(r *cli.Mode) {
	r.Set("[no] <afi:ip|ipv6> protocol <from> route-map <name>", p.applied)
	r.Set("[no] <afi:ip|ipv6> nht <from> route-map <name>", p.applied)
}

package sonic

import (
	"net/netip"
	"strconv"
	"strings"

	"railyard/internal/swconf"
)

// bundles reads port channels: their members, and the addresses of those that are routed.
func (p *parser) bundles() {
	t := p.table("PORTCHANNEL")
	for i, row := range values(t) {
		n, ok := channelNumber(t.keys[i])
		if !ok || !p.c.Room(row.at, 1) {
			continue // YANG accepts PortChannel and up to four digits, and images have taken others
		}
		b := &swconf.Port{Name: t.keys[i], Number: n, At: row.at}
		if d := row.get("description"); d != nil {
			b.Desc = swconf.Say(d.text, d.at)
		}
		if v, ok := p.number(row, "min_links", 1024); ok {
			b.Least = swconf.Say(int(v), row.get("min_links").at)
		}
		p.c.Bundles = append(p.c.Bundles, b)
	}
	p.routedBundles()
	t = p.table("PORTCHANNEL_MEMBER")
	for i, row := range values(t) {
		name, port, _ := strings.Cut(t.keys[i], "|")
		n, ok := channelNumber(name)
		switch q := p.ports[port]; {
		case q == nil:
			p.bad(row, "PORTCHANNEL_MEMBER names %s, which PORT does not have", port)
		case ok && p.c.Bundle(n) == nil:
			p.bad(row, "PORTCHANNEL_MEMBER names %s, which PORTCHANNEL does not have", name)
		case ok:
			q.Channel = swconf.Say(n, row.at)
		}
	}
}

// routedBundles reads PORTCHANNEL_INTERFACE.
func (p *parser) routedBundles() {
	t := p.table("PORTCHANNEL_INTERFACE")
	for i, row := range values(t) {
		name, prefix, addressed := strings.Cut(t.keys[i], "|")
		n, ok := channelNumber(name)
		b := p.c.Bundle(n)
		if !ok || b == nil {
			continue
		}
		if v := row.get("ipv6_use_link_local_only"); v != nil {
			b.LinkOnly = swconf.Say(v.text == "enable", v.at)
		}
		if !addressed {
			continue
		}
		a, err := netip.ParsePrefix(prefix)
		if err != nil {
			p.bad(row, "%q is no address with a prefix length", prefix)
			continue
		}
		b.Addrs = append(b.Addrs, swconf.Say(a, row.at))
	}
}

// channelNumber is the number of a port channel's name.
func channelNumber(name string) (n int, ok bool) {
	tail, ok := strings.CutPrefix(name, "PortChannel")
	n, err := strconv.Atoi(tail)
	return n, ok && err == nil
}

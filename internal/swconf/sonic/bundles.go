package sonic

import (
	"fmt"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/unit"
)

// bundling is the rule for members of a port channel. They have its MTU, which teammgrd sets at them, and their own
// queues, maps and PFC, because port channels have no rows for these.
var bundling = swconf.Bundling{QoS: swconf.MembersOwn, MTU: swconf.ChannelOnly, PFC: swconf.MembersOwn}

// bundles reads port channels: their members, and the addresses of routed ones.
func (p *parser) bundles() {
	t := p.table("PORTCHANNEL")
	for i, row := range values(t) {
		n, ok := channelNumber(t.keys[i])
		if !ok || !p.c.Room(row.at, 1) {
			continue // YANG accepts PortChannel and up to four digits, and images have accepted others
		}
		b := &swconf.Port{Name: t.keys[i], Number: n, At: row.at}
		if d := row.get("description"); d != nil {
			b.Desc = swconf.Say(d.text, d.at)
		}
		b.MTU.V = defaultMTU()
		if v, ok := p.number(row, "mtu", 65535); ok {
			b.MTU = swconf.Say(unit.Bytes(v), row.get("mtu").at)
		}
		p.admin(b, row)
		if v, ok := p.number(row, "min_links", 1024); ok {
			b.Least = swconf.Say(int(v), row.get("min_links").at)
		}
		p.c.Bundles = append(p.c.Bundles, b)
	}
	p.addresses("PORTCHANNEL_INTERFACE", "PORTCHANNEL", func(name string) *swconf.Port {
		if b := p.long(name); b != nil || t.get(name) == nil {
			return b
		}
		return &swconf.Port{} // a port channel without a number
	})
	t = p.table("PORTCHANNEL_MEMBER")
	for i, row := range values(t) {
		name, port, _ := strings.Cut(t.keys[i], "|")
		n, ok := channelNumber(name)
		switch q := p.ports[port]; {
		case q == nil:
			p.bad(row, "PORTCHANNEL_MEMBER names %s, which PORT does not have", port)
		case ok && p.c.Bundle(n) == nil && p.elsewhere("PORTCHANNEL"):
			q.Channel = swconf.Say(n, row.at)
		case ok && p.c.Bundle(n) == nil:
			p.bad(row, "PORTCHANNEL_MEMBER names %s, which PORTCHANNEL does not have", name)
		case ok:
			q.Channel = swconf.Say(n, row.at)
		}
	}
}

// channelNumber is the number of a port channel's name.
func channelNumber(name string) (n int, ok bool) {
	tail, ok := strings.CutPrefix(name, "PortChannel")
	n, err := strconv.Atoi(tail)
	return n, ok && err == nil
}

// tunnels records the maps at the ends of tunnels between the two switches of a server (SONiC's dual ToR), whose
// packets have a separate class. None is simulated.
func (p *parser) tunnels() {
	t := p.table("TUNNEL")
	for i, row := range values(t) {
		if !row.object() {
			continue
		}
		for _, m := range [][2]string{{"decap_dscp_to_tc_map", "DSCP_TO_TC_MAP"},
			{"decap_tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"}, {"encap_tc_to_queue_map",
				"TC_TO_QUEUE_MAP"}} {
			n := row.get(m[0])
			if n == nil {
				continue
			}
			p.ref(m[1], n)
			if m[0] == "decap_dscp_to_tc_map" {
				p.c.Apart = append(p.c.Apart,
					swconf.Say(fmt.Sprintf("packets out of %s are classified by %s",
						t.keys[i], plain(m[1], n.text)), n.at))
			}
		}
	}
}
